//! Publications of small folders.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use dyno_shared::index::{IndexPage, Latest};

use super::{PublishError, publish};

fn shard(label: &str, day: u32, cases: usize) -> String {
    let cases: Vec<serde_json::Value> = (0..cases)
        .map(|i| serde_json::json!({"id": format!("code_{i}"), "regime": "decode", "workload": "code", "concurrency": 1}))
        .collect();
    serde_json::json!({
        "schema": "dyno/1.0", "label": label,
        "provenance": {"origin": {"kind": "collected"}, "evidence": "raw", "started_at": format!("2026-11-{day:02}T00:00:00Z")},
        "system": {"engine": {"name": "llama.cpp"}, "model": {"name": "m"}, "hardware": {"name": "h"}},
        "cases": cases,
    })
    .to_string()
}

fn put(folder: &Path, name: &str, text: &str) {
    let path = folder.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Every file below a folder with its bytes.
fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            files.extend(tree(&path).into_iter().map(|(below, bytes)| (format!("{name}/{below}"), bytes)));
        } else {
            files.insert(name, fs::read(&path).unwrap());
        }
    }
    files
}

fn latest(out: &Path) -> Latest {
    serde_json::from_slice(&fs::read(out.join("latest.json")).unwrap()).unwrap()
}

fn labels(out: &Path) -> Vec<String> {
    let pages = latest(out).index.into_iter().map(|file| fs::read(out.join(file.path)).unwrap());
    pages
        .flat_map(|bytes| serde_json::from_slice::<IndexPage>(&bytes).unwrap().entries)
        .map(|entry| entry.label)
        .collect()
}

#[test]
fn shards_and_their_publication_do_not_lie_in_one_folder() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("both");
    put(&folder, "a.json", &shard("a", 1, 1));
    put(&folder, "shards/0123456789abcdef.json", "{");
    let before = tree(&folder);
    for shards in [folder.clone(), folder.join("shards")] {
        let error = publish(&shards, &folder).unwrap_err().to_string();
        assert!(error.contains("--out"), "{error}");
        assert_eq!(tree(&folder), before);
    }
}

#[cfg(unix)]
#[test]
fn what_is_no_file_is_rejected_and_does_not_hold_the_rest() {
    let dir = tempfile::tempdir().unwrap();
    let (results, out) = (dir.path().join("results"), dir.path().join("out"));
    put(&results, "a.json", &shard("a", 1, 1));
    std::os::unix::fs::symlink("/dev/zero", results.join("endless.json")).unwrap();
    std::os::unix::fs::symlink("loop.json", results.join("loop.json")).unwrap();
    publish(&results, &out).unwrap();
    assert_eq!(labels(&out), ["a"]);
    let rejected: Vec<String> = latest(&out).rejected.into_iter().map(|r| r.path).collect();
    assert_eq!(rejected, ["endless.json", "loop.json"]);
}

#[test]
fn one_broken_shard_is_listed_with_its_reason_and_all_else_is_published() {
    let dir = tempfile::tempdir().unwrap();
    let (results, out) = (dir.path().join("results"), dir.path().join("out"));
    put(&results, "llama.cpp/2026-11-01/a.json", &shard("a", 1, 2));
    put(&results, "llama.cpp/2026-11-02/b.json", &shard("b", 2, 2));
    put(&results, "broken.json", &shard("c", 3, 2)[..120]);
    put(&results, "newer.json", &shard("d", 3, 2).replace("dyno/1.0", "dyno/2.0"));
    put(&results, "private.json", &shard("/home/alice/run", 3, 2));
    put(&results, "README.md", "no shard");
    put(&results, ".hidden.json", "{");
    fs::write(results.join("binary.json"), [0xFF, 0xFE]).unwrap();
    let publication = publish(&results, &out).unwrap();
    assert_eq!(labels(&out), ["b", "a"], "newest first");
    let latest = latest(&out);
    assert_eq!(latest, publication.latest);
    assert_eq!(latest.submissions, 2);
    let reasons: BTreeMap<&str, &str> =
        latest.rejected.iter().map(|r| (r.path.as_str(), r.reason.as_str())).collect();
    assert_eq!(
        reasons.keys().copied().collect::<Vec<_>>(),
        ["binary.json", "broken.json", "newer.json", "private.json"]
    );
    assert!(reasons["broken.json"].contains("cut off"));
    assert!(reasons["newer.json"].contains("newer dyno: 2.0"));
    assert!(reasons["private.json"].contains("home directory"));
    assert!(reasons["binary.json"].contains("UTF-8"));
}

#[test]
fn the_raw_shards_are_published_byte_for_byte() {
    let dir = tempfile::tempdir().unwrap();
    let (results, out) = (dir.path().join("results"), dir.path().join("out"));
    let text = format!("  {}\n\n", shard("a", 1, 1));
    put(&results, "a.json", &text);
    publish(&results, &out).unwrap();
    let id = dyno_shared::shard::content_id(&text);
    assert_eq!(fs::read_to_string(out.join(format!("shards/{id}.json"))).unwrap(), text);
}

