//! Drives all cases: warm-ups, repeats, runs; each one in the journal before the next begins.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use dyno_shared::format::percent;
use dyno_shared::submission::Run;

use super::patience::{Next, Patience, is_unsent};
use super::rig::{Rig, Sent};
use super::{CaseLedger, Entry, Ledger, reproducibility, until};
use crate::journal::{Journal, JournalError};
use crate::progress::{Forecast, Progress};
use crate::workload::{CasePlan, Take};

/// Before the next case is tried after a lost connection: a server that is being restarted needs a moment.
const AFTER_LOSS: Duration = Duration::from_secs(1);

/// How a measurement ended.
#[derive(Debug)]
pub enum Ending {
    /// Every case was driven; some may have ended early.
    Complete,
    /// Somebody stopped it.
    Stopped,
    /// Nobody answers any more.
    Lost(String),
    /// A run could not be kept.
    Unkept(JournalError),
}

/// One sending of a case.
struct Step {
    /// The case, by its place.
    index: usize,
    take: Take,
    number: u32,
    /// Whether it is the first of the case since the beginning or an interruption.
    first: bool,
}

/// Runs that are foreseen; of a case that goes on until its figure is known, the fewest.
fn expected_runs(case: &CaseLedger) -> Vec<Take> {
    match (case.next_run(), case.plan.until) {
        (None, _) => Vec::new(),
        (Some(_), None) => case.missing().map(Take::Run).collect(),
        (Some(_), Some(_)) => {
            let fewest = until::FEWEST_RUNS.saturating_sub(case.runs.len()).max(1);
            case.missing().take(fewest).map(Take::Run).collect()
        }
    }
}

/// Why a case stops before its last run.
enum Left {
    Stopped,
    Case(String),
    All(String),
    Unkept(JournalError),
}

/// The parts of a measurement in progress.
#[derive(Debug)]
pub struct Measurement<'a, S> {
    /// Sends.
    pub rig: Rig<'a>,
    /// What there is so far.
    pub ledger: &'a mut Ledger,
    /// Keeps it.
    pub journal: &'a mut Journal,
    /// Completes when somebody wants it to stop.
    pub stop: Pin<&'a mut S>,
    /// Shows how far it is.
    progress: Progress,
    patience: Patience,
}

impl<'a, S: Future<Output = ()>> Measurement<'a, S> {
    /// A measurement of what the ledger lacks.
    pub fn new(rig: Rig<'a>, ledger: &'a mut Ledger, journal: &'a mut Journal, stop: Pin<&'a mut S>) -> Self {
        let mut forecast = Forecast::default();
        for case in &ledger.cases {
            let takes = case.warmup_takes().into_iter().chain(expected_runs(case));
            forecast.add(takes.map(|take| case.plan.weight(take)).collect());
        }
        Self { rig, ledger, journal, stop, progress: Progress::new(forecast), patience: Patience::default() }
    }

    /// The same as a part of something larger, which says for itself when it begins and ends.
    #[must_use]
    pub fn of_part(self, part: String) -> Self {
        Self { progress: self.progress.of_part(part), ..self }
    }

    /// Drives every case that is not complete.
    pub async fn run(&mut self) -> Ending {
        let ending = self.all_cases().await;
        self.progress.finish();
        ending
    }

    async fn all_cases(&mut self) -> Ending {
        for index in 0..self.ledger.cases.len() {
            self.patience.new_case();
            let left = self.one_case(index).await;
            self.progress.leave(index);
            match left {
                Ok(()) => {}
                Err(Left::Stopped) => return Ending::Stopped,
                Err(Left::Unkept(error)) => return Ending::Unkept(error),
                Err(Left::Case(why)) => {
                    self.end_early(index, &why);
                }
                Err(Left::All(why)) => {
                    self.end_early(index, &why);
                    return Ending::Lost(why);
                }
            }
        }
        Ending::Complete
    }

    fn end_early(&mut self, index: usize, why: &str) {
        if let Some(case) = self.ledger.cases.get_mut(index) {
            self.progress.say(&format!("{}: ended early: {why}", case.plan.id));
            case.ended_early = Some(why.to_owned());
        }
    }

