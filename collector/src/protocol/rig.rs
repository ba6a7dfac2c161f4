//! Sends one run of a case, a request or a batch of them, and records what was observed.

use std::time::Instant;

use dyno_shared::submission::{Run, flag};
use dyno_shared::units::Seconds;
use dyno_shared::workload::Sampling;

use super::asker::Asker;
use super::judge::{Answered, Place, judge};
use super::proof::Proof;
use super::side_by_side::side_by_side;
use super::{Plan, batch};
use crate::endpoint::openai_chat::{Message, Optional};
use crate::engine::{Identified, LogFile, Snapshot, count_tokens, counters, log_lines};
use crate::stream::Observed;
use crate::telemetry::Sampler;
use crate::transport::{Ask, Target};
use crate::workload::{self, CasePlan, Prompt, Shape, Take, draft};

/// How often the engine is asked for the tokens of one text.
const COUNT_TRIES: u32 = 3;

/// Prompts that are brought to their length at a time.
const FITTED_AT_A_TIME: u32 = 8;

/// Everything that a request needs.
#[derive(Debug)]
pub struct Rig<'a> {
    /// Where the engine is.
    pub target: &'a Target,
    /// Which engine it is.
    pub identified: &'a Identified,
    /// Which optional fields are sent.
    pub optional: Optional,
    /// What is measured.
    pub plan: &'a Plan,
    /// The cycle of a sweep to which its runs belong.
    pub cycle: Option<u32>,
    /// Watches the machine beside every run.
    pub telemetry: &'a Sampler,
    /// What the engine writes beside its answers, where it can be read.
    pub log: Option<&'a LogFile>,
    /// Reads the seconds since the measurement began.
    pub clock: Clock,
}

/// Seconds since a measurement began; of a resumed one since its first beginning.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    now: Instant,
    passed_s: f64,
}

impl Clock {
    /// A clock that shows `passed_s` now.
    pub fn at(passed_s: f64) -> Self {
        Self { now: Instant::now(), passed_s: passed_s.max(0.0) }
    }

    fn read(self) -> Seconds {
        Seconds(self.passed_s + self.now.elapsed().as_secs_f64())
    }
}

/// What one sending gave.
#[derive(Debug)]
pub struct Sent {
    /// What was observed; of sessions their first turns.
    pub run: Run,
    /// The later turns of sessions.
    pub continuation: Option<Run>,
    /// All generated text of the first stream, reasoning first.
    pub text: String,
    /// How long it took, connections and counters included.
    pub seconds: f64,
}

