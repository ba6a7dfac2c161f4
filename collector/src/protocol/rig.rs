//! Sends one prompt and records what was observed.

use std::time::Instant;

use dyno_shared::shard::sha256_hex;
use dyno_shared::submission::{Run, flag};
use dyno_shared::units::Seconds;
use dyno_shared::workload::Sampling;

use super::Plan;
use super::proof::cache_flag;
use crate::endpoint::openai_chat::{ChatRequest, Message, Optional, PATH};
use crate::engine::{Identified, Snapshot, counters};
use crate::transport::{Ask, Target, not_sent, open};
use crate::workload::check::{Answer, Demands, run_all};
use crate::workload::{CasePlan, Expected, Prompt, Take, prompt};

/// How much of the answer of a failed run is kept.
const KEPT_BYTES: usize = 2_048;

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
    /// All generated text, reasoning first.
    pub text: String,
    /// How long it took, connection and counters included.
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

    /// Sends a case's prompt once. A recorded run is judged; a warm-up is only recorded.
    pub async fn send(&self, case: &CasePlan, take: Take, number: u32) -> Sent {
        let begin = Instant::now();
        let prompt = prompt(case, &self.plan.series, take, self.plan.chars_per_token);
        let sampling = self.sampling(case);
        let ask = self.ask(&prompt, &sampling);
        let before = self.counters().await;
        let started_s = self.clock.read();
        let observed = drive(self.target, ask).await;
        let after = if before.is_some() { self.counters().await } else { None };
        let mut run =
            Run { number, started_s: Some(started_s), requests: vec![observed.record], ..Run::default() };
        if let (Some(before), Some(after)) = (before, after) {
            let delta = before.delta(&after);
            if delta.reset {
                run.flags.push(flag::COUNTER_RESET.to_owned());
            }
            run.counters = Some(delta.counters);
        }
        if matches!(take, Take::Run(_)) {
            self.judge(&mut run, case, &prompt.expected, &sampling, &observed.text, &observed.reasoning);
        }
        Sent { run, text: observed.reasoning + &observed.text, seconds: begin.elapsed().as_secs_f64() }
    }

    fn ask(&self, prompt: &Prompt, sampling: &Sampling) -> Ask {
        let request = ChatRequest {
            model: self.identified.model_id.clone(),
            messages: vec![Message::user(prompt.text.clone())],
            sampling: sampling.clone(),
            optional: self.optional,
        };
        Ask {
            path: PATH,
            body: request.body(),
            stream: 0,
            run_tag: prompt.tag.clone(),
            prompt_sha256: Some(sha256_hex(prompt.text.as_bytes())),
            t_due: None,
        }
    }

    async fn counters(&self) -> Option<Snapshot> {
        if self.identified.has_metrics { counters(self.target, self.identified.engine).await } else { None }
    }

    /// Adds checks, flags and, where something failed, the text. A request that failed has no answer to check.
    fn judge(
        &self,
        run: &mut Run,
        case: &CasePlan,
        expected: &Expected,
        sampling: &Sampling,
        text: &str,
        reasoning: &str,
    ) {
        let Some(record) = run.requests.first() else { return };
        if record.error.is_none() {
            let demands = Demands {
                expected: expected.clone(),
                unexpected_script: self.plan.unexpected_script,
                tokens: (sampling.ignore_eos == Some(true)).then_some(case.max_tokens),
            };
            run.checks = run_all(Answer { text, reasoning, record }, &demands);
            if let Expected::Code(code) = expected
                && !text.contains(code.as_str())
            {
                run.flags.push(flag::NEEDLE_MISSED.to_owned());
            }
            run.flags.extend(cache_flag(case.regime, run).map(str::to_owned));
        }
        let failed = run.checks.iter().any(|check| !check.passed);
        let kept = match (self.plan.keep_output, failed) {
            (true, _) => Some(format!("{reasoning}{text}")),
            (false, true) => Some(beginning(&format!("{reasoning}{text}"), KEPT_BYTES)),
            (false, false) => None,
        };
        if let Some(record) = run.requests.first_mut() {
            record.output_text = kept.filter(|text| !text.is_empty());
        }
    }
}

/// Opens a connection and sends on it. The request is due once the connection stands: setting it up is timed apart.
async fn drive(target: &Target, mut ask: Ask) -> crate::stream::Observed {
    let run_start = Instant::now();
    match open(target).await {
        Ok(connection) => {
            ask.t_due = Some(Instant::now());
            connection.send(ask, run_start).await
        }
        Err(error) => not_sent(&ask, run_start, error),
    }
}

/// The first `most` bytes, cut between two characters.
fn beginning(text: &str, most: usize) -> String {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_text_is_cut_between_two_characters() {
        assert_eq!(beginning("naïve", 3), "na");
        assert_eq!(beginning("naïve", 4), "naï");
        assert_eq!(beginning("naïve", 400), "naïve");
    }

    #[test]
    fn the_clock_of_a_resumed_measurement_goes_on() {
        assert!(Clock::at(100.0).read().get() >= 100.0);
        assert!(Clock::at(-5.0).read().get() >= 0.0);
    }
}
