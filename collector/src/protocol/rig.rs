//! Sends one run of a case, a request or a batch of them, and records what was observed.

use std::time::Instant;

use dyno_shared::shard::sha256_hex;
use dyno_shared::submission::{Run, flag};
use dyno_shared::units::Seconds;
use dyno_shared::workload::Sampling;

use super::judge::{Answered, Place, judge};
use super::proof::Proof;
use super::{Plan, batch};
use crate::endpoint::openai_chat::{ChatRequest, Message, Optional, PATH};
use crate::engine::{Identified, Snapshot, count_tokens, counters};
use crate::stream::Observed;
use crate::transport::{Ask, Target};
use crate::workload::{self, CasePlan, Prompt, Take, draft};

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
    /// What was observed.
    pub run: Run,
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
        let sampling = self.sampling(case);
        let prompts = self.prompts(case, take).await;
        let asks: Vec<Ask> = (0..).zip(&prompts).map(|(i, prompt)| self.ask(prompt, &sampling, i)).collect();
        let (mut run, observed) =
            self.window(number, async |start| batch::drive(self.target, asks, start).await).await;
        let text = observed.first().map_or_else(String::new, |o| format!("{}{}", o.reasoning, o.text));
        let answers = prompts
            .into_iter()
            .zip(observed)
            .zip(0..)
            .map(|((prompt, observed), stream)| Answered {
                expected: prompt.expected,
                tokens: (sampling.ignore_eos == Some(true)).then_some(case.max_tokens),
                place: Place { stream: (case.streams() > 1).then_some(stream), turn: None },
                observed,
            })
            .collect();
        judge(self.plan, &mut run, answers, take.recorded().map(|_| Proof::of(case.regime)));
        Sent { run, text, seconds: begin.elapsed().as_secs_f64() }
    }

    /// What is observed while the engine's counters are watched: a run without requests yet, and the answers.
    pub(super) async fn window(
        &self,
        number: u32,
        work: impl AsyncFnOnce(Instant) -> Vec<Observed>,
    ) -> (Run, Vec<Observed>) {
        let before = self.counters().await;
        let started_s = self.clock.read();
        let observed = work(Instant::now()).await;
        let after = if before.is_some() { self.counters().await } else { None };
        let mut run = Run { number, started_s: Some(started_s), ..Run::default() };
        if let (Some(before), Some(after)) = (before, after) {
            let delta = before.delta(&after);
            if delta.reset {
                run.flags.push(flag::COUNTER_RESET.to_owned());
            }
            run.counters = Some(delta.counters);
        }
        (run, observed)
    }

    /// The prompts of all streams, each of its exact length where the engine counts tokens. Nothing is timed yet.
    async fn prompts(&self, case: &CasePlan, take: Take) -> Vec<Prompt> {
        let mut prompts = Vec::new();
        for stream in 0..case.streams() {
            prompts.push(self.prompt(case, take, stream).await);
        }
        prompts
    }

    async fn prompt(&self, case: &CasePlan, take: Take, stream: u32) -> Prompt {
        let draft = draft(case, &self.plan.series, take, stream);
        let lengths = self.plan.lengths();
        if let workload::Message::Long(long) = &draft.message {
            let count = async |text: &str| count_tokens(self.target, self.identified, text).await;
            if let Some(text) = long.exact(lengths, count).await {
                return draft.with(text);
            }
        }
        draft.about(lengths)
    }

    fn ask(&self, prompt: &Prompt, sampling: &Sampling, stream: u32) -> Ask {
        let request = ChatRequest {
            model: self.identified.model_id.clone(),
            messages: vec![Message::user(prompt.text.clone())],
            sampling: sampling.clone(),
            optional: self.optional,
        };
        Ask {
            path: PATH,
            body: request.body(),
            stream,
            run_tag: prompt.tag.clone(),
            prompt_sha256: Some(sha256_hex(prompt.text.as_bytes())),
            t_due: None,
        }
    }

    async fn counters(&self) -> Option<Snapshot> {
        if self.identified.has_metrics { counters(self.target, self.identified.engine).await } else { None }
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
