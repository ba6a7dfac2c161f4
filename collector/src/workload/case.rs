//! One case of a suite: what is asked, how often, and how it is driven.

use dyno_shared::workload::{Arrival, Regime};
use serde::{Deserialize, Serialize};

use super::{Take, Workload};

/// How often the first prompt of a decode workload is sent to see whether the answer is the same.
const REPEATS: u32 = 3;

/// What a prompt of a decode workload has at most, template included.
const SHORT_PROMPT: u64 = 160;

/// What a later turn of a session adds to the context beside its answer, at most.
const TURN_PROMPT: u64 = 80;

/// One case to measure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CasePlan {
    /// Its name.
    pub id: String,
    /// Its regime.
    pub regime: Regime,
    /// What is asked.
    pub workload: Workload,
    /// Recorded runs; with [`Self::until`] the most there may be.
    pub runs: u32,
    /// Runs of earlier cycles of a sweep: the numbers of these begin behind them.
    #[serde(default)]
    pub runs_before: u32,
    /// Unrecorded ones before them.
    pub warmups: u32,
    /// The most tokens that an answer may have.
    pub max_tokens: u64,
    /// Whether the answer goes on past the end of sequence, so that every run decodes the same number of tokens.
    pub ignore_eos: bool,
    /// Prompt tokens aimed at.
    pub prompt_tokens: Option<u64>,
    /// Streams at once; of an open loop the most that may be under way.
    #[serde(default = "one")]
    pub concurrency: u32,
    /// Cached context before the prompt, in tokens.
    #[serde(default)]
    pub depth_tokens: Option<u64>,
    /// Turns of each session.
    #[serde(default)]
    pub turns: Option<u32>,
    /// How requests arrive in an open loop.
    #[serde(default)]
    pub arrival: Option<Arrival>,
    /// Requests of each run of an open loop.
    #[serde(default)]
    pub requests: Option<u32>,
    /// Whether a run times one prompt at two lengths of the answer.
    #[serde(default)]
    pub two_length: bool,
    /// When to stop, where that is not decided by the number of runs.
    #[serde(default)]
    pub until: Option<Until>,
}

const fn one() -> u32 {
    1
}

/// A measurement that goes on until its figure is known well enough.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Until {
    /// Half the width of the headline's 95 % interval, as a share of the figure.
    pub half_width: f64,
    /// Seconds of runs after which it ends in any case.
    pub budget_s: f64,
}

/// How the requests of a run follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// All at once.
    Batch,
    /// Sessions: their first turns at once, then each goes on by itself.
    Session,
    /// Each when it is due, whatever the others do.
    OpenLoop,
    /// One prompt at two lengths of the answer.
    TwoLength,
}

impl CasePlan {
    /// A case of one run of one stream without warm-ups.
    pub fn new(id: &str, regime: Regime, workload: Workload) -> Self {
        Self {
            id: id.to_owned(),
            regime,
            workload,
            runs: 1,
            runs_before: 0,
            warmups: 0,
            max_tokens: 512,
            ignore_eos: false,
            prompt_tokens: None,
            concurrency: 1,
            depth_tokens: None,
            turns: None,
            arrival: None,
            requests: None,
            two_length: false,
            until: None,
        }
    }

    /// How the requests of a run follow each other.
    pub const fn shape(&self) -> Shape {
        match (self.two_length, self.turns, self.arrival) {
            (true, _, _) => Shape::TwoLength,
            (_, Some(_), _) => Shape::Session,
            (_, _, Some(_)) => Shape::OpenLoop,
            _ => Shape::Batch,
        }
    }

    /// Prompts of one run: streams, sessions, or the requests of an open loop.
    pub fn streams(&self) -> u32 {
        match self.shape() {
            Shape::TwoLength => 1,
            Shape::OpenLoop => self.requests.unwrap_or(self.concurrency).max(1),
            Shape::Batch | Shape::Session => self.concurrency.max(1),
        }
    }

    /// How often the first prompt is sent to see whether the answers agree. 0 without warm-ups, which they are, and in
    /// later cycles of a sweep: once is enough.
    pub fn repeats(&self) -> u32 {
        let single = self.regime == Regime::Decode && self.shape() == Shape::Batch && self.concurrency == 1;
        if single && self.warmups > 0 && self.runs_before == 0 { REPEATS } else { 0 }
    }

    /// Whether all runs share a prefix that must be in the engine's cache.
    pub(super) fn is_primed(&self) -> bool {
        matches!(self.regime, Regime::CachedPrefix | Regime::DecodeAtDepth)
    }

    /// What is sent before the recorded runs. The repeated sendings serve as warm-ups, and so does the priming of
    /// a prefix cache.
    pub fn warmup_takes(&self) -> Vec<Take> {
        let mut takes = vec![Take::Repeat; self.repeats() as usize];
        if self.is_primed() {
            takes.push(Take::Prime);
        }
        let done = takes.len() as u32;
        takes.extend((done + 1..=self.warmups).map(Take::Warmup));
        takes
    }

    /// What is sent before the runs that are left after an interruption. `sent` warm-ups were recorded before.
    pub fn rewarm_takes(&self, sent: u32) -> Vec<Take> {
        match self.warmups {
            _ if self.is_primed() => vec![Take::Prime],
            0 => Vec::new(),
            // A tag of its own, so that an engine that was not restarted has not seen it.
            _ => vec![Take::Warmup(sent.max(self.warmups) + 1)],
        }
    }

    /// Context that one request needs, in tokens: a long prompt may be off its target by 1 %, and the last turn of a
    /// session holds all turns before it.
    pub fn context_needed(&self) -> u64 {
        let long = |target: u64| target + target / 100 + 32;
        let prompt = match (self.depth_tokens, self.prompt_tokens) {
            (Some(depth), _) => long(depth) + SHORT_PROMPT,
            (None, Some(target)) => long(target),
            (None, None) => SHORT_PROMPT,
        };
        let later = u64::from(self.turns.unwrap_or(1).saturating_sub(1));
        prompt
            .saturating_add(self.max_tokens)
            .saturating_add(later.saturating_mul(TURN_PROMPT + self.max_tokens))
    }

    /// Tokens to be processed for one sending, weighted for a first guess of the time: decoding is slower by far, of
    /// a cached prompt only the tail is processed, and a batch takes longer than one of its streams.
    pub fn weight(&self, take: Take) -> f64 {
        let prompt = self.depth_tokens.or(self.prompt_tokens).unwrap_or(SHORT_PROMPT) as f64;
        let is_cached = self.is_primed() && take != Take::Prime;
        let prompt = if is_cached { prompt / 20.0 } else { prompt };
        let turns = f64::from(self.turns.unwrap_or(1));
        (self.max_tokens as f64 * turns + prompt / 4.0) * f64::from(self.streams()).sqrt()
    }
}
