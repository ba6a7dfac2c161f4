//! What a well-formed shard must not say: impossible numbers, doubled or endless names, private text.
//!
//! Each of these is an error, and keeps a shard from being published. What is only hard to believe is in
//! [`plausible`](crate::plausible).

mod run;
mod texts;

use std::collections::BTreeSet;

use crate::date;
use crate::metric;
use crate::plain::plain;
use crate::submission::{Case, Evidence, Provenance, StatedEstimate, Submission};

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
    check_dates(&mut problems, &shard.provenance);
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
    texts::check(&mut problems, shard);
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
        run::check(problems, &path, run);
    }
    for (j, run) in case.warmups.iter().enumerate() {
        run::check(problems, &format!("{path}.warmups[{j}]"), run);
    }
    for (j, stated) in case.stated.iter().enumerate() {
        check_stated(problems, &format!("{path}.stated[{j}]"), stated);
    }
}

fn check_stated(problems: &mut Problems, path: &str, stated: &StatedEstimate) {
    let ends = [("low", "high", stated.low, stated.high), ("min", "max", stated.min, stated.max)];
    for (low, high, at, to) in ends {
        if at.zip(to).is_some_and(|(at, to)| at > to) {
            problems.add(&format!("{path}.{low}"), &format!("is above `{high}`"), "Swap them");
        }
    }
    if stated.metric.trim().is_empty() {
        problems.add(&format!("{path}.metric"), "is empty", "Name it: docs/METHOD.md lists the tags");
    }
    if stated.value.is_none() && stated.min.is_none() && stated.max.is_none() {
        problems.add(path, "states neither a value nor a range", "Remove it, or say what was stated");
    }
    let figures = [("value", stated.value), ("low", stated.low), ("min", stated.min)];
    for (name, _) in figures.iter().filter(|(_, figure)| figure.is_some_and(|x| x < 0.0)) {
        if metric::find(&stated.metric).is_some() {
            problems.add(&format!("{path}.{name}"), "is negative", "Give times, rates and counts from 0");
        }
    }
}

fn check_dates(problems: &mut Problems, provenance: &Provenance) {
    let dates = [("started_at", &provenance.started_at), ("ended_at", &provenance.ended_at)];
    for (name, text) in dates {
        if text.as_deref().is_some_and(|text| date::seconds(text).is_none()) {
            problems.add(
                &format!("provenance.{name}"),
                "is no date",
                "Write it as 2026-11-30 or 2026-11-30T12:00:00Z (RFC 3339), or leave it out",
            );
        }
    }
    let moment = |text: &Option<String>| text.as_deref().and_then(date::seconds);
    if let (Some(start), Some(end)) = (moment(&provenance.started_at), moment(&provenance.ended_at))
        && end < start
    {
        problems.add(
            "provenance.ended_at",
            "is before `started_at`",
            "Measure again with a clock that is right",
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
    fn dates_names_shares_and_signs_are_looked_at() {
        let mut case = single_stream_case("code", &[(512, 5.0)]);
        case.runs[0].requests[0].t_first_answer_s = Some(Seconds(99.0));
        case.runs[0].telemetry = Some(crate::submission::Telemetry {
            gpu_utilisation: Some(97.0),
            window_s: Some(Seconds(-1.0)),
            ..Default::default()
        });
        let mut shard = shard_of(vec![case]);
        shard.system.engine.name = "é".repeat(201);
        shard.provenance.started_at = Some("2026-02-30".into());
        shard.configuration.requested.insert("max_tokens".into(), crate::system::Setting::Number(-1.0));
        let found = messages(&shard).join("\n");
        for part in [
            "t_first_answer_s: is not between",
            "gpu_utilisation: is above 1",
            "window_s: is negative",
            "engine.name: is longer than 200",
            "started_at: is no date",
        ] {
            assert!(found.contains(part), "{part} is missing in {found}");
        }
        assert_eq!(found.lines().count(), 5, "{found}");
        shard.system.engine.name = "é".repeat(200);
        shard.provenance.started_at = Some("2026-02-28".into());
        shard.provenance.ended_at = Some("2026-02-27T23:00:00Z".into());
        let found = messages(&shard).join("\n");
        assert!(found.contains("ended_at: is before") && !found.contains("longer"), "{found}");
    }

    #[test]
    fn a_stated_figure_below_zero_and_a_range_the_wrong_way_round_are_refused() {
        let mut case = single_stream_case("code", &[]);
        case.stated = vec![
            StatedEstimate { metric: "client_wall_ttft_s".into(), value: Some(-1.0), ..Default::default() },
            StatedEstimate { metric: "mood".into(), min: Some(2.0), max: Some(-1.0), ..Default::default() },
        ];
        let mut shard = shard_of(vec![case]);
        shard.provenance.evidence = Evidence::Summary;
        let found = messages(&shard);
        assert_eq!(found.len(), 2, "{found:?}");
        assert!(
            found[0].contains("stated[0].value: is negative") && found[1].contains("min: is above `max`")
        );
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
