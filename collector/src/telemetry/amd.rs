//! AMD's accelerators, from the files of the kernel's driver (amdgpu).
//!
//! Tested against a fabricated tree only: no such card was at hand. Why clocks are held back and which processes
//! compute stand in no plain file of this driver, so both are unknown here.

use std::fs;
use std::path::{Path, PathBuf};

use super::files::{number, numbered, text};
use super::gpu::{GpuFacts, GpuSample, Gpus};

/// AMD's number as a maker of PCI cards.
const VENDOR: &str = "0x1002";

/// A card with less memory than this part of the largest one's is the graphics of the processor beside it.
const OWN_GRAPHICS: u64 = 8;

/// Where the names of PCI cards stand, if a distribution brings them.
const NAMES: [&str; 2] = ["usr/share/hwdata/pci.ids", "usr/share/misc/pci.ids"];

/// AMD's accelerators.
#[derive(Debug)]
pub struct Amd {
    driver: Option<String>,
    cards: Vec<Card>,
}

#[derive(Debug)]
struct Card {
    device: PathBuf,
    sensors: Option<PathBuf>,
    name: String,
    memory_bytes: Option<u64>,
}

impl Amd {
    /// The cards below `root` (`/` on a real machine); `None` where there are none.
    pub fn open(root: &Path) -> Option<Self> {
        let names = NAMES.iter().find_map(|at| fs::read(root.join(at)).ok()).unwrap_or_default();
        let names = String::from_utf8_lossy(&names);
        let mut cards: Vec<Card> = numbered(&root.join("sys/class/drm"), "card")
            .into_iter()
            .map(|card| card.join("device"))
            .filter(|device| text(&device.join("vendor")).as_deref() == Some(VENDOR))
            .map(|device| Card::open(device, &names))
            .collect();
        let largest = cards.iter().filter_map(|card| card.memory_bytes).max().unwrap_or(0);
        cards.retain(|card| {
            card.memory_bytes.is_none_or(|bytes| bytes.saturating_mul(OWN_GRAPHICS) >= largest)
        });
        let driver = text(&root.join("sys/module/amdgpu/version"));
        (!cards.is_empty()).then_some(Self { driver, cards })
    }

    fn sensor(&self, gpu: usize, name: &str) -> Option<f64> {
        Some(number(&self.cards.get(gpu)?.sensors.as_ref()?.join(name))? as f64)
    }
}

impl Card {
    fn open(device: PathBuf, names: &str) -> Self {
        let id = text(&device.join("device"));
        let name = text(&device.join("product_name"))
            .or_else(|| marketed(names, id.as_deref()?.strip_prefix("0x")?))
            .unwrap_or_else(|| id.map_or_else(|| "GPU".to_owned(), |id| format!("GPU {id}")));
        let name = if name.starts_with("AMD") { name } else { format!("AMD {name}") };
        let sensors = numbered(&device.join("hwmon"), "hwmon").into_iter().next();
        let memory_bytes = number(&device.join("mem_info_vram_total"));
        Self { device, sensors, name, memory_bytes }
    }

    /// The current line of `pp_dpm_sclk`, as in `1: 2482Mhz *`.
    fn clock_by_state(&self) -> Option<f64> {
        let states = text(&self.device.join("pp_dpm_sclk"))?;
        let current = states.lines().find(|line| line.trim_end().ends_with('*'))?;
        let (_, value) = current.split_once(':')?;
        let digits = value.trim().split(|c: char| !c.is_ascii_digit()).next()?;
        digits.parse().ok()
    }
}

/// The name under which a card is sold, of a list of PCI cards: `744c  Navi 31 [Radeon RX 7900 XT/7900 XTX]`.
fn marketed(names: &str, id: &str) -> Option<String> {
    let of_maker = names.lines().skip_while(|line| !line.starts_with("1002 ")).skip(1);
    let mut lines = of_maker.take_while(|line| line.starts_with(['\t', '#']));
    let name = lines.find_map(|line| line.strip_prefix('\t')?.strip_prefix(id)?.strip_prefix("  "))?;
    let sold = name.split_once('[').and_then(|(_, rest)| rest.split(']').next());
    Some(sold.unwrap_or(name).trim().to_owned())
}

