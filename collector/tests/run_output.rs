//! Where a shard goes, and a disk that has no room for it.

mod support;

use support::{Engine, Ran, SHORT, call, dyno, journal, run, shard};

const ONE: [&str; 2] = ["--cases", "code_q128"];

#[test]
fn a_shard_that_exists_is_not_overwritten_by_mistake() {
    let engine = Engine::fast(&[]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    std::fs::write(&out, "precious").unwrap();
    let arguments = [SHORT.as_slice(), &ONE].concat();
    run(&engine.url, &out, &arguments).ends(2).says(&["--force"]);
    assert_eq!(std::fs::read_to_string(&out).unwrap(), "precious");
    run(&engine.url, &out, &[arguments.as_slice(), &["--force"]].concat()).ends(0);
    shard(&out);
}

#[test]
fn without_a_name_a_real_result_goes_below_results_and_a_simulated_one_does_not() {
    let engine = Engine::fast(&[]);
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("results")).unwrap();
    let mut command = dyno();
    command
        .current_dir(dir.path())
        .args(["run", "--url", &engine.url, "--hardware", "A box/1"])
        .args(SHORT)
        .args(ONE);
    let ran = Ran::of(&command.output().unwrap()).ends(0);
    assert_eq!(ran.stdout.trim(), "dyno-a-box-1--simulated--simulated.json");
    assert!(dir.path().join(ran.stdout.trim()).is_file());
}

#[test]
fn a_folder_that_cannot_be_written_is_refused_before_anything_is_measured() {
    let engine = Engine::fast(&[]);
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("file"), "").unwrap();
    let out = dir.path().join("file/shard.json");
    run(&engine.url, &out, &SHORT).ends(2).says(&["--out"]);
}

#[test]
#[cfg(target_os = "linux")]
fn a_journal_on_a_full_disk_is_refused_with_what_to_do() {
    let engine = Engine::fast(&[]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    std::os::unix::fs::symlink("/dev/full", journal(&out)).unwrap();
    run(&engine.url, &out, &[SHORT.as_slice(), &["--force"]].concat()).ends(2).says(&["no space left"]);
    assert!(!out.exists());
}

/// A small disk of our own, where the system lets us have one.
#[test]
#[cfg(target_os = "linux")]
fn a_disk_that_fills_up_in_the_middle_loses_no_run_that_was_kept() {
    let engine = Engine::fast(&[]);
    let dir = tempfile::tempdir().unwrap();
    let disk = dir.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    let script = r#"
        mount -t tmpfs -o size=96k none "$DISK" || exit 77
        head -c 57344 /dev/zero > "$DISK/filler"
        "$DYNO" run --url "$URL" --quick --out "$DISK/shard.json"
        echo "first:$?"
        ls "$DISK" | tr '\n' ' '
        rm "$DISK/filler"
        mount -o remount,size=4m "$DISK"
        "$DYNO" run --url "$URL" --resume --out "$DISK/shard.json"
        echo "second:$?"
        cp "$DISK/shard.json" "$DISK/../copy.json"
    "#;
    let output = std::process::Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script])
        .env("DISK", &disk)
        .env("DYNO", assert_cmd::cargo::cargo_bin!("dyno"))
        .env("URL", &engine.url)
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no `unshare` here to make a small disk with");
        return;
    };
    let ran = Ran::of(&output);
    if ran.code == 77 || ran.stderr.contains("unshare failed") || !ran.stdout.contains("first:") {
        eprintln!("skipped: this system gives us no small disk: {}", ran.stderr);
        return;
    }
    assert!(ran.stdout.contains("first:2"), "{ran:?}");
    assert!(
        ran.stdout.contains("shard.json.journal") && !ran.stdout.contains("shard.json "),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("second:0"), "{ran:?}");
    let ran = ran.says(&["no space left", "--resume", "of them done before"]);
    drop(ran);
    let shard = shard(&dir.path().join("copy.json"));
    assert_eq!(shard.cases.iter().map(|case| case.runs.len()).sum::<usize>(), 20);
}

#[test]
fn wrong_usage_ends_with_2_and_help_and_version_with_0() {
    call(&["run", "--no-such-flag"]).ends(2);
    call(&["run", "--cases", "nonsense", "--url", "http://127.0.0.1:1"])
        .ends(2)
        .says(&["nonsense", "cold_prefill_2k"]);
    call(&["report"]).ends(2);
    call(&[]).ends(2);
    assert!(call(&["--version"]).ends(0).stdout.starts_with("dyno "));
    assert!(call(&["--help"]).ends(0).stdout.contains("simulate"));
}

#[test]
fn looking_for_engines_gives_an_address_or_says_what_to_do() {
    let ran = call(&["discover", "--json"]);
    if ran.code == 0 {
        let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
        assert!(found["url"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{found}");
    } else {
        ran.ends(3).says(&["--url", "dyno simulate"]);
    }
}