    async fn one_case(&mut self, index: usize) -> Result<(), Left> {
        let Some(case) = self.ledger.cases.get(index) else { return Ok(()) };
        let (plan, warmups, recorded) = (case.plan.clone(), case.warmup_takes(), case.warmups.len() as u32);
        let mut repeated = Vec::new();
        let mut first = true;
        for (at, take) in (1..).zip(&warmups) {
            let doing = format!("{}: warm-up {at} of {}", plan.id, warmups.len());
            let step = Step { index, take: *take, number: recorded + at, first: std::mem::take(&mut first) };
            let text = self.step(&plan, step, &doing).await?;
            if *take == Take::Repeat {
                repeated.extend(text);
            }
            if at == plan.repeats()
                && let Some(found) = reproducibility::compare(&repeated)
            {
                self.enter(Entry::Reproducibility { case: plan.id.clone(), found })?;
            }
        }
        while let Some((take, number, doing)) = self.next_run(index) {
            let step = Step { index, take, number, first: std::mem::take(&mut first) };
            self.enter(Entry::Begun { case: plan.id.clone(), number })?;
            self.step(&plan, step, &doing).await?;
        }
        Ok(())
    }

    /// The next recorded run of a case, its number, and what to say of it.
    fn next_run(&self, index: usize) -> Option<(Take, u32, String)> {
        let case = self.ledger.cases.get(index)?;
        let take = case.next_run()?;
        let number = take.recorded()?;
        let id = &case.plan.id;
        let doing = match case.plan.until {
            None => format!("{id}: run {number} of {}", case.plan.runs_before.saturating_add(case.plan.runs)),
            Some(until) => {
                let (so_far, wanted) = (until::half_width(case), Some(until.half_width));
                format!("{id}: run {number}, ± {} of ± {}", percent(so_far), percent(wanted))
            }
        };
        Some((take, number, doing))
    }

    /// Sends once and keeps what came; the text of an answer that may be compared with others.
    async fn step(&mut self, plan: &CasePlan, step: Step, doing: &str) -> Result<Option<String>, Left> {
        let Step { index, take, number, first } = step;
        self.progress.begin(doing, first);
        let sent = self.send(plan, take, number).await?;
        self.progress.sent(index, sent.seconds);
        let text = sent.run.passed().then(|| sent.text.clone());
        match self.keep(plan, take, sent)? {
            Next::GoOn => Ok(text),
            Next::LeaveCase(why) => Err(self.pause_if_lost(why).await),
            Next::LeaveAll(why) => Err(Left::All(why)),
        }
    }

    async fn send(&mut self, plan: &CasePlan, take: Take, number: u32) -> Result<Sent, Left> {
        tokio::select! {
            biased;
            // Dropping the request closes its connection, which is how an engine learns to stop.
            () = &mut self.stop => Err(Left::Stopped),
            sent = self.rig.send(plan, take, number) => Ok(sent),
        }
    }

    /// Enters what was sent, unless nothing was: a connection that could not be opened is no run.
    fn keep(&mut self, plan: &CasePlan, take: Take, sent: Sent) -> Result<Next, Left> {
        let Sent { run, continuation, .. } = sent;
        let next = self.patience.after(&run, continuation.as_ref());
        let case = plan.id.clone();
        if is_unsent(&run) {
            if let Some(number) = take.recorded() {
                self.enter(Entry::Unsent { case, number })?;
            }
            return Ok(next);
        }
        if let Some(number) = take.recorded() {
            let failures: Vec<String> =
                std::iter::once(&run).chain(&continuation).flat_map(Run::failures).collect();
            if !failures.is_empty() {
                self.progress.say(&format!("{case}, run {number}: {}", failures.join("; ")));
            }
            self.enter(Entry::Run { case, run, continuation })?;
        } else {
            self.enter(Entry::Warmup { case, run, continuation })?;
        }
        Ok(next)
    }

    fn enter(&mut self, entry: Entry) -> Result<(), Left> {
        self.journal.append(&entry).map_err(Left::Unkept)?;
        self.ledger.enter(entry);
        Ok(())
    }

    /// A moment's pause where the connection was lost, so that the next case meets a server that came back.
    async fn pause_if_lost(&mut self, why: String) -> Left {
        if self.patience.is_lost() {
            tokio::select! {
                biased;
                () = &mut self.stop => return Left::Stopped,
                () = tokio::time::sleep(AFTER_LOSS) => {}
            }
        }
        Left::Case(why)
    }
}
