use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use std::fmt;

use super::*;
use crate::index::{IndexPage, Latest};
use crate::record::{RequestErrorKind, TokenCountSource};
use crate::submission::{Evidence, StatedEstimate, Submission};
use crate::system::Engine;
use crate::testing::{shard_of, single_stream_case};
use crate::workload::Regime;

/// A shard with something of everything.
fn full() -> Value {
    let request = json!({
        "stream": 1, "turn": 2, "run_tag": "a", "prompt_sha256": "b", "t_due_s": 0.0, "t_send_s": 0, "t_headers_s": 0.1,
        "t_first_s": 0.25, "t_first_answer_s": 0.5, "t_last_s": 2.0, "t_end_s": 2.1, "connect_s": 0.01, "status": 200,
        "text_events": 3, "gaps": {"tick_s": 1e-6, "ticks": [1, 2]}, "event_tokens": [1, 2, 1], "prompt_tokens": 50,
        "cached_prompt_tokens": 10, "output_tokens": 4, "reasoning_tokens": 0, "first_event_tokens": 1,
        "token_count_source": "usage", "finish_reason": "stop", "output_chars": 12, "output_sha256": "c",
        "output_text": "d", "error": {"kind": "status", "message": "e"},
        "engine": {
            "source": "timings", "prompt_tokens": 40, "prompt_s": 0.2, "cached_tokens": 10, "output_tokens": 4,
            "decode_s": 1.7, "ttft_s": 0.2, "queue_s": 0.0, "load_s": 0.0, "draft_tokens": 6, "accepted_tokens": 3,
            "verify_steps": 2,
        },
    });
    let run = json!({
        "number": 1, "cycle": 1, "started_s": 3.5, "requests": [request], "flags": ["not_cached"],
        "checks": [{"name": "not_empty", "passed": false, "detail": "f"}],
        "counters": {"source": "/metrics", "prompt_tokens": 40.0, "decode_s": 1.7},
        "telemetry": {"gpu_energy_j": 1.5, "host_load": 0.5, "throttle_reasons": ["heat"], "gpus": 1},
    });
    json!({
        "schema": "dyno/1.0", "label": "a", "notes": ["g"],
        "provenance": {
            "origin": {"kind": "transcribed", "source": "h", "location": "i", "author": "j"}, "evidence": "raw",
            "series": "s", "calibration": {"streams": 1, "ttft_error_p99_s": 0.001, "lost_tokens": 0},
        },
        "system": {
            "engine": {"name": "k", "version": "1", "simulated": true},
            "model": {"name": "l", "size_bytes": 5},
            "hardware": {"name": "m", "accelerators": [{"name": "n", "count": 2}], "cpu_threads": 8},
            "topology": {"tensor_parallel": 2},
        },
        "configuration": {
            "requested": {"flag": true, "number": 0.5, "whole": -3, "text": "on"},
            "effective": {"context_limit_tokens": {"value": 4096, "source": "/props"}},
        },
        "cases": [{
            "id": "code", "regime": "load", "workload": "code", "concurrency": 4, "prompt_tokens_target": 50,
            "arrival": {"kind": "poisson", "per_s": 2.0}, "turns": 3, "sampling": {"temperature": 0, "seed": 7},
            "warmups": [run.clone()], "runs": [run], "ended_early": "o",
            "stated": [{"metric": "p", "value": 1, "n": 3}],
            "reproducibility": {"attempts": 3, "identical": false, "first_difference_chars": 9},
        }],
        "stated_comparisons": [{"case": "q", "metric": "r", "b": "B", "a": "A", "ratio": 1.1, "p": "0.01"}],
    })
}

/// Whatever is taken away from a value or put in the place of a part of it: both readers make the same of it.
fn same_as_serde<T: Slot + DeserializeOwned + PartialEq + fmt::Debug>(whole: &Value) {
    let ours = |value: &Value| read::<T>(&value.to_string()).ok();
    let theirs = |value: &Value| serde_json::from_value::<T>(value.clone()).ok();
    assert!(ours(whole).is_some() && ours(whole) == theirs(whole));
    for pointer in pointers(whole) {
        let (parent, name) = pointer.rsplit_once('/').unwrap();
        let mut less = whole.clone();
        match less.pointer_mut(parent).unwrap() {
            Value::Object(members) => assert!(members.remove(name).is_some()),
            Value::Array(elements) => drop(elements.remove(name.parse().unwrap())),
            _ => unreachable!(),
        }
        assert_eq!(ours(&less), theirs(&less), "without {pointer}");
        for other in [json!(null), json!(true), json!(-1), json!(0.5), json!(1e30), json!("x"), json!({})] {
            let mut changed = whole.clone();
            *changed.pointer_mut(&pointer).unwrap() = other.clone();
            assert_eq!(ours(&changed), theirs(&changed), "{other} at {pointer}");
        }
    }
}

