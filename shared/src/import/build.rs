//! What all formats make submissions of: names, cases, raw requests, stated figures.

mod latency;
mod requests;
mod time;
mod told;

pub use latency::{Latency, latencies, own};
pub use requests::{Stream, failed, request, run, runs_of};
pub use time::{day, utc, utc_text};
pub use told::Told;

use super::Format;
use crate::format::short;
use crate::submission::{Case, Evidence, Origin, Run, StatedEstimate, Submission};
use crate::system::{Setting, Sourced, System};
use crate::workload::Regime;

/// What an engine, a model or a machine is called that the file does not name.
pub const NOT_STATED: &str = "not stated";

/// A submission without cases, of an engine, a model and a machine that are not stated.
pub fn submission(format: &Format, version: Option<&str>, evidence: Evidence) -> Submission {
    let mut system = System::default();
    for name in [&mut system.engine.name, &mut system.model.name, &mut system.hardware.name] {
        NOT_STATED.clone_into(name);
    }
    let origin = Origin::Imported { tool: format.title.to_owned(), version: version.map(str::to_owned) };
    Submission::new(format.tag, origin, evidence, system)
}

/// A case without runs and figures.
pub fn case(id: &str, regime: Regime, workload: &str, concurrency: u32) -> Case {
    Case::new(id, regime, workload, concurrency.max(1))
}

/// The id of a load by its mean lengths in tokens: `load_64_16_c2`. The standard load of 2,000 and 400 tokens has the
/// name that Dyno gives it, `load_2000_c2`, where both are met within 5 %.
pub fn load_id(prompt: Option<f64>, output: Option<f64>, concurrency: u32) -> String {
    let near = |tokens: Option<f64>, aim: f64| tokens.is_some_and(|n| (n - aim).abs() <= 0.05 * aim);
    if near(prompt, 2000.0) && near(output, 400.0) {
        return format!("load_2000_c{concurrency}");
    }
    let length = |tokens: Option<f64>| match tokens {
        Some(n) if n.is_finite() && n >= 0.0 => (libm::round(n) as u64).to_string(),
        _ => "any".to_owned(),
    };
    format!("load_{}_{}_c{concurrency}", length(prompt), length(output))
}

/// A figure that a tool states, under the name of its statistic; `None` where it has no finite value.
pub fn stated(metric: &str, statistic: Option<&str>, value: Option<f64>) -> Option<StatedEstimate> {
    let value = value.filter(|x| x.is_finite())?;
    Some(StatedEstimate {
        metric: metric.to_owned(),
        statistic: statistic.map(str::to_owned),
        value: Some(value),
        ..StatedEstimate::default()
    })
}

/// A statistic's name as it is written in shards: `p50` stays `p50`, `median` stays `median`, `avg` is `mean`.
pub fn statistic(name: &str) -> &str {
    match name {
        "avg" => "mean",
        other => other,
    }
}

/// Milliseconds as seconds.
pub fn seconds_of_ms(ms: Option<f64>) -> Option<f64> {
    ms.map(|ms| ms / 1e3)
}

/// What a standard deviation is in the note of its mean: a spread is no figure of a metric.
pub fn spread_note(what: &str, deviation: Option<f64>, unit: &str) -> Option<String> {
    let deviation = deviation.filter(|x| x.is_finite())?;
    Some(format!("{what} standard deviation {} {unit}", short(deviation)))
}

/// Notes that are there, as one.
pub fn joined(notes: &[Option<&str>]) -> Option<String> {
    let known: Vec<&str> = notes.iter().copied().flatten().filter(|note| !note.is_empty()).collect();
    (!known.is_empty()).then(|| known.join("; "))
}

/// A note of the submission: which of our metrics lack, and why.
pub fn lacks(metrics: &str, why: &str) -> String {
    format!("no {metrics}: {why}")
}

