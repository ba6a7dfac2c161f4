//! One measurement: one variant in one cycle, on a server process of its own.

use std::cell::Cell;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};

use super::Sweep;
use super::effective;
use super::table::{figures, seconds};
use crate::command::run::{PartOf, RunArgs, Subject};
use crate::exit::{Exit, Failure};
use crate::launch::guard::End;
use crate::launch::{LaunchError, Server, free_port, log, ready};
use crate::protocol::{Ending, Trial};
use crate::stop::Stop;
use crate::talk::say;
use crate::transport::Target;

/// How long after a failure the end of the server may become known.
const MOMENT: Duration = Duration::from_millis(500);

/// Between two remarks that a server is still loading.
const BETWEEN_REMARKS: Duration = Duration::from_secs(10);

/// How one measurement ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Outcome {
    /// All its runs are there.
    Done,
    /// It failed, and the others go on.
    Failed(String),
    /// Somebody wants the sweep to stop.
    Stopped,
}

/// What comes of waiting for a server.
enum Prepared {
    Ready(Box<(Subject, Trial)>),
    Failed(String),
    Stopped,
}

impl Sweep<'_> {
    /// Measures a variant in a cycle, and ends its server whatever happens. What it fails of is said with the tail of
    /// the server's log; an error is what would fail every other measurement too.
    pub(super) async fn measurement(&mut self, cycle: u32, at: usize) -> Result<Outcome, Failure> {
        let begin = Instant::now();
        let log = self.log_path(cycle, at);
        let outcome = self.on_a_server(cycle, at, &log).await?;
        let took = seconds(begin.elapsed().as_secs_f64());
        let (label, width) = (&self.arms[at].variant.label, self.label_width());
        let head = format!("cycle {cycle}  {label:<width$}");
        match &outcome {
            Outcome::Done => say(format_args!("{head}  {}  ({took})", self.figures(cycle, at))),
            Outcome::Failed(why) => {
                say(format_args!("{head}  failed: {why}  ({took})"));
                let tail = log::tail(&log);
                if !tail.is_empty() {
                    say(format_args!("  the end of {}:\n{}", log.display(), tail.trim_end()));
                }
                self.arms[at].failures.push((cycle, why.clone()));
            }
            Outcome::Stopped => {}
        }
        Ok(outcome)
    }

    async fn on_a_server(&mut self, cycle: u32, at: usize, log: &Path) -> Result<Outcome, Failure> {
        let port = free_port().context("there is no free port")?;
        let invocation =
            self.line.invocation(&self.arms[at].variant, &port.to_string()).map_err(Failure::usage)?;
        let mut server = match Server::start(&invocation, log).await {
            Ok(server) => server,
            Err(error) if error.is_usage() => return Err(self.named(at, Failure::usage(error))),
            Err(error) => return Ok(Outcome::Failed(error.to_string())),
        };
        let outcome = self.on(cycle, at, &mut server, port).await;
        server.end().await;
        outcome.map_err(|failure| self.named(at, failure))
    }

    async fn on(
        &mut self,
        cycle: u32,
        at: usize,
        server: &mut Server,
        port: u16,
    ) -> Result<Outcome, Failure> {
        let url = Some(format!("http://127.0.0.1:{port}"));
        let engine_log = Some(self.log_path(cycle, at));
        let run = RunArgs { url, engine_log, ..self.shared.run.clone() };
        let target = run.target().await?;
        let label = self.arms[at].variant.label.clone();
        let (subject, found) = match prepared(&run, target, server, &self.stop, &label).await? {
            Prepared::Ready(ready) => *ready,
            Prepared::Failed(why) => return Ok(Outcome::Failed(why)),
            Prepared::Stopped => return Ok(Outcome::Stopped),
        };
        let unverifiable =
            effective::verify(&self.arms[at].variant, &subject.identified).map_err(Failure::usage)?;
        self.note_once(subject.identified.warnings.iter().cloned());
        self.settle_plan(&subject, &found, &unverifiable).await?;
        self.look_at(at, &subject)?;

        let died = Cell::new(None);
        let ending = {
            let asked = self.stop.clone();
            let stop = async {
                tokio::select! {
                    biased;
                    () = asked.asked() => {}
                    end = server.ended() => died.set(Some(end)),
                }
            };
            let stop = std::pin::pin!(stop);
            let part = PartOf { cycle, title: format!("cycle {cycle}, {label}") };
            self.arms[at].measure(&part, &subject, stop).await
        };
        let Some(ending) = ending else { return Ok(Outcome::Failed("nothing was begun".to_owned())) };
        if let Ending::Unkept(error) = ending {
            return Err(Failure::usage(error));
        }
        if self.arms[at].is_complete(cycle) {
            return Ok(Outcome::Done);
        }
        let died = match died.get() {
            None if matches!(ending, Ending::Stopped) => return Ok(Outcome::Stopped),
            None => tokio::time::timeout(MOMENT, server.ended()).await.ok(),
            died => died,
        };
        Ok(Outcome::Failed(why(died, &ending, &self.arms[at].ended_early())))
    }

    fn named(&self, at: usize, Failure { exit, error }: Failure) -> Failure {
        Failure { exit, error: anyhow!("{}: {error:#}", self.arms[at].variant.label) }
    }

    /// The figures of a measurement, and how many of its runs did not pass.
    fn figures(&self, cycle: u32, at: usize) -> String {
        let arm = &self.arms[at];
        let shard = self.state.as_ref().and_then(|state| arm.shard(state, &self.shared, None));
        let shown = shard.map(|shard| figures(&super::arm::figures(&shard, cycle))).unwrap_or_default();
        let (runs, passed) = arm.runs(cycle);
        if passed < runs { format!("{shown}  {passed} of {runs} runs passed") } else { shown }
    }

    fn log_path(&self, cycle: u32, at: usize) -> PathBuf {
        super::log_path(&self.shared.folder, cycle, &self.arms[at].variant)
    }
}

