//! What a submission is called and drawn with: the same wherever it appears and whatever is filtered.

pub use dyno_shared::figure::identity::{colour, mark};
use dyno_shared::index::Entry;

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
    fn a_time_is_shortened_to_its_day_and_other_words_stay() {
        assert_eq!(day("2026-11-30T12:00:00Z"), "2026-11-30");
        assert_eq!(day("Aug 29, 2026"), "Aug 29, 2026");
        assert_eq!(day("T"), "T");
    }
}
