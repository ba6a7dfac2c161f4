//! One variant, and what has been measured of it.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::time::SystemTime;

use anyhow::{Context as _, anyhow};
use dyno_shared::metric::{self, Metric};
use dyno_shared::submission::{Run, Submission};
use dyno_shared::sweep::by_cycle;
use dyno_shared::system::Hardware;
use dyno_shared::workload::Sampling;

use super::state::{Known, State};
use super::variants::Variant;
use crate::calendar::unix_seconds;
use crate::command::run::{Facts, Measured, PartOf, RunArgs, SIMULATED, Subject, below_results, named};
use crate::exit::Failure;
use crate::journal::{Header, Journal};
use crate::protocol::{CaseLedger, Ending, Ledger};

/// One variant.
#[derive(Debug)]
pub(super) struct Arm {
    /// What it is.
    pub variant: Variant,
    /// The line that starts it, as others may see it.
    pub launched: String,
    /// Measurements that failed: the cycle, and why.
    pub failures: Vec<(u32, String)>,
    begun: Option<Begun>,
}

/// What there is from the first look at its server on.
#[derive(Debug)]
struct Begun {
    header: Header,
    journal: Journal,
    ledger: Ledger,
    facts: Facts,
    samplings: Vec<Sampling>,
    path: PathBuf,
}

/// What all arms share.
#[derive(Debug)]
pub(super) struct Shared {
    /// The options of each measurement.
    pub run: RunArgs,
    /// Logs and journals.
    pub folder: PathBuf,
    /// The machine.
    pub hardware: Hardware,
    /// The command line, cleaned.
    pub command: String,
}

impl Arm {
    /// Of which nothing is measured.
    pub fn new(variant: Variant, launched: String) -> Self {
        Self { variant, launched, failures: Vec::new(), begun: None }
    }

    /// Takes up what was measured before an interruption.
    pub fn resume(&mut self, state: &State, shared: &Shared) -> Result<(), Failure> {
        let path = self.journal_path(&shared.folder);
        let Some(Known { facts, samplings }) = state.known.get(&self.variant.slug).cloned() else {
            return Ok(());
        };
        if !is_begun(&path) {
            // What broke off before its first line was whole was not begun. A file that is not there is no matter.
            let _ = std::fs::remove_file(&path);
            return Ok(());
        }
        let (journal, header, entries) = Journal::resume(&path).map_err(Failure::usage)?;
        let ledger = Ledger::replay(&header.plan.cases, entries);
        let path = self.shard_path(&facts, state, shared);
        self.begun = Some(Begun { header, journal, ledger, facts, samplings, path });
        Ok(())
    }

    /// Notes which engine its server is. The first time its journal is begun; later it must be the same engine.
    pub fn look_at(&mut self, subject: &Subject, state: &mut State, shared: &Shared) -> Result<(), Failure> {
        let replace = shared.run.force;
        let (engine, model) = (subject.engine_line(), &subject.identified.model_id);
        if let Some(Begun { header, .. }) = &self.begun {
            for (what, was, is) in [("engine", &header.engine, &engine), ("model", &header.model, model)] {
                if was != is {
                    return Err(Failure::usage(anyhow!(
                        "{}: its {what} is {is} now and was {was} in an earlier cycle: cycles of two programs cannot be \
                         compared. Start over with --force",
                        self.variant.label
                    )));
                }
            }
            return Ok(());
        }
        let facts = Facts::of(&subject.identified);
        let path = self.shard_path(&facts, state, shared);
        if path.exists() && !replace {
            return Err(Failure::usage(anyhow!(
                "{} exists: replace it with --force, or name another folder with --out-dir",
                path.display()
            )));
        }
        let mut details = shared.run.details();
        details.label = Some(label(&self.variant, &facts));
        details.set = self.variant.settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
        let mut header =
            Header::new(state.started_unix_s, state.plan.clone(), engine, model.clone(), details);
        header.calibration.clone_from(&state.calibration);
        let ledger = Ledger::new(&header.plan.cases);
        let samplings = subject.samplings(&header, &ledger);
        let known = Known { facts: facts.clone(), samplings: samplings.clone() };
        state.known.insert(self.variant.slug.clone(), known);
        state.write(&shared.folder)?;
        let journal =
            Journal::create(&self.journal_path(&shared.folder), &header, replace).map_err(Failure::usage)?;
        self.begun = Some(Begun { header, journal, ledger, facts, samplings, path });
        Ok(())
    }

    /// Sends what a cycle lacks.
    pub async fn measure<S: Future<Output = ()>>(
        &mut self,
        part: &PartOf,
        subject: &Subject,
        stop: Pin<&mut S>,
    ) -> Option<Ending> {
        let Begun { header, journal, ledger, .. } = self.begun.as_mut()?;
        for case in &mut ledger.cases {
            turn_to(case, part.cycle);
        }
        Some(subject.measure(header, Some(part), ledger, journal, stop).await)
    }

    /// Whether all runs of a cycle are there.
    pub fn is_complete(&self, cycle: u32) -> bool {
        self.begun.as_ref().is_some_and(|begun| {
            begun
                .ledger
                .cases
                .iter()
                .all(|case| case.missing_after(runs_before(case, cycle)).next().is_none())
        })
    }

