//! What a submission is drawn with: the same wherever it appears and whatever stands beside it.

use crate::chart::MarkKind;
use crate::chart::theme::SERIES;
use crate::metric::{self, Family};
use crate::submission::Evidence;

/// Engines with a colour of their own, in the order of the series. It is not a list of what is allowed: any other
/// engine has the colour that its name gives.
const ENGINES: [&str; SERIES] =
    ["llama.cpp", "vllm", "sglang", "freetoken", "ollama", "mistral.rs", "tensorrt-llm", "lm studio"];

/// The colour of an engine, as an index into the series.
pub fn colour(engine: &str) -> usize {
    let engine = engine.to_ascii_lowercase();
    ENGINES.iter().position(|known| *known == engine).unwrap_or_else(|| {
        let sum = engine.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        sum % SERIES
    })
}

/// The mark of a figure: its evidence first, then whose it is.
pub fn mark(evidence: Evidence, tag: &str) -> MarkKind {
    match (evidence, metric::find(tag).map(|m| m.family)) {
        (Evidence::Raw, Some(Family::Engine)) => MarkKind::Engine,
        (Evidence::Raw, _) => MarkKind::ClientSolid,
        _ => MarkKind::Stated,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_engine_never_seen_before_has_a_colour_and_always_the_same() {
        assert_eq!((colour("llama.cpp"), colour("vLLM")), (0, 1));
        for engine in ["", "Sprint", "千问引擎", "<img src=x>"] {
            assert!(colour(engine) < SERIES);
            assert_eq!(colour(engine), colour(engine));
        }
    }

    #[test]
    fn a_stated_figure_has_its_mark_whoever_s_it_is() {
        assert_eq!(mark(Evidence::Raw, "client_wall_ttft_s"), MarkKind::ClientSolid);
        assert_eq!(mark(Evidence::Raw, "engine_decode_tok_s"), MarkKind::Engine);
        assert_eq!(mark(Evidence::Summary, "engine_decode_tok_s"), MarkKind::Stated);
        assert_eq!(mark(Evidence::Unknown, "client_wall_ttft_s"), MarkKind::Stated);
    }
}
