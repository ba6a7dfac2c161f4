//! NVIDIA's accelerators through NVML, the driver's own library. It is looked for when Dyno runs and never linked: a
//! machine without it has none of these accelerators measured, and says so.
//!
//! Tested against a fake that speaks NVML's units. No such card was at hand: the calls themselves ([`Library`]) are
//! untested.
//!
//! What NVIDIA says of its figures: the energy counter exists from Volta on and moves in steps of up to 100 ms, so
//! that runs well below a second have a coarse energy; `power` is an average over a second from Ampere on.

use std::ffi::OsStr;

use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};

use super::gpu::{GpuFacts, GpuSample, Gpus};

/// Where the library is looked for: drivers bring the first name, developers' packages the second.
const NAMES: [&str; 3] = ["libnvidia-ml.so.1", "libnvidia-ml.so", "nvml.dll"];

/// Reasons for which clocks are held back, by NVML's bits. Idling (1), clocks that somebody set (2), display clocks
/// (256) and no reason are left out: they say nothing against a measurement.
const HELD_BACK: [(u64, &str); 6] = [
    (0x04, "sw_power_cap"),
    (0x08, "hw_slowdown"),
    (0x10, "sync_boost"),
    (0x20, "sw_thermal_slowdown"),
    (0x40, "hw_thermal_slowdown"),
    (0x80, "hw_power_brake"),
];

/// The calls of NVML that are needed, in NVML's own units. What a card does not tell is `None`.
pub trait Calls: std::fmt::Debug + Send {
    /// Accelerators.
    fn count(&self) -> u32;
    /// Version of the driver.
    fn driver(&self) -> Option<String>;
    /// Product name.
    fn name(&self, gpu: u32) -> Option<String>;
    /// Compute capability: major, minor.
    fn capability(&self, gpu: u32) -> Option<(i32, i32)>;
    /// Generation and lanes of the widest link that card and machine allow together.
    fn link(&self, gpu: u32) -> Option<(u32, u32)>;
    /// Memory in bytes: all of it, and what is in use.
    fn memory(&self, gpu: u32) -> Option<(u64, u64)>;
    /// Millijoules since the driver was loaded.
    fn energy_mj(&self, gpu: u32) -> Option<u64>;
    /// Milliwatts.
    fn power_mw(&self, gpu: u32) -> Option<u32>;
    /// Percent of the last sample period in which a kernel ran.
    fn utilisation_percent(&self, gpu: u32) -> Option<u32>;
    /// Clock of the multiprocessors in MHz.
    fn sm_mhz(&self, gpu: u32) -> Option<u32>;
    /// Degrees Celsius.
    fn celsius(&self, gpu: u32) -> Option<u32>;
    /// Bits of `nvmlClocksThrottleReasons`.
    fn throttle_bits(&self, gpu: u32) -> Option<u64>;
    /// Processes with a compute context.
    fn compute_pids(&self, gpu: u32) -> Option<Vec<u32>>;
}

/// NVIDIA's accelerators.
#[derive(Debug)]
pub struct Nvidia<C = Library>(C);

impl Nvidia {
    /// Opens the driver's library.
    ///
    /// # Errors
    /// Why there is nothing to measure, in words for a reader of the shard.
    pub fn open() -> Result<Self, String> {
        let library = Library::open()?;
        if library.count() == 0 {
            return Err("NVIDIA's driver knows no card".to_owned());
        }
        Ok(Self(library))
    }
}

impl<C> Nvidia<C> {
    /// The accelerators behind these calls.
    #[cfg(test)]
    pub(super) fn speaking(calls: C) -> Self {
        Self(calls)
    }
}

impl<C: Calls> Gpus for Nvidia<C> {
    fn source(&self) -> &'static str {
        "NVML"
    }

    fn driver(&self) -> Option<String> {
        self.0.driver()
    }

    fn count(&self) -> usize {
        self.0.count() as usize
    }

    fn facts(&self) -> Vec<GpuFacts> {
        let facts = |gpu| GpuFacts {
            name: self.0.name(gpu).unwrap_or_else(|| "NVIDIA GPU".to_owned()),
            memory_bytes: self.0.memory(gpu).map(|(total, _)| total),
            architecture: self.0.capability(gpu).map(|(major, minor)| format!("sm_{major}{minor}")),
            link: self.0.link(gpu).map(|(generation, lanes)| format!("PCIe {generation}.0 x{lanes}")),
        };
        (0..self.0.count()).map(facts).collect()
    }

    fn energy_j(&mut self, gpu: usize) -> Option<f64> {
        Some(self.0.energy_mj(gpu as u32)? as f64 / 1e3)
    }

    fn sample(&mut self, gpu: usize) -> GpuSample {
        let (calls, gpu) = (&self.0, gpu as u32);
        GpuSample {
            power_w: calls.power_mw(gpu).map(|mw| f64::from(mw) / 1e3),
            utilisation: calls.utilisation_percent(gpu).map(|percent| f64::from(percent) / 100.0),
            memory_bytes: calls.memory(gpu).map(|(_, used)| used),
            clock_mhz: calls.sm_mhz(gpu).map(f64::from),
            temperature_c: calls.celsius(gpu).map(f64::from),
            held_back: calls.throttle_bits(gpu).map(held_back),
        }
    }

    fn compute_pids(&mut self, gpu: usize) -> Option<Vec<u32>> {
        self.0.compute_pids(gpu as u32)
    }
}

fn held_back(bits: u64) -> Vec<&'static str> {
    HELD_BACK.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, word)| *word).collect()
}

/// The real library. Errors of single calls are what the card does not tell.
#[derive(Debug)]
pub struct Library(Nvml);

