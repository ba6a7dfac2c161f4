//! What no run can have been.

use super::Problems;
use crate::record::RequestRecord;
use crate::submission::Run;

pub(super) fn check(problems: &mut Problems, path: &str, run: &Run) {
    for (k, request) in run.requests.iter().enumerate() {
        let path = format!("{path}.requests[{k}]");
        times(problems, &path, request);
        first_answer(problems, &path, request);
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

fn times(problems: &mut Problems, path: &str, request: &RequestRecord) {
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
}

/// The answer begins with or after the first text, which may be reasoning, and not after the last.
fn first_answer(problems: &mut Problems, path: &str, request: &RequestRecord) {
    let Some(answer) = request.t_first_answer_s else { return };
    let before = request.t_first_s.is_some_and(|first| answer.0 < first.0);
    let after = request.t_last_s.is_some_and(|last| answer.0 > last.0);
    if before || after || !answer.0.is_finite() {
        problems.add(
            &format!("{path}.t_first_answer_s"),
            "is not between `t_first_s` and `t_last_s`",
            "Measure again: a request's events come in order",
        );
    }
}