    /// Why cases of the cycle at hand ended early.
    pub fn ended_early(&self) -> Vec<String> {
        let cases = self.begun.iter().flat_map(|begun| &begun.ledger.cases);
        cases
            .filter_map(|case| case.ended_early.as_ref().map(|why| format!("{}: {why}", case.plan.id)))
            .collect()
    }

    /// Runs of a cycle, and those of them that passed.
    pub fn runs(&self, cycle: u32) -> (usize, usize) {
        let runs: Vec<&Run> = self
            .begun
            .iter()
            .flat_map(|begun| &begun.ledger.cases)
            .flat_map(|case| &case.runs)
            .filter(|run| run.cycle == Some(cycle))
            .collect();
        (runs.len(), runs.iter().filter(|run| run.passed()).count())
    }

    /// Recorded runs in all.
    pub fn recorded(&self) -> usize {
        self.begun.as_ref().map_or(0, |begun| begun.ledger.recorded())
    }

    /// Recorded runs that did not pass.
    pub fn failed(&self) -> usize {
        self.begun.as_ref().map_or(0, |begun| begun.ledger.failed())
    }

    /// Where its shard lies, once there is one.
    pub fn path(&self) -> Option<&Path> {
        self.begun.as_ref().filter(|begun| begun.ledger.recorded() > 0).map(|begun| begun.path.as_path())
    }

    /// Its shard; `None` before the first recorded run.
    pub fn shard(&self, state: &State, shared: &Shared, partial: Option<String>) -> Option<Submission> {
        let begun = self.begun.as_ref().filter(|begun| begun.ledger.recorded() > 0)?;
        let mut header = begun.header.clone();
        header.details.notes.clone_from(&state.notes);
        header.details.notes.push(format!("launched with: {}", self.launched));
        let failures: Vec<String> =
            self.failures.iter().map(|(cycle, why)| format!("cycle {cycle} failed: {why}")).collect();
        header.details.notes.extend(failures.iter().cloned());
        let mut ledger = begun.ledger.clone();
        for case in &mut ledger.cases {
            let planned = u64::from(case.plan.runs) * u64::from(state.cycles);
            let lacks = (case.runs.len() as u64) < planned;
            case.ended_early = (lacks && !failures.is_empty()).then(|| failures.join("; "));
        }
        let measured = Measured {
            header: &header,
            ledger: &ledger,
            samplings: begun.samplings.clone(),
            facts: &begun.facts,
            hardware: shared.hardware.clone(),
            url: None,
            command: shared.command.clone(),
            ended_unix_s: unix_seconds(SystemTime::now()),
            partial,
        };
        Some(measured.submission())
    }

    /// Removes its journal, because the shard is safe.
    pub fn close(self) -> anyhow::Result<()> {
        self.begun.map_or(Ok(()), |begun| begun.journal.remove().context("cannot remove a journal"))
    }

    fn journal_path(&self, folder: &Path) -> PathBuf {
        journals(folder).join(format!("{}.journal", self.variant.slug))
    }

    fn shard_path(&self, facts: &Facts, state: &State, shared: &Shared) -> PathBuf {
        let slug = &self.variant.slug;
        let label = if facts.engine.simulated { format!("{SIMULATED}-{slug}") } else { slug.clone() };
        let folder = below_results(&shared.run, facts, state.started_unix_s);
        folder.unwrap_or_else(|| shared.folder.clone()).join(named(
            &shared.run,
            facts,
            &shared.hardware,
            &label,
        ))
    }
}

/// Whether a journal holds its first line.
fn is_begun(journal: &Path) -> bool {
    std::fs::read(journal).is_ok_and(|bytes| bytes.contains(&b'\n'))
}

/// Where the journals lie.
pub(super) fn journals(folder: &Path) -> PathBuf {
    folder.join("journals")
}

fn label(variant: &Variant, facts: &Facts) -> String {
    if facts.engine.simulated { format!("{SIMULATED} {}", variant.label) } else { variant.label.clone() }
}

/// Runs of a case in the cycles before one: its own are (cycle − 1)·R + 1 to cycle·R.
fn runs_before(case: &CaseLedger, cycle: u32) -> u32 {
    (cycle - 1).saturating_mul(case.plan.runs)
}

/// Lets a case lack the runs of one cycle.
fn turn_to(case: &mut CaseLedger, cycle: u32) {
    case.plan.runs_before = runs_before(case, cycle);
    case.ended_early = None;
    // A fresh process has seen nothing of a run that was in flight in another one.
    case.in_flight = None;
}

/// The headline figure of each case in one cycle, for the line of a measurement.
pub(super) fn figures(shard: &Submission, cycle: u32) -> Vec<(&str, &'static Metric, Option<f64>)> {
    shard
        .cases
        .iter()
        .filter_map(|case| {
            let metric = metric::find(case.regime.headline())?;
            let figure = by_cycle(case, metric).into_iter().find(|(of, _)| *of == cycle);
            Some((case.id.as_str(), metric, figure.map(|(_, figure)| figure)))
        })
        .collect()
}
