//! What the machine did over the runs of a case.

use dyno_shared::format::{bytes, full, percent, short};
use dyno_shared::submission::{Run, Telemetry};
use yew::Html;

use crate::component::{Fact, facts_under};
use crate::dom::el;

/// A list of facts; a line where nothing was measured.
pub fn telemetry(runs: &[Run]) -> Html {
    let told = Told(runs.iter().filter_map(|run| run.telemetry.as_ref()).collect());
    let list = if told.0.is_empty() {
        vec![Fact::new("power, memory, load", Some("not measured".to_owned()))]
    } else {
        told.facts()
    };
    facts_under(el("h4").text("The machine over these runs"), list)
}

struct Told<'a>(Vec<&'a Telemetry>);

impl Told<'_> {
    fn facts(&self) -> Vec<Fact> {
        let watts = |x: f64| short(x) + " W";
        let megahertz = |x: f64| short(x) + " MHz";
        let size = |x: f64| bytes(x as u64);
        let share = |x: f64| percent(Some(x));
        let most = |of, words: fn(f64) -> String| self.most(of).map(words);
        let power = self.mean(|t| t.gpu_power_mean_w).map(|mean| {
            let most = self.most(|t| t.gpu_power_max_w);
            watts(mean) + &most.map_or_else(String::new, |most| format!(", at most {}", watts(most)))
        });
        let load = self.most(|t| t.host_load).map(|load| {
            let cores = self.most(|t| t.host_cores.map(f64::from));
            short(load) + &cores.map_or_else(String::new, |cores| format!(" on {} cores", full(cores)))
        });
        let energy = self.0.iter().find_map(|t| t.energy_source.clone());
        vec![
            Fact::known("accelerators", most(|t| t.gpus.map(f64::from), full)),
            Fact::known("their power", power),
            Fact::known("their memory", most(|t| t.gpu_memory_bytes.map(|n| n as f64), size)),
            Fact::known("their load", self.mean(|t| t.gpu_utilisation).map(share)),
            Fact::known("their clock", self.mean(|t| t.gpu_clock_mhz).map(megahertz)),
            Fact::known("hottest", most(|t| t.gpu_temperature_c, |x| short(x) + " °C")),
            Fact::known("held back by", self.throttled()),
            Fact::known("others on them", most(|t| t.other_gpu_processes.map(f64::from), full)),
            Fact::new("energy from", Some(energy.unwrap_or_else(|| "not measured".to_owned()))),
            Fact::known("load of the host", load),
            Fact::known("other programs", most(|t| t.host_cpu_other_share, share)),
            Fact::known("other machines", most(|t| t.host_steal_share, share)),
            Fact::known("wait for disks", most(|t| t.host_iowait_share, share)),
            Fact::known("CPU clock", self.mean(|t| t.cpu_clock_mhz).map(megahertz)),
            Fact::known(
                "CPU held back",
                most(|t| t.cpu_throttle_events.map(|n| n as f64), |n| full(n) + " times"),
            ),
            Fact::known("host memory", most(|t| t.host_memory_bytes.map(|n| n as f64), size)),
        ]
    }

    fn most(&self, of: fn(&Telemetry) -> Option<f64>) -> Option<f64> {
        self.0.iter().filter_map(|t| of(t)).reduce(f64::max)
    }

    fn mean(&self, of: fn(&Telemetry) -> Option<f64>) -> Option<f64> {
        let known = || self.0.iter().filter_map(|t| of(t));
        let count = known().count();
        (count > 0).then(|| known().sum::<f64>() / count as f64)
    }

    /// Each reason once, with the largest share of the samples; `nothing` where accelerators were looked at.
    fn throttled(&self) -> Option<String> {
        let mut reasons: Vec<&str> = Vec::new();
        for reason in self.0.iter().flat_map(|t| &t.throttle_reasons) {
            if !reasons.contains(&reason.as_str()) {
                reasons.push(reason);
            }
        }
        if reasons.is_empty() {
            return self.most(|t| t.gpus.map(f64::from)).map(|_| "nothing".to_owned());
        }
        let share = self
            .most(|t| t.gpu_throttled_share)
            .map(|share| format!(", in up to {} of the samples", percent(Some(share))));
        Some(reasons.join(", ") + &share.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_told_once_and_no_accelerator_is_not_held_back_by_nothing() {
        let told = |gpus, reasons: &[&str]| Telemetry {
            gpus,
            throttle_reasons: reasons.iter().map(|&r| r.to_owned()).collect(),
            gpu_throttled_share: (!reasons.is_empty()).then_some(0.25),
            ..Telemetry::default()
        };
        let (hot, cool, none) = (told(Some(1), &["heat", "power"]), told(Some(1), &[]), told(None, &[]));
        let held = |told: Vec<&Telemetry>| Told(told).throttled();
        assert_eq!(
            held(vec![&cool, &hot, &hot]).as_deref(),
            Some("heat, power, in up to 25 % of the samples")
        );
        assert_eq!(held(vec![&cool]).as_deref(), Some("nothing"));
        assert_eq!(held(vec![&none]), None);
    }
}
