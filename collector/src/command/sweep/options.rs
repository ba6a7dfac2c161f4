//! The command line of `dyno sweep`.

use std::path::PathBuf;

use super::variants::{Setting, Variant, Vary, grid, setting};
use crate::command::run::RunArgs;
use crate::exit::Failure;
use crate::launch::known::Known;
use crate::workload::CasePlan;

/// Runs of each case in each cycle: the cycle is what counts, and a few runs settle its mean.
const RUNS: u32 = 3;
/// Unrecorded ones before them.
const WARMUPS: u32 = 1;
/// The case that is measured where none is asked for.
const CASE: &str = "code";
/// The case whose streams are changed by --concurrency.
const LOAD: &str = "load1";

/// Start a server in several variants, measure each of them, and compare.
///
/// In every cycle each variant gets a fresh server process on a free port, in alternating order. All of them are sent
/// the same prompts, cycle by cycle new ones. Each variant becomes a shard of its own. Stdout is the comparison.
#[derive(Debug, Clone, clap::Args)]
#[command(
    mut_arg("url", |arg| arg.hide(true)),
    mut_arg("out", |arg| arg.hide(true)),
    mut_arg("label", |arg| arg.hide(true)),
    mut_arg("until", |arg| arg.hide(true)),
    mut_arg("budget", |arg| arg.hide(true)),
    mut_arg("model", |arg| told(arg, "What goes to {model}: a file, or a name").help_heading("Server")),
    mut_arg("set", |arg| told(arg, "Fix a flag of the server for all variants, as --vary varies one; repeatable").help_heading("Server")),
    mut_arg("runs", |arg| told(arg, "Recorded runs of each case in each cycle [default: 3]")),
    mut_arg("warmups", |arg| told(arg, "Unrecorded runs before them, after every start of a server [default: 1; the first time three sendings of one prompt, which show whether the answers agree]")),
    mut_arg("cases", |arg| told(arg, "Cases to measure, separated by commas, of the standard suite, the quick one, or the one of --suite [default: code]")),
    mut_arg("resume", |arg| told(arg, "Go on with the sweep that was interrupted, or in which a measurement failed")),
    mut_arg("force", |arg| told(arg, "Replace shards or an unfinished sweep")),
    mut_arg("json", |arg| told(arg, "Print the comparison as JSON")),
)]
pub struct SweepArgs {
    /// The line that starts the server, with the places {port}, {model}, {flags} and, where a key has a place of its
    /// own, {KEY}. It is split as a shell would split it, and no shell sees it.
    #[arg(long, value_name = "LINE", required_unless_present = "engine", conflicts_with_all = ["engine", "binary"], help_heading = "Server")]
    pub launch: Option<String>,
    /// A known engine instead: llama.cpp, vllm, sglang, freetoken, tensorrt-llm.
    #[arg(long, value_name = "NAME", help_heading = "Server")]
    pub engine: Option<String>,
    /// Its program, where it is not on PATH.
    #[arg(long, value_name = "FILE", requires = "engine", help_heading = "Server")]
    pub binary: Option<String>,
    /// Vary a key over values, separated by commas; repeatable: every combination is measured. KEY becomes the flag
    /// --KEY (one letter: -K; `true`: the flag alone; `false`: no flag), env:NAME a variable of the environment. The
    /// first combination is what the others are compared with.
    #[arg(long, value_name = "KEY=A,B", required = true, value_parser = Vary::parse, help_heading = "Server")]
    pub vary: Vec<Vary>,
    /// Set a variable of the server's environment; repeatable. It may hold {port}.
    #[arg(long, value_name = "NAME=VALUE", value_parser = setting, help_heading = "Server")]
    pub env: Vec<Setting>,
    /// Name by which the server serves the model, where it serves several.
    #[arg(long, value_name = "NAME", help_heading = "Server")]
    pub served_model: Option<String>,
    /// Cycles. One names no winner.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1_000), help_heading = "Suite")]
    pub cycles: u32,
    /// Measure so many streams at once instead, separated by commas: the cases load1, load4, ….
    #[arg(long, value_name = "N,…", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=10_000), conflicts_with_all = ["cases", "quick", "suite"], help_heading = "Suite")]
    pub concurrency: Vec<u32>,
    /// The folder for logs and journals; for the shards too, unless there is a folder `results/`.
    #[arg(long, value_name = "DIR", default_value = "dyno-sweep", help_heading = "Shard")]
    pub out_dir: PathBuf,
    /// What it shares with `dyno run`.
    #[command(flatten)]
    pub run: RunArgs,
}

