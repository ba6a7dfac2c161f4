//! Files that are no good shards, as the commands meet them.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::path::{Path, PathBuf};

use support::{call, dyno};

const GOOD: &str = r#"{"schema":"dyno/1.0","label":"a","provenance":{"origin":{"kind":"collected"},"evidence":"raw"},
    "system":{"engine":{"name":"llama.cpp"},"model":{"name":"m"}},
    "cases":[{"id":"code","regime":"decode","workload":"code","concurrency":1}]}"#;

fn put(dir: &Path, name: &str, text: &str) -> PathBuf {
    let path = dir.join(name);
    std::fs::write(&path, text).unwrap();
    path
}

#[test]
fn every_bad_shard_is_refused_with_its_reason_and_a_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let bad = [
        ("truncated.json", GOOD[..GOOD.len() / 2].to_owned(), "cut off", "--resume"),
        ("newer.json", GOOD.replace("dyno/1.0", "dyno/2.0"), "newer dyno: 2.0", "Update dyno"),
        (
            "key.json",
            GOOD.replace("\"a\"", "\"sk-abcdefghijklmnopqrst\""),
            "label: holds an API key",
            "Remove it",
        ),
        (
            "home.json",
            GOOD.replace("\"m\"", "\"/home/alice/m.gguf\""),
            "system.model.name: holds a path",
            "Remove it",
        ),
        ("empty.json", String::new(), "empty", "dyno run"),
        ("foreign.json", r#"{"results": []}"#.to_owned(), "not a Dyno shard", "dyno run"),
        ("form.json", GOOD.replace(":1}", ":\"one\"}"), "wrong form", "schema"),
        ("zero.json", GOOD.replace(":1}", ":0}"), "cases[0].concurrency: is 0", "at least one"),
    ];
    for (name, text, reason, remedy) in &bad {
        let path = put(dir.path(), name, text);
        call(&["validate", &path.to_string_lossy()]).ends(2).says(&[name, reason, remedy]);
    }
    let good = put(dir.path(), "good.json", GOOD);
    let ran = call(&["validate", &good.to_string_lossy()]).ends(0);
    assert!(ran.stdout.starts_with("ok "), "{}", ran.stdout);
    let missing = dir.path().join("missing.json");
    let both = [missing.to_string_lossy(), good.to_string_lossy()];
    let ran = call(&["validate", &both[0], &both[1]]).ends(2).says(&["missing.json", "1 of 2 files"]);
    assert!(ran.stdout.contains("good.json"), "one bad file does not hide a good one");
}

#[test]
fn a_report_shows_the_good_files_and_names_the_bad_one() {
    let dir = tempfile::tempdir().unwrap();
    let good = put(dir.path(), "good.json", GOOD);
    let bad = put(dir.path(), "bad.json", "{");
    let ran = call(&["report", &bad.to_string_lossy(), &good.to_string_lossy()])
        .ends(2)
        .says(&["bad.json", "cut off"]);
    assert!(ran.stdout.contains("llama.cpp"), "{}", ran.stdout);
}

#[test]
fn a_label_cannot_paint_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let path = put(
        dir.path(),
        "painted.json",
        &GOOD.replace("\"a\"", r#""\u001b[31mred <img src=x onerror=alert(1)>""#),
    );
    let ran = call(&["report", &path.to_string_lossy()]).ends(0);
    assert!(ran.stdout.contains("<img src=x") && !ran.stdout.contains('\u{1b}'), "{}", ran.stdout);
}

#[test]
fn no_message_about_a_file_can_paint_the_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let paint = r"\u001b[2J\u202e";
    for (name, text) in [
        ("newer\u{1b}[2J.json", GOOD.replace("1.0", &format!("2.0{paint}"))),
        (
            "key.json",
            GOOD.replace("\"m\"}", &format!("\"m\",\"{paint}/home/jo\":1}}"))
                .replace("\"m\"", "\"/home/jo\""),
        ),
        (
            "form.json",
            GOOD.replace(
                "\"cases\"",
                &format!("\"configuration\":{{\"effective\":{{\"{paint}\":7}}}},\"cases\""),
            ),
        ),
    ] {
        let path = put(dir.path(), name, &text);
        for command in ["validate", "report"] {
            let ran = call(&[command, &path.to_string_lossy()]);
            let said = ran.stderr + &ran.stdout;
            assert!(!said.contains(['\u{1b}', '\u{202e}']), "{command} {name}: {said:?}");
        }
    }
}

#[test]
fn a_stderr_that_nobody_reads_changes_no_exit_code() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let status = dyno().args(["validate", "nowhere.json"]).stderr(writer).status().unwrap();
    assert_eq!(status.code(), Some(2));
}

#[cfg(unix)]
#[test]
fn a_file_without_end_is_refused() {
    call(&["validate", "/dev/zero"]).ends(2).says(&["larger than 50 MB"]);
}

#[test]
fn publishing_says_what_it_rejected_and_ends_well() {
    let dir = tempfile::tempdir().unwrap();
    let results = dir.path().join("results");
    std::fs::create_dir(&results).unwrap();
    put(&results, "good.json", GOOD);
    put(&results, "broken.json", &GOOD[..40]);
    let out = dir.path().join("site");
    let run = |folder: &Path| {
        support::Ran::of(&dyno().arg("publish").arg(folder).arg("--out").arg(&out).output().unwrap())
    };
    let ran = run(&results).ends(0).says(&["broken.json: rejected", "cut off", "published 1 submissions"]);
    assert!(ran.stdout.trim().ends_with("latest.json"));
    let latest = std::fs::read_to_string(out.join("latest.json")).unwrap();
    let latest: serde_json::Value = serde_json::from_str(&latest).unwrap();
    assert_eq!(
        (latest["submissions"].as_u64(), latest["rejected"][0]["path"].as_str()),
        (Some(1), Some("broken.json"))
    );
    assert!(out.join("dyno-1.schema.json").is_file());
    run(&dir.path().join("nowhere")).ends(2).says(&["nowhere"]);
}

/// Made by `dyno schema > schema/dyno-1.schema.json`.
#[test]
fn the_committed_json_schema_is_that_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../schema/dyno-1.schema.json");
    let committed = std::fs::read_to_string(path).unwrap();
    let generated = call(&["schema"]).ends(0).stdout;
    assert!(
        committed == generated,
        "the schema has drifted: `cargo run -p dyno -- schema > schema/dyno-1.schema.json`"
    );
}
