//! What the terminal shows, as a whole.

use dyno_shared::record::{EngineTimings, RequestRecord};
use dyno_shared::submission::{
    Calibration, Check, Evidence, Origin, Reproducibility, Run, StatedComparison, StatedEstimate, Submission,
    Telemetry, flag,
};
use dyno_shared::units::{Joules, Seconds, Tokens};
use dyno_shared::workload::Regime;

use super::{json, text};

fn shard() -> Submission {
    let smallest = r#"{"schema":"dyno/1.0","label":"default","provenance":{"origin":{"kind":"collected"},"evidence":"raw"}}"#;
    let mut shard = dyno_shared::shard::parse(smallest).unwrap();
    shard.provenance.started_at = Some("2026-11-30T12:00:00Z".into());
    shard.system.engine.name = "llama.cpp".into();
    shard.system.engine.version = Some("b11434".into());
    shard.system.model.name = "SmolLM2-135M-Instruct".into();
    shard.system.model.quantisation = Some("Q4_1".into());
    shard.system.hardware.name = "Intel Xeon, 2 threads".into();
    shard
}

fn case(id: &str, regime: &str, runs: &[Run]) -> dyno_shared::submission::Case {
    let value = serde_json::json!({
        "id": id, "regime": regime, "workload": "code", "concurrency": 1, "prompt_tokens_target":
        (regime != "decode").then_some(2_000), "runs": runs,
    });
    serde_json::from_value(value).unwrap()
}

/// A run of `tokens` over `span` seconds after `ttft` seconds.
fn run(number: u32, prompt: u64, ttft: f64, tokens: u64, span: f64) -> Run {
    Run {
        number,
        requests: vec![RequestRecord {
            t_send_s: Some(Seconds(0.0)),
            t_first_s: Some(Seconds(ttft)),
            t_last_s: Some(Seconds(ttft + span)),
            text_events: tokens,
            prompt_tokens: Some(Tokens(prompt)),
            cached_prompt_tokens: Some(Tokens(24)),
            output_tokens: Some(Tokens(tokens)),
            engine: Some(EngineTimings {
                source: "response timings".into(),
                prompt_tokens: Some(Tokens(prompt - 24)),
                prompt_s: Some(Seconds(ttft * 0.98)),
                output_tokens: Some(Tokens(tokens)),
                decode_s: Some(Seconds(span * 0.99)),
                ..EngineTimings::default()
            }),
            ..RequestRecord::default()
        }],
        ..Run::default()
    }
}

fn decode_runs(n: u32) -> Vec<Run> {
    (1..=n)
        .map(|i| run(i, 90, 0.42 + f64::from(i % 3) * 0.01, 512, 12.9 + f64::from(i * 7 % 5) * 0.08))
        .collect()
}

#[test]
fn the_table_of_a_measurement() {
    let mut shard = shard();
    let mut code = case("code", "decode", &decode_runs(16));
    code.reproducibility =
        Some(Reproducibility { attempts: Some(3), identical: true, first_difference_chars: None });
    let mut counting = case("counting", "decode", &decode_runs(16));
    for i in [1, 4, 5, 11, 12] {
        counting.runs[i].checks.push(Check {
            name: "counting".into(),
            passed: false,
            detail: Some("line 102 is `101`".into()),
        });
    }
    counting.reproducibility =
        Some(Reproducibility { attempts: Some(3), identical: false, first_difference_chars: Some(31) });
    let cold: Vec<Run> = (1..=16).map(|i| run(i, 2_012, 19.0 + f64::from(i % 5) * 0.1, 8, 0.3)).collect();
    let cold = case("cold_prefill_2k", "cold_prefill", &cold);
    let mut cached = case("cached_prefix_2k", "cached_prefix", &[1, 2].map(|i| run(i, 2_014, 0.61, 8, 0.3)));
    for run in &mut cached.runs {
        run.requests[0].cached_prompt_tokens = Some(Tokens(1_950));
    }
    let mut broken = case("cold_prefill_8k", "cold_prefill", &[]);
    broken.ended_early = Some("3 requests failed in a row, the last one: 400 the prompt is too long".into());
    let mut unproven = case("structured", "decode", &decode_runs(1));
    unproven.runs[0].flags.push(flag::SERVED_FROM_CACHE.into());
    shard.cases = vec![code, counting, unproven, cold, broken, cached];
    shard.notes =
        vec!["left out: cold_prefill_32k needs a context of 32,368 tokens, the engine has 8,192".into()];
    let shown = text(&shard);
    assert!(shown.lines().all(|line| line.chars().count() <= 100), "too wide:\n{shown}");
    insta::assert_snapshot!(shown);
}

#[test]
fn the_clients_own_error_is_told_where_it_matters_beside_the_figures() {
    let mut shard = shard();
    shard.cases = vec![case("code", "decode", &decode_runs(4))];
    let told = |shard: &Submission| text(shard).contains("code: the client's own error");
    let ttft = |seconds| Calibration {
        streams: Some(1),
        ttft_error_mean_s: Some(Seconds(seconds)),
        ..Calibration::default()
    };
    shard.provenance.calibration = Some(ttft(1e-6));
    assert!(!told(&shard) && text(&shard).contains("at 1 stream(s)"), "{}", text(&shard));
    shard.provenance.calibration = Some(ttft(10.0));
    assert!(told(&shard), "{}", text(&shard));
}