#[test]
fn the_same_shards_give_the_same_bytes_whatever_their_names_and_order() {
    let dir = tempfile::tempdir().unwrap();
    for (folder, names) in [("one", ["a.json", "b.json"]), ("two", ["z/2.json", "1.json"])] {
        put(&dir.path().join(folder), names[0], &shard("a", 1, 3));
        put(&dir.path().join(folder), names[1], &shard("b", 1, 3));
        publish(&dir.path().join(folder), &dir.path().join(folder).join("site")).unwrap();
    }
    assert_eq!(tree(&dir.path().join("one/site")), tree(&dir.path().join("two/site")));
    let before = tree(&dir.path().join("one/site"));
    publish(&dir.path().join("one"), &dir.path().join("one/site")).unwrap();
    assert_eq!(tree(&dir.path().join("one/site")), before, "its own output is not taken for shards");
}

#[test]
fn one_content_is_published_once() {
    let dir = tempfile::tempdir().unwrap();
    let (results, out) = (dir.path().join("results"), dir.path().join("out"));
    put(&results, "a.json", &shard("a", 1, 1));
    put(&results, "copy.json", &shard("a", 1, 1));
    let publication = publish(&results, &out).unwrap();
    assert_eq!(labels(&out), ["a"]);
    assert_eq!(publication.duplicates, [("copy.json".to_owned(), "a.json".to_owned())]);
    assert!(publication.latest.rejected.is_empty());
}

#[test]
fn a_flag_is_in_the_index_and_on_the_badge_and_the_submission_stays() {
    let dir = tempfile::tempdir().unwrap();
    let (results, out) = (dir.path().join("results"), dir.path().join("out"));
    put(&results, "e/a.json", &shard("a", 1, 1));
    put(&results, "e/b.json", &shard("b", 2, 1));
    let flag =
        "[[flag]]\npath = \"e/a.json\"\nreason = \"Another job ran.\"\nlink = \"https://example.org/7\"\n";
    put(
        &results,
        "flags.toml",
        &format!("{flag}superseded_by = \"e/b.json\"\n\n{}", flag.replace("a.json", "c.json")),
    );
    let publication = publish(&results, &out).unwrap();
    assert_eq!(publication.lost_flags, ["e/c.json"]);
    assert_eq!(labels(&out), ["b", "a"]);
    let page: IndexPage =
        serde_json::from_slice(&fs::read(out.join(&latest(&out).index[0].path)).unwrap()).unwrap();
    assert_eq!(page.entries[0].flag, None);
    let found = page.entries[1].flag.clone().unwrap();
    assert_eq!(
        (found.reason.as_str(), found.superseded_by.as_ref()),
        ("Another job ran.", Some(&page.entries[0].id))
    );
    let badge = fs::read_to_string(out.join(format!("embed/{}/code-0.svg", page.entries[1].id))).unwrap();
    assert!(badge.contains("superseded"), "{badge}");
    put(&results, "flags.toml", "[[flag]]\npath = \"e/a.json\"\n");
    let error = publish(&results, &out).unwrap_err().to_string();
    assert!(error.contains("flags.toml"), "{error}");
}

#[test]
fn pages_hold_a_thousand_rows_at_most_and_no_submission_is_cut() {
    let dir = tempfile::tempdir().unwrap();
    let (results, out) = (dir.path().join("results"), dir.path().join("out"));
    for i in 1..=5 {
        put(&results, &format!("{i}.json"), &shard(&format!("s{i}"), i, 300));
    }
    put(&results, "6.json", &shard("s6", 6, 1_200));
    publish(&results, &out).unwrap();
    let rows: Vec<u64> = latest(&out).index.iter().map(|file| file.rows).collect();
    assert_eq!(rows, [1_200, 900, 600]);
    assert_eq!(labels(&out), ["s6", "s5", "s4", "s3", "s2", "s1"]);
}

#[test]
fn what_an_earlier_publication_left_goes_and_what_others_left_stays() {
    let dir = tempfile::tempdir().unwrap();
    let (results, out) = (dir.path().join("results"), dir.path().join("out"));
    put(&results, "a.json", &shard("a", 1, 1));
    publish(&results, &out).unwrap();
    put(&out, "index.html", "the page");
    put(&out, "shards/notes.txt", "a note");
    let before = tree(&out);
    put(&results, "a.json", &shard("b", 1, 1));
    publish(&results, &out).unwrap();
    let after = tree(&out);
    assert!(after.contains_key("index.html") && after.contains_key("shards/notes.txt"));
    assert_eq!(after.len(), before.len());
    assert_eq!(labels(&out), ["b"]);
    assert!(
        !after.keys().any(|name| name.contains(".dyno-")),
        "no temporary file is left: {:?}",
        after.keys()
    );
}

#[test]
fn an_empty_folder_is_an_empty_publication_and_a_missing_one_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("out");
    fs::create_dir(dir.path().join("results")).unwrap();
    publish(&dir.path().join("results"), &out).unwrap();
    let found = latest(&out);
    assert_eq!((found.submissions, found.index.len()), (0, 0));
    let error = publish(&dir.path().join("nowhere"), &out).unwrap_err();
    assert!(
        matches!(error, PublishError::Unreadable { .. }) && error.to_string().contains("nowhere"),
        "{error}"
    );
}