impl Library {
    fn open() -> Result<Self, String> {
        let mut refused = None;
        for name in NAMES {
            match Nvml::builder().lib_path(OsStr::new(name)).init() {
                Ok(nvml) => return Ok(Self(nvml)),
                Err(NvmlError::LibloadingError(_)) => {}
                Err(error) => refused = Some(error),
            }
        }
        Err(match refused {
            Some(error) => format!("NVIDIA's library (NVML) does not start: {error}"),
            None => "NVIDIA's library (NVML) is not installed".to_owned(),
        })
    }

    fn ask<'a, T>(&'a self, gpu: u32, of: impl FnOnce(&Device<'a>) -> Result<T, NvmlError>) -> Option<T> {
        of(&self.0.device_by_index(gpu).ok()?).ok()
    }
}

impl Calls for Library {
    fn count(&self) -> u32 {
        self.0.device_count().unwrap_or(0)
    }

    fn driver(&self) -> Option<String> {
        self.0.sys_driver_version().ok()
    }

    fn name(&self, gpu: u32) -> Option<String> {
        self.ask(gpu, Device::name)
    }

    fn capability(&self, gpu: u32) -> Option<(i32, i32)> {
        self.ask(gpu, Device::cuda_compute_capability).map(|found| (found.major, found.minor))
    }

    fn link(&self, gpu: u32) -> Option<(u32, u32)> {
        self.ask(gpu, |device| Ok((device.max_pcie_link_gen()?, device.max_pcie_link_width()?)))
    }

    fn memory(&self, gpu: u32) -> Option<(u64, u64)> {
        self.ask(gpu, Device::memory_info).map(|memory| (memory.total, memory.used))
    }

    fn energy_mj(&self, gpu: u32) -> Option<u64> {
        self.ask(gpu, Device::total_energy_consumption)
    }

    fn power_mw(&self, gpu: u32) -> Option<u32> {
        self.ask(gpu, Device::power_usage)
    }

    fn utilisation_percent(&self, gpu: u32) -> Option<u32> {
        self.ask(gpu, Device::utilization_rates).map(|rates| rates.gpu)
    }

    fn sm_mhz(&self, gpu: u32) -> Option<u32> {
        self.ask(gpu, |device| device.clock_info(Clock::SM))
    }

    fn celsius(&self, gpu: u32) -> Option<u32> {
        self.ask(gpu, |device| device.temperature(TemperatureSensor::Gpu))
    }

    fn throttle_bits(&self, gpu: u32) -> Option<u64> {
        self.ask(gpu, Device::current_throttle_reasons).map(|reasons| reasons.bits())
    }

    fn compute_pids(&self, gpu: u32) -> Option<Vec<u32>> {
        let processes = self.ask(gpu, Device::running_compute_processes)?;
        Some(processes.into_iter().map(|process| process.pid).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::super::fakes::{Card, Fake};
    use super::*;

    #[test]
    fn units_of_the_driver_become_base_units() {
        let card = Card {
            name: Some("NVIDIA GeForce RTX 5090"),
            memory: Some((34_190_917_632, 21_474_836_480)),
            energy_mj: Some(123_456_789),
            power_mw: Some(431_250),
            percent: Some(97),
            sm_mhz: Some(2_820),
            celsius: Some(71),
            throttle: Some(0x1 | 0x2 | 0x4 | 0x40),
            pids: Some(vec![4_242]),
        };
        let mut gpus = Fake::new(vec![card]).gpus();
        assert_eq!(gpus.energy_j(0), Some(123_456.789));
        assert_eq!(
            gpus.sample(0),
            GpuSample {
                power_w: Some(431.25),
                utilisation: Some(0.97),
                memory_bytes: Some(21_474_836_480),
                clock_mhz: Some(2_820.0),
                temperature_c: Some(71.0),
                held_back: Some(vec!["sw_power_cap", "hw_thermal_slowdown"]),
            }
        );
        let facts = gpus.facts();
        assert_eq!(
            facts,
            [GpuFacts {
                name: "NVIDIA GeForce RTX 5090".into(),
                memory_bytes: Some(34_190_917_632),
                architecture: Some("sm_120".into()),
                link: Some("PCIe 5.0 x16".into()),
            }]
        );
    }

    #[test]
    fn what_a_card_does_not_tell_is_unknown() {
        let mut gpus = Fake::new(vec![Card::default()]).gpus();
        assert_eq!(gpus.energy_j(0), None);
        assert_eq!(gpus.sample(0), GpuSample::default());
        assert_eq!(gpus.sample(7), GpuSample::default());
        assert_eq!(gpus.facts()[0].name, "NVIDIA GPU");
    }

    #[test]
    fn the_words_stand_for_the_bits_of_the_library() {
        use nvml_wrapper::bitmasks::device::ThrottleReasons;
        for (reason, word) in [
            (ThrottleReasons::SW_POWER_CAP, "sw_power_cap"),
            (ThrottleReasons::HW_SLOWDOWN, "hw_slowdown"),
            (ThrottleReasons::SYNC_BOOST, "sync_boost"),
            (ThrottleReasons::SW_THERMAL_SLOWDOWN, "sw_thermal_slowdown"),
            (ThrottleReasons::HW_THERMAL_SLOWDOWN, "hw_thermal_slowdown"),
            (ThrottleReasons::HW_POWER_BRAKE_SLOWDOWN, "hw_power_brake"),
        ] {
            assert_eq!(held_back(reason.bits()), [word]);
        }
        let harmless = ThrottleReasons::GPU_IDLE
            | ThrottleReasons::APPLICATIONS_CLOCKS_SETTING
            | ThrottleReasons::DISPLAY_CLOCK_SETTING;
        assert!(held_back(harmless.bits()).is_empty());
    }
}