#[test]
fn energy_stands_in_the_report_where_it_is_known_and_only_there() {
    let mut shard = shard();
    let watched = |joules: Option<f64>, source: Option<&str>| Telemetry {
        cpu_energy_j: joules.map(Joules),
        energy_source: source.map(str::to_owned),
        host_cores: Some(2),
        host_load: Some(3.4),
        ..Telemetry::default()
    };
    let mut known = case("code", "decode", &decode_runs(3));
    let mut unknown = case("prose", "decode", &decode_runs(3));
    let mut of_prompt = case("cold_prefill_2k", "cold_prefill", &decode_runs(3));
    for (case, told) in [
        (&mut known, watched(Some(1_024.0), Some("RAPL packages"))),
        (&mut unknown, watched(None, None)),
        (&mut of_prompt, watched(Some(9_999.0), Some("RAPL packages"))),
    ] {
        case.runs.iter_mut().for_each(|run| run.telemetry = Some(told.clone()));
    }
    shard.cases = vec![known, unknown, of_prompt];
    let shown = text(&shard);
    let at = shown.find("energy").unwrap();
    insta::assert_snapshot!(shown[at..].split_once("\nWarnings").unwrap().0, @r"
    energy  per token         runs
            J/tok
    code    2.00 (2.00–2.00)     3
      energy of the whole run, its prompt included, over its output tokens, by RAPL packages
    ");
    for id in ["code", "prose", "cold_prefill_2k"] {
        let warning =
            format!("{id}: the host was busy with other things in 3 of 3 runs: a load of up to 3.40");
        assert!(shown.contains(&warning), "{shown}");
    }

    for case in &mut shard.cases {
        case.runs.iter_mut().for_each(|run| run.telemetry = None);
    }
    assert!(!text(&shard).contains("energy"), "{}", text(&shard));
}

#[test]
fn the_table_of_a_summary_says_what_was_stated_and_nothing_more() {
    let mut shard = shard();
    shard.provenance.evidence = Evidence::Summary;
    shard.provenance.origin = Origin::Transcribed { source: "A post".into(), location: None, author: None };
    let mut code = case("code", "decode", &[]);
    code.stated = vec![
        StatedEstimate {
            metric: "client_wall_decode_tok_s".into(),
            statistic: Some("ratio of totals".into()),
            value: Some(117.3),
            low: Some(111.7),
            high: Some(123.9),
            interval: Some("bootstrap 95 %".into()),
            n: Some(16),
            ..StatedEstimate::default()
        },
        StatedEstimate {
            metric: "moe_cache_size".into(),
            unit: Some("experts".into()),
            value: Some(2_606.0),
            note: Some("read from the log".into()),
            ..StatedEstimate::default()
        },
        StatedEstimate {
            metric: "client_wall_ttft_s".into(),
            min: Some(0.2),
            max: Some(0.4),
            ..StatedEstimate::default()
        },
    ];
    shard.cases = vec![code];
    let mut thinking = case("thinking", "other", &[]);
    thinking.reproducibility =
        Some(Reproducibility { attempts: None, identical: false, first_difference_chars: Some(210) });
    shard.cases.push(thinking);
    shard.stated_comparisons = vec![StatedComparison {
        case: "code".into(),
        metric: "decode rate".into(),
        b: "hybrid".into(),
        a: "offload".into(),
        ratio: Some(1.31),
        low: Some(1.25),
        high: Some(1.37),
        p: Some("< 0.001".into()),
        n: Some(16),
        ..StatedComparison::default()
    }];
    insta::assert_snapshot!(text(&shard));
}

#[test]
fn a_simulated_or_partial_shard_says_so_on_top() {
    let mut shard = shard();
    shard.system.engine.simulated = true;
    shard.provenance.partial = Some("stopped by Ctrl-C".into());
    let shown = text(&shard);
    assert!(shown.contains("SIMULATED") && shown.contains("PARTIAL: stopped by Ctrl-C"), "{shown}");
}

#[test]
fn the_json_holds_what_the_table_shows_and_null_for_unknown() {
    let mut shard = shard();
    shard.cases = vec![case("code", "decode", &decode_runs(2))];
    let report = json::report("a.json", &shard);
    let first = &report["cases"][0];
    assert_eq!((first["runs"].as_u64(), first["passed"].as_u64()), (Some(2), Some(2)));
    let decode = first["estimates"]
        .as_array()
        .unwrap()
        .iter()
        .find(|e| e["metric"] == "client_wall_decode_tok_s")
        .unwrap();
    assert_eq!(decode["unit"], "tok/s");
    assert!(decode["value"].as_f64().unwrap() > 30.0);
    assert!(decode["low"].is_null() && decode["interval"].is_null(), "no interval from two runs: {decode}");
    assert!(report["partial"].is_null());
    assert_eq!(first["regime"], Regime::Decode.tag());
}
