//! Small submissions with known figures, for tests.

use crate::record::{Gaps, RequestRecord, TokenCountSource};
use crate::submission::{Case, Evidence, Origin, Run, Submission};
use crate::system::System;
use crate::units::{Seconds, Tokens};
use crate::workload::Regime;

/// TTFT of every request made here, in seconds.
pub(crate) const TTFT: f64 = 0.25;

/// One stream per run; each run's output tokens and decode span in seconds.
pub(crate) fn single_stream_case(id: &str, runs: &[(u64, f64)]) -> Case {
    Case {
        output_tokens_target: Some(512),
        runs: runs.iter().enumerate().map(|(i, &(tokens, span))| run(i as u32 + 1, tokens, span)).collect(),
        ..Case::new(id, Regime::Decode, id, 1)
    }
}

/// A run of one request.
pub(crate) fn run(number: u32, tokens: u64, span: f64) -> Run {
    let arrivals = [TTFT, TTFT + span / 2.0, TTFT + span].map(Seconds);
    Run {
        number,
        requests: vec![RequestRecord {
            t_send_s: Some(Seconds(0.0)),
            t_headers_s: Some(Seconds(0.001)),
            t_first_s: Some(arrivals[0]),
            t_last_s: Some(arrivals[2]),
            t_end_s: Some(arrivals[2]),
            text_events: 3,
            gaps: Gaps::from_arrivals(&arrivals),
            prompt_tokens: Some(Tokens(50)),
            output_tokens: Some(Tokens(tokens)),
            token_count_source: Some(TokenCountSource::Usage),
            ..RequestRecord::default()
        }],
        ..Run::default()
    }
}

/// A raw submission of these cases.
pub(crate) fn shard_of(cases: Vec<Case>) -> Submission {
    let mut system = System::default();
    system.engine.name = "llama.cpp".into();
    system.model.name = "SmolLM2-135M-Instruct".into();
    system.hardware.name = "2-core CPU".into();
    let mut shard = Submission::new("test", Origin::Collected, Evidence::Raw, system);
    shard.provenance.started_at = Some("2026-11-30T12:00:00Z".into());
    shard.provenance.series = Some("test".into());
    shard.cases = cases;
    shard
}

/// The one submission that a file of another tool gives, which may be published.
pub(crate) fn only(text: &str, format: &str) -> Submission {
    let mut found = crate::import::read(text, None).unwrap();
    assert_eq!((found.format, found.submissions.len()), (format, 1));
    let shard = found.submissions.remove(0);
    assert_eq!(crate::validate::validate(&shard), []);
    shard
}
