//! Badges: in a word, how much a row proves and what to be careful with.

use dyno_shared::index::{Entry, Flag, Row};
use dyno_shared::submission::{Evidence, Origin, Provenance, Submission};

/// One badge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Badge {
    /// A word or two.
    pub word: String,
    /// What it means, in a sentence.
    pub meaning: String,
    /// Whether it asks for care.
    pub caution: bool,
}

impl Badge {
    fn plain(word: &str, meaning: &str) -> Self {
        Self { word: word.to_owned(), meaning: meaning.to_owned(), caution: false }
    }

    fn caution(word: &str, meaning: &str) -> Self {
        Self { caution: true, ..Self::plain(word, meaning) }
    }
}

/// The badges of a row of the leaderboard.
pub fn of_row(entry: &Entry, row: &Row) -> Vec<Badge> {
    let mut badges = vec![evidence(&entry.origin, entry.evidence)];
    badges.extend(entry.flag.as_ref().map(flagged));
    badges.extend(entry.simulated.then(simulated));
    badges.extend(entry.partial.then(partial));
    if row.failed > 0 {
        let runs = row.runs.map_or_else(String::new, |runs| format!(" of {runs}"));
        badges.push(Badge::caution(
            &format!("{} failed", row.failed),
            &format!("{}{runs} runs failed and are in no figure; the submission lists why", row.failed),
        ));
    }
    badges.extend(row.warnings.iter().filter_map(|name| of_warning(name)));
    badges
}

fn flagged(flag: &Flag) -> Badge {
    let word = if flag.superseded_by.is_some() { "superseded" } else { "flagged" };
    Badge::caution(word, &[&flag.reason, " (", &flag.link, ")"].concat())
}

/// The badges of a whole submission.
pub fn of_submission(submission: &Submission) -> Vec<Badge> {
    let mut badges = vec![of_provenance(&submission.provenance)];
    badges.extend(submission.system.engine.simulated.then(simulated));
    badges.extend(submission.provenance.partial.is_some().then(partial));
    badges
}

/// The badge of where a submission comes from and how much it proves.
pub fn of_provenance(provenance: &Provenance) -> Badge {
    let origin = match provenance.origin {
        Origin::Collected => "collected",
        Origin::Imported { .. } => "imported",
        Origin::Transcribed { .. } => "transcribed",
        Origin::Unknown => "unknown",
    };
    evidence(origin, provenance.evidence)
}

fn evidence(origin: &str, evidence: Evidence) -> Badge {
    let (tier, what) = match evidence {
        Evidence::Raw => ("raw", "every run is in the file, and every figure is computed from them"),
        Evidence::Summary => ("summary", "only stated figures, without the runs behind them"),
        Evidence::Unknown => ("unknown evidence", "a kind of evidence that this page does not know"),
    };
    let whence = match origin {
        "collected" => return Badge::plain(tier, what),
        "transcribed" => "copied by hand from a published text, with its source",
        "imported" => "read from another tool's result file",
        _ => "from where its file says",
    };
    Badge::plain(&format!("{origin} {tier}"), &format!("{whence}; {what}"))
}

fn simulated() -> Badge {
    Badge::caution("simulated", "measured on Dyno's simulated engine: an instrument, never a result")
}

fn partial() -> Badge {
    Badge::caution("partial", "the measurement ended before all cases were done")
}

