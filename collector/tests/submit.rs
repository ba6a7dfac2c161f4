//! Shards on their way into a checkout of a board.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use support::{Ran, dyno, shard};

/// A small measurement that nobody could object to.
fn good() -> String {
    let mut shard = shard(Path::new(&support::results(
        "llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct-q4-1--threads-1.json",
    )));
    shard.label = "submitted".into();
    shard.cases.truncate(1);
    dyno_shared::shard::write(&shard).unwrap()
}

const PLACE: &str = "llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct-q4-1--submitted.json";

/// A checkout without anything in it.
fn board() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("board");
    fs::create_dir_all(root.join("results")).unwrap();
    fs::create_dir(root.join(".git")).unwrap();
    (dir, root)
}

fn put(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.to_string_lossy().into_owned()
}

fn submit(inside: &Path, arguments: &[&str]) -> Ran {
    Ran::of(&dyno().current_dir(inside).arg("submit").args(arguments).output().unwrap())
}

#[test]
fn a_good_shard_lies_where_its_content_says_and_the_next_step_is_printed() {
    let (dir, root) = board();
    let file = put(dir.path(), "mine.json", &good());
    let below = root.join("results");
    let ran = submit(&below, &[&file]).ends(0).says(&[
        "git switch -c result-2-core-xeon",
        "git add results/",
        "git push",
    ]);
    let written = root.join("results").join(PLACE);
    assert_eq!(fs::canonicalize(ran.stdout.trim()).unwrap(), fs::canonicalize(&written).unwrap());
    assert_eq!(fs::read_to_string(&written).unwrap(), good(), "byte for byte");
    assert!(Path::new(&file).exists(), "the file that was named stays");
    Ran::of(&dyno().arg("validate").arg(&written).output().unwrap()).ends(0);
}

#[test]
fn a_dry_run_says_where_and_writes_nothing_even_without_a_checkout() {
    let dir = tempfile::tempdir().unwrap();
    let file = put(dir.path(), "mine.json", &good());
    let ran = submit(dir.path(), &["--dry-run", &file]).ends(0).says(&["would be added as"]);
    assert_eq!(ran.stdout.trim(), format!("results/{PLACE}"));
    assert!(!dir.path().join("results").exists());
    submit(dir.path(), &[&file]).ends(2).says(&["no checkout", "--into", "--dry-run"]);
    submit(dir.path(), &["--into", "nowhere", &file]).ends(2).says(&["--into"]);
}

#[test]
fn what_is_private_is_removed_and_the_list_of_it_does_not_repeat_it() {
    let (dir, root) = board();
    let mut shard = dyno_shared::shard::parse(&good()).unwrap();
    shard.notes = vec!["ask alice@example.org".into()];
    let text = dyno_shared::shard::write(&shard).unwrap();
    let text = text.replacen("\"label\":", "\"machine\":\"http://alice-pc:8000\",\"label\":", 1);
    let file = put(dir.path(), "mine.json", &text);
    let ran = submit(&root, &["--into", ".", &file])
        .ends(0)
        .says(&["removed an e-mail address from notes[0]", "removed the name of a machine from machine"]);
    assert!(!ran.stderr.contains("alice"), "{}", ran.stderr);
    let written = fs::read_to_string(root.join("results").join(PLACE)).unwrap();
    assert!(!written.contains("alice") && written.contains("[removed: an e-mail address]"));
    assert_eq!(fs::read_to_string(&file).unwrap(), text);
}

#[test]
fn the_same_shard_is_added_once_and_its_like_with_a_warning_under_a_name_of_its_own() {
    let (dir, root) = board();
    let file = put(dir.path(), "mine.json", &good());
    submit(&root, &[&file]).ends(0);
    let again = put(dir.path(), "again.json", &format!("{}\n\n", good()));
    let ran = submit(&root, &[&file, &again]).ends(0).says(&["is there already, as results/llama.cpp"]);
    assert_eq!(ran.stdout, "");
    let other = put(dir.path(), "other.json", &good().replacen("\"number\":1,", "\"number\":101,", 1));
    let ran = submit(&root, &[&other]).ends(0).says(&["has the same system and configuration"]);
    assert!(ran.stdout.trim().ends_with("--submitted-2.json"), "{}", ran.stdout);
}

#[test]
fn what_may_not_be_published_is_not_added_and_does_not_hold_the_others() {
    let (dir, root) = board();
    let good = good();
    let bad = [
        ("cut.json", good[..good.len() / 2].to_owned(), "cut off"),
        ("form.json", good.replacen("\"concurrency\":1", "\"concurrency\":\"1\"", 1), "line 1, column"),
        (
            "zero.json",
            good.replacen("\"concurrency\":1", "\"concurrency\":0", 1),
            "cases[0].concurrency: is 0",
        ),
        (
            "simulated.json",
            good.replacen("\"engine\":{", "\"engine\":{\"simulated\":true,", 1),
            "an instrument and no result",
        ),
    ];
    for (name, text, said) in &bad {
        let file = put(dir.path(), name, text);
        submit(&root, &[&file]).ends(2).says(&[name, said]);
    }
    assert_eq!(fs::read_dir(root.join("results")).unwrap().count(), 0);
    let files = [put(dir.path(), "a.json", "{"), put(dir.path(), "b.json", &good)];
    let ran = submit(&root, &[&files[0], &files[1]]).ends(2).says(&["1 of 2 files were not added"]);
    assert!(ran.stdout.trim().ends_with(PLACE), "{}", ran.stdout);
}

/// The example of docs/SHARD.md, as the reader of that page meets it.
#[test]
fn the_example_of_the_docs_is_ten_lines_and_is_taken_without_a_word_of_doubt() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/SHARD.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once("```json\n").unwrap();
    let (example, _) = rest.split_once("```").unwrap();
    assert_eq!(example.lines().count(), 10);
    let (dir, root) = board();
    let file = put(dir.path(), "baseline.json", example);
    let ran = Ran::of(&dyno().args(["validate", &file]).output().unwrap()).ends(0);
    assert_eq!(ran.stderr, "");
    let ran = submit(&root, &["--dry-run", &file]).ends(0);
    assert!(!ran.stderr.contains("warning"), "{}", ran.stderr);
    assert!(page.contains(ran.stdout.trim()), "the page does not say where it goes: {}", ran.stdout);
    let report = Ran::of(&dyno().args(["report", &file]).output().unwrap()).ends(0);
    assert!(report.stdout.contains("summary only"), "{}", report.stdout);
}

#[test]
fn what_is_hard_to_believe_is_said_with_its_line_and_holds_nothing_up() {
    let (dir, root) = board();
    let mut shard = dyno_shared::shard::parse(&good()).unwrap();
    shard.cases[0].runs[1].requests = shard.cases[0].runs[0].requests.clone();
    let text = serde_json::to_string_pretty(&shard).unwrap();
    let file = put(dir.path(), "copied.json", &text);
    let lines = || text.lines().enumerate();
    let (runs, _) = lines().find(|(_, line)| *line == "      \"runs\": [").unwrap();
    let (second, _) = lines().skip(runs).filter(|(_, line)| *line == "        {").nth(1).unwrap();
    let said =
        format!("warning: line {}, column 9: cases[0].runs[1]: has the same times as run 1", second + 1);
    Ran::of(&dyno().args(["validate", &file]).output().unwrap()).ends(0).says(&["copied.json", &said]);
    submit(&root, &[&file]).ends(0).says(&[&said]);
}
