//! What a window sees of the accelerators: whose they are, and their energy, power, use and throttling. Pure.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use dyno_shared::submission::Telemetry;
use dyno_shared::units::Joules;

use super::gpu::GpuSample;
use super::window::{Ends, Mean, round};

/// An accelerator that is never busier than this, and on which no process of the engine was found, is not the engine's.
const IDLE_UTILISATION: f64 = 0.05;

/// Who computes on the accelerators.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Users {
    /// The engine, on these of them.
    Engine(Vec<usize>),
    /// The engine's processes are known, and none computes on an accelerator as far as it can be seen.
    EngineUnseen,
    /// The engine's processes are not known, or nobody says who computes.
    Unknown,
}

impl Users {
    /// Of the processes that compute on each accelerator, and those of the engine.
    pub fn of(pids: &[Option<Vec<u32>>], engine: &BTreeSet<u32>) -> Self {
        if engine.is_empty() || pids.iter().all(Option::is_none) {
            return Self::Unknown;
        }
        let used = |list: &Option<Vec<u32>>| list.iter().flatten().any(|pid| engine.contains(pid));
        let gpus: Vec<usize> =
            pids.iter().enumerate().filter(|(_, list)| used(list)).map(|(gpu, _)| gpu).collect();
        if gpus.is_empty() { Self::EngineUnseen } else { Self::Engine(gpus) }
    }
}

/// What a window has seen of the accelerators.
#[derive(Debug)]
pub struct CardWatch {
    users: Users,
    /// Those that are counted.
    gpus: Vec<usize>,
    looks: u32,
    last: Option<(Instant, f64)>,
    power_joules: f64,
    power_span: Duration,
    /// Whether every sample told the power of every accelerator.
    power_known: bool,
    power_max_w: Option<f64>,
    utilisation: Mean,
    utilisation_max: f64,
    clock: Mean,
    temperature_c: Option<f64>,
    memory_bytes: Option<u64>,
    reasons: BTreeSet<&'static str>,
    throttled: Mean,
    others: Option<u32>,
}

impl CardWatch {
    /// A watch over `count` accelerators: those of the engine where they are known, else all.
    pub fn new(count: usize, users: Users) -> Self {
        let gpus = match &users {
            Users::Engine(gpus) => gpus.clone(),
            Users::EngineUnseen | Users::Unknown => (0..count).collect(),
        };
        Self {
            users,
            gpus,
            looks: 0,
            last: None,
            power_joules: 0.0,
            power_span: Duration::ZERO,
            power_known: true,
            power_max_w: None,
            utilisation: Mean::default(),
            utilisation_max: 0.0,
            clock: Mean::default(),
            temperature_c: None,
            memory_bytes: None,
            reasons: BTreeSet::new(),
            throttled: Mean::default(),
            others: None,
        }
    }

    /// The accelerators that are counted.
    pub fn gpus(&self) -> &[usize] {
        &self.gpus
    }

    /// Takes in one look at the counted accelerators, in their order. The first look begins the integral of power; what
    /// it says otherwise is of the time before the window.
    pub fn add(&mut self, at: Instant, samples: &[GpuSample]) {
        self.looks += 1;
        self.add_power(at, together(samples, |sample| sample.power_w));
        self.memory_bytes = self
            .memory_bytes
            .max(together(samples, |sample| sample.memory_bytes.map(|b| b as f64)).map(|b| b as u64));
        let temperatures = samples.iter().filter_map(|sample| sample.temperature_c);
        self.temperature_c = temperatures.chain(self.temperature_c).reduce(f64::max);
        if self.looks == 1 {
            return;
        }
        let each = samples.len() as f64;
        if let Some(sum) = together(samples, |sample| sample.utilisation) {
            self.utilisation.add(sum / each);
            let busiest = samples.iter().filter_map(|sample| sample.utilisation).reduce(f64::max);
            self.utilisation_max = busiest.unwrap_or(0.0).max(self.utilisation_max);
        }
        if let Some(sum) = together(samples, |sample| sample.clock_mhz) {
            self.clock.add(sum / each);
        }
        let told: Vec<&Vec<&'static str>> =
            samples.iter().filter_map(|sample| sample.held_back.as_ref()).collect();
        if !told.is_empty() {
            let reasons: BTreeSet<&'static str> = told.into_iter().flatten().copied().collect();
            self.throttled.add(if reasons.is_empty() { 0.0 } else { 1.0 });
            self.reasons.extend(reasons);
        }
    }

    fn add_power(&mut self, at: Instant, power_w: Option<f64>) {
        let Some(power_w) = power_w else {
            self.power_known = false;
            return;
        };
        self.power_max_w = Some(self.power_max_w.map_or(power_w, |max| max.max(power_w)));
        if let Some((before, power_before_w)) = self.last {
            let span = at.saturating_duration_since(before);
            self.power_joules += f64::midpoint(power_before_w, power_w) * span.as_secs_f64();
            self.power_span += span;
        }
        self.last = Some((at, power_w));
    }

