//! What was asked: regimes, the sampling that was sent, and the names of the standard workloads.

use serde::{Deserialize, Serialize};

/// What a case measures. Regimes are separate cases, never statistics of one case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Regime {
    /// Short prompt, long answer.
    Decode,
    /// Fresh prefix, answer of a few tokens.
    ColdPrefill,
    /// The same prefix again with a new tail.
    CachedPrefix,
    /// Long cached context, long answer.
    DecodeAtDepth,
    /// N concurrent streams.
    Load,
    /// N sessions with their own context, several turns.
    Session,
    /// A regime that this version does not know.
    #[serde(other)]
    Other,
}

impl Regime {
    /// Every regime that this version knows, in the order of the page.
    pub const ALL: [Self; 6] =
        [Self::Decode, Self::ColdPrefill, Self::CachedPrefix, Self::DecodeAtDepth, Self::Load, Self::Session];

    /// The name in shards and URLs.
    pub const fn tag(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::ColdPrefill => "cold_prefill",
            Self::CachedPrefix => "cached_prefix",
            Self::DecodeAtDepth => "decode_at_depth",
            Self::Load => "load",
            Self::Session => "session",
            Self::Other => "other",
        }
    }

    /// The name for people.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Decode => "decode",
            Self::ColdPrefill => "cold prefill",
            Self::CachedPrefix => "cached prefix",
            Self::DecodeAtDepth => "decode at depth",
            Self::Load => "load",
            Self::Session => "session",
            Self::Other => "another regime",
        }
    }

    /// What the regime asks of an engine, in a sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Decode => "Short prompt, long answer: how fast tokens come once they come.",
            Self::ColdPrefill => "A prompt that no cache can answer, and an answer of a few tokens.",
            Self::CachedPrefix => "The same prefix again with a new tail: what the prefix cache is worth.",
            Self::DecodeAtDepth => "A long cached context and a long answer: decode as the context grows.",
            Self::Load => "Several streams at once.",
            Self::Session => "Several sessions with their own context, over several turns.",
            Self::Other => "A regime that this version of Dyno does not know.",
        }
    }

    /// The metric that a leaderboard of this regime shows first.
    pub const fn headline(self) -> &'static str {
        match self {
            Self::ColdPrefill => "client_wall_prefill_tok_s",
            Self::CachedPrefix | Self::Session => "client_wall_ttft_s",
            Self::Load => "client_wall_aggregate_tok_s",
            Self::Decode | Self::DecodeAtDepth | Self::Other => "client_wall_decode_tok_s",
        }
    }

    /// The regime of a tag; unknown tags give [`Regime::Other`].
    pub fn from_tag(tag: &str) -> Self {
        Self::ALL.into_iter().find(|r| r.tag() == tag).unwrap_or(Self::Other)
    }
}

/// When the requests of an open loop are due, on an absolute schedule that a slow answer does not delay.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Arrival {
    /// At equal distances.
    Constant {
        /// Requests per second.
        per_s: f64,
    },
    /// At random, with exponential distances: what independent users do.
    Poisson {
        /// Requests per second, on average.
        per_s: f64,
    },
}

impl Arrival {
    /// Requests per second.
    pub const fn per_s(self) -> f64 {
        match self {
            Self::Constant { per_s } | Self::Poisson { per_s } => per_s,
        }
    }
}

/// The sampling that was sent with every request of a case, so that a server's defaults never decide.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Sampling {
    /// Temperature; 0 is greedy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature: Option<f64>,
    /// Nucleus sampling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_p: Option<f64>,
    /// Top-k sampling.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub top_k: Option<u32>,
    /// Seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// The most tokens that the answer may have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<u64>,
    /// Whether the engine was told to go on past the end of sequence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ignore_eos: Option<bool>,
    /// Whether thinking was on. Thinking on is a different case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thinking: Option<bool>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_regime_reads_its_own_tag_and_a_new_one_is_not_an_error() {
        for regime in Regime::ALL {
            assert_eq!(Regime::from_tag(regime.tag()), regime);
            assert_eq!(serde_json::to_value(regime).unwrap(), regime.tag());
            assert!(crate::metric::find(regime.headline()).is_some());
        }
        assert_eq!(serde_json::from_str::<Regime>("\"agentic\"").unwrap(), Regime::Other);
    }
}
