//! The whole sampler, against cards with a known truth and against this machine.

use std::net::TcpListener;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use dyno_shared::units::Joules;

use super::fakes::{Card, Fake};
use super::files::testing::Tree;
use super::*;

const NO_CARD: &str = "none here";

fn no_gpus() -> Result<Box<dyn Gpus>, String> {
    Err(NO_CARD.to_owned())
}

#[test]
fn energy_of_cards_and_processor_is_that_between_the_two_ends() {
    let tree = Tree::new();
    let zone = "sys/class/powercap/intel-rapl:0";
    tree.write(&format!("{zone}/name"), "package-0");
    tree.write(&format!("{zone}/max_energy_range_uj"), "262143328850");
    tree.write(&format!("{zone}/energy_uj"), "262143000000");
    let card = Card { energy_mj: Some(1_000), power_mw: Some(300_000), percent: Some(90), ..Card::default() };
    let fake = Fake::new(vec![card.clone(), card]);
    let sampler = Sampler::watch(tree.path(), 1, Ok(Box::new(fake.gpus())));
    // What is used before the window is not of it.
    fake.change(|card| card.energy_mj = Some(8_000));
    tree.write(&format!("{zone}/energy_uj"), "262143200000");
    let window = sampler.begin();
    fake.change(|card| card.energy_mj = Some(9_500));
    tree.write(&format!("{zone}/energy_uj"), "371150");
    let told = window.end().unwrap();
    fake.change(|card| card.energy_mj = Some(99_000));
    assert_eq!(told.gpu_energy_j, Some(Joules(3.0)));
    assert_eq!(told.cpu_energy_j, Some(Joules(0.5)));
    assert_eq!(told.energy_source.as_deref(), Some("NVML energy counter; RAPL packages"));
    assert_eq!((told.gpus, told.gpu_power_max_w, told.gpu_utilisation), (Some(2), Some(600.0), Some(0.9)));
    assert!(told.window_s.unwrap().get() > 0.0);
}

#[test]
fn windows_are_apart_and_one_that_is_dropped_is_forgotten() {
    let fake = Fake::new(vec![Card { energy_mj: Some(0), ..Card::default() }]);
    let sampler = Sampler::watch(Tree::new().path(), 1, Ok(Box::new(fake.gpus())));
    let long = sampler.begin();
    drop(sampler.begin());
    fake.change(|card| card.energy_mj = Some(1_000));
    let short = sampler.begin();
    fake.change(|card| card.energy_mj = Some(3_000));
    assert_eq!(short.end().unwrap().gpu_energy_j, Some(Joules(2.0)));
    assert_eq!(long.end().unwrap().gpu_energy_j, Some(Joules(3.0)));
}

#[test]
fn between_the_ends_the_machine_is_looked_at_again_and_again() {
    let fake = Fake::new(vec![Card { power_mw: Some(100_000), celsius: Some(50), ..Card::default() }]);
    let sampler = Sampler::watch(Tree::new().path(), 1, Ok(Box::new(fake.gpus())));
    let window = sampler.begin();
    fake.change(|card| (card.power_mw, card.celsius) = (Some(400_000), Some(80)));
    let (seen, begin) = (fake.looks(), Instant::now());
    // Twice, so that one look lies wholly after the change, however slow this machine is at present.
    while fake.looks() < seen + 2 {
        assert!(begin.elapsed() < Duration::from_mins(1), "nobody looks");
        sleep(Duration::from_millis(20));
    }
    fake.change(|card| (card.power_mw, card.celsius) = (Some(100_000), Some(60)));
    let told = window.end().unwrap();
    assert_eq!((told.gpu_power_max_w, told.gpu_temperature_c), (Some(400.0), Some(80.0)));
    let mean = told.gpu_power_mean_w.unwrap();
    assert!(mean > 100.0 && mean < 400.0, "{mean}");
    assert!(told.gpu_energy_j.unwrap().get() > 0.0);
}

#[test]
fn what_is_absent_is_named_with_its_reason() {
    let sampler = Sampler::watch(Tree::new().path(), 1, no_gpus());
    let absent = sampler.absent().join("\n");
    for word in [NO_CARD, "RAPL", "/proc/stat", "engine's own processes"] {
        assert!(absent.contains(word), "{word} is not in: {absent}");
    }
    assert_eq!(sampler.begin().end(), None, "a machine that shows nothing is not measured");
}

#[test]
fn of_an_engine_elsewhere_nothing_is_measured_and_the_sampler_says_so() {
    let sampler = Sampler::start(None);
    assert!(sampler.absent()[0].contains("another"), "{:?}", sampler.absent());
    assert_eq!(sampler.begin().end(), None);
}

#[test]
#[cfg(target_os = "linux")]
fn on_this_machine_own_work_is_the_engines_and_not_that_of_others() {
    let socket = TcpListener::bind("127.0.0.1:0").unwrap();
    let sampler = Sampler::watch(Path::new("/"), socket.local_addr().unwrap().port(), no_gpus());
    assert!(!sampler.absent().iter().any(|why| why.contains("engine's own")), "{:?}", sampler.absent());
    let window = sampler.begin();
    let begin = Instant::now();
    // Shares need a hundred ticks of CPU time, which one core counts within a second.
    while begin.elapsed() < Duration::from_millis(1_200) {
        std::hint::black_box(begin);
    }
    let told = window.end().unwrap();
    let (busy, other) = (told.host_cpu_busy_share.unwrap(), told.host_cpu_other_share.unwrap());
    assert!(busy > 0.0 && busy <= 1.0 && other < busy, "busy {busy}, other {other}");
    assert!(told.host_cores.unwrap() > 0);
    assert!(told.host_memory_bytes.unwrap() > 0 && told.host_load.is_some());
    assert!(told.window_s.unwrap().get() >= 1.0);
}
