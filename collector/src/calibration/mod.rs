//! How much the client itself adds: its stamps against the log of a simulated engine in a process of its own.
//!
//! Both processes read the machine's monotonic clock, so a stamp of the client minus the engine's stamp just before its
//! write is the client's error, with the kernel's own share in it. The engine's lateness is not the client's: what
//! was due when plays no part. The same transport and the same runtime as in a measurement are used.

mod engine;
mod error;
mod process;

pub use error::{Errors, NotLogged, Seen};

use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, bail};
use dyno_shared::record::RequestError;
use dyno_shared::submission::Calibration;
use dyno_shared::units::Seconds;
use dyno_shared::workload::Sampling;
use tokio::task::JoinSet;

use crate::endpoint::openai_chat::{ChatRequest, Message, Optional, PATH};
use crate::limits::need_open_files;
use crate::simulator::clock::now_ns;
use crate::transport::{Ask, Connection, Target, open_many};
use engine::Engine;

/// What a calibration lets the simulated engine do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Level {
    /// Concurrent streams.
    pub streams: u32,
    /// Tokens per second of each, above 0.
    pub rate_tok_s: f64,
    /// Tokens of each stream in a batch.
    pub tokens: u32,
    /// Batches that count. One more comes first and warms both sides.
    pub batches: u32,
    /// Spread of the engine's gaps, a share; 0 lets all streams speak at the same instants, which is hardest.
    pub jitter: f64,
}

/// Rate of a stream where nobody knows the coming one, in tokens per second.
const USUAL_RATE_TOK_S: f64 = 50.0;
/// The rates at which a certificate is made: a slower stream would take too long, and is easier.
const RATES_TOK_S: (f64, f64) = (25.0, 1_000.0);
/// Length of a batch of a certificate in seconds, and how many there are: three seconds in all.
const BATCH_S: f64 = 0.4;
const BATCHES: u32 = 5;

impl Level {
    /// What a measurement's certificate is made at: as many streams, each at the rate that is expected.
    pub fn of_measurement(streams: u32, expected_tok_s: Option<f64>) -> Self {
        let (low, high) = RATES_TOK_S;
        let rate =
            expected_tok_s.filter(|rate| rate.is_finite()).unwrap_or(USUAL_RATE_TOK_S).clamp(low, high);
        let rate_tok_s = rate.round();
        Self {
            streams,
            rate_tok_s,
            tokens: (rate_tok_s * BATCH_S).ceil() as u32,
            batches: BATCHES,
            jitter: 0.0,
        }
    }
}

/// Calibrates this program for a measurement of so many streams at about so many tokens per second each. Takes three to
/// four seconds.
///
/// # Errors
/// When the simulated engine cannot be started, too few files may be open, or a stream fails.
pub async fn certificate(streams: u32, expected_tok_s: Option<f64>) -> anyhow::Result<Calibration> {
    let dyno =
        std::env::current_exe().context("cannot find this program to start it as the simulated engine")?;
    measure(&dyno, Level::of_measurement(streams, expected_tok_s)).await
}

/// Calibrates at one level; `dyno` is the program that serves as the simulated engine.
///
/// # Errors
/// As [`certificate`].
pub async fn measure(dyno: &Path, level: Level) -> anyhow::Result<Calibration> {
    if !cfg!(unix) {
        bail!("two processes share no clock on this system, so the client cannot be calibrated");
    }
    need_open_files(u64::from(level.streams))?;
    let engine = Engine::start(dyno, level.streams, level.rate_tok_s, level.jitter).await?;
    let mut errors = Errors::default();
    let (mut cpu_s, mut wall_s) = (Some(0.0), 0.0);
    let mut memory_bytes = None;
    for number in 0..=level.batches {
        let before = (process::cpu_seconds(), Instant::now());
        let batch = Batch::drive(&engine.target, level).await?;
        let warm = number > 0;
        if warm {
            let used = process::cpu_seconds().zip(before.0).map(|(now, before)| now - before);
            cpu_s = cpu_s.zip(used).map(|(all, more)| all + more);
            wall_s += before.1.elapsed().as_secs_f64();
            // Reading the log takes memory that a measurement does not need, so the last look is before its last part.
            memory_bytes = process::peak_memory_bytes();
        }
        let streams = u64::from(level.streams);
        let log = engine.log(u64::from(number) * streams, u64::from(number + 1) * streams).await?;
        if warm {
            errors.add(&batch.seen, &log, batch.start_ns)?;
        }
    }
    Ok(Calibration {
        streams: Some(level.streams),
        rate_tok_s: Some(level.rate_tok_s),
        client_cpu_s: cpu_s.map(Seconds),
        client_cpu_share: cpu_s.filter(|_| wall_s > 0.0).map(|cpu_s| cpu_s / wall_s),
        client_memory_bytes: memory_bytes,
        ..errors.calibration()
    })
}

/// One batch: all connections first, then all requests at once.
struct Batch {
    /// When it began, by the engine's clock.
    start_ns: u64,
    seen: Vec<Seen>,
}

impl Batch {
    async fn drive(target: &Target, level: Level) -> anyhow::Result<Self> {
        let connections: Result<Vec<Connection>, RequestError> =
            open_many(target, level.streams as usize).await.into_iter().collect();
        let connections = connections.map_err(|error| anyhow::anyhow!(error.message))?;
        let asks: Vec<Ask> = (0..level.streams).map(|stream| ask(stream, level.tokens)).collect();
        // Both clocks at one instant.
        let (start, start_ns) = (Instant::now(), now_ns());
        let mut streams = JoinSet::new();
        for (connection, ask) in connections.into_iter().zip(asks) {
            streams.spawn(async move {
                let (port, stream) = (connection.local_port(), ask.stream);
                let record = connection.send(ask, start).await.record;
                match &record.error {
                    None => Ok(Seen::of(port, &record)),
                    Some(error) => Err(format!("stream {stream} failed: {}", error.message)),
                }
            });
        }
        let mut seen = Vec::new();
        for outcome in streams.join_all().await {
            match outcome {
                Ok(of_stream) => seen.push(of_stream),
                Err(message) => bail!(message),
            }
        }
        Ok(Self { start_ns, seen })
    }
}

fn ask(stream: u32, tokens: u32) -> Ask {
    let request = ChatRequest {
        model: "simulated".to_owned(),
        messages: vec![Message::user(format!("{stream}: tell of a river that runs through a quiet town."))],
        sampling: Sampling {
            temperature: Some(0.0),
            max_tokens: Some(u64::from(tokens)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_is_made_at_the_streams_and_about_the_rate_of_the_measurement_and_takes_seconds() {
        let level = Level::of_measurement(8, Some(120.4));
        assert_eq!((level.streams, level.rate_tok_s), (8, 120.0));
        for expected in [None, Some(0.3), Some(f64::NAN), Some(1e9)] {
            let level = Level::of_measurement(1, expected);
            let seconds = f64::from(level.tokens) / level.rate_tok_s * f64::from(level.batches + 1);
            assert!((1.0..4.0).contains(&seconds), "{expected:?}: {seconds} s");
        }
    }
}
