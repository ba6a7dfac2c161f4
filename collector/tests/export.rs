//! `dyno export`: what is in the files is what is in the shards.

#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests are tests")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use dyno_collector::export::{Dataset, headings};
use dyno_shared::submission::Submission;
use dyno_shared::summary::summarize_calibrated;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::{Field, Row};
use support::{Ran, call, results, shard};

const ONE: &str = "llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct--t1-c4096.json";

/// Every file below a folder that has this extension.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path, extension));
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn export(inputs: &[&str], out: &Path, more: &[&str]) -> Ran {
    call(&[&["export"], inputs, &["--out", out.to_str().unwrap()], more].concat())
}

type Record = BTreeMap<String, Field>;

/// The rows of a dataset, each with the names of its columns.
fn rows(folder: &Path) -> Vec<Record> {
    let rows = |path: &PathBuf| -> Vec<Row> {
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        reader.get_row_iter(None).unwrap().map(Result::unwrap).collect()
    };
    let named = |row: Row| row.into_columns().into_iter().collect();
    files(folder, "parquet").iter().flat_map(rows).map(named).collect()
}

fn shards() -> Vec<Submission> {
    files(Path::new(&results("")), "json").iter().map(|path| shard(path)).collect()
}

fn text(record: &Record, column: &str) -> Option<String> {
    match &record[column] {
        Field::Str(text) => Some(text.clone()),
        Field::Null => None,
        other => panic!("{column} is {other:?}"),
    }
}

fn number(record: &Record, column: &str) -> Option<f64> {
    match &record[column] {
        Field::Double(number) => Some(*number),
        Field::Long(count) => Some(*count as f64),
        Field::Null => None,
        other => panic!("{column} is {other:?}"),
    }
}

fn is(record: &Record, column: &str, wanted: &str) -> bool {
    text(record, column).as_deref() == Some(wanted)
}

#[test]
fn the_requests_of_all_published_shards_come_back_as_they_were_measured() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    export(&[&results("")], &out, &[]).ends(0);
    let rows = rows(&out.join("requests"));
    let shards = shards();
    let requests: usize =
        shards.iter().flat_map(|s| &s.cases).flat_map(|c| &c.runs).map(|run| run.requests.len()).sum();
    assert_eq!(rows.len(), requests);

    let one = shard(Path::new(&results(ONE)));
    let case = one.cases.iter().find(|case| case.id == "code").unwrap();
    let (run, label) = (&case.runs[2], one.label.as_str());
    let of_case: Vec<&Record> =
        rows.iter().filter(|row| is(row, "label", label) && is(row, "case_id", "code")).collect();
    assert_eq!(of_case.len(), case.runs.len());
    let row = of_case.iter().find(|row| number(row, "run_number") == Some(f64::from(run.number))).unwrap();
    let request = &run.requests[0];
    assert_eq!(number(row, "t_first_s"), request.t_first_s.map(|t| t.0));
    assert_eq!(number(row, "output_tokens"), request.output_tokens.map(|n| n.0 as f64));
    assert_eq!(number(row, "ttft_s"), request.ttft().map(|t| t.0));
    assert_eq!(row["run_passed"], Field::Bool(run.passed()));
    assert_eq!(text(row, "prompt_sha256"), request.prompt_sha256);
    // No accelerator did any of it, so nothing is known of its energy.
    assert_eq!((&row["run_gpu_energy_j"], &row["accelerator_name"]), (&Field::Null, &Field::Null));
}

#[test]
fn the_figures_of_all_published_shards_are_those_of_the_page() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    export(&[&results("")], &out, &["--compression", "snappy"]).ends(0);
    let rows = rows(&out.join("summaries"));
    let mut wanted = 0;
    for shard in shards() {
        for case in &shard.cases {
            let summary = summarize_calibrated(case, shard.provenance.calibration.as_ref());
            wanted += summary.estimates.len();
            for estimate in &summary.estimates {
                let found = rows.iter().any(|row| {
                    is(row, "label", &shard.label)
                        && is(row, "model_name", &shard.system.model.name)
                        && is(row, "case_id", &case.id)
                        && is(row, "metric", &estimate.metric)
                        && text(row, "statistic") == estimate.statistic
                        && number(row, "value") == estimate.value
                        && number(row, "interval_low") == estimate.interval.as_ref().map(|i| i.low)
                        && number(row, "n") == estimate.n.map(|n| n as f64)
                });
                assert!(found, "{} {} {}", shard.label, case.id, estimate.metric);
            }
        }
    }
    assert_eq!(rows.len(), wanted);
}

