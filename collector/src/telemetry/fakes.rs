//! Cards with a known truth.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use super::nvidia::{Calls, Nvidia};

/// One card, in NVML's units.
#[derive(Debug, Clone, Default)]
pub(crate) struct Card {
    pub(crate) name: Option<&'static str>,
    pub(crate) memory: Option<(u64, u64)>,
    pub(crate) energy_mj: Option<u64>,
    pub(crate) power_mw: Option<u32>,
    pub(crate) percent: Option<u32>,
    pub(crate) sm_mhz: Option<u32>,
    pub(crate) celsius: Option<u32>,
    pub(crate) throttle: Option<u64>,
    pub(crate) pids: Option<Vec<u32>>,
}

/// Cards that a test may change while they are watched.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fake {
    cards: Arc<Mutex<Vec<Card>>>,
    looks: Arc<AtomicU32>,
}

impl Fake {
    pub(crate) fn new(cards: Vec<Card>) -> Self {
        Self { cards: Arc::new(Mutex::new(cards)), looks: Arc::default() }
    }

    pub(crate) fn gpus(&self) -> Nvidia<Self> {
        Nvidia::speaking(self.clone())
    }

    pub(crate) fn change(&self, change: impl Fn(&mut Card)) {
        self.cards.lock().unwrap().iter_mut().for_each(change);
    }

    /// How often the power of a card was asked for.
    pub(crate) fn looks(&self) -> u32 {
        self.looks.load(Ordering::SeqCst)
    }

    fn of<T>(&self, gpu: u32, of: impl FnOnce(&Card) -> Option<T>) -> Option<T> {
        of(self.cards.lock().unwrap().get(gpu as usize)?)
    }
}

impl Calls for Fake {
    fn count(&self) -> u32 {
        self.cards.lock().unwrap().len() as u32
    }
    fn driver(&self) -> Option<String> {
        Some("590.48.01".to_owned())
    }
    fn name(&self, gpu: u32) -> Option<String> {
        self.of(gpu, |card| card.name.map(str::to_owned))
    }
    fn capability(&self, gpu: u32) -> Option<(i32, i32)> {
        self.of(gpu, |card| card.name.map(|_| (12, 0)))
    }
    fn link(&self, gpu: u32) -> Option<(u32, u32)> {
        self.of(gpu, |card| card.name.map(|_| (5, 16)))
    }
    fn memory(&self, gpu: u32) -> Option<(u64, u64)> {
        self.of(gpu, |card| card.memory)
    }
    fn energy_mj(&self, gpu: u32) -> Option<u64> {
        self.of(gpu, |card| card.energy_mj)
    }
    fn power_mw(&self, gpu: u32) -> Option<u32> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        self.of(gpu, |card| card.power_mw)
    }
    fn utilisation_percent(&self, gpu: u32) -> Option<u32> {
        self.of(gpu, |card| card.percent)
    }
    fn sm_mhz(&self, gpu: u32) -> Option<u32> {
        self.of(gpu, |card| card.sm_mhz)
    }
    fn celsius(&self, gpu: u32) -> Option<u32> {
        self.of(gpu, |card| card.celsius)
    }
    fn throttle_bits(&self, gpu: u32) -> Option<u64> {
        self.of(gpu, |card| card.throttle)
    }
    fn compute_pids(&self, gpu: u32) -> Option<Vec<u32>> {
        self.of(gpu, |card| card.pids.clone())
    }
}