/// Waits until the server can be measured; its end and the user's are noticed at once.
async fn prepared(
    run: &RunArgs,
    target: Target,
    server: &mut Server,
    stop: &Stop,
    label: &str,
) -> Result<Prepared, Failure> {
    let mut said = Duration::ZERO;
    let waiting = |waited: Duration| {
        if waited.saturating_sub(said) >= BETWEEN_REMARKS {
            say(format_args!("{label}: the server is not ready yet ({} s)", waited.as_secs()));
            said = waited;
        }
    };
    let prepare = async {
        ready(&target, run.load_timeout, waiting).await.map_err(failure)?;
        let mut subject = Subject::of(run, target.clone()).await?;
        let found = subject.trial().await?;
        Ok::<_, Failure>(Box::new((subject, found)))
    };
    let prepared = tokio::select! {
        biased;
        () = stop.asked() => return Ok(Prepared::Stopped),
        end = server.ended() => return Ok(Prepared::Failed(ended(end, "before it could be measured"))),
        prepared = prepare => prepared,
    };
    match prepared {
        Ok(ready) => Ok(Prepared::Ready(ready)),
        // What the command line is to blame for would fail every time.
        Err(failure) if failure.exit == Exit::Usage => Err(failure),
        Err(failure) => {
            let died = tokio::time::timeout(MOMENT, server.ended()).await.ok();
            let why = format!("{:#}", failure.error);
            Ok(Prepared::Failed(died.map_or(why, |end| ended(end, "before it could be measured"))))
        }
    }
}

fn failure(error: LaunchError) -> Failure {
    if error.is_usage() { Failure::usage(error) } else { Failure::endpoint(error) }
}

fn ended(end: End, when: &str) -> String {
    format!("the server ended {when}, with {end}")
}

/// Why a measurement has not all its runs.
fn why(died: Option<End>, ending: &Ending, cases: &[String]) -> String {
    match (died, ending) {
        (Some(end), _) => ended(end, "during the measurement"),
        (None, Ending::Lost(why)) => why.clone(),
        (None, _) if cases.is_empty() => "not all runs were made".to_owned(),
        (None, _) => cases.join("; "),
    }
}
