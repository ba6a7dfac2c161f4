//! One answer, turn by turn: what is said and when it is due, or how it ends. Pure.

use super::ask::Ask;
use super::counters::Counts;
use super::fault::Fault;
use super::schedule::Schedule;
use super::speech::Speech;
use super::token;
use super::truth::Truth;

/// The answer to one request, from the moment it got its slot.
#[derive(Debug)]
pub struct Talk<'a> {
    ask: &'a Ask,
    truth: &'a Truth,
    schedule: Schedule<'a>,
    cached: usize,
    thought: Speech,
    answer: Speech,
    strike: Option<(u32, Fault)>,
    silent: bool,
    told: u32,
    reasoned: u32,
    sequence: Vec<u32>,
}

/// What comes next.
#[derive(Debug, PartialEq, Eq)]
pub enum Turn {
    /// A chunk of reasoning or of text.
    Say {
        /// Whether it is reasoning.
        reasoning: bool,
        /// Its tokens.
        tokens: u32,
        /// When it is due.
        due_ns: u64,
    },
    /// No more text.
    End(Ended),
}

/// How the text ended.
#[derive(Debug, PartialEq, Eq)]
pub enum Ended {
    /// With this finish reason.
    Finish(&'static str),
    /// With a fault in mid-answer.
    Strike(Fault),
}

impl<'a> Talk<'a> {
    /// Plans the answer of chat request `number`, admitted at `admitted_ns` with `cached` prompt tokens.
    pub fn new(
        truth: &'a Truth,
        ask: &'a Ask,
        number: u64,
        faults: &[Fault],
        admitted_ns: u64,
        cached: usize,
    ) -> Self {
        let varied = if faults.contains(&Fault::Vary) { number } else { 0 };
        let words = token::fingerprint(&ask.prompt).wrapping_add(varied);
        Self {
            ask,
            truth,
            schedule: Schedule::new(
                truth,
                number,
                admitted_ns,
                ask.prompt.len() - cached.min(ask.prompt.len()),
            ),
            cached,
            thought: Speech::thought(words),
            answer: Speech::answer(&ask.topic, words, ask.endless, faults),
            strike: faults.iter().find_map(|fault| fault.strikes_after().map(|after| (after, *fault))),
            silent: faults.contains(&Fault::NoText),
            told: 0,
            reasoned: 0,
            sequence: ask.prompt.clone(),
        }
    }

    /// Puts the next chunk's text into `text`, which is cleared first.
    pub fn turn(&mut self, text: &mut String) -> Turn {
        text.clear();
        let end = self.ask.limit.min(self.ask.stop_at);
        let reasoning = self.told < self.ask.reasoning;
        let over = self.silent || (!reasoning && self.answer.is_over());
        let mut most = end.saturating_sub(self.told);
        if let Some((after, fault)) = self.strike {
            if self.told >= after || over || most == 0 {
                return Turn::End(Ended::Strike(fault));
            }
            most = most.min(after - self.told);
        }
        if over || most == 0 {
            let stopped = over || self.ask.stop_at <= self.ask.limit;
            return Turn::End(Ended::Finish(if stopped { "stop" } else { "length" }));
        }
        if reasoning {
            most = most.min(self.ask.reasoning - self.told);
        }
        let step = self.schedule.step(most);
        let speech = if reasoning { &mut self.thought } else { &mut self.answer };
        let mut tokens = 0;
        while tokens < step.tokens
            && let Some(id) = speech.say(text)
        {
            self.sequence.push(id);
            tokens += 1;
        }
        self.told += tokens;
        self.reasoned += if reasoning { tokens } else { 0 };
        Turn::Say { reasoning, tokens, due_ns: step.due_ns }
    }

    /// When the request got its slot.
    pub fn admitted_ns(&self) -> u64 {
        self.schedule.admitted_ns()
    }

    /// When the next chunk is due; before the first turn, the time of the first token.
    pub fn due_ns(&self) -> u64 {
        self.schedule.due_ns()
    }

    /// Planned prefill in seconds, without the overhead.
    pub fn prefill_s(&self) -> f64 {
        self.schedule.prefill_s()
    }

    /// Prompt and answer so far, as the prefix cache keeps them.
    pub fn sequence(&self) -> &[u32] {
        &self.sequence
    }

    /// What the engine's counters gain.
    pub fn counts(&self) -> Counts {
        let speculative = self.truth.burst.is_speculative();
        let steps = self.schedule.steps() as u64;
        let drafts = if speculative { steps } else { 0 };
        Counts {
            prompt_tokens: (self.ask.prompt.len() - self.cached) as u64,
            cached_tokens: self.cached as u64,
            prompt_s: self.schedule.prefill_s(),
            predicted_tokens: u64::from(self.told),
            predicted_s: self.schedule.decode_s(),
            steps,
            drafts,
            draft_tokens: drafts * u64::from(self.truth.burst.most() - 1),
            accepted_tokens: u64::from(self.told).saturating_sub(steps) * u64::from(speculative),
        }
    }

