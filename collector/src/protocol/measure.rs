//! Drives all cases: warm-ups, repeats, runs; each one in the journal before the next begins.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use super::patience::{Next, Patience, is_unsent};
use super::rig::{Rig, Sent};
use super::{CaseLedger, Entry, Ledger, reproducibility};
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

/// What is still to be sent for a case.
fn takes(case: &CaseLedger) -> Vec<Take> {
    if case.is_complete() {
        return Vec::new();
    }
    let warmups = if case.runs.is_empty() {
        case.plan.warmup_takes()
    } else {
        case.plan.rewarm_takes(case.warmups.len() as u32)
    };
    warmups.into_iter().chain(case.missing().map(Take::Run)).collect()
}

impl<'a, S: Future<Output = ()>> Measurement<'a, S> {
    /// A measurement of what the ledger lacks.
    pub fn new(rig: Rig<'a>, ledger: &'a mut Ledger, journal: &'a mut Journal, stop: Pin<&'a mut S>) -> Self {
        let mut forecast = Forecast::default();
        for case in &ledger.cases {
            forecast.add(takes(case).into_iter().map(|take| case.plan.weight(take)).collect());
        }
        Self { rig, ledger, journal, stop, progress: Progress::new(forecast), patience: Patience::default() }
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
        let (plan, takes, recorded) = (case.plan.clone(), takes(case), case.warmups.len() as u32);
        let warmups = takes.iter().filter(|take| !matches!(take, Take::Run(_))).count();
        let mut repeated = Vec::new();
        for (at, take) in takes.into_iter().enumerate() {
            let (number, doing) = match take {
                Take::Run(number) => (number, format!("{}: run {number} of {}", plan.id, plan.runs)),
                _ => (recorded + at as u32 + 1, format!("{}: warm-up {} of {warmups}", plan.id, at + 1)),
            };
            self.progress.begin(&doing, at == 0);
            let sent = self.send(&plan, take, number).await?;
            self.progress.sent(index, sent.seconds);
            if take == Take::Repeat && sent.run.passed() {
                repeated.push(sent.text.clone());
            }
            let next = self.keep(&plan, take, sent)?;
            match next {
                Next::GoOn => {}
                Next::LeaveCase(why) => return Err(self.pause_if_lost(why).await),
                Next::LeaveAll(why) => return Err(Left::All(why)),
            }
            if at + 1 == plan.repeats() as usize
                && let Some(found) = reproducibility::compare(&repeated)
            {
                self.enter(Entry::Reproducibility { case: plan.id.clone(), found })?;
            }
        }
        Ok(())
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
        let Sent { run, .. } = sent;
        let next = self.patience.after(&run);
        if is_unsent(&run) {
            return Ok(next);
        }
        let case = plan.id.clone();
        if let Take::Run(number) = take {
            let failures = run.failures();
            if !failures.is_empty() {
                self.progress.say(&format!("{case}, run {number}: {}", failures.join("; ")));
            }
            self.enter(Entry::Run { case, run })?;
        } else {
            self.enter(Entry::Warmup { case, run })?;
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
