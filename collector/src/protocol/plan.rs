//! What is going to be measured: everything that decides which bytes are sent.

use dyno_shared::workload::Sampling;
use serde::{Deserialize, Serialize};

use crate::workload::check::Script;
use crate::workload::{CasePlan, CharsPerToken, Lengths};

/// Nucleus sampling at temperature 0 changes nothing; it is sent so that a server's default does not decide.
const TOP_P: f64 = 1.0;
/// The same for top-k.
const TOP_K: u32 = 1;

/// The plan of one measurement. It stands in the journal, so that a resumed measurement sends what it would have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    /// The series: runs pair only within one.
    pub series: String,
    /// Seed of the sampling.
    pub seed: u64,
    /// The cases, in order.
    pub cases: Vec<CasePlan>,
    /// Length of a token in our long texts.
    pub chars_per_token: CharsPerToken,
    /// Tokens that the chat template adds to one message, where they could be measured.
    #[serde(default)]
    pub template_tokens: Option<u64>,
    /// A script that no answer may hold.
    pub unexpected_script: Option<Script>,
    /// Whether all generated text is kept.
    pub keep_output: bool,
}

impl Plan {
    /// How long the texts of prompts must be.
    pub fn lengths(&self) -> Lengths {
        Lengths { chars_per_token: self.chars_per_token, template_tokens: self.template_tokens }
    }

    /// The sampling of a case's requests, as asked for; an engine that does not take a field is not sent it.
    pub fn sampling(&self, case: &CasePlan) -> Sampling {
        Sampling {
            temperature: Some(0.0),
            top_p: Some(TOP_P),
            top_k: Some(TOP_K),
            seed: Some(self.seed),
            max_tokens: Some(case.max_tokens),
            ignore_eos: case.ignore_eos.then_some(true),
            thinking: Some(false),
        }
    }
}
