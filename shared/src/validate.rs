//! What a well-formed shard must not say: impossible numbers, doubled names, private text.

use std::collections::BTreeSet;

use crate::plain::plain;
use crate::privacy::find_secret;
use crate::submission::{Case, Evidence, Run, Submission};

/// One thing wrong with a shard, where, and what to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// JSON path, e.g. `cases[2].runs[0].requests[0].t_first_s`.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do about it.
    pub remedy: String,
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}. {}", self.path, self.message, self.remedy)
    }
}

/// Everything wrong with a shard; empty when it may be published.
pub fn validate(shard: &Submission) -> Vec<Problem> {
    let mut problems = Problems(Vec::new());
    if shard.label.trim().is_empty() {
        problems.add("label", "is empty", "Name the configuration with `--label`");
    }
    if shard.system.engine.name.trim().is_empty() {
        problems.add("system.engine.name", "is empty", "Name the engine with `--engine-name`");
    }
    if shard.system.model.name.trim().is_empty() {
        problems.add("system.model.name", "is empty", "Name the model with `--model-name`");
    }
    let mut ids = BTreeSet::new();
    for (i, case) in shard.cases.iter().enumerate() {
        let path = format!("cases[{i}]");
        if !ids.insert(case.id.as_str()) {
            problems.add(
                &format!("{path}.id"),
                &format!("`{}` stands twice", case.id),
                "Give every case a name of its own",
            );
        }
        check_case(&mut problems, &path, case, shard.provenance.evidence);
    }
    check_private(&mut problems, shard);
    problems.0
}

struct Problems(Vec<Problem>);

impl Problems {
    fn add(&mut self, path: &str, message: &str, remedy: &str) {
        // Keys and names of the file stand in both; its lines are ours.
        self.0.push(Problem { path: plain(path), message: plain(message), remedy: remedy.into() });
    }
}

fn check_case(problems: &mut Problems, path: &str, case: &Case, evidence: Evidence) {
    if case.id.trim().is_empty() {
        problems.add(&format!("{path}.id"), "is empty", "Name the case");
    }
    if case.concurrency == 0 {
        problems.add(&format!("{path}.concurrency"), "is 0", "A case has at least one stream");
    }
    if evidence == Evidence::Raw && !case.stated.is_empty() {
        problems.add(
            &format!("{path}.stated"),
            "holds stated figures in a raw submission",
            "Remove them (every figure is computed from the runs), or set `provenance.evidence` to `summary`",
        );
    }
    let mut numbers = BTreeSet::new();
    for (j, run) in case.runs.iter().enumerate() {
        let path = format!("{path}.runs[{j}]");
        if !numbers.insert(run.number) {
            problems.add(
                &format!("{path}.number"),
                &format!("{} stands twice", run.number),
                "Number the runs from 1, in order",
            );
        }
        check_run(problems, &path, run);
    }
    for (j, stated) in case.stated.iter().enumerate() {
        let path = format!("{path}.stated[{j}]");
        if let (Some(low), Some(high)) = (stated.low, stated.high)
            && low > high
        {
            problems.add(&format!("{path}.low"), "is above `high`", "Swap them");
        }
        if stated.value.is_none() && stated.min.is_none() && stated.max.is_none() {
            problems.add(&path, "states neither a value nor a range", "Remove it, or say what was stated");
        }
    }
}

fn check_run(problems: &mut Problems, path: &str, run: &Run) {
    for (k, request) in run.requests.iter().enumerate() {
        let path = format!("{path}.requests[{k}]");
        let times = [
            ("t_send_s", request.t_send_s),
            ("t_headers_s", request.t_headers_s),
            ("t_first_s", request.t_first_s),
            ("t_last_s", request.t_last_s),
            ("t_end_s", request.t_end_s),
        ];
        let mut latest = ("t_send_s", f64::NEG_INFINITY);
        for (name, time) in times {
            let Some(time) = time else { continue };
            if !time.0.is_finite() || time.0 < 0.0 {
                problems.add(
                    &format!("{path}.{name}"),
                    "is not a time after the start of the run",
                    "Measure again: clocks of a run start at 0",
                );
            } else if time.0 < latest.1 {
                problems.add(
                    &format!("{path}.{name}"),
                    &format!("is before `{}`", latest.0),
                    "Measure again: a request's events come in order",
                );
            } else {
                latest = (name, time.0);
            }
        }
        if let Some(gaps) = &request.gaps
            && !(gaps.tick_s.is_finite() && gaps.tick_s > 0.0)
        {
            problems.add(
                &format!("{path}.gaps.tick_s"),
                "is no span of time",
                "Measure again, or remove the gaps",
            );
        }
        if let Some(gaps) = &request.gaps
            && gaps.ticks.len() as u64 + 1 != request.text_events
        {
            problems.add(
                &format!("{path}.gaps"),
                "has not one gap fewer than there are text events",
                "Measure again, or remove the gaps",
            );
        }
        if let (Some(cached), Some(prompt)) = (request.cached_prompt_tokens, request.prompt_tokens)
            && cached > prompt
        {
            problems.add(
                &format!("{path}.cached_prompt_tokens"),
                "exceeds `prompt_tokens`",
                "Report the engine's bug, and leave the count out",
            );
        }
    }
}