/// The badge of a warning; failed checks have the one with their number.
fn of_warning(name: &str) -> Option<Badge> {
    let (word, meaning) = match name {
        "checks_failed" => return None,
        "no_passing_run" => ("no passing run", "every run failed: there is no figure"),
        "served_from_cache" => {
            ("served from cache", "cold runs that the prefix cache answered; they are in no figure")
        }
        "not_cached" => ("not cached", "cached runs that missed the prefix cache; they are in no figure"),
        "drift" => {
            ("drift", "the rate moved over the case by more than its interval: the machine was not steady")
        }
        "outliers" => ("outliers", "runs that lie far off the rest; they are kept in every figure"),
        "few_runs" => ("few runs", "fewer than three passing runs: no interval"),
        "cold_start_suspected" => ("cold start", "the first run was far slower than the rest"),
        "engine_rate_implausible" => {
            ("engine figure", "the engine's counter was beyond belief and is not used")
        }
        "counted_events" => ("counted events", "the server reported no token counts: a lower bound"),
        "noisy_host" => ("noisy host", "other programs or other machines took the processors meanwhile"),
        "throttled" => ("throttled", "clocks were held back by heat or by a limit of power"),
        "gpu_shared" => ("GPU shared", "somebody else computed on the engine's accelerator"),
        "model_loaded" => ("model loaded", "the engine loaded its model within a run"),
        "ttft_dominates" => {
            ("TTFT dominates", "answers so short that rates tell of prefill and queue, not of decode")
        }
        "concurrency_not_reached" => {
            ("fewer streams", "the engine served fewer streams at once than were sent")
        }
        "client_error" => ("client error", "the client's own error is more than a hundredth of a figure"),
        "client_miscounts" => {
            ("client miscounts", "in its calibration the client lost tokens, or saw too many")
        }
        "client_uncalibrated" => ("client uncalibrated", "the client was calibrated with fewer streams"),
        "ended_early" => ("ended early", "fewer runs than were asked for"),
        other => {
            return Some(Badge::caution(&other.replace('_', " "), "a warning; the submission says more"));
        }
    };
    Some(Badge::caution(word, meaning))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dyno_shared::workload::Regime;

    fn entry(origin: &str, evidence: Evidence) -> Entry {
        let json = serde_json::json!({"id": "0", "label": "", "engine": "e", "model": "m", "hardware": "h", "origin": origin, "evidence": evidence});
        serde_json::from_value(json).unwrap()
    }

    fn words(entry: &Entry, failed: u64, warnings: &[&str]) -> Vec<String> {
        let row = Row {
            entry: 0,
            case: "code".into(),
            regime: Regime::Decode,
            workload: "code".into(),
            concurrency: 1,
            prompt_tokens: None,
            depth_tokens: None,
            runs: Some(16),
            failed,
            warnings: warnings.iter().map(|&w| w.to_owned()).collect(),
            cells: dyno_shared::named::Named::default(),
        };
        of_row(entry, &row).into_iter().map(|badge| badge.word).collect()
    }

    #[test]
    fn a_row_says_what_it_proves_and_what_to_be_careful_with() {
        let raw = entry("collected", Evidence::Raw);
        assert_eq!(words(&raw, 0, &[]), ["raw"]);
        assert_eq!(
            words(&raw, 3, &["checks_failed", "served_from_cache"]),
            ["raw", "3 failed", "served from cache"]
        );
        assert_eq!(words(&entry("transcribed", Evidence::Summary), 0, &[]), ["transcribed summary"]);
        let simulated = Entry { simulated: true, partial: true, ..raw };
        assert_eq!(words(&simulated, 0, &[]), ["raw", "simulated", "partial"]);
    }

    #[test]
    fn what_a_maintainer_says_comes_right_behind_the_evidence() {
        let mut flagged = entry("collected", Evidence::Raw);
        let flag =
            |superseded_by| Flag { reason: "Why.".into(), link: "https://e.org/7".into(), superseded_by };
        flagged.flag = Some(flag(None));
        assert_eq!(words(&flagged, 1, &[]), ["raw", "flagged", "1 failed"]);
        flagged.flag = Some(flag(Some("0".into())));
        assert_eq!(words(&flagged, 0, &[]), ["raw", "superseded"]);
    }

    #[test]
    fn a_warning_and_an_origin_never_heard_of_are_shown_as_they_are() {
        assert_eq!(words(&entry("dreamt", Evidence::Raw), 0, &["too_hot"]), ["dreamt raw", "too hot"]);
    }
}
