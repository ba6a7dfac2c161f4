//! `dyno sweep`: starts a server in several variants, measures each of them in every cycle, and compares.

mod arm;
mod effective;
mod finish;
mod line;
mod measurement;
mod options;
mod state;
mod table;
mod variants;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::Context as _;

use arm::{Arm, Shared};
use line::Line;
use measurement::Outcome;
use options::Asked;
pub use options::SweepArgs;
use state::State;
use variants::{Variant, order};

use super::run::{Subject, certificate, cleaned, hardware, remark, series, streams, write_shard};
use crate::calendar::unix_seconds;
use crate::exit::{Exit, Failure};
use crate::limits::need_open_files;
use crate::protocol::Trial;
use crate::stop::Stop;
use crate::talk::say;
use crate::transport;

/// A sweep in progress.
struct Sweep<'a> {
    args: &'a SweepArgs,
    asked: Asked,
    line: Line,
    shared: Shared,
    stop: Stop,
    /// From the first server that answers on.
    state: Option<State>,
    arms: Vec<Arm>,
    /// Remarks that were made.
    noted: Vec<String>,
}

/// Starts, measures, compares.
///
/// # Errors
/// Wrong usage, a configuration that is not in effect, servers of which none can be measured: each says what to do.
pub fn run(args: &SweepArgs) -> Result<Exit, Failure> {
    let asked = args.asked()?;
    let line = Line::new(&asked.launch, asked.model.as_deref(), &args.env).map_err(Failure::usage)?;
    let launched = |variant: &Variant| line.shown(variant).map_err(Failure::usage);
    let arms = asked
        .variants
        .iter()
        .map(|variant| Ok(Arm::new(variant.clone(), launched(variant)?)))
        .collect::<Result<_, Failure>>()?;
    let streams = streams(&asked.cases);
    need_open_files(u64::from(streams)).map_err(Failure::usage)?;
    let runtime = transport::runtime_for(streams).context("no runtime for the client")?;
    runtime.block_on(async {
        let sweep = Sweep {
            args,
            line,
            shared: Shared {
                run: asked.run.clone(),
                folder: args.out_dir.clone(),
                hardware: hardware(&asked.run, true),
                command: cleaned(std::env::args().skip(1), false),
            },
            asked,
            stop: Stop::watch(),
            state: None,
            arms,
            noted: Vec::new(),
        };
        sweep.run().await
    })
}

impl Sweep<'_> {
    async fn run(mut self) -> Result<Exit, Failure> {
        self.begin()?;
        let cycles = self.args.cycles;
        say(announce(&self.asked, cycles));
        let (begin, mut done) = (Instant::now(), 0);
        let mut was_stopped = false;
        'all: for cycle in 1..=cycles {
            for at in order(self.arms.len(), cycle) {
                if self.arms[at].is_complete(cycle) {
                    continue;
                }
                let outcome = self.measurement(cycle, at).await?;
                done += 1;
                self.write(at, Some(format!("in cycle {cycle} of {cycles}")))?;
                if outcome == Outcome::Stopped {
                    was_stopped = true;
                    break 'all;
                }
            }
            if self.recorded() == 0 {
                break;
            }
            self.say_left(cycle, begin.elapsed(), done);
        }
        self.finish(was_stopped)
    }

    /// Takes up an unfinished sweep, or makes sure that none is lost.
    fn begin(&mut self) -> Result<(), Failure> {
        if self.shared.run.resume {
            let state = State::resume(&self.shared.folder, &self.asked, self.args.cycles)?;
            for arm in &mut self.arms {
                arm.resume(&state, &self.shared)?;
            }
            self.state = Some(state);
            return Ok(());
        }
        State::refuse(&self.shared.folder, self.shared.run.force)?;
        for cycle in 1..=self.args.cycles {
            for arm in &self.arms {
                // Logs of an earlier sweep in this folder. One that is not there is no matter.
                let _ = std::fs::remove_file(log_path(&self.shared.folder, cycle, &arm.variant));
            }
        }
        Ok(())
    }

    /// Settles what is sent, by the first server that answers.
    async fn settle_plan(
        &mut self,
        subject: &Subject,
        found: &Trial,
        unverifiable: &[String],
    ) -> Result<(), Failure> {
        if self.state.is_some() {
            return Ok(());
        }
        let (cases, mut notes) = self.shared.run.fitting(self.asked.cases.clone(), &subject.identified)?;
        let started = unix_seconds(SystemTime::now());
        let name = self.shared.run.series.clone().unwrap_or_else(|| series(started));
        let plan = self.shared.run.plan(name, cases, found);
        notes.extend(remark(&plan, found));
        notes.extend(subject.telemetry.note());
        if !unverifiable.is_empty() {
            notes.push(format!(
                "{} does not say whether {} took effect",
                subject.identified.system.name,
                unverifiable.join(", ")
            ));
        }
        self.note_once(notes.iter().cloned());
        let calibration = certificate(&self.shared.run, &plan, found).await;
        let mut state = State::new(&self.asked, self.args.cycles, started, plan, notes);
        state.calibration = calibration;
        self.state = Some(state);
        Ok(())
    }

    fn look_at(&mut self, at: usize, subject: &Subject) -> Result<(), Failure> {
        let (Some(state), Some(arm)) = (self.state.as_mut(), self.arms.get_mut(at)) else { return Ok(()) };
        arm.look_at(subject, state, &self.shared)
    }

    fn note_once(&mut self, notes: impl Iterator<Item = String>) {
        for note in notes {
            if !self.noted.contains(&note) {
                say(format_args!("note: {note}"));
                self.noted.push(note);
            }
        }
    }

    /// Writes the shard of a variant as far as it is.
    fn write(&self, at: usize, partial: Option<String>) -> Result<(), Failure> {
        let Some(state) = &self.state else { return Ok(()) };
        let arm = &self.arms[at];
        if let (Some(shard), Some(path)) = (arm.shard(state, &self.shared, partial), arm.path()) {
            write_shard(&shard, path, true)?;
        }
        Ok(())
    }

    fn recorded(&self) -> usize {
        self.arms.iter().map(Arm::recorded).sum()
    }

    fn label_width(&self) -> usize {
        self.arms.iter().map(|arm| arm.variant.label.chars().count()).max().unwrap_or(0)
    }

    fn say_left(&self, cycle: u32, passed: Duration, done: u32) {
        let left = (cycle + 1..=self.args.cycles)
            .flat_map(|cycle| self.arms.iter().filter(move |arm| !arm.is_complete(cycle)))
            .count();
        if left > 0 && done > 0 {
            let seconds = passed.as_secs_f64() / f64::from(done) * left as f64;
            say(format_args!("about {} left", table::seconds(seconds.ceil().max(10.0))));
        }
    }
}

/// Where a measurement's log lies.
fn log_path(folder: &Path, cycle: u32, variant: &Variant) -> PathBuf {
    folder.join("logs").join(format!("cycle-{cycle}--{}.log", variant.slug))
}

fn announce(asked: &Asked, cycles: u32) -> String {
    let variants = asked.variants.len();
    let cases: Vec<String> =
        asked.cases.iter().map(|case| format!("{} ({} runs)", case.id, case.runs)).collect();
    let measurements = variants * cycles as usize;
    let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    format!(
        "{} in {}: {measurements} measurements of {}",
        plural(variants, "variant"),
        plural(cycles as usize, "cycle"),
        cases.join(", ")
    )
}