    /// Takes in who computes on the counted accelerators. Without the engine among them nobody is "other".
    pub fn add_users(&mut self, pids: &[Option<Vec<u32>>], engine: &BTreeSet<u32>) {
        if !matches!(self.users, Users::Engine(_)) {
            return;
        }
        let counted: BTreeSet<u32> =
            self.gpus.iter().filter_map(|gpu| pids.get(*gpu)?.as_ref()).flatten().copied().collect();
        let others = counted.difference(engine).count() as u32;
        self.others = self.others.max(Some(others));
    }

    fn is_not_the_engines(&self) -> bool {
        self.users == Users::EngineUnseen
            && self.utilisation.value().is_some()
            && self.utilisation_max < IDLE_UTILISATION
    }

    /// Energy by the counters, else by power over time; with the words for it.
    fn energy(&self, before: &Ends, after: &Ends) -> Option<(f64, &'static str)> {
        let counter = |gpu: &usize| {
            let (before, after) = (*before.gpu_j.get(*gpu)?, *after.gpu_j.get(*gpu)?);
            Some(after? - before?).filter(|joules| *joules >= 0.0)
        };
        let counted: Option<f64> = self.gpus.iter().map(counter).sum();
        let by_power = || (self.power_known && self.power_joules > 0.0).then_some(self.power_joules);
        // A counter that did not move has not counted the window: a card uses power even when it idles.
        match counted.filter(|joules| *joules > 0.0) {
            Some(joules) => Some((joules, "energy counter")),
            None => Some((by_power()?, "power over time")),
        }
    }

    /// Writes what was seen, and adds the words for the energy's source.
    pub(super) fn tell(
        self,
        out: &mut Telemetry,
        before: &Ends,
        after: &Ends,
        source: &str,
        sources: &mut Vec<String>,
    ) {
        if self.is_not_the_engines() {
            out.gpus = Some(0);
            return;
        }
        out.gpus = Some(self.gpus.len() as u32);
        if let Some((joules, how)) = self.energy(before, after) {
            out.gpu_energy_j = Some(Joules(round(joules, 1e3)));
            sources.push(format!("{source} {how}"));
        }
        if self.power_known && !self.power_span.is_zero() {
            out.gpu_power_mean_w = Some(round(self.power_joules / self.power_span.as_secs_f64(), 10.0));
        }
        out.gpu_power_max_w = self.power_max_w.filter(|_| self.power_known).map(|watts| round(watts, 10.0));
        out.gpu_utilisation = self.utilisation.value().map(|share| round(share, 1e4));
        out.gpu_clock_mhz = self.clock.value().map(|mhz| round(mhz, 1.0));
        out.gpu_temperature_c = self.temperature_c.map(|celsius| round(celsius, 10.0));
        out.gpu_memory_bytes = self.memory_bytes;
        out.other_gpu_processes = self.others;
        out.gpu_throttled_share = self.throttled.value().map(|share| round(share, 1e4));
        out.throttle_reasons = self.reasons.into_iter().map(str::to_owned).collect();
    }
}

/// The sum over all accelerators; `None` where one does not tell, or there is none.
fn together(samples: &[GpuSample], of: impl Fn(&GpuSample) -> Option<f64>) -> Option<f64> {
    let sum: Option<f64> = samples.iter().map(of).sum();
    sum.filter(|sum| !samples.is_empty() && sum.is_finite())
}

#[cfg(test)]
mod tests {
    use super::super::window::{HostWatch, telemetry};
    use super::*;
    use dyno_shared::units::Seconds;

    fn two_ends(seconds: f64) -> (Ends, Ends) {
        let begin = Instant::now();
        (Ends::at(begin), Ends::at(begin + Duration::from_secs_f64(seconds)))
    }

    fn watts(power_w: f64) -> GpuSample {
        GpuSample { power_w: Some(power_w), ..GpuSample::default() }
    }

    fn of_gpus(watch: CardWatch, before: &Ends, after: &Ends) -> Telemetry {
        telemetry(before, after, Some((watch, "NVML")), &HostWatch::default()).unwrap()
    }

    #[test]
    fn energy_is_the_counters_difference_over_all_cards() {
        let (mut before, mut after) = two_ends(10.0);
        before.gpu_j = vec![Some(1_000.0), Some(50.0)];
        after.gpu_j = vec![Some(4_000.0), Some(550.5)];
        let mut watch = CardWatch::new(2, Users::Unknown);
        watch.add(before.at, &[watts(1.0), watts(1.0)]);
        watch.add(after.at, &[watts(1.0), watts(1.0)]);
        let told = of_gpus(watch, &before, &after);
        assert_eq!(told.gpu_energy_j, Some(Joules(3_500.5)));
        assert_eq!(told.energy_source.as_deref(), Some("NVML energy counter"));
        assert_eq!((told.window_s, told.gpus), (Some(Seconds(10.0)), Some(2)));
    }