/// A model's name without the folders of the machine that it lies on: `Qwen/Qwen3-8B` stays, `/data/Qwen3-8B` and
/// `models/x.gguf` lose their folders.
pub fn model_name(text: &str) -> &str {
    let text = text.trim().trim_end_matches(['/', '\\']);
    let is_path = text.starts_with(['/', '~', '.'])
        || text.contains('\\')
        || text.matches('/').count() > 1
        || is_gguf(text);
    let name = if is_path { text.rsplit(['/', '\\']).next().unwrap_or(text) } else { text };
    if is_gguf(name) { name.get(..name.len() - GGUF.len()).unwrap_or(name) } else { name }
}

/// A quantisation as its files are named: llama.cpp says `Q4_K - Medium` of a `Q4_K_M`.
pub fn quantisation(words: &str) -> String {
    match words.split_once(" - ") {
        Some((kind, size)) => format!("{kind}_{}", size.chars().take(1).collect::<String>()),
        None => words.to_owned(),
    }
}

/// A model's name without its quantisation, which has a field of its own: `SmolLM2.Q4_1`, `SmolLM2-Q4_1`.
pub fn without_quantisation<'a>(name: &'a str, quantisation: &str) -> &'a str {
    let head = name.len().checked_sub(quantisation.len()).filter(|_| !quantisation.is_empty());
    let parts = head.and_then(|at| Some((name.get(..at)?, name.get(at..)?)));
    match parts {
        Some((head, tail)) if tail.eq_ignore_ascii_case(quantisation) && head.ends_with(['.', '-', '_']) => {
            let model = head.trim_end_matches(['.', '-', '_']);
            if model.is_empty() { name } else { model }
        }
        _ => name,
    }
}

const GGUF: &str = ".gguf";

/// Whether a file name is one of a GGUF file.
pub fn is_gguf(name: &str) -> bool {
    name.len() > GGUF.len()
        && name.get(name.len() - GGUF.len()..).is_some_and(|end| end.eq_ignore_ascii_case(GGUF))
}

/// Sets a requested setting, where it is known.
pub fn requested(submission: &mut Submission, name: &str, value: Option<Setting>) {
    if let Some(value) = value {
        submission.configuration.requested.insert(name.to_owned(), value);
    }
}

/// Sets a value in effect as the file states it, where it is known.
pub fn effective(submission: &mut Submission, name: &str, value: Option<Setting>) {
    if let Some(value) = value {
        let stated = Sourced { value, source: "stated".to_owned() };
        submission.configuration.effective.insert(name.to_owned(), stated);
    }
}

/// Brings the cases of one configuration together: submissions that agree in label, system, configuration, tool and
/// evidence become one. A raw case that comes again adds its runs to the first; a stated one gets a number.
pub fn gather(parts: Vec<Submission>) -> Vec<Submission> {
    let mut whole: Vec<Submission> = Vec::new();
    for mut part in parts {
        let same = |other: &&mut Submission| {
            other.label == part.label
                && other.system == part.system
                && other.configuration == part.configuration
                && other.provenance.origin == part.provenance.origin
                && other.provenance.evidence == part.provenance.evidence
        };
        let Some(first) = whole.iter_mut().find(same) else {
            let cases = std::mem::take(&mut part.cases);
            for case in cases {
                add_case(&mut part.cases, case);
            }
            whole.push(part);
            continue;
        };
        for case in part.cases {
            add_case(&mut first.cases, case);
        }
        for note in part.notes {
            if !first.notes.contains(&note) {
                first.notes.push(note);
            }
        }
        // Times of one tool have one form, which sorts as it is.
        earlier(&mut first.provenance.started_at, part.provenance.started_at);
    }
    whole
}

fn earlier(first: &mut Option<String>, other: Option<String>) {
    if let Some(other) = other
        && first.as_ref().is_none_or(|first| other < *first)
    {
        *first = Some(other);
    }
}

