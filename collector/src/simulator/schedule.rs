//! When each token is due: the truth as absolute times, drawn once per request. Pure.

use super::clock::ns;
use super::random::Random;
use super::truth::Truth;

/// The plan of one request from the moment it gets a slot.
#[derive(Debug, Clone)]
pub struct Schedule<'a> {
    truth: &'a Truth,
    random: Random,
    admitted_ns: u64,
    prefill_s: f64,
    /// Seconds from `admitted_ns` to the next step; only sums of planned gaps, never of what the clock said.
    next_s: f64,
    pace: f64,
    steps: usize,
    decode_s: f64,
}

/// One decode step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    /// Tokens of the step, at least 1.
    pub tokens: u32,
    /// When its chunk is due, on the clock of [`super::clock::now_ns`].
    pub due_ns: u64,
}

impl<'a> Schedule<'a> {
    /// Plans chat request `number`, which got its slot at `admitted_ns` with `uncached` prompt tokens to process.
    pub fn new(truth: &'a Truth, number: u64, admitted_ns: u64, uncached: usize) -> Self {
        let mut random = Random::new(truth.seed, number);
        let prefill_s = uncached as f64 / truth.prefill_tok_s * random.factor(truth.request_jitter);
        let pace = random.factor(truth.request_jitter);
        let overhead_s = truth.overhead_s * random.factor(truth.jitter);
        let next_s = overhead_s + prefill_s;
        Self { truth, random, admitted_ns, prefill_s, next_s, pace, steps: 0, decode_s: 0.0 }
    }

    /// Seconds of prefill, without the overhead.
    pub fn prefill_s(&self) -> f64 {
        self.prefill_s
    }

    /// When the request got its slot.
    pub fn admitted_ns(&self) -> u64 {
        self.admitted_ns
    }

    /// When the next step is due.
    pub fn due_ns(&self) -> u64 {
        self.admitted_ns.saturating_add(ns(self.next_s))
    }

    /// Steps taken so far.
    pub fn steps(&self) -> usize {
        self.steps
    }

    /// Seconds of decoding so far, as an engine counts them: every step, the first too.
    pub fn decode_s(&self) -> f64 {
        self.decode_s
    }

    /// Takes the next step, which gives `most` tokens at most (and at least one).
    pub fn step(&mut self, most: u32) -> Step {
        let tokens = self.truth.burst.draw(self.random.unit()).min(most).max(1);
        let step = Step { tokens, due_ns: self.due_ns() };
        let gaps = &self.truth.gaps_s;
        let gap = if gaps.is_empty() { self.truth.step_s() } else { gaps[self.steps % gaps.len()] };
        let gap = gap * self.pace * self.random.factor(self.truth.jitter);
        self.next_s += gap;
        self.decode_s += gap;
        self.steps += 1;
        step
    }
}

#[cfg(test)]
mod tests {
    use super::super::truth::Burst;
    use super::*;

    fn take(schedule: &mut Schedule<'_>, mut tokens: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        while tokens > 0 {
            let step = schedule.step(tokens);
            tokens -= step.tokens;
            steps.push(step);
        }
        steps
    }

    #[test]
    fn deadlines_are_absolute_multiples_of_the_gap_after_the_first_token() {
        let truth = Truth { prefill_tok_s: 1_000.0, decode_tok_s: 50.0, overhead_s: 0.1, ..Truth::default() };
        let mut schedule = Schedule::new(&truth, 1, 5_000, 400);
        let steps = take(&mut schedule, 10_000);
        assert_eq!(steps[0].due_ns, 5_000 + 500_000_000, "overhead and 400 tokens of prefill");
        let last = steps[9_999].due_ns - steps[0].due_ns;
        assert_eq!(last, 9_999 * 20_000_000, "no error adds up over ten thousand gaps");
        assert!((schedule.decode_s() - 200.0).abs() < 1e-6);
    }

    #[test]
    fn bursts_of_five_come_five_gaps_apart_and_the_last_has_the_rest() {
        let truth =
            Truth { burst: Burst::Fixed(5), decode_tok_s: 100.0, overhead_s: 0.0, ..Truth::default() };
        let mut schedule = Schedule::new(&truth, 1, 0, 0);
        let steps = take(&mut schedule, 12);
        assert_eq!(steps.iter().map(|step| step.tokens).collect::<Vec<_>>(), [5, 5, 2]);
        assert_eq!(steps.iter().map(|step| step.due_ns).collect::<Vec<_>>(), [0, 50_000_000, 100_000_000]);
    }

    #[test]
    fn drawn_bursts_give_the_decode_rate_on_the_long_run() {
        let burst = "1:0.3,2:0.3,4:0.4".parse().unwrap();
        let truth = Truth { burst, decode_tok_s: 200.0, overhead_s: 0.0, ..Truth::default() };
        let steps = take(&mut Schedule::new(&truth, 3, 0, 0), 50_000);
        let tokens: u32 = steps.iter().skip(1).map(|step| step.tokens).sum();
        let seconds = (steps[steps.len() - 1].due_ns - steps[0].due_ns) as f64 / 1e9;
        let rate = f64::from(tokens) / seconds;
        assert!((rate / 200.0 - 1.0).abs() < 0.02, "{rate} tok/s");
    }

    #[test]
    fn gaps_that_are_given_come_in_turn() {
        let truth = Truth { gaps_s: vec![0.01, 0.02, 0.03], overhead_s: 0.0, ..Truth::default() };
        let steps = take(&mut Schedule::new(&truth, 1, 0, 0), 6);
        let due: Vec<u64> = steps.iter().map(|step| step.due_ns / 1_000_000).collect();
        assert_eq!(due, [0, 10, 30, 60, 70, 90]);
    }

    #[test]
    fn jitter_is_seeded_by_request_and_deadlines_never_go_back() {
        let truth = Truth { jitter: 0.5, request_jitter: 0.1, ..Truth::default() };
        let plan = |number| take(&mut Schedule::new(&truth, number, 0, 100), 200);
        assert_eq!(plan(4), plan(4));
        assert_ne!(plan(4), plan(5));
        assert!(plan(4).windows(2).all(|pair| pair[0].due_ns < pair[1].due_ns));
    }
}
