//! Warnings of a machine that was not left to the measurement: busy with other things, throttled, or its accelerator
//! shared. The facts stand in every run's telemetry; whether they matter is decided here, for every shard alike.

use super::Warning;
use crate::format::{percent, short};
use crate::submission::{Run, Telemetry};

/// Work of others up to this share of the CPUs is no noise.
const OTHER_SHARE: f64 = 0.10;
/// Below this share of others' work a load above the cores is the engine's own doing.
const OWN_DOING: f64 = 0.05;
/// Time that the hypervisor took, up to this share, is no noise.
const STEAL_SHARE: f64 = 0.02;
/// Clocks held back in no more than this share of the samples are no throttling.
const THROTTLED_SHARE: f64 = 0.05;

/// NVML's reasons that say nothing against a measurement: other collectors may have written them.
const HARMLESS: [&str; 4] = ["gpu_idle", "applications_clocks_setting", "display_clock_setting", "none"];
/// Reasons that are told; a file may hold any number of them.
const REASONS_TOLD: usize = 6;

/// The runs of which a warning is true, with their telemetry.
struct Concerned<'a> {
    runs: Vec<&'a Telemetry>,
    of: usize,
}

impl<'a> Concerned<'a> {
    fn new(runs: &'a [Run], which: impl Fn(&Telemetry) -> bool) -> Option<Self> {
        let concerned: Vec<&Telemetry> =
            runs.iter().filter_map(|run| run.telemetry.as_ref()).filter(|told| which(told)).collect();
        (!concerned.is_empty()).then_some(Self { runs: concerned, of: runs.len() })
    }

    fn count(&self) -> String {
        format!("{} of {} runs", self.runs.len(), self.of)
    }

    /// The largest value among them that exceeds a bound.
    fn most(&self, of: impl Fn(&Telemetry) -> Option<f64>, above: f64) -> Option<f64> {
        self.runs.iter().filter_map(|told| of(told)).filter(|value| *value > above).reduce(f64::max)
    }
}

/// Every warning of this kind.
pub fn all(runs: &[Run]) -> Vec<Warning> {
    [noisy_host(runs), throttled(runs), gpu_shared(runs)].into_iter().flatten().collect()
}

/// Other programs or other machines were at work.
pub(super) fn noisy_host(runs: &[Run]) -> Option<Warning> {
    let concerned = Concerned::new(runs, |told| {
        exceeds(told.host_cpu_other_share, OTHER_SHARE)
            || exceeds(told.host_steal_share, STEAL_SHARE)
            || is_overloaded(told)
    })?;
    let mut how = Vec::new();
    let overloaded = concerned.runs.iter().filter(|told| is_overloaded(told));
    let highest = overloaded
        .filter_map(|told| Some((told.host_load?, told.host_cores?)))
        .reduce(|a, b| if b.0 > a.0 { b } else { a });
    if let Some((load, cores)) = highest {
        how.push(format!("a load of up to {} on {cores} cores", short(load)));
    }
    if let Some(share) = concerned.most(|told| told.host_cpu_other_share, OTHER_SHARE) {
        how.push(format!("other programs took up to {} of the CPUs", percent(Some(share))));
    }
    if let Some(share) = concerned.most(|told| told.host_steal_share, STEAL_SHARE) {
        how.push(format!("the hypervisor gave up to {} of them to other machines", percent(Some(share))));
    }
    Some(Warning {
        name: "noisy_host",
        text: format!("the host was busy with other things in {}: {}", concerned.count(), how.join("; ")),
    })
}

/// Clocks were held back by heat or power.
pub(super) fn throttled(runs: &[Run]) -> Option<Warning> {
    let gpu = |told: &Telemetry| {
        reasons(told).next().is_some() && told.gpu_throttled_share.is_none_or(|share| share > THROTTLED_SHARE)
    };
    let cpu = |told: &Telemetry| told.cpu_throttle_events.is_some_and(|events| events > 0);
    let concerned = Concerned::new(runs, |told| gpu(told) || cpu(told))?;
    let mut how = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    for word in concerned.runs.iter().filter(|told| gpu(told)).flat_map(|told| reasons(told)) {
        if let Err(place) = words.binary_search(&word) {
            words.insert(place, word);
        }
    }
    if !words.is_empty() {
        words.truncate(REASONS_TOLD);
        let share = concerned.most(|told| told.gpu_throttled_share, THROTTLED_SHARE);
        let share = share.map(|share| format!(" in up to {} of the samples", percent(Some(share))));
        how.push(format!("the accelerator by {}{}", words.join(", "), share.unwrap_or_default()));
    }
    if let Some(events) =
        concerned.runs.iter().filter_map(|told| told.cpu_throttle_events).max().filter(|n| *n > 0)
    {
        how.push(format!("the processor by its heat, up to {events} times in a run"));
    }
    Some(Warning {
        name: "throttled",
        text: format!("clocks were held back in {}: {}", concerned.count(), how.join("; ")),
    })
}