impl Gpus for Amd {
    fn source(&self) -> &'static str {
        "amdgpu"
    }

    fn driver(&self) -> Option<String> {
        self.driver.clone()
    }

    fn count(&self) -> usize {
        self.cards.len()
    }

    fn facts(&self) -> Vec<GpuFacts> {
        let facts = |card: &Card| GpuFacts {
            name: card.name.clone(),
            memory_bytes: card.memory_bytes,
            ..GpuFacts::default()
        };
        self.cards.iter().map(facts).collect()
    }

    fn energy_j(&mut self, gpu: usize) -> Option<f64> {
        Some(self.sensor(gpu, "energy1_input")? / 1e6)
    }

    fn sample(&mut self, gpu: usize) -> GpuSample {
        let Some(card) = self.cards.get(gpu) else { return GpuSample::default() };
        let power = self.sensor(gpu, "power1_average").or_else(|| self.sensor(gpu, "power1_input"));
        let clock_hz = self.sensor(gpu, "freq1_input");
        GpuSample {
            power_w: power.map(|microwatts| microwatts / 1e6),
            utilisation: number(&card.device.join("gpu_busy_percent")).map(|busy| busy as f64 / 100.0),
            memory_bytes: number(&card.device.join("mem_info_vram_used")),
            clock_mhz: clock_hz.map(|hertz| hertz / 1e6).or_else(|| card.clock_by_state()),
            temperature_c: self.sensor(gpu, "temp1_input").map(|thousandths| thousandths / 1e3),
            held_back: None,
        }
    }

    fn compute_pids(&mut self, _: usize) -> Option<Vec<u32>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::testing::Tree;
    use super::*;

    const CARD: &str = "sys/class/drm/card1/device";

    fn one_card() -> Tree {
        let tree = Tree::new();
        for (file, text) in [
            ("vendor", "0x1002"),
            ("device", "0x744c"),
            ("mem_info_vram_total", "25753026560"),
            ("mem_info_vram_used", "21345678848"),
            ("gpu_busy_percent", "98"),
            ("pp_dpm_sclk", "0: 500Mhz \n1: 2482Mhz *\n2: 2526Mhz "),
            ("hwmon/hwmon4/power1_average", "312000000"),
            ("hwmon/hwmon4/temp1_input", "64000"),
        ] {
            tree.write(&format!("{CARD}/{file}"), text);
        }
        tree.write("sys/class/drm/card1-DP-1/status", "connected");
        tree.write("sys/class/drm/card0/device/vendor", "0x10de");
        tree
    }

    #[test]
    fn a_card_is_read_in_base_units() {
        let tree = one_card();
        let mut amd = Amd::open(tree.path()).unwrap();
        assert_eq!(amd.cards.len(), 1);
        let expected = GpuSample {
            power_w: Some(312.0),
            utilisation: Some(0.98),
            memory_bytes: Some(21_345_678_848),
            clock_mhz: Some(2_482.0),
            temperature_c: Some(64.0),
            held_back: None,
        };
        assert_eq!(amd.sample(0), expected);
        assert_eq!((amd.energy_j(0), amd.compute_pids(0)), (None, None));
        tree.write(&format!("{CARD}/hwmon/hwmon4/energy1_input"), "5250000");
        tree.write(&format!("{CARD}/hwmon/hwmon4/freq1_input"), "2501000000");
        assert_eq!(amd.energy_j(0), Some(5.25));
        assert_eq!(amd.sample(0).clock_mhz, Some(2_501.0));
    }

    #[test]
    fn newer_drivers_name_the_power_otherwise() {
        let tree = one_card();
        tree.remove(&format!("{CARD}/hwmon/hwmon4/power1_average"));
        tree.write(&format!("{CARD}/hwmon/hwmon4/power1_input"), "45000000");
        assert_eq!(Amd::open(tree.path()).unwrap().sample(0).power_w, Some(45.0));
    }

    #[test]
    fn a_card_has_the_name_under_which_it_is_sold_else_its_number() {
        let tree = one_card();
        let name = |tree: &Tree| Amd::open(tree.path()).unwrap().facts()[0].name.clone();
        assert_eq!(name(&tree), "AMD GPU 0x744c");
        let list = "# names\n1001  Somebody\n\t744c  Wrong [Wrong]\n1002  Advanced Micro Devices, Inc. [AMD/ATI]\n\
                    \t73bf  Navi 21 [Radeon RX 6900 XT]\n\t744c  Navi 31 [Radeon RX 7900 XTX]\n\t\t1002 0e3b  Board\n\
                    1003  Somebody else\n\t744c  Wrong [Wrong]";
        tree.write("usr/share/misc/pci.ids", list);
        assert_eq!(name(&tree), "AMD Radeon RX 7900 XTX");
        tree.write(&format!("{CARD}/product_name"), "AMD Instinct MI300X");
        assert_eq!(name(&tree), "AMD Instinct MI300X");
    }

    #[test]
    fn the_graphics_of_the_processor_do_not_count_beside_a_card_but_count_alone() {
        let tree = one_card();
        for (file, text) in [("vendor", "0x1002"), ("device", "0x164e"), ("mem_info_vram_total", "536870912")]
        {
            tree.write(&format!("sys/class/drm/card2/device/{file}"), text);
        }
        assert_eq!(Amd::open(tree.path()).unwrap().cards.len(), 1);
        tree.remove(&format!("{CARD}/vendor"));
        assert_eq!(Amd::open(tree.path()).unwrap().facts()[0].name, "AMD GPU 0x164e");
    }

    #[test]
    fn a_machine_without_cards_has_none() {
        assert!(Amd::open(Tree::new().path()).is_none());
    }
}