/// Looks through every string of the shard, keys of settings included.
fn check_private(problems: &mut Problems, shard: &Submission) {
    match serde_json::to_value(shard) {
        Ok(value) => walk(problems, &mut String::new(), &value),
        Err(error) => problems.add("", &format!("cannot be written as JSON: {error}"), "Measure again"),
    }
}

fn walk(problems: &mut Problems, path: &mut String, value: &serde_json::Value) {
    use std::fmt::Write as _;
    match value {
        serde_json::Value::String(text) => report_private(problems, path, text),
        serde_json::Value::Array(items) => {
            for (i, item) in items.iter().enumerate() {
                let length = path.len();
                // Writing to a String cannot fail.
                let _ = write!(path, "[{i}]");
                walk(problems, path, item);
                path.truncate(length);
            }
        }
        serde_json::Value::Object(fields) => {
            for (key, field) in fields {
                let length = path.len();
                if length > 0 {
                    path.push('.');
                }
                path.push_str(key);
                report_private(problems, path, key);
                walk(problems, path, field);
                path.truncate(length);
            }
        }
        _ => {}
    }
}

fn report_private(problems: &mut Problems, path: &str, text: &str) {
    if let Some(secret) = find_secret(text) {
        problems.add(
            path,
            &format!("holds {}", secret.title()),
            "Remove it before you publish: a shard never says who or where",
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::RequestRecord;
    use crate::testing::{shard_of, single_stream_case};
    use crate::units::Seconds;

    fn messages(shard: &Submission) -> Vec<String> {
        validate(shard).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_honest_shard_has_no_problems() {
        assert_eq!(
            messages(&shard_of(vec![single_stream_case("code", &[(512, 5.0); 3])])),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_key_or_a_home_path_anywhere_is_refused_with_its_place() {
        let mut shard = shard_of(vec![single_stream_case("code", &[(512, 5.0); 3])]);
        shard.cases[0].runs[1].requests[0].output_text = Some("see /home/alice/x".into());
        shard.provenance.command = Some("dyno run --api-key sk-abcdefghijklmnopqrst".into());
        let found = messages(&shard);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found.iter().any(|m| m.starts_with("cases[0].runs[1].requests[0].output_text: holds a path"))
        );
        assert!(found.iter().any(|m| m.starts_with("provenance.command: holds an API key")));
    }

    #[test]
    fn impossible_times_doubled_names_and_empty_statements_are_refused() {
        let mut case = single_stream_case("code", &[(512, 5.0), (512, 5.0)]);
        case.runs[0].requests[0].t_last_s = Some(Seconds(0.001));
        case.runs[1].number = 1;
        case.concurrency = 0;
        case.stated.push(crate::submission::StatedEstimate::default());
        let shard = shard_of(vec![case.clone(), case]);
        let found = messages(&shard).join("\n");
        for part in
            ["cases[1].id", "t_last_s: is before", "stands twice", "is 0", "states neither", "raw submission"]
        {
            assert!(found.contains(part), "{part} is missing in {found}");
        }
    }

    #[test]
    fn gaps_without_a_length_are_refused() {
        for tick_s in [0.0, -1.0, f64::INFINITY] {
            let mut case = single_stream_case("code", &[(512, 5.0)]);
            let ticks =
                vec![1; usize::try_from(case.runs[0].requests[0].text_events.saturating_sub(1)).unwrap()];
            case.runs[0].requests[0].gaps = Some(crate::record::Gaps { tick_s, ticks });
            assert!(
                messages(&shard_of(vec![case])).join("\n").contains("gaps.tick_s: is no span"),
                "{tick_s}"
            );
        }
    }

    #[test]
    fn a_problem_names_a_hostile_key_on_one_line_and_without_commands_to_a_terminal() {
        let mut case = single_stream_case("code", &[(512, 5.0)]);
        case.id = "\u{1b}[2J\n\u{202e}".into();
        let found = messages(&shard_of(vec![case.clone(), case]));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0], crate::plain::plain(&found[0]));
    }

    #[test]
    fn a_record_without_anything_is_valid_because_unknown_is_allowed() {
        let mut case = single_stream_case("code", &[(512, 5.0)]);
        case.runs[0].requests = vec![RequestRecord::default()];
        assert_eq!(messages(&shard_of(vec![case])), Vec::<String>::new());
    }
}