/// Somebody else computed on the engine's accelerators.
pub(super) fn gpu_shared(runs: &[Run]) -> Option<Warning> {
    let concerned = Concerned::new(runs, |told| told.other_gpu_processes.is_some_and(|n| n > 0))?;
    let most = concerned.runs.iter().filter_map(|told| told.other_gpu_processes).max()?;
    let processes =
        if most == 1 { "one other process".to_owned() } else { format!("up to {most} other processes") };
    Some(Warning {
        name: "gpu_shared",
        text: format!("the accelerator was shared with {processes} in {}", concerned.count()),
    })
}

/// A load above the cores, unless it is known that next to nobody but the engine made it.
fn is_overloaded(told: &Telemetry) -> bool {
    let above = match (told.host_load, told.host_cores) {
        (Some(load), Some(cores)) => load > f64::from(cores),
        _ => false,
    };
    above && told.host_cpu_other_share.is_none_or(|share| share >= OWN_DOING)
}

fn reasons(told: &Telemetry) -> impl Iterator<Item = &str> {
    told.throttle_reasons.iter().map(String::as_str).filter(|word| !HARMLESS.contains(word))
}

fn exceeds(value: Option<f64>, bound: f64) -> bool {
    value.is_some_and(|value| value > bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::run;

    fn runs(told: &[Telemetry]) -> Vec<Run> {
        let with = |(number, told): (u32, &Telemetry)| Run {
            telemetry: Some(told.clone()),
            ..run(number, 501, 5.0)
        };
        (1..).zip(told).map(with).collect()
    }

    fn quiet() -> Telemetry {
        Telemetry {
            host_cores: Some(2),
            host_load: Some(1.2),
            host_cpu_other_share: Some(0.03),
            host_steal_share: Some(0.001),
            other_gpu_processes: Some(0),
            gpu_throttled_share: Some(0.0),
            cpu_throttle_events: Some(0),
            ..Telemetry::default()
        }
    }

    #[test]
    fn a_quiet_machine_and_an_unwatched_one_raise_nothing() {
        for told in [quiet(), Telemetry::default()] {
            let runs = runs(&[told.clone(), told]);
            assert_eq!((noisy_host(&runs), throttled(&runs), gpu_shared(&runs)), (None, None, None));
        }
        assert_eq!(noisy_host(&[run(1, 501, 5.0)]), None);
    }

    #[test]
    fn a_busy_host_is_told_in_how_many_runs_and_by_how_much() {
        let loaded = Telemetry { host_load: Some(3.4), host_cpu_other_share: None, ..quiet() };
        let others = Telemetry { host_cpu_other_share: Some(0.31), ..quiet() };
        let stolen = Telemetry { host_steal_share: Some(0.04), ..quiet() };
        let warning = noisy_host(&runs(&[quiet(), loaded, others, stolen])).unwrap();
        assert_eq!(warning.name, "noisy_host");
        assert_eq!(
            warning.text,
            "the host was busy with other things in 3 of 4 runs: a load of up to 3.40 on 2 cores; other programs took \
             up to 31 % of the CPUs; the hypervisor gave up to 4.0 % of them to other machines"
        );
    }

    #[test]
    fn a_load_that_the_engine_makes_alone_is_no_noise() {
        let own = Telemetry { host_load: Some(4.0), host_cpu_other_share: Some(0.01), ..quiet() };
        assert_eq!(noisy_host(&runs(&[own])), None);
        let shared = Telemetry { host_load: Some(4.0), host_cpu_other_share: Some(0.07), ..quiet() };
        assert!(noisy_host(&runs(&[shared])).unwrap().text.contains("a load of up to 4"));
    }

    #[test]
    fn throttling_is_told_by_its_reasons_and_harmless_ones_are_not() {
        let of = |words: &[&str], share: Option<f64>| Telemetry {
            throttle_reasons: words.iter().map(|&word| word.to_owned()).collect(),
            gpu_throttled_share: share,
            ..quiet()
        };
        let capped = of(&["sw_power_cap", "gpu_idle"], Some(0.42));
        let hot = Telemetry { cpu_throttle_events: Some(12), ..of(&["hw_thermal_slowdown"], None) };
        let blip = of(&["sync_boost"], Some(0.02));
        let warning = throttled(&runs(&[capped, hot, blip, of(&["gpu_idle"], None)])).unwrap();
        assert_eq!(
            warning.text,
            "clocks were held back in 2 of 4 runs: the accelerator by hw_thermal_slowdown, sw_power_cap in up to 42 % \
             of the samples; the processor by its heat, up to 12 times in a run"
        );
    }

    #[test]
    fn a_shared_accelerator_is_told() {
        let shared = |n| Telemetry { other_gpu_processes: Some(n), ..quiet() };
        let warning = gpu_shared(&runs(&[shared(1), shared(3), quiet()])).unwrap();
        assert_eq!(warning.text, "the accelerator was shared with up to 3 other processes in 2 of 3 runs");
        assert!(gpu_shared(&runs(&[shared(1)])).unwrap().text.contains("one other process"));
    }
}
