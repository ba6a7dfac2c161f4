//! What every maker's accelerators are asked.

use std::fmt::Debug;
use std::path::Path;

use super::amd::Amd;
use super::nvidia::Nvidia;

/// What an accelerator is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GpuFacts {
    /// The maker's name of the product.
    pub name: String,
    /// Its memory.
    pub memory_bytes: Option<u64>,
    /// Its architecture, e.g. `sm_120`.
    pub architecture: Option<String>,
    /// Its link to the host, e.g. `PCIe 5.0 x16`.
    pub link: Option<String>,
}

/// What an accelerator does at one moment.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GpuSample {
    /// Power in watts.
    pub power_w: Option<f64>,
    /// Utilisation, 0 to 1.
    pub utilisation: Option<f64>,
    /// Memory in use.
    pub memory_bytes: Option<u64>,
    /// Clock of the compute units.
    pub clock_mhz: Option<f64>,
    /// Temperature.
    pub temperature_c: Option<f64>,
    /// Why the clocks are held back, nothing harmless among it; empty when they are not, `None` when nobody says.
    pub held_back: Option<Vec<&'static str>>,
}

/// The accelerators of one maker. They are numbered from 0.
pub trait Gpus: Debug + Send {
    /// Who says what is read here, for `energy_source`.
    fn source(&self) -> &'static str;
    /// Version of the driver.
    fn driver(&self) -> Option<String>;
    /// How many there are.
    fn count(&self) -> usize;
    /// What each of them is.
    fn facts(&self) -> Vec<GpuFacts>;
    /// Joules since some moment in the past, by a counter of the hardware.
    fn energy_j(&mut self, gpu: usize) -> Option<f64>;
    /// What one of them does now.
    fn sample(&mut self, gpu: usize) -> GpuSample;
    /// The numbers of the processes that compute on one of them, as far as they can be seen from here.
    fn compute_pids(&mut self, gpu: usize) -> Option<Vec<u32>>;
}

/// The accelerators of this machine: NVIDIA's where there are any, else AMD's. Where both are, AMD's are the graphics
/// of the processor.
///
/// # Errors
/// Why none was found, in words for a reader of the shard.
pub fn accelerators(root: &Path) -> Result<Box<dyn Gpus>, String> {
    let nvidia = match Nvidia::open() {
        Ok(nvidia) => return Ok(Box::new(nvidia)),
        Err(reason) => reason,
    };
    match Amd::open(root) {
        Some(amd) => Ok(Box::new(amd)),
        None => Err(format!("{nvidia}, and the kernel shows no AMD card")),
    }
}