#[test]
fn partitions_are_by_engine_and_month_and_an_undated_submission_is_in_that_of_null() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    export(&[&results("")], &out, &[]).ends(0);
    let summaries = out.join("summaries");
    let folders: BTreeSet<String> = files(&summaries, "parquet")
        .iter()
        .map(|path| path.parent().unwrap().strip_prefix(&summaries).unwrap().to_str().unwrap().to_owned())
        .collect();
    for folder in ["engine=llama.cpp/month=2026-11", "engine=freetoken/month=__HIVE_DEFAULT_PARTITION__"] {
        assert!(folders.contains(folder), "{folders:?}");
    }
    let left: Vec<String> = fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| !Dataset::ALL.iter().any(|dataset| dataset.folder() == name))
        .collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn csv_has_the_same_rows_and_an_unknown_cell_is_empty() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    export(&[&results(ONE)], &out, &["--format", "csv", "--only", "requests"]).ends(0);
    assert!(!out.join("summaries").exists());
    let files = files(&out, "csv");
    assert_eq!(files.len(), 1);
    let text = fs::read_to_string(&files[0]).unwrap();
    let head: Vec<&str> = text.lines().next().unwrap().split(',').collect();
    let names: Vec<&str> = headings(Dataset::Requests).iter().map(|heading| heading.name).collect();
    assert_eq!(head, names);
    let one = shard(Path::new(&results(ONE)));
    let requests: usize = one.cases.iter().flat_map(|c| &c.runs).map(|run| run.requests.len()).sum();
    assert_eq!(text.matches("\r\n").count(), requests + 1);
    // No column after these has a comma in it in this shard.
    let from_end = |name: &str| names.len() - names.iter().position(|n| *n == name).unwrap();
    let first = &one.cases[0].runs[0].requests[0];
    let cells: Vec<&str> = text.lines().nth(1).unwrap().rsplit(',').collect();
    let cell = |name: &str| cells[from_end(name) - 1];
    assert_eq!(cell("output_chars"), first.output_chars.to_string());
    assert_eq!(
        cell("engine_queue_s"),
        first.engine.as_ref().and_then(|e| e.queue_s).map_or_else(String::new, |s| s.0.to_string())
    );
    assert_eq!(cell("error_kind"), "");
}

#[test]
fn a_bad_shard_is_named_and_does_not_stop_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let (input, out) = (dir.path().join("in"), dir.path().join("out"));
    fs::create_dir(&input).unwrap();
    fs::copy(results(ONE), input.join("b.json")).unwrap();
    fs::copy(results(ONE), input.join("copy.json")).unwrap();
    let good = fs::read_to_string(results(ONE)).unwrap();
    fs::write(input.join("a-broken.json"), &good[..1000]).unwrap();
    fs::write(input.join("newer.json"), good.replace("dyno/1.0", "dyno/2.0")).unwrap();
    fs::write(input.join("empty.json"), "").unwrap();
    fs::write(input.join("utf16.json"), b"\xff\xfe{\0}\0").unwrap();
    fs::write(input.join("notes.txt"), "no shard").unwrap();
    let missing = dir.path().join("missing.json");
    export(&[input.to_str().unwrap(), missing.to_str().unwrap()], &out, &["--only", "requests"])
        .ends(2)
        .says(&[
            "a-broken.json: left out: not JSON at line 1",
            "written by a newer dyno: 2.0",
            "empty.json: left out: the file is empty",
            "utf16.json: left out: not UTF-8",
            "missing.json: left out: there is no such file",
            "copy.json: the same as another shard",
            "exported 1 submissions",
            "left out 5",
        ]);
    let one = shard(Path::new(&results(ONE)));
    let requests: usize = one.cases.iter().flat_map(|c| &c.runs).map(|run| run.requests.len()).sum();
    assert_eq!(rows(&out).len(), requests);
}

#[test]
fn an_export_is_not_replaced_unasked_nor_by_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    export(&[&results(ONE)], &out, &["--only", "requests"]).ends(0);
    let before = rows(&out).len();
    export(&[&results(ONE)], &out, &[]).ends(2).says(&["is not empty", "--force"]);
    let nothing = dir.path().join("nothing");
    fs::create_dir(&nothing).unwrap();
    export(&[nothing.to_str().unwrap()], &out, &["--force"]).ends(2).says(&["no shard to export"]);
    assert_eq!(rows(&out).len(), before);
    export(&[&results(ONE)], &out, &["--only", "requests", "--force"]).ends(0);
    assert_eq!(rows(&out).len(), before, "replaced and not added to");
    export(&[&results(ONE)], &out, &["--format", "csv", "--compression", "zstd"])
        .ends(2)
        .says(&["--compression"]);
}

#[test]
fn a_hostile_engine_name_stays_below_the_folder() {
    let dir = tempfile::tempdir().unwrap();
    let good = fs::read_to_string(results(ONE)).unwrap();
    let mut shard: serde_json::Value = serde_json::from_str(&good).unwrap();
    for (at, name) in ["../../outside", "a=b/c", &"x".repeat(300)].into_iter().enumerate() {
        shard["system"]["engine"]["name"] = name.into();
        let path = dir.path().join(format!("{at}.json"));
        fs::write(&path, shard.to_string()).unwrap();
        let out = dir.path().join(format!("deep/below/{at}"));
        export(&[path.to_str().unwrap()], &out, &["--only", "requests"]).ends(0);
        let rows = rows(&out);
        assert!(!rows.is_empty() && rows.iter().all(|row| is(row, "engine_name", name)));
    }
    assert_eq!(files(dir.path(), "parquet"), files(&dir.path().join("deep/below"), "parquet"));
}

#[test]
fn the_documentation_has_every_column_in_order_and_no_other() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/EXPORT.md");
    let page = fs::read_to_string(page).unwrap();
    let mut wanted = Vec::new();
    let shared = headings(Dataset::Requests)
        .iter()
        .zip(headings(Dataset::Summaries))
        .take_while(|(a, b)| **a == *b)
        .count();
    for (from, dataset) in [(0, Dataset::Requests), (shared, Dataset::Summaries)] {
        for heading in headings(dataset).iter().skip(from) {
            wanted.push(format!("| `{}` | {} | {} |", heading.name, heading.kind.name(), heading.meaning));
        }
    }
    let found: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    assert_eq!(found, wanted);
}

#[test]
fn names_of_columns_are_snake_case_and_stand_once() {
    for dataset in Dataset::ALL {
        let mut names = BTreeSet::new();
        for heading in headings(dataset) {
            assert!(heading.name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_'));
            assert!(names.insert(heading.name), "{} stands twice", heading.name);
        }
    }
}