/// The same flag of `dyno run` with words of its own.
fn told(arg: clap::Arg, help: &'static str) -> clap::Arg {
    arg.help(help).long_help(None::<&'static str>)
}

/// What the command line asks for, before anything is started.
#[derive(Debug, Clone)]
pub(super) struct Asked {
    /// The line that starts a server.
    pub launch: String,
    /// What goes to {model}.
    pub model: Option<String>,
    /// The variants.
    pub variants: Vec<Variant>,
    /// The cases; runs are those of one cycle.
    pub cases: Vec<CasePlan>,
    /// The options of each measurement.
    pub run: RunArgs,
}

impl SweepArgs {
    /// Everything that can be refused is refused here.
    pub(super) fn asked(&self) -> Result<Asked, Failure> {
        self.refuse_foreign()?;
        let set: Vec<Setting> = self.run.set.iter().filter_map(|text| setting(text).ok()).collect();
        let variants = grid(&self.vary, &set).map_err(usage)?;
        let mut run = self.run.clone();
        let model = std::mem::replace(&mut run.model, self.served_model.clone());
        run.set.clear();
        if run.suite.is_none() {
            run.runs.get_or_insert(RUNS);
            run.warmups.get_or_insert(WARMUPS);
        }
        let cases = self.cases(&mut run)?;
        Ok(Asked { launch: self.line()?, model, variants, cases, run })
    }

    fn refuse_foreign(&self) -> Result<(), Failure> {
        let RunArgs { url, out, label, until, .. } = &self.run;
        for (given, said) in [
            (url.is_some(), "--url: dyno sweep starts the server itself, with --launch or --engine"),
            (out.is_some(), "--out: each variant has a file of its own, and --out-dir names their folder"),
            (label.is_some(), "--label: what is varied is the label"),
            (
                until.is_some(),
                "--until: how sure a sweep is comes from its cycles, give more of them with --cycles",
            ),
        ] {
            if given {
                return Err(usage(format!("leave out {said}")));
            }
        }
        Ok(())
    }

    fn line(&self) -> Result<String, Failure> {
        if let Some(launch) = &self.launch {
            return Ok(launch.clone());
        }
        let name = self.engine.as_deref().unwrap_or_default();
        let known = Known::find(name).ok_or_else(|| {
            usage(format!(
                "how to start `{name}` is not known; known are {}. Give its line with --launch",
                Known::names()
            ))
        })?;
        Ok(known.line(self.binary.as_deref()))
    }

    fn cases(&self, run: &mut RunArgs) -> Result<Vec<CasePlan>, Failure> {
        if !self.concurrency.is_empty() {
            run.cases = vec![LOAD.to_owned()];
            let cases = run.asked()?;
            let streams = |n: u32| {
                let id = format!("load{n}");
                cases.iter().map(move |case| CasePlan { id: id.clone(), concurrency: n, ..case.clone() })
            };
            return Ok(self.concurrency.iter().copied().flat_map(streams).collect());
        }
        if run.cases.is_empty() && !run.quick && run.suite.is_none() {
            run.cases = vec![CASE.to_owned()];
        }
        run.asked()
    }
}

fn usage(message: String) -> Failure {
    Failure::usage(anyhow::anyhow!(message))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        sweep: SweepArgs,
    }

    fn asked(line: &str) -> Result<Asked, String> {
        let words = shlex::split(&format!("sweep {line}")).unwrap();
        let cli = Cli::try_parse_from(words).map_err(|error| error.to_string())?;
        cli.sweep.asked().map_err(|failure| failure.error.to_string())
    }

    fn ids(line: &str) -> Vec<(String, u32, u32, u32)> {
        let cases = asked(&format!("--engine llama.cpp --model m.gguf --vary t=1,2 {line}")).unwrap().cases;
        cases.into_iter().map(|case| (case.id, case.concurrency, case.runs, case.warmups)).collect()
    }

    #[test]
    fn a_known_engine_has_its_line_and_a_program_of_its_own_name() {
        let of =
            asked("--engine llama.cpp --model /m/a.gguf --vary threads=1,2 --set ctx-size=4096").unwrap();
        assert!(of.launch.starts_with("llama-server -m {model}"), "{}", of.launch);
        assert_eq!(of.model.as_deref(), Some("/m/a.gguf"));
        assert_eq!((of.run.model, of.run.set.len()), (None, 0));
        assert_eq!(of.variants[1].settings.len(), 2);
        let of = asked("--engine vllm --binary '/my env/vllm' --model a --vary x=1,2").unwrap();
        assert!(of.launch.starts_with("'/my env/vllm' serve"), "{}", of.launch);
        assert!(asked("--engine nonsense --vary x=1,2").unwrap_err().contains("llama.cpp, vllm"));
    }

    #[test]
    fn a_sweep_is_short_unless_more_is_asked_for() {
        assert_eq!(ids(""), [("code".to_owned(), 1, 3, 1)]);
        assert_eq!(ids("--runs 8 --warmups 2 --cases prose"), [("prose".to_owned(), 1, 8, 2)]);
        assert_eq!(ids("--quick").len(), 4);
        assert_eq!(
            ids("--concurrency 4,12"),
            [("load4".to_owned(), 4, 3, 1), ("load12".to_owned(), 12, 3, 1)]
        );
    }

    #[test]
    fn what_does_not_belong_to_a_sweep_is_refused_with_what_does() {
        for (line, said) in [
            ("--vary a=1,2", "--launch"),
            ("--launch s", "--vary"),
            ("--launch s --engine vllm --vary a=1,2", "cannot be used with"),
            ("--launch s --vary a=1", "--set a=1"),
            ("--launch s --vary a=1,2 --url http://127.0.0.1:1", "starts the server itself"),
            ("--launch s --vary a=1,2 --out x.json", "--out-dir"),
            ("--launch s --vary a=1,2 --label x", "is the label"),
            ("--launch s --vary a=1,2 --until 2%", "--cycles"),
            ("--launch s --vary a=1,2 --cycles 0", "1..=1000"),
            ("--launch s --vary a=1,2 --cases nonsense", "nonsense"),
            ("--launch s --vary a=1,2 --concurrency 4 --cases code", "cannot be used with"),
        ] {
            let error = asked(line).unwrap_err();
            assert!(error.contains(said), "{line}: {error}");
        }
    }
}