/// Adds a case whose id may be taken.
pub fn add_case(cases: &mut Vec<Case>, mut case: Case) {
    let id = case.id.clone();
    let mut again = 1;
    while let Some(known) = cases.iter_mut().find(|known| known.id == case.id) {
        if is_one_case(known, &case) {
            let before = known.runs.iter().map(|run| run.number).max().unwrap_or(0);
            known.runs.extend(case.runs.into_iter().map(|run| Run { number: before + run.number, ..run }));
            return;
        }
        again += 1;
        case.id = format!("{id}_{again}");
    }
    cases.push(case);
}

/// Whether the runs of both are repetitions of one thing.
fn is_one_case(a: &Case, b: &Case) -> bool {
    let has_runs = |case: &Case| !case.runs.is_empty() && case.stated.is_empty();
    has_runs(a)
        && has_runs(b)
        && (a.regime, a.concurrency, a.depth_tokens) == (b.regime, b.concurrency, b.depth_tokens)
        && (&a.workload, &a.sampling, &a.arrival) == (&b.workload, &b.sampling, &b.arrival)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_loses_the_folders_of_its_machine_and_keeps_its_publisher() {
        for (written, name) in [
            ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B"),
            ("/data/models/Qwen3-8B/", "Qwen3-8B"),
            ("models/SmolLM2.Q4_1.gguf", "SmolLM2.Q4_1"),
            ("C:\\models\\a.GGUF", "a"),
            ("~/m/a", "a"),
            ("llama3.2:1b", "llama3.2:1b"),
        ] {
            assert_eq!(model_name(written), name);
        }
    }

    #[test]
    fn a_quantisation_has_one_spelling_and_stands_once() {
        assert_eq!(quantisation("Q4_K - Medium"), "Q4_K_M");
        assert_eq!(quantisation("Q4_1"), "Q4_1");
        for (name, quantisation, model) in [
            ("SmolLM2.Q4_1", "Q4_1", "SmolLM2"),
            ("Qwen3-8B-q4_k_m", "Q4_K_M", "Qwen3-8B"),
            ("Q4_1", "Q4_1", "Q4_1"),
            (".Q4_1", "Q4_1", ".Q4_1"),
            ("モデル", "Q4_1", "モデル"),
            ("m", "", "m"),
        ] {
            assert_eq!(without_quantisation(name, quantisation), model);
        }
    }

    #[test]
    fn the_standard_load_has_the_name_that_dyno_gives_it_and_no_other_load_has() {
        assert_eq!(load_id(Some(2043.0), Some(400.0), 4), "load_2000_c4");
        assert_eq!(load_id(Some(2043.0), Some(128.0), 4), "load_2043_128_c4");
        assert_eq!(load_id(None, Some(16.4), 1), "load_any_16_c1");
    }

    #[test]
    fn repeated_raw_cases_add_their_runs_and_stated_ones_stand_beside_each_other() {
        let mut raw = case("load_64_16_c2", Regime::Load, "random", 2);
        raw.runs = vec![Run { number: 1, ..Run::default() }];
        let mut told = case("load_64_16_c2", Regime::Load, "random", 2);
        told.stated.extend(stated("client_wall_ttft_s", Some("mean"), Some(1.0)));
        let mut cases = Vec::new();
        for case in [raw.clone(), raw, told.clone(), told] {
            add_case(&mut cases, case);
        }
        let found: Vec<(&str, usize)> = cases.iter().map(|c| (c.id.as_str(), c.runs.len())).collect();
        assert_eq!(found, [("load_64_16_c2", 2), ("load_64_16_c2_2", 0), ("load_64_16_c2_3", 0)]);
        assert_eq!(cases[0].runs[1].number, 2);
    }

    #[test]
    fn what_is_not_finite_is_not_stated() {
        for value in [None, Some(f64::NAN), Some(f64::INFINITY)] {
            assert_eq!(stated("client_wall_ttft_s", Some("mean"), value), None);
        }
    }
}