    #[test]
    fn without_a_counter_energy_is_power_over_time_by_trapezoids() {
        let (before, after) = two_ends(3.0);
        let mut watch = CardWatch::new(1, Users::Unknown);
        // 1 s from 100 to 300 W, then 2 s at 300 W.
        for (at, power) in [(0, 100.0), (1, 300.0), (3, 300.0)] {
            watch.add(before.at + Duration::from_secs(at), &[watts(power)]);
        }
        let told = of_gpus(watch, &before, &after);
        assert_eq!(told.gpu_energy_j, Some(Joules(800.0)));
        assert_eq!(told.energy_source.as_deref(), Some("NVML power over time"));
        assert_eq!((told.gpu_power_mean_w, told.gpu_power_max_w), (Some(266.7), Some(300.0)));
    }

    #[test]
    fn a_card_whose_power_is_not_told_makes_the_energy_of_all_unknown() {
        let (before, after) = two_ends(1.0);
        let mut watch = CardWatch::new(2, Users::Unknown);
        watch.add(before.at, &[watts(100.0), GpuSample::default()]);
        watch.add(after.at, &[watts(100.0), watts(100.0)]);
        let told = of_gpus(watch, &before, &after);
        assert_eq!((told.gpu_energy_j, told.gpu_power_mean_w, told.energy_source), (None, None, None));
    }

    #[test]
    fn a_counter_that_went_back_or_stood_still_is_not_believed() {
        for (at_begin, at_end) in [(500.0, 20.0), (500.0, 500.0)] {
            let (mut before, mut after) = two_ends(1.0);
            before.gpu_j = vec![Some(at_begin)];
            after.gpu_j = vec![Some(at_end)];
            let told = of_gpus(CardWatch::new(1, Users::Unknown), &before, &after);
            assert_eq!(told.gpu_energy_j, None);
        }
    }

    #[test]
    fn only_the_engines_cards_count_and_strangers_on_them_are_counted() {
        let engine = BTreeSet::from([10, 11]);
        let pids = vec![Some(vec![99]), Some(vec![11, 50, 51]), None];
        let users = Users::of(&pids, &engine);
        assert_eq!(users, Users::Engine(vec![1]));
        let mut watch = CardWatch::new(3, users);
        assert_eq!(watch.gpus(), [1]);
        watch.add_users(&pids, &engine);
        watch.add_users(&[Some(vec![99]), Some(vec![11]), None], &engine);
        let (mut before, mut after) = two_ends(1.0);
        before.gpu_j = vec![Some(0.0); 3];
        after.gpu_j = vec![Some(1_000.0), Some(7.0), None];
        let told = of_gpus(watch, &before, &after);
        assert_eq!((told.gpus, told.other_gpu_processes), (Some(1), Some(2)));
        assert_eq!(told.gpu_energy_j, Some(Joules(7.0)));
    }

    #[test]
    fn an_idle_card_without_the_engine_costs_the_run_nothing_and_a_busy_one_does() {
        let users = || Users::of(&[Some(vec![])], &BTreeSet::from([10]));
        for (utilisation, gpus, energy) in [(0.02, 0, None), (0.9, 1, Some(Joules(20.0)))] {
            let (mut before, mut after) = two_ends(1.0);
            before.gpu_j = vec![Some(0.0)];
            after.gpu_j = vec![Some(20.0)];
            let mut watch = CardWatch::new(1, users());
            for at in [before.at, after.at] {
                watch.add(at, &[GpuSample { utilisation: Some(utilisation), ..watts(20.0) }]);
            }
            let told = of_gpus(watch, &before, &after);
            assert_eq!((told.gpus, told.gpu_energy_j), (Some(gpus), energy), "{utilisation}");
            assert_eq!(told.other_gpu_processes, None);
        }
    }

    #[test]
    fn what_held_before_the_window_is_not_of_it() {
        let (before, after) = two_ends(2.0);
        let look = |busy: f64, reasons: &[&'static str]| GpuSample {
            utilisation: Some(busy),
            held_back: Some(reasons.to_vec()),
            ..GpuSample::default()
        };
        let mut watch = CardWatch::new(1, Users::Unknown);
        watch.add(before.at, &[look(0.0, &["hw_slowdown"])]);
        watch.add(before.at + Duration::from_secs(1), &[look(0.9, &["sw_power_cap"])]);
        watch.add(after.at, &[look(0.7, &[])]);
        let told = of_gpus(watch, &before, &after);
        assert_eq!(told.gpu_utilisation, Some(0.8));
        assert_eq!(
            (told.throttle_reasons, told.gpu_throttled_share),
            (vec!["sw_power_cap".to_owned()], Some(0.5))
        );
    }
}