    /// The `usage` object so far.
    pub fn usage(&self) -> String {
        let (prompt, told) = (self.ask.prompt.len(), self.told);
        let total = prompt + told as usize;
        let cached = if self.truth.report_cached {
            format!(r#","prompt_tokens_details":{{"cached_tokens":{}}}"#, self.cached)
        } else {
            String::new()
        };
        let reasoned = if self.reasoned > 0 {
            format!(r#","completion_tokens_details":{{"reasoning_tokens":{}}}"#, self.reasoned)
        } else {
            String::new()
        };
        format!(
            r#"{{"prompt_tokens":{prompt},"completion_tokens":{told},"total_tokens":{total}{cached}{reasoned}}}"#
        )
    }

    /// llama.cpp's `timings`, from the plan and not from the clock.
    pub fn timings(&self) -> String {
        let counts = self.counts();
        let (prompt_ms, predicted_ms) = (counts.prompt_s * 1e3, counts.predicted_s * 1e3);
        let per = |a: f64, b: f64| (b > 0.0).then_some(a / b);
        let (prompt_n, predicted_n) = (counts.prompt_tokens as f64, counts.predicted_tokens as f64);
        let mut timings = serde_json::json!({
            "cache_n": counts.cached_tokens,
            "prompt_n": counts.prompt_tokens,
            "prompt_ms": prompt_ms,
            "prompt_per_token_ms": per(prompt_ms, prompt_n),
            "prompt_per_second": per(prompt_n * 1e3, prompt_ms),
            "predicted_n": counts.predicted_tokens,
            "predicted_ms": predicted_ms,
            "predicted_per_token_ms": per(predicted_ms, predicted_n),
            "predicted_per_second": per(predicted_n * 1e3, predicted_ms),
        });
        if counts.drafts > 0 {
            timings["draft_n"] = counts.draft_tokens.into();
            timings["draft_n_accepted"] = counts.accepted_tokens.into();
        }
        timings.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::super::truth::Burst;
    use super::*;

    fn ask(truth: &Truth, rest: &str) -> Ask {
        let body = format!(r#"{{"messages":[{{"role":"user","content":"Tell a story"}}]{rest}}}"#);
        Ask::read(body.as_bytes(), truth).unwrap()
    }

    /// Tokens of each chunk with a mark on reasoning, and the turn that ended it.
    fn shape(truth: &Truth, ask: &Ask, faults: &[Fault]) -> (Vec<(bool, u32)>, Turn) {
        let mut talk = Talk::new(truth, ask, 1, faults, 0, 0);
        let (mut text, mut said) = (String::new(), Vec::new());
        loop {
            match talk.turn(&mut text) {
                Turn::Say { reasoning, tokens, .. } => {
                    assert_eq!(token::pieces(&text).count(), tokens as usize);
                    said.push((reasoning, tokens));
                }
                end @ Turn::End(_) => return (said, end),
            }
        }
    }

    #[test]
    fn a_burst_is_cut_at_the_limit_and_never_mixes_reasoning_with_text() {
        let truth = Truth { burst: Burst::Fixed(4), reasoning_tokens: 6, ..Truth::default() };
        let (said, end) = shape(&truth, &ask(&truth, r#","max_tokens":15"#), &[]);
        assert_eq!(said, [(true, 4), (true, 2), (false, 4), (false, 4), (false, 1)]);
        assert_eq!(end, Turn::End(Ended::Finish("length")));
    }

    #[test]
    fn an_end_of_sequence_stops_early_and_an_ignored_one_does_not() {
        let truth = Truth { finish_after: Some(3), ..Truth::default() };
        let (said, end) = shape(&truth, &ask(&truth, r#","max_tokens":9"#), &[]);
        assert_eq!((said.len(), end), (3, Turn::End(Ended::Finish("stop"))));
        let (said, end) = shape(&truth, &ask(&truth, r#","max_tokens":9,"ignore_eos":true"#), &[]);
        assert_eq!((said.len(), end), (9, Turn::End(Ended::Finish("length"))));
    }

    #[test]
    fn a_fault_strikes_after_exactly_its_tokens_even_within_a_burst() {
        let truth = Truth { burst: Burst::Fixed(4), ..Truth::default() };
        let (said, end) = shape(&truth, &ask(&truth, ""), &[Fault::Die(6)]);
        assert_eq!((said, end), (vec![(false, 4), (false, 2)], Turn::End(Ended::Strike(Fault::Die(6)))));
        let (said, end) = shape(&truth, &ask(&truth, r#","max_tokens":4"#), &[Fault::Stall(6)]);
        assert_eq!(
            (said.len(), end),
            (1, Turn::End(Ended::Strike(Fault::Stall(6)))),
            "an answer too short for it"
        );
    }

    #[test]
    fn counters_give_tokens_per_step_and_timings_give_the_truth() {
        let truth =
            Truth { burst: Burst::Fixed(4), decode_tok_s: 80.0, prefill_tok_s: 500.0, ..Truth::default() };
        let ask = ask(&truth, r#","max_tokens":40"#);
        let mut talk = Talk::new(&truth, &ask, 1, &[], 0, 2);
        let mut text = String::new();
        while matches!(talk.turn(&mut text), Turn::Say { .. }) {}
        let counts = talk.counts();
        assert_eq!((counts.drafts, counts.accepted_tokens, counts.draft_tokens), (10, 30, 30));
        assert_eq!((counts.prompt_tokens, counts.cached_tokens), (ask.prompt.len() as u64 - 2, 2));
        let timings: serde_json::Value = serde_json::from_str(&talk.timings()).unwrap();
        let rate = |key: &str| timings[key].as_f64().unwrap();
        assert!((rate("predicted_per_second") - 80.0).abs() < 1e-9);
        assert!((rate("prompt_per_second") - 500.0).abs() < 1e-9);
        assert!(serde_json::from_str::<serde_json::Value>(&talk.usage()).is_ok());
    }
}
