//! How much the client itself adds: its stamps against the log of a simulated engine in a process of its own.
//!
//! `cargo xtask bench client` runs it in release. Both sides read the machine's monotonic clock, so a stamp of the
//! client minus the engine's stamp just before its write is the client's error, with the kernel's own share in it.
//! `TTFT` is the first text of each stream, `event` every text, `gap` the error of the time between two texts. `lost`
//! counts tokens. On a machine that is busy otherwise, the p99 columns show the scheduler and not the client.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use clap::Parser;
use dyno_collector::command::simulate::{self, SimulateArgs};
use dyno_collector::endpoint::openai_chat::{ChatRequest, Message, Optional, PATH};
use dyno_collector::simulator::clock::now_ns;
use dyno_collector::simulator::{CachePolicy, LogReply, RequestLog, Truth};
use dyno_collector::stream::Observed;
use dyno_collector::transport::{self, Ask, Connection, Target, get_text, open};
use dyno_shared::statistics::quantile;
use dyno_shared::workload::Sampling;
use tokio::task::JoinSet;

/// Set in the child that is the engine: the truth as JSON.
const ENGINE: &str = "DYNO_BENCH_ENGINE_TRUTH";

/// Streams at once against a simulated engine, and how far the client's stamps are from its log.
#[derive(Debug, Parser)]
struct Args {
    /// Concurrent streams.
    #[arg(long, default_value_t = 64)]
    streams: u32,
    /// Tokens per second of each stream.
    #[arg(long, default_value_t = 50.0)]
    rate: f64,
    /// Seconds that each stream decodes.
    #[arg(long, default_value_t = 5.0)]
    seconds: f64,
    /// Spread of the engine's gaps; 0 makes all streams speak at the same instants, which is hardest.
    #[arg(long, default_value_t = 0.0)]
    jitter: f64,
    /// Batches.
    #[arg(long, default_value_t = 3)]
    batches: u32,
}

fn main() -> anyhow::Result<()> {
    if let Ok(truth) = std::env::var(ENGINE) {
        let truth = serde_json::from_str(&truth)?;
        return simulate::run(&SimulateArgs { port: 0, host: "127.0.0.1".to_owned(), log: None, truth });
    }
    let args = Args::parse();
    let truth = Truth {
        decode_tok_s: args.rate,
        jitter: args.jitter,
        slots: args.streams as usize,
        cache: CachePolicy::Off,
        ..Truth::default()
    };
    let engine = Engine::start(&truth)?;
    let target = Target::parse(&engine.url)?;
    let runtime = transport::runtime()?;
    let mut out = std::io::stdout();
    writeln!(
        out,
        "{} streams of {} tok/s for {} s against {} (simulated, jitter {})",
        args.streams, args.rate, args.seconds, engine.url, args.jitter
    )?;
    writeln!(
        out,
        "{:>5} {:>12} {:>12} {:>12} {:>12} {:>12} {:>6} {:>10} {:>10}",
        "batch",
        "TTFT mean",
        "TTFT p99",
        "event p50",
        "event p99",
        "gap p99",
        "lost",
        "client CPU",
        "peak RSS"
    )?;
    // The first batch warms both sides and is not shown.
    let mut batches = Vec::new();
    for _ in 0..=args.batches {
        let cpu = cpu_seconds();
        let (observed, clocks) = runtime.block_on(batch(&target, &args))?;
        batches.push((observed, clocks, cpu_seconds() - cpu, peak_rss()));
    }
    // Reading the log takes more memory than measuring, so it comes last.
    let log: LogReply = serde_json::from_str(&runtime.block_on(get_text(&target, "/v1/simulator/log"))?)?;
    for (number, (observed, clocks, cpu, rss)) in batches.iter().enumerate().skip(1) {
        let errors = Errors::of(observed, &log.requests, *clocks)?;
        writeln!(
            out,
            "{number:>5} {:>9.3} ms {:>9.3} ms {:>9.3} ms {:>9.3} ms {:>9.3} ms {:>6} {cpu:>8.3} s {:>10}",
            mean(&errors.ttft_ms),
            p99(&errors.ttft_ms),
            median(&errors.event_ms),
            p99(&errors.event_ms),
            p99(&errors.gap_ms),
            errors.lost_tokens,
            rss.map_or("unknown".to_owned(), |mib| format!("{mib:.1} MiB")),
        )?;
    }
    Ok(())
}

/// The simulated engine as a child process, so that its work and memory are not the client's.
struct Engine {
    child: Child,
    url: String,
}

