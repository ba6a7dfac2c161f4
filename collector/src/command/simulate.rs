//! `dyno simulate`: the simulated engine as a process of its own.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::sync::oneshot;

use crate::limits::raise_open_files;
use crate::simulator::{Log, Simulator, Truth};
use crate::stop::stopped;
use crate::talk::say;

/// Serve a simulated engine with a known truth, for calibration, demonstration and tests.
///
/// Its address is the first line on stdout. It says that it is simulated wherever it can.
#[derive(Debug, Clone, clap::Args)]
pub struct SimulateArgs {
    /// Port to listen on; 0 takes any free one.
    #[arg(long, default_value_t = 8790)]
    pub port: u16,
    /// Address to listen on.
    #[arg(long, default_value = "127.0.0.1")]
    pub host: String,
    /// Append what was sent, one JSON line for each chat request, to this file.
    #[arg(long, value_name = "FILE")]
    pub log: Option<PathBuf>,
    /// End when stdin does: with the process that started this one, however that one ends.
    #[arg(long, hide = true)]
    pub while_stdin: bool,
    /// What is true of the engine.
    #[command(flatten)]
    pub truth: Truth,
}

/// Serves until Ctrl-C or SIGTERM, on a runtime of its own: one thread, so that it takes little from a client
/// on the same machine.
///
/// # Errors
/// A truth that cannot be simulated, an address that cannot be listened on, a log file that cannot be opened.
pub fn run(args: &SimulateArgs) -> anyhow::Result<()> {
    raise_open_files();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.context("no runtime for the simulated engine")?.block_on(simulate(args))
}

async fn simulate(args: &SimulateArgs) -> anyhow::Result<()> {
    let log = args.log.as_deref().map_or_else(|| Ok(Log::default()), file_log)?;
    let simulator = Simulator::new(args.truth.clone(), log)?;
    let (host, port) = (args.host.as_str(), args.port);
    let listener = TcpListener::bind((host, port)).await.with_context(|| {
        format!("cannot listen on {host}:{port}; is something else there? Try another --port, or 0 for any")
    })?;
    let address = listener.local_addr().context("the listening socket has no address")?;
    writeln!(std::io::stdout(), "http://{address}").context("cannot write the address to stdout")?;
    let rate = args.truth.expected_decode_tok_s().map_or("unlimited".to_owned(), |rate| format!("{rate:.1}"));
    if !args.while_stdin {
        say(format_args!(
            "simulated engine: {rate} tok/s decode, {} tok/s prefill, {} slots; Ctrl-C ends it",
            args.truth.prefill_tok_s, args.truth.slots
        ));
    }
    if args.while_stdin {
        let parent = stdin_ended().context("no thread to watch stdin")?;
        let end = async {
            tokio::select! {
                () = stopped() => {}
                // A thread that is gone has seen the end.
                _ = parent => {}
            }
        };
        simulator.serve(listener, end).await;
        return Ok(());
    }
    simulator.serve(listener, stopped()).await;
    say("simulated engine: stopped");
    Ok(())
}

/// Completes at the end of stdin.
fn stdin_ended() -> std::io::Result<oneshot::Receiver<()>> {
    let (tell, told) = oneshot::channel();
    std::thread::Builder::new().name("simulator-stdin".to_owned()).spawn(move || {
        // What is said there means nothing, and an error is an end.
        let _ = std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink());
        let _ = tell.send(());
    })?;
    Ok(told)
}

fn file_log(path: &Path) -> anyhow::Result<Log> {
    let open = File::options().create(true).append(true).open(path);
    let file = open.with_context(|| format!("cannot open the log file {}", path.display()))?;
    Log::to_writer(file).context("no thread for the log file")
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        simulate: SimulateArgs,
    }

    fn parse(line: &str) -> Result<SimulateArgs, clap::Error> {
        Cli::try_parse_from(line.split(' ')).map(|cli| cli.simulate)
    }

    #[test]
    fn without_flags_the_truth_is_the_default() {
        assert_eq!(parse("x").unwrap().truth, Truth::default());
    }

    #[test]
    fn every_key_of_the_truth_is_a_flag() {
        let keys = serde_json::to_value(Truth::default()).unwrap();
        let help = <Cli as clap::CommandFactory>::command().render_long_help().to_string();
        for key in keys.as_object().unwrap().keys().filter(|key| *key != "faults") {
            let flag = format!("--{}", key.replace('_', "-"));
            assert!(help.contains(&flag), "{flag} is missing");
        }
        assert!(help.contains("--fault"));
    }

    #[test]
    fn flags_reach_the_truth() {
        let args = parse(
            "x --port 0 --decode-tok-s 80 --burst 1:0.5,4:0.5 --cache slots --models a,b --gaps-s 0.1,0.2 \
             --fault stall:5@3 --fault crlf --usage on-finish --opening with-text --report-cached false",
        )
        .unwrap();
        let truth = args.truth;
        assert_eq!((args.port, truth.decode_tok_s), (0, 80.0));
        assert_eq!((truth.burst.mean(), truth.cache.to_string().as_str()), (2.5, "slots"));
        assert_eq!((truth.models, truth.gaps_s), (vec!["a".to_owned(), "b".to_owned()], vec![0.1, 0.2]));
        assert_eq!(truth.faults.iter().map(ToString::to_string).collect::<Vec<_>>(), ["stall:5@3", "crlf"]);
        assert!(!truth.report_cached);
    }

    #[test]
    fn models_without_a_name_is_no_model() {
        assert_eq!(parse("x --models --port 0").unwrap().truth.models, Vec::<String>::new());
    }

    #[test]
    fn a_wrong_fault_is_answered_with_the_right_ones() {
        assert!(parse("x --fault slow").unwrap_err().to_string().contains("stall-headers"));
    }
}
