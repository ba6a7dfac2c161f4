//! `dyno sweep` with the real `llama-server`, where `DYNO_TEST_LLAMA_SERVER` and `DYNO_TEST_MODEL` name it.

mod support;

use std::path::PathBuf;

use dyno_shared::system::Setting;
use support::{Ran, case, dyno, shard};

#[test]
fn a_real_engine_is_started_in_two_variants_and_each_runs_what_it_was_asked_to() {
    let named = |variable: &str| std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_file());
    let (Some(binary), Some(model)) = (named("DYNO_TEST_LLAMA_SERVER"), named("DYNO_TEST_MODEL")) else {
        eprintln!(
            "skipped: DYNO_TEST_LLAMA_SERVER and DYNO_TEST_MODEL name no files (`cargo xtask engine llama-cpp` makes them)"
        );
        return;
    };
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("results")).unwrap();
    let mut command = dyno();
    command.args(["sweep", "--engine", "llama.cpp", "--binary"]).arg(&binary).arg("--model").arg(&model);
    command.args(["--set", "threads=1", "--set", "parallel=1", "--vary", "ctx-size=1024,2048"]);
    command.args(["--cycles", "2", "--runs", "1", "--warmups", "0", "--cases", "code_q128"]);
    command.args(["--hardware", "test machine", "--json", "--out-dir"]).arg(dir.path());
    let ran = Ran::of(&command.current_dir(dir.path()).output().unwrap());
    // A model of this size repeats itself now and then, so 1 (something failed its checks) is an answer too.
    assert!(matches!(ran.code, 0 | 1), "{}", ran.stderr);
    let found: serde_json::Value = serde_json::from_str(&ran.stdout).unwrap();
    let rows = found["cases"][0]["headline"]["variants"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    for (variant, context) in found["variants"].as_array().unwrap().iter().zip([1_024.0, 2_048.0]) {
        let file = variant["file"].as_str().unwrap();
        assert!(file.starts_with("results/llama.cpp/"), "{file}");
        let shard = shard(&dir.path().join(file));
        assert_eq!(shard.system.engine.name, "llama.cpp");
        assert_eq!(shard.provenance.partial, None);
        assert_eq!(shard.label, format!("ctx-size={context}"));
        assert_eq!(shard.configuration.requested["ctx-size"], Setting::Number(context));
        assert_eq!(shard.configuration.effective["context_limit_tokens"].value, Setting::Number(context));
        let runs = &case(&shard, "code_q128").runs;
        assert_eq!(runs.iter().map(|run| run.cycle).collect::<Vec<_>>(), [Some(1), Some(2)]);
        let command = shard.provenance.command.unwrap();
        assert!(!command.contains(model.parent().unwrap().to_str().unwrap()), "{command}");
    }
}