impl Engine {
    fn start(truth: &Truth) -> anyhow::Result<Self> {
        let mut child = Command::new(std::env::current_exe()?)
            .env(ENGINE, serde_json::to_string(truth)?)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .context("cannot start the simulated engine")?;
        let mut url = String::new();
        let stdout = child.stdout.take().context("the engine has no stdout")?;
        BufReader::new(stdout).read_line(&mut url)?;
        Ok(Self { child, url: url.trim().to_owned() })
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The two clocks at one instant.
#[derive(Clone, Copy)]
struct Clocks {
    run_start: Instant,
    run_start_ns: u64,
}

/// One batch: all connections first, then all requests at once. Each answer comes with the client's port.
async fn batch(target: &Target, args: &Args) -> anyhow::Result<(Vec<(u16, Observed)>, Clocks)> {
    let mut connections: Vec<Connection> = Vec::new();
    for _ in 0..args.streams {
        connections.push(open(target).await.map_err(|error| anyhow::anyhow!(error.message))?);
    }
    let clocks = Clocks { run_start: Instant::now(), run_start_ns: now_ns() };
    let mut streams = JoinSet::new();
    for (stream, connection) in (0..).zip(connections) {
        let ask = ask(stream, args, clocks.run_start_ns);
        let port = connection.local_port();
        streams.spawn(async move { (port, connection.send(ask, clocks.run_start).await) });
    }
    Ok((streams.join_all().await, clocks))
}

fn ask(stream: u32, args: &Args, salt: u64) -> Ask {
    let request = ChatRequest {
        model: "simulated".to_owned(),
        messages: vec![Message::user(format!(
            "{salt} {stream}: tell of a river that runs through a quiet town."
        ))],
        sampling: Sampling {
            temperature: Some(0.0),
            max_tokens: Some((args.rate * args.seconds).round() as u64),
            ignore_eos: Some(true),
            ..Sampling::default()
        },
        optional: Optional::USUAL,
    };
    Ask {
        path: PATH,
        body: request.body(),
        stream,
        run_tag: stream.to_string(),
        prompt_sha256: None,
        t_due: None,
    }
}

/// The client's stamps minus the engine's, in milliseconds.
#[derive(Default)]
struct Errors {
    ttft_ms: Vec<f64>,
    event_ms: Vec<f64>,
    gap_ms: Vec<f64>,
    lost_tokens: u64,
}

impl Errors {
    fn of(observed: &[(u16, Observed)], log: &[RequestLog], clock: Clocks) -> anyhow::Result<Self> {
        let mut errors = Self::default();
        for (port, Observed { record, .. }) in observed {
            if let Some(error) = &record.error {
                bail!("stream {} failed: {}", record.stream, error.message);
            }
            // A port may serve again in a later batch.
            let mine = |request: &&RequestLog| {
                request.client_port == *port && request.arrived_ns >= clock.run_start_ns
            };
            let sent = log.iter().filter(mine).min_by_key(|request| request.arrived_ns);
            let sent =
                sent.with_context(|| format!("stream {} is not in the engine's log", record.stream))?;
            let text: Vec<(f64, u32)> = sent
                .sent
                .iter()
                .filter(|event| event.tokens > 0)
                .map(|event| (seconds_between(clock.run_start_ns, event.before_ns), event.tokens))
                .collect();
            let arrivals = record.arrivals();
            let seen: u64 = text.iter().take(arrivals.len()).map(|(_, tokens)| u64::from(*tokens)).sum();
            errors.lost_tokens += sent.output_tokens().abs_diff(seen);
            let late: Vec<f64> =
                arrivals.iter().zip(&text).map(|(at, (sent, _))| (at - sent) * 1e3).collect();
            errors.ttft_ms.extend(late.first());
            errors.gap_ms.extend(late.windows(2).map(|pair| (pair[1] - pair[0]).abs()));
            errors.event_ms.extend(late);
        }
        Ok(errors)
    }
}

fn seconds_between(from_ns: u64, to_ns: u64) -> f64 {
    Duration::from_nanos(to_ns.saturating_sub(from_ns)).as_secs_f64()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn median(values: &[f64]) -> f64 {
    quantile::median(values).unwrap_or(f64::NAN)
}

fn p99(values: &[f64]) -> f64 {
    quantile::quantile(values, 0.99).unwrap_or(f64::NAN)
}

/// CPU time of this process.
fn cpu_seconds() -> f64 {
    let used = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    used.tv_sec as f64 + used.tv_nsec as f64 / 1e9
}

/// Peak resident memory of this process in MiB, where the system tells.
fn peak_rss() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    Some(line.split_whitespace().nth(1)?.parse::<f64>().ok()? / 1024.0)
}
