//! What the machine did beside the runs, in a whole measurement on this machine.
#![cfg(target_os = "linux")]

mod support;

use dyno_shared::submission::Telemetry;

use support::{Engine, SHORT, call, run, shard};

#[test]
fn every_run_says_what_the_machine_did_and_the_shard_what_was_not_measured() {
    let engine = Engine::start(&["--decode-tok-s", "150"]);
    let dir = tempfile::tempdir().unwrap();
    let out = dir.path().join("shard.json");
    let arguments = [SHORT.as_slice(), &["--cases", "code_q128"]].concat();
    run(&engine.url, &out, &arguments).ends(0);
    let shard = shard(&out);
    let case = &shard.cases[0];
    for run in case.runs.iter().chain(&case.warmups) {
        let told: &Telemetry =
            run.telemetry.as_ref().unwrap_or_else(|| panic!("run {} tells nothing", run.number));
        let answered = run.requests[0].t_end_s.unwrap().get();
        assert!(told.window_s.unwrap().get() >= answered, "the window holds the answer: {told:?}");
        assert!(told.host_cores.unwrap() > 0 && told.host_memory_bytes.unwrap() > 0, "{told:?}");
        // 128 tokens at 150 tok/s: enough ticks of CPU time for a share, and the engine was told from others.
        let (busy, other) = (told.host_cpu_busy_share.unwrap(), told.host_cpu_other_share.unwrap());
        assert!(other <= busy && busy <= 1.0, "{told:?}");
    }
    let absent = shard.notes.iter().filter(|note| note.starts_with("not measured beside the runs")).count();
    let report = call(&["report", &out.to_string_lossy()]).ends(0).stdout;
    let energy = case.runs.iter().all(|run| {
        let told = run.telemetry.as_ref().unwrap();
        told.gpu_energy_j.or(told.cpu_energy_j).is_some()
    });
    // Of this machine nobody knows what it has; of what it lacks the shard speaks.
    assert!(energy || absent == 1, "{:?}", shard.notes);
    assert_eq!(report.contains("J/tok"), energy, "{report}");
}
