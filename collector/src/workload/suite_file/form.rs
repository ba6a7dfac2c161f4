//! A suite file as it is written.

use dyno_shared::workload::{Arrival, Regime};
use serde::Deserialize;
use toml::Spanned;

use crate::workload::Workload;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Recorded runs of each case.
    pub(super) runs: Option<Spanned<u32>>,
    /// Unrecorded ones before them.
    pub(super) warmups: Option<Spanned<u32>>,
    /// Cases of the standard suites, by name.
    #[serde(default)]
    pub(super) include: Vec<Spanned<String>>,
    #[serde(default)]
    pub(super) case: Vec<Spanned<Described>>,
}

/// One case as it is written.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Described {
    pub(super) id: Spanned<String>,
    pub(super) regime: RegimeName,
    pub(super) workload: Option<Spanned<WorkloadName>>,
    pub(super) runs: Option<Spanned<u32>>,
    pub(super) warmups: Option<Spanned<u32>>,
    pub(super) max_tokens: Option<Spanned<u64>>,
    pub(super) ignore_eos: Option<Spanned<bool>>,
    pub(super) prompt_tokens: Option<Spanned<u64>>,
    pub(super) depth_tokens: Option<Spanned<u64>>,
    pub(super) concurrency: Option<Spanned<u32>>,
    pub(super) turns: Option<Spanned<u32>>,
    pub(super) arrival: Option<Spanned<Rate>>,
    pub(super) requests: Option<Spanned<u32>>,
    pub(super) two_length: Option<Spanned<bool>>,
    pub(super) count_to: Option<Spanned<u32>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum RegimeName {
    Decode,
    ColdPrefill,
    CachedPrefix,
    DecodeAtDepth,
    Load,
    Session,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum WorkloadName {
    Code,
    Prose,
    Structured,
    Counting,
    Needle,
    Mixed,
    LongText,
    Dialogue,
}

/// `{ constant = 2.0 }` or `{ poisson = 2.0 }`: requests per second.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(super) enum Rate {
    Constant(f64),
    Poisson(f64),
}

impl RegimeName {
    pub(super) const fn regime(self) -> Regime {
        match self {
            Self::Decode => Regime::Decode,
            Self::ColdPrefill => Regime::ColdPrefill,
            Self::CachedPrefix => Regime::CachedPrefix,
            Self::DecodeAtDepth => Regime::DecodeAtDepth,
            Self::Load => Regime::Load,
            Self::Session => Regime::Session,
        }
    }
}

impl WorkloadName {
    pub(super) const fn workload(self, last: u32) -> Workload {
        match self {
            Self::Code => Workload::Code,
            Self::Prose => Workload::Prose,
            Self::Structured => Workload::Structured,
            Self::Counting => Workload::Counting { last },
            Self::Needle => Workload::Needle,
            Self::Mixed => Workload::Mixed,
            Self::LongText => Workload::LongText,
            Self::Dialogue => Workload::Dialogue,
        }
    }
}

impl Rate {
    pub(super) const fn arrival(self) -> Arrival {
        match self {
            Self::Constant(per_s) => Arrival::Constant { per_s },
            Self::Poisson(per_s) => Arrival::Poisson { per_s },
        }
    }
}