/// The places of all parts.
fn pointers(value: &Value) -> Vec<String> {
    let parts: Vec<(String, &Value)> = match value {
        Value::Object(members) => members.iter().map(|(name, part)| (name.clone(), part)).collect(),
        Value::Array(elements) => {
            elements.iter().enumerate().map(|(i, part)| (i.to_string(), part)).collect()
        }
        _ => return Vec::new(),
    };
    let below = |(name, part): (String, &Value)| {
        let deeper = pointers(part).into_iter().map(|rest| format!("/{name}{rest}")).collect::<Vec<_>>();
        std::iter::once(format!("/{name}")).chain(deeper).collect::<Vec<_>>()
    };
    parts.into_iter().flat_map(below).collect()
}

fn wrong(text: &str) -> String {
    read::<Submission>(text).unwrap_err().to_string()
}

#[test]
fn a_shard_reads_as_serde_reads_it_whole_or_damaged() {
    same_as_serde::<Submission>(&full());
}

#[test]
fn the_published_index_reads_as_serde_reads_it_whole_or_damaged() {
    let mut case = single_stream_case("code", &[(512, 5.0), (511, 4.9), (511, 5.1)]);
    let mut stated = single_stream_case("power", &[]);
    case.depth_tokens = Some(4096);
    stated.stated = vec![StatedEstimate {
        metric: "power".into(),
        min: Some(116.0),
        max: Some(119.0),
        ..Default::default()
    }];
    let mut page = IndexPage::default();
    page.push("0123456789abcdef", &shard_of(vec![case, stated]));
    same_as_serde::<IndexPage>(&serde_json::to_value(&page).unwrap());
    same_as_serde::<Latest>(&json!({
        "schema": "dyno-site/1.0", "data_version": "a", "submissions": 2,
        "index": [{"path": "b", "rows": 3}], "rejected": [{"path": "c", "reason": "d"}],
    }));
}

#[test]
fn words_and_origins_read_as_serde_reads_them() {
    fn each<T: Slot + DeserializeOwned + PartialEq + fmt::Debug>(words: &[&str]) {
        for word in words.iter().chain(&["never heard of"]).map(|&word| json!(word)) {
            assert_eq!(
                read::<T>(&word.to_string()).ok(),
                serde_json::from_value(word.clone()).ok(),
                "{word}"
            );
        }
    }
    each::<Evidence>(&["raw", "summary"]);
    each::<Regime>(&Regime::ALL.map(Regime::tag));
    each::<TokenCountSource>(&["usage", "engine_timings", "chunk_usage", "counted_events"]);
    each::<RequestErrorKind>(&[
        "connect",
        "first_byte_timeout",
        "idle_timeout",
        "status",
        "mid_stream",
        "disconnected",
        "no_text",
        "protocol",
    ]);
    let origins = [
        json!({"kind": "collected"}),
        json!({"kind": "imported", "tool": "a", "version": "1"}),
        json!({"kind": "transcribed", "source": "b"}),
        json!({"kind": "dreamt", "source": "b"}),
    ];
    for origin in origins {
        let mut shard = full();
        shard["provenance"]["origin"] = origin;
        same_as_serde::<crate::submission::Provenance>(&shard["provenance"]);
    }
}

#[test]
fn an_error_names_its_place() {
    let shard = shard_of(vec![single_stream_case("code", &[(512, 5.0), (511, 4.9)])]);
    let text = serde_json::to_string(&shard).unwrap();
    assert_eq!(
        wrong(&text.replace("\"number\":2", "\"number\":\"two\"")),
        "cases[0].runs[1].number: expected a whole number from 0 to 4294967295, found \"two\""
    );
    assert_eq!(wrong("[]"), "the whole: expected an object, found a list");
    assert_eq!(wrong("{\"schema\":\"dyno/1.0\"}"), "the whole: missing field `label`");
}

#[test]
fn a_list_in_the_place_of_an_object_is_refused() {
    let list: Value = serde_json::from_str(r#"["llama.cpp", null, null, false]"#).unwrap();
    assert!(serde_json::from_value::<Engine>(list.clone()).is_ok());
    assert!(read::<Engine>(&list.to_string()).is_err());
}
