//! Pull requests with good and bad shards, checked by the very commands of the workflow; and the workflows themselves.

#![expect(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use support::{Ran, dyno, shard};

const SOURCE: &str = "llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct-q4-1--threads-1.json";
const PLACE: &str = "llama.cpp/2026-11-30/2-core-xeon--smollm2-135m-instruct-q4-1--added.json";

fn good() -> String {
    let mut shard = shard(Path::new(&support::results(SOURCE)));
    shard.label = "added".into();
    shard.cases.truncate(2);
    dyno_shared::shard::write(&shard).unwrap()
}

/// A board before and after a pull request.
struct Board {
    dir: tempfile::TempDir,
}

impl Board {
    /// With one shard and the flags of a board, and no change.
    fn new() -> Self {
        let board = Self { dir: tempfile::tempdir().unwrap() };
        for side in ["base", "head"] {
            board.put(side, SOURCE, &fs::read_to_string(support::results(SOURCE)).unwrap());
            board.put(side, "flags.toml", "");
        }
        board
    }

    fn path(&self, side: &str, name: &str) -> PathBuf {
        self.dir.path().join(side).join("results").join(name)
    }

    fn put(&self, side: &str, name: &str, text: &str) {
        let path = self.path(side, name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// What the workflow's step says of it; stdout is the summary of the job.
    fn check(&self) -> Ran {
        let summary = self.dir.path().join("summary.md");
        fs::write(&summary, "").unwrap();
        let output = Command::new("bash")
            .args(["-e", "-c", &step("pull-request.yml", "check-pull-request")])
            .current_dir(self.dir.path())
            .env("DYNO", dyno().get_program())
            .env("GITHUB_STEP_SUMMARY", &summary)
            .output()
            .unwrap();
        Ran { stdout: fs::read_to_string(summary).unwrap(), ..Ran::of(&output) }
    }
}

fn workflows() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.github/workflows");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect()
}

/// The commands of a workflow, one for each `run:`.
fn commands(text: &str) -> Vec<String> {
    let mut commands = Vec::new();
    let mut lines = text.lines().peekable();
    while let Some(line) = lines.next() {
        let Some((before, first)) = line.split_once("run: ") else { continue };
        if first.trim() != "|" {
            commands.push(first.trim().to_owned());
            continue;
        }
        let mut block = String::new();
        while let Some(line) =
            lines.next_if(|line| line.len() > before.len() && line.starts_with(&format!("{before}  ")))
        {
            block += line.trim();
            block.push('\n');
        }
        commands.push(block.trim().to_owned());
    }
    commands
}

fn step(workflow: &str, with: &str) -> String {
    let (_, text) = workflows().into_iter().find(|(name, _)| name == workflow).unwrap();
    commands(&text).into_iter().find(|command| command.contains(with)).unwrap()
}

#[test]
fn a_good_pull_request_is_fit_with_its_table_and_its_figure() {
    let board = Board::new();
    board.put("head", PLACE, &good());
    let ran = board.check().ends(0);
    for part in [
        "**Fit to be merged**",
        "| ✔ |",
        "| raw runs | 1 | 18 |",
        "```text\nSmolLM2",
        "46.6 (44.9–48.2)",
        "`1.svg`",
        "dyno compare results/",
    ] {
        assert!(ran.stdout.contains(part), "`{part}` is not in:\n{}", ran.stdout);
    }
    let figure = fs::read_to_string(board.dir.path().join("charts/1.svg")).unwrap();
    assert!(figure.starts_with("<svg"));
}

#[test]
fn nothing_and_what_a_maintainer_changes_is_fit_too() {
    let board = Board::new();
    let ran = board.check().ends(0);
    assert!(ran.stdout.contains("changes nothing"), "{}", ran.stdout);
    board.put(
        "head",
        "flags.toml",
        &format!("[[flag]]\npath = \"{SOURCE}\"\nreason = \"r\"\nlink = \"https://example.org/1\"\n"),
    );
    board.put("head", "README.md", "text");
    board.put("base", "README.md", "other");
    let ran = board.check().ends(0);
    assert!(
        ran.stdout.contains("maintainer to decide") && ran.stdout.contains("maintainer to read"),
        "{}",
        ran.stdout
    );
}

#[test]
fn every_bad_pull_request_is_refused_with_its_reason() {
    type Change = fn(&Board);
    let cases: [(&str, Change); 14] = [
        ("cut off", |board| board.put("head", PLACE, &good()[..1000])),
        ("form: cases\\[0\\].concurrency", |board| {
            board.put("head", PLACE, &good().replacen("\"concurrency\":1", "\"concurrency\":\"1\"", 1));
        }),
        ("newer dyno", |board| board.put("head", PLACE, &good().replacen("dyno/1.", "dyno/2.", 1))),
        ("label: holds an e-mail address", |board| {
            board.put("head", PLACE, &good().replacen("\"added\"", "\"a@example.org\"", 1));
        }),
        ("label: stands twice", |board| {
            let twice = "\"label\":\"a@example.org\",\"label\":";
            board.put("head", PLACE, &good().replacen("\"label\":", twice, 1));
        }),
        ("lies elsewhere than its content says", |board| {
            board.put("head", &PLACE.replace("11-30", "11-29"), &good());
        }),
        ("is the same as results/llama.cpp", |board| {
            let text = fs::read_to_string(board.path("base", SOURCE)).unwrap();
            board.put("head", &SOURCE.replace(".json", "-2.json"), &format!("{text}\n"));
        }),
        ("is the same as results/llama.cpp", |board| {
            board.put("head", PLACE, &good());
            board.put("head", &PLACE.replace(".json", "-2.json"), &format!("{}\n", good()));
        }),
        ("larger than 5 MB", |board| {
            board.put("head", PLACE, &format!("{}{}", good(), " ".repeat(5_000_000)));
        }),
        ("is changed. A shard stays", |board| {
            let text = fs::read_to_string(board.path("head", SOURCE)).unwrap();
            board.put(
                "head",
                SOURCE,
                &text.replacen("threads-1", "threads-9", 1).replacen("threads=1", "threads=9", 1),
            );
        }),
        ("is removed. A shard stays", |board| fs::remove_file(board.path("head", SOURCE)).unwrap()),
        ("is no shard", |board| board.put("head", "llama.cpp/run.sh", "echo")),
        ("unknown field", |board| board.put("head", "flags.toml", "[[flags]]\n")),
        ("an instrument and no result", |board| {
            board.put("head", PLACE, &good().replacen("\"engine\":{", "\"engine\":{\"simulated\":true,", 1));
        }),
    ];
    for (reason, change) in cases {
        let board = Board::new();
        change(&board);
        let ran = board.check().ends(2);
        assert!(ran.stdout.contains(&reason.replace('_', "\\_")), "`{reason}` is not in:\n{}", ran.stdout);
        assert!(ran.stdout.contains("**Not to be merged as it is**") && ran.stdout.contains('✘'));
    }
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed() {
    let board = Board::new();
    let secret = board.dir.path().join("secret.json");
    fs::write(&secret, good()).unwrap();
    std::os::unix::fs::symlink(&secret, board.path("head", PLACE)).unwrap();
    std::os::unix::fs::symlink(board.dir.path(), board.path("head", "linked")).unwrap();
    let ran = board.check().ends(2);
    assert!(ran.stdout.contains("is no plain file") && !ran.stdout.contains("SmolLM2"), "{}", ran.stdout);
}

#[test]
fn a_label_is_never_markup_in_the_report() {
    let board = Board::new();
    let label = "x ``` <img src=x onerror=alert(1)> @everybody | [a](https://e.org)";
    board.put("head", PLACE, &good().replacen("\"added\"", &format!("\"{label}\""), 1));
    let ran = board.check().ends(2);
    let (before, report) = ran.stdout.split_once("````text\n").unwrap();
    assert!(!before.contains("<img") && !before.contains("@every"), "{before}");
    assert!(report.contains(label) && report.contains("\n````\n"), "{report}");
}

#[test]
fn the_workflows_run_only_what_is_documented_and_grant_as_little_as_can_be() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let documented =
        ["CONTRIBUTING.md", "README.md"].map(|name| fs::read_to_string(root.join(name)).unwrap()).concat();
    let found = workflows();
    assert_eq!(found.len(), 2);
    for (name, text) in found {
        assert!(text.contains("\npermissions: {}\n"), "{name} grants its token something everywhere");
        assert!(!text.contains("pull_request_target") && !text.contains("secrets."), "{name}");
        assert!(!text.contains("contents: write"), "{name}");
        for line in text.lines().filter(|line| line.contains("uses: ")) {
            let (_, commit) = line.split_once('@').unwrap();
            let commit = commit.split_whitespace().next().unwrap();
            assert!(
                commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()),
                "{name}: pin {line}"
            );
        }
        assert_eq!(
            text.matches("actions/checkout@").count(),
            text.matches("persist-credentials: false").count(),
            "{name}"
        );
        for command in commands(&text) {
            assert!(!command.contains("${{"), "{name}: an expression in a script can be a script: {command}");
            assert!(documented.contains(&command), "{name}: `{command}` is not documented");
        }
        let is_of_pull_requests = text.contains("pull_request:");
        assert!(
            !is_of_pull_requests || !commands(&text).iter().any(|command| command.contains("head/")),
            "{name}"
        );
    }
}
