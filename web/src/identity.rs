//! What a submission is called and drawn with: the same wherever it appears and whatever is filtered.

use dyno_shared::chart::MarkKind;
use dyno_shared::chart::theme::SERIES;
use dyno_shared::index::Entry;
use dyno_shared::metric::{self, Family};
use dyno_shared::submission::Evidence;

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

/// `llama.cpp b11434 · SmolLM2-135M-Instruct Q4_1`.
pub fn name(entry: &Entry) -> String {
    let engine = with(&entry.engine, entry.engine_version.as_deref());
    let model = with(&entry.model, entry.quantisation.as_deref());
    joined(&[&engine, &model])
}

/// `2-core Xeon · default · 2026-11-30`: what tells it from its neighbours.
pub fn subtitle(entry: &Entry) -> String {
    joined(&[&entry.hardware, &entry.label, entry.date.as_deref().map_or("", day)])
}

/// The day of an RFC 3339 time; other texts as they are.
pub fn day(time: &str) -> &str {
    match time.split_once('T') {
        Some((day, _)) if day.len() == 10 => day,
        _ => time,
    }
}

/// A name, and what follows it.
pub fn with(name: &str, version: Option<&str>) -> String {
    let name = if name.trim().is_empty() { "unnamed" } else { name };
    version.map_or_else(|| name.to_owned(), |version| format!("{name} {version}"))
}

/// The parts that say something, with dots between.
pub fn joined(parts: &[&str]) -> String {
    parts.iter().filter(|part| !part.trim().is_empty()).copied().collect::<Vec<_>>().join(" · ")
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

    #[test]
    fn a_time_is_shortened_to_its_day_and_other_words_stay() {
        assert_eq!(day("2026-11-30T12:00:00Z"), "2026-11-30");
        assert_eq!(day("Aug 29, 2026"), "Aug 29, 2026");
        assert_eq!(day("T"), "T");
    }
}
