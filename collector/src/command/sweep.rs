//! `dyno sweep`: starts a server in several variants, measures each of them in every cycle, and compares.

mod arm;
mod effective;
mod line;
mod measurement;
mod options;
mod state;
mod table;
mod variants;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, anyhow};
use dyno_shared::plain::plain;
use dyno_shared::submission::Submission;
use dyno_shared::sweep::compare;
use dyno_shared::system::Hardware;
use serde_json::json;

use arm::{Arm, Shared};
use line::Line;
use measurement::Outcome;
use options::Asked;
pub use options::SweepArgs;
use state::State;
use variants::{Variant, order};

use super::run::{Subject, cleaned, hardware, quoted, remark, series, write_shard};
use crate::calendar::unix_seconds;
use crate::exit::{Exit, Failure};
use crate::protocol::Trial;
use crate::stop::Stop;
use crate::talk::say;
use crate::transport;

/// A sweep in progress.
struct Sweep<'a> {
    args: &'a SweepArgs,
    asked: Asked,
    line: Line,
    folder: &'a Path,
    hardware: Hardware,
    command: String,
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
    let runtime = transport::runtime().context("no runtime for the client")?;
    runtime.block_on(async {
        let sweep = Sweep {
            args,
            line,
            folder: &args.out_dir,
            hardware: hardware(&asked.run, true),
            asked,
            command: cleaned(std::env::args().skip(1), false),
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
        if self.asked.run.resume {
            let state = State::resume(self.folder, &self.asked, self.args.cycles)?;
            let shared = Shared {
                run: &self.asked.run,
                folder: self.folder,
                hardware: &self.hardware,
                command: &self.command,
            };
            for arm in &mut self.arms {
                arm.resume(&state, shared)?;
            }
            self.state = Some(state);
            return Ok(());
        }
        State::refuse(self.folder, self.asked.run.force)?;
        for cycle in 1..=self.args.cycles {
            for arm in &self.arms {
                // Logs of an earlier sweep in this folder. One that is not there is no matter.
                let _ = std::fs::remove_file(log_path(self.folder, cycle, &arm.variant));
            }
        }
        Ok(())
    }

    /// Settles what is sent, by the first server that answers.
    fn settle_plan(
        &mut self,
        subject: &Subject,
        found: &Trial,
        unverifiable: &[String],
    ) -> Result<(), Failure> {
        if self.state.is_some() {
            return Ok(());
        }
        let (cases, mut notes) = self.asked.run.fitting(self.asked.cases.clone(), &subject.identified)?;
        let started = unix_seconds(SystemTime::now());
        let name = self.asked.run.series.clone().unwrap_or_else(|| series(started));
        let plan = self.asked.run.plan(name, cases, found);
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
        self.state = Some(State::new(&self.asked, self.args.cycles, started, plan, notes));
        Ok(())
    }

    fn look_at(&mut self, at: usize, subject: &Subject) -> Result<(), Failure> {
        let shared = Shared {
            run: &self.asked.run,
            folder: self.folder,
            hardware: &self.hardware,
            command: &self.command,
        };
        let (Some(state), Some(arm)) = (self.state.as_mut(), self.arms.get_mut(at)) else { return Ok(()) };
        arm.look_at(subject, state, shared, self.asked.run.force)
    }

    fn shared(&self) -> Shared<'_> {
        Shared { run: &self.asked.run, folder: self.folder, hardware: &self.hardware, command: &self.command }
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
        if let (Some(shard), Some(path)) = (arm.shard(state, self.shared(), partial), arm.path()) {
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

    /// The shards as they end, the comparison, and what to do next.
    fn finish(self, was_stopped: bool) -> Result<Exit, Failure> {
        let cycles = self.args.cycles;
        let resume =
            format!("the same command with --resume goes on (in {})", quoted(&self.folder.to_string_lossy()));
        let Some(state) = self.state.as_ref().filter(|_| self.recorded() > 0) else {
            if was_stopped {
                say("stopped before the first recorded run: no file was written");
                return Ok(Exit::ChecksFailed);
            }
            return Err(Failure::endpoint(anyhow!("no variant could be measured: see above, and the logs")));
        };
        let mut shards = Vec::new();
        let mut is_whole = true;
        for arm in &self.arms {
            let lacks: Vec<u32> = (1..=cycles).filter(|&cycle| !arm.is_complete(cycle)).collect();
            is_whole &= lacks.is_empty();
            let partial = partial(&lacks, cycles, was_stopped);
            if let (Some(shard), Some(path)) = (arm.shard(state, self.shared(), partial), arm.path()) {
                write_shard(&shard, path, true)?;
                shards.push((shard, path.to_owned()));
            } else {
                say(format_args!("{}: nothing was measured", arm.variant.label));
            }
        }
        self.report(&shards)?;
        let failed: usize = self.arms.iter().map(Arm::failed).sum();
        if is_whole {
            let (state, journals) = (State::path(self.folder), arm::journals(self.folder));
            for arm in self.arms {
                arm.close()?;
            }
            std::fs::remove_file(&state).with_context(|| format!("cannot remove {}", state.display()))?;
            // Something else may lie in it.
            let _ = std::fs::remove_dir(journals);
        } else if was_stopped {
            say(format_args!("stopped; {resume}"));
        } else {
            say(format_args!("some measurements failed; {resume} and measures them again"));
        }
        Ok(if is_whole && failed == 0 { Exit::Done } else { Exit::ChecksFailed })
    }

    fn report(&self, shards: &[(Submission, PathBuf)]) -> Result<(), Failure> {
        let variants: Vec<&Submission> = shards.iter().map(|(shard, _)| shard).collect();
        let comparison = compare(&variants);
        let files: Vec<String> = shards.iter().map(|(_, path)| path.display().to_string()).collect();
        if self.asked.run.json {
            let variants = shards.iter().map(|(shard, path)| {
                json!({ "label": shard.label, "file": path, "partial": shard.provenance.partial })
            });
            let failures = self.arms.iter().flat_map(|arm| {
                arm.failures
                    .iter()
                    .map(|(cycle, why)| json!({ "variant": arm.variant.label, "cycle": cycle, "why": why }))
            });
            super::print_json(&json!({
                "series": self.state.as_ref().map(|state| &state.plan.series),
                "variants": variants.collect::<Vec<_>>(),
                "failures": failures.collect::<Vec<_>>(),
                "cases": table::json(&comparison),
            }))?;
        } else {
            say("");
            let (text, warnings) = (table::text(&comparison), table::warnings(&variants));
            super::print(&format!("{}\n{text}{warnings}", header(&variants)))?;
        }
        let written: Vec<String> = files.iter().map(|file| format!("  {}", quoted(file))).collect();
        say(format_args!(
            "\nwrote {} shards (dyno report FILE shows one):\n{}",
            files.len(),
            written.join("\n")
        ));
        Ok(())
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

/// Why a shard is only a part, if it is.
fn partial(lacks: &[u32], cycles: u32, was_stopped: bool) -> Option<String> {
    let list = lacks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match lacks {
        [] => None,
        _ if was_stopped => {
            Some(format!("stopped by the user: runs of cycle {list} of {cycles} are missing"))
        }
        _ => Some(format!("runs of cycle {list} of {cycles} are missing")),
    }
}

/// What was compared.
fn header(variants: &[&Submission]) -> String {
    let Some(first) = variants.first() else { return String::new() };
    let (engine, model) = (&first.system.engine, &first.system.model);
    let what = [
        Some(model.name.as_str()),
        model.quantisation.as_deref(),
        Some("on"),
        Some(&engine.name),
        engine.version.as_deref(),
    ];
    let line = what.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let simulated = if engine.simulated {
        "SIMULATED: these figures are of Dyno's own simulated engine, an instrument and no result\n"
    } else {
        ""
    };
    format!("{} · {}\n{simulated}", plain(&line), plain(&first.system.hardware.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_says_which_cycles_it_lacks() {
        assert_eq!(partial(&[], 3, true), None);
        assert_eq!(partial(&[2], 3, false).unwrap(), "runs of cycle 2 of 3 are missing");
        assert!(partial(&[2, 3], 3, true).unwrap().contains("by the user: runs of cycle 2, 3 of 3"));
    }
}
