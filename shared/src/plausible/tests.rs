//! Shards that are hard to believe.

use super::*;
use crate::testing::{shard_of, single_stream_case};
use crate::units::Seconds;

fn said(shard: &Submission) -> Vec<String> {
    doubts(shard).iter().map(ToString::to_string).collect()
}

#[test]
fn an_honest_shard_raises_no_doubt() {
    assert_eq!(said(&shard_of(vec![single_stream_case("code", &[(512, 5.0117), (512, 5.0221)])])), [""; 0]);
}

#[test]
fn each_thing_that_is_hard_to_believe_is_said_with_its_place() {
    type Change = fn(&mut Submission);
    let changes: [(&str, Change); 9] = [
        ("cases[0].runs[0].requests[0].t_last_s: is so soon", |shard| {
            let request = &mut shard.cases[0].runs[0].requests[0];
            request.gaps = None;
            request.t_last_s = request.t_first_s.map(|t| Seconds(t.0 + 0.001));
        }),
        ("cases[0].runs[0].requests[0].t_first_s: is sooner", |shard| {
            shard.cases[0].runs[0].requests[0].prompt_tokens = Some(Tokens(100_000_000));
        }),
        ("cases[0].runs[0].requests[0].gaps: do not add up", |shard| {
            shard.cases[0].runs[0].requests[0].gaps.as_mut().unwrap().tick_s = 1e-3;
        }),
        ("requests[0].reasoning_tokens: exceeds", |shard| {
            shard.cases[0].runs[0].requests[0].reasoning_tokens = Some(Tokens(513));
        }),
        ("engine.decode_s: is longer than the whole", |shard| {
            shard.cases[0].runs[0].requests[0].engine =
                Some(crate::record::EngineTimings { decode_s: Some(Seconds(50.0)), ..Default::default() });
        }),
        ("cases[0].runs[1]: has the same times as run 1", |shard| {
            shard.cases[0].runs[1].requests = shard.cases[0].runs[0].requests.clone();
        }),
        ("cases[0].runs[1].started_s: is before", |shard| {
            shard.cases[0].runs[0].started_s = Some(Seconds(9.0));
            shard.cases[0].runs[1].started_s = Some(Seconds(2.0));
        }),
        ("means reading the weights faster", |shard| {
            shard.system.model.size_bytes = Some(400_000_000_000);
        }),
        ("provenance.ended_at: is before the end of the last run", |shard| {
            shard.provenance.started_at = Some("2026-11-30T12:00:00Z".into());
            shard.provenance.ended_at = Some("2026-11-30T12:00:10Z".into());
            shard.cases[0].runs[0].started_s = Some(Seconds(60.0));
        }),
    ];
    for (expected, change) in changes {
        let mut shard = shard_of(vec![single_stream_case("code", &[(512, 5.0117), (512, 5.0221)])]);
        change(&mut shard);
        let found = said(&shard);
        assert!(found.len() == 1 && found[0].contains(expected), "{expected}: {found:?}");
    }
}

#[test]
fn a_mixture_of_experts_reads_its_active_share_and_a_draft_reads_for_several_tokens() {
    let mut shard = shard_of(vec![single_stream_case("code", &[(512, 5.01)])]);
    shard.system.model.size_bytes = Some(400_000_000_000);
    shard.system.model.parameters = Some(400_000_000_000);
    shard.system.model.active_parameters = Some(10_000_000_000);
    assert_eq!(said(&shard), [""; 0]);
    shard.system.model.active_parameters = None;
    assert_eq!(said(&shard).len(), 1);
    shard.cases[0].runs[0].requests[0].event_tokens = Some(vec![170; 3]);
    assert_eq!(said(&shard), [""; 0]);
}

#[test]
fn a_stated_value_outside_its_interval_is_said() {
    let mut case = single_stream_case("code", &[]);
    case.stated.push(crate::submission::StatedEstimate {
        metric: "client_wall_decode_tok_s".into(),
        value: Some(9.0),
        low: Some(10.0),
        high: Some(12.0),
        n: Some(0),
        ..Default::default()
    });
    let mut shard = shard_of(vec![case]);
    shard.provenance.evidence = Evidence::Summary;
    let found = said(&shard);
    assert!(found.len() == 2 && found[0].contains("outside its own"), "{found:?}");
}