impl Rig<'_> {
    /// The sampling that is really sent with a case's requests: without the fields that are left out.
    pub fn sampling(&self, case: &CasePlan) -> Sampling {
        let planned = self.plan.sampling(case);
        let Optional { top_k, seed, ignore_eos, thinking_switch, .. } = self.optional;
        Sampling {
            top_k: planned.top_k.filter(|_| top_k),
            seed: planned.seed.filter(|_| seed),
            ignore_eos: planned.ignore_eos.filter(|_| ignore_eos),
            thinking: planned.thinking.filter(|_| thinking_switch),
            ..planned
        }
    }

    /// Sends a case's prompts once. A recorded run is judged; a warm-up is only recorded.
    pub async fn send(&self, case: &CasePlan, take: Take, number: u32) -> Sent {
        let begin = Instant::now();
        let sending = Sending { case, take, number, sampling: self.sampling(case) };
        let prompts = self.prompts(case, take).await;
        let sent = match case.shape() {
            Shape::Batch => {
                let asks = self.asks(&prompts, &sending.sampling);
                let (run, observed) =
                    self.window(number, async |start| batch::drive(self.target, asks, start).await).await;
                self.judged(&sending, run, prompts, observed)
            }
            Shape::OpenLoop => self.send_on_schedule(&sending, prompts).await,
            Shape::TwoLength => self.send_at_two_lengths(&sending, prompts).await,
            Shape::Session => self.send_sessions(&sending, prompts).await,
        };
        let mut sent = Sent { seconds: begin.elapsed().as_secs_f64(), ..sent };
        if matches!(take, Take::Again { .. }) {
            for run in std::iter::once(&mut sent.run).chain(&mut sent.continuation) {
                run.flags.push(flag::MADE_AGAIN.to_owned());
            }
        }
        sent
    }

    /// A run of one request for each prompt, judged.
    pub(super) fn judged(
        &self,
        sending: &Sending<'_>,
        mut run: Run,
        prompts: Vec<Prompt>,
        observed: Vec<Observed>,
    ) -> Sent {
        let text = observed.first().map_or_else(String::new, |o| format!("{}{}", o.reasoning, o.text));
        let several = prompts.len() > 1;
        let answers = prompts.into_iter().zip(observed).zip(0..).map(|((prompt, observed), stream)| {
            let place = Place { stream: several.then_some(stream), turn: None };
            Answered { expected: prompt.expected, tokens: sending.tokens(), place, observed }
        });
        judge(self.plan, &mut run, answers.collect(), sending.proof());
        Sent { run, continuation: None, text, seconds: 0.0 }
    }

    /// What is observed while the engine's counters and the machine are watched: a run without requests yet, and the answers.
    pub(super) async fn window(
        &self,
        number: u32,
        work: impl AsyncFnOnce(Instant) -> Vec<Observed>,
    ) -> (Run, Vec<Observed>) {
        let before = self.counters().await;
        let logged = self.log.and_then(|log| Some((log, log.end().ok()?)));
        let started_s = self.clock.read();
        let watched = self.telemetry.begin();
        let observed = work(Instant::now()).await;
        let telemetry = watched.end();
        let after = if before.is_some() { self.counters().await } else { None };
        let mut run =
            Run { number, cycle: self.cycle, started_s: Some(started_s), telemetry, ..Run::default() };
        if let (Some(before), Some(after)) = (before, after) {
            let delta = before.delta(&after);
            if delta.reset {
                run.flags.push(flag::COUNTER_RESET.to_owned());
            }
            run.counters = Some(delta.counters);
        }
        if let Some(said) = logged.and_then(|(log, end)| log.since(end).ok()) {
            run.counters = log_lines::complete(run.counters, &said);
        }
        (run, observed)
    }

    /// The prompts of all streams, each of its exact length where the engine counts tokens. Nothing is timed yet.
    async fn prompts(&self, case: &CasePlan, take: Take) -> Vec<Prompt> {
        let mut prompts = Vec::new();
        while let Some(left) = case.streams().checked_sub(prompts.len() as u32).filter(|left| *left > 0) {
            let first = prompts.len() as u32;
            let streams = first..first + left.min(FITTED_AT_A_TIME);
            prompts.extend(side_by_side(streams.map(|stream| self.prompt(case, take, stream))).await);
        }
        prompts
    }

    async fn prompt(&self, case: &CasePlan, take: Take, stream: u32) -> Prompt {
        let draft = draft(case, &self.plan.series, take, stream);
        let lengths = self.plan.lengths();
        if let workload::Message::Long(long) = &draft.message
            && let Some(text) = long.exact(lengths, async |text: &str| self.count(text).await).await
        {
            return draft.with(text);
        }
        draft.about(lengths)
    }

    /// Tokens of a text. It is asked again where a call fails: one that is not answered would make another prompt.
    async fn count(&self, text: &str) -> Option<u64> {
        for _ in 1..COUNT_TRIES {
            let counted = count_tokens(self.target, self.identified, text).await;
            if counted.is_some() || !self.identified.has_tokenizer {
                return counted;
            }
        }
        count_tokens(self.target, self.identified, text).await
    }

    /// One request for each prompt, on a stream of its own.
    pub(super) fn asks(&self, prompts: &[Prompt], sampling: &Sampling) -> Vec<Ask> {
        (0..).zip(prompts).map(|(stream, prompt)| self.ask(prompt, sampling, stream)).collect()
    }

    /// A request that begins a conversation.
    pub(super) fn ask(&self, prompt: &Prompt, sampling: &Sampling, stream: u32) -> Ask {
        self.asker().ask(vec![Message::user(prompt.text.clone())], prompt.tag.clone(), sampling, stream)
    }

    /// What all requests have in common.
    pub(super) fn asker(&self) -> Asker {
        let Identified { model_id, dialect, .. } = self.identified;
        Asker { model: model_id.clone(), optional: self.optional, dialect: *dialect }
    }

    async fn counters(&self) -> Option<Snapshot> {
        if self.identified.has_metrics { counters(self.target, self.identified.engine).await } else { None }
    }
}

/// Which run of which case is sent, and with what.
#[derive(Debug)]
pub(super) struct Sending<'a> {
    pub(super) case: &'a CasePlan,
    pub(super) take: Take,
    pub(super) number: u32,
    pub(super) sampling: Sampling,
}

impl Sending<'_> {
    /// Tokens that every answer must have, because the end of sequence is ignored.
    pub(super) fn tokens(&self) -> Option<u64> {
        (self.sampling.ignore_eos == Some(true)).then_some(self.case.max_tokens)
    }

    /// What the run must prove of the cache; `None` where it is not recorded.
    pub(super) fn proof(&self) -> Option<Proof> {
        self.take.recorded().map(|_| Proof::of(self.case.regime))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_a_resumed_measurement_goes_on() {
        assert!(Clock::at(100.0).read().get() >= 100.0);
        assert!(Clock::at(-5.0).read().get() >= 0.0);
    }
}
