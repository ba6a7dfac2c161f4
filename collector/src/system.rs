//! Facts about this machine that matter for speed. Never its name, its address or its user.
//!
//! Processor, memory and system were read on real machines; accelerators only of fakes and fabricated files.

use std::path::Path;

use dyno_shared::system::{Accelerator, Hardware};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

use crate::telemetry::{GpuFacts, Gpus, accelerators};

/// This machine. The engine runs on it only if its URL is a loopback one: ask before you use this.
pub fn this_machine() -> Hardware {
    let kinds = RefreshKind::nothing()
        .with_cpu(CpuRefreshKind::nothing())
        .with_memory(MemoryRefreshKind::nothing().with_ram());
    // What cannot be read is unknown.
    let system = System::new_with_specifics(kinds).ok();
    let cpu = system
        .as_ref()
        .and_then(|system| system.cpus().first())
        .map(|cpu| tidy(cpu.brand()))
        .filter(|brand| !brand.is_empty());
    // The machine's, not ours: the client may be pinned to fewer than the engine has.
    let threads =
        system.as_ref().and_then(|system| u32::try_from(system.cpus().len()).ok()).filter(|n| *n > 0);
    let cards = match accelerators(Path::new("/")) {
        Ok(gpus) => Cards::of(gpus.as_ref()),
        // The driver may be there without its library.
        Err(_) => Cards::read_nvidia(Path::new("/proc/driver/nvidia")),
    };
    Hardware {
        name: short_name(cards.accelerators.as_deref(), cpu.as_deref(), threads),
        accelerators: cards.accelerators,
        cpu,
        cpu_threads: threads,
        memory_bytes: system.as_ref().map(System::total_memory).filter(|bytes| *bytes > 0),
        link: cards.link,
        driver: cards.driver,
        os: System::long_os_version().ok().map(|os| tidy(&os)).filter(|os| !os.is_empty()),
    }
}

/// The accelerators' names, else the processor's with its threads, else that nothing is known.
fn short_name(accelerators: Option<&[Accelerator]>, cpu: Option<&str>, threads: Option<u32>) -> String {
    let cards: Vec<String> = accelerators.into_iter().flatten().map(short_card).collect();
    if !cards.is_empty() {
        return cards.join(" + ");
    }
    match (cpu.map(without_clock), threads) {
        (Some(cpu), Some(threads)) => format!("{cpu}, {threads} threads"),
        (Some(cpu), None) => cpu,
        (None, Some(threads)) => format!("CPU, {threads} threads"),
        (None, None) => "unknown machine".to_owned(),
    }
}

/// `NVIDIA H100 80GB HBM3` as people call it, with how many there are: `2× H100 80GB`.
fn short_card(card: &Accelerator) -> String {
    let filler = |word: &str| {
        matches!(word, "NVIDIA" | "GeForce" | "AMD") || word.to_ascii_uppercase().starts_with("HBM")
    };
    let name = card.name.split_whitespace().filter(|word| !filler(word)).collect::<Vec<_>>().join(" ");
    let name = if name.is_empty() { card.name.clone() } else { name };
    match card.count {
        Some(count) if count > 1 => format!("{count}× {name}"),
        _ => name,
    }
}

/// `Intel(R) Xeon(R) Processor @ 2.10GHz` without marks, clock and filler.
fn without_clock(cpu: &str) -> String {
    let before_clock = cpu.split('@').next().unwrap_or(cpu);
    before_clock
        .split_whitespace()
        .filter(|word| !matches!(*word, "CPU" | "Processor"))
        .collect::<Vec<_>>()
        .join(" ")
}

fn tidy(text: &str) -> String {
    let bare = text.replace("(R)", "").replace("(TM)", "").replace("(tm)", "");
    bare.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The accelerators, equal ones together. No such thing found is not "no accelerator": other makers' are not looked for.
#[derive(Debug, Default, PartialEq)]
struct Cards {
    accelerators: Option<Vec<Accelerator>>,
    link: Option<String>,
    driver: Option<String>,
}

impl Cards {
    /// What the driver's library or the kernel says of them.
    fn of(gpus: &dyn Gpus) -> Self {
        let facts = gpus.facts();
        let mut links: Vec<&String> = facts.iter().filter_map(|card| card.link.as_ref()).collect();
        links.dedup();
        // Cards on different links have no link in common.
        let link = match links.as_slice() {
            [one] => Some((*one).clone()),
            _ => None,
        };
        Self { accelerators: together(facts), link, driver: gpus.driver() }
    }

    /// What NVIDIA's kernel module says in files.
    fn read_nvidia(root: &Path) -> Self {
        let mut facts: Vec<GpuFacts> = Vec::new();
        // A machine without the module has no such folder, which says nothing.
        for entry in std::fs::read_dir(root.join("gpus")).into_iter().flatten().flatten() {
            let information = std::fs::read_to_string(entry.path().join("information")).unwrap_or_default();
            facts.extend(model_of(&information).map(|name| GpuFacts { name, ..GpuFacts::default() }));
        }
        let version = std::fs::read_to_string(root.join("version")).unwrap_or_default();
        Self { accelerators: together(facts), link: None, driver: driver_of(&version) }
    }
}

/// Equal cards as one entry with their count; `None` of nothing.
fn together(mut facts: Vec<GpuFacts>) -> Option<Vec<Accelerator>> {
    facts.sort_by(|a, b| a.name.cmp(&b.name));
    let mut accelerators: Vec<Accelerator> = Vec::new();
    for GpuFacts { name, memory_bytes, architecture, .. } in facts {
        let name = tidy(&name);
        let equal = |last: &&mut Accelerator| last.name == name && last.memory_bytes == memory_bytes;
        match accelerators.last_mut().filter(equal) {
            Some(same) => same.count = same.count.map(|n| n + 1),
            None => accelerators.push(Accelerator { name, count: Some(1), memory_bytes, architecture }),
        }
    }
    (!accelerators.is_empty()).then_some(accelerators)
}

/// `Model: NVIDIA H200` of a card's `information`.
fn model_of(information: &str) -> Option<String> {
    let line = information.lines().find_map(|line| line.strip_prefix("Model:"))?;
    Some(tidy(line)).filter(|name| !name.is_empty())
}

/// The first word of `version` that looks like `590.48.01`.
fn driver_of(version: &str) -> Option<String> {
    let looks_right = |word: &&str| {
        word.split('.').count() >= 2
            && word.split('.').all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()))
    };
    version.split_whitespace().find(looks_right).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::fakes::{Card, Fake};

    #[test]
    fn the_name_says_what_computes() {
        let card = |count| {
            [Accelerator { name: "NVIDIA H200".into(), count: Some(count), ..Accelerator::default() }]
        };
        assert_eq!(short_name(Some(&card(1)), Some("Xeon"), Some(8)), "H200");
        assert_eq!(short_name(Some(&card(4)), None, None), "4× H200");
        let named = |name: &str| short_card(&Accelerator { name: name.into(), ..Accelerator::default() });
        for (name, short) in [
            ("NVIDIA GeForce RTX 5090", "RTX 5090"),
            ("NVIDIA H100 80GB HBM3", "H100 80GB"),
            ("NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"),
            ("AMD Radeon RX 7900 XTX", "Radeon RX 7900 XTX"),
            ("NVIDIA", "NVIDIA"),
        ] {
            assert_eq!(named(name), short);
        }
        let xeon = tidy("Intel(R) Xeon(R) CPU  E5-2680 v4 @ 2.40GHz");
        assert_eq!(short_name(None, Some(&xeon), Some(2)), "Intel Xeon E5-2680 v4, 2 threads");
        assert_eq!(short_name(None, None, None), "unknown machine");
    }

    #[test]
    fn cards_are_what_their_driver_says_and_equal_ones_stand_together() {
        let card = |name, gigabytes: u64| Card {
            name: Some(name),
            memory: Some((gigabytes << 30, 0)),
            ..Card::default()
        };
        let (h100, small) = (card("NVIDIA H100 80GB HBM3", 80), card("NVIDIA L4", 23));
        let cards = Cards::of(&Fake::new(vec![h100.clone(), small, h100]).gpus());
        let found = cards.accelerators.unwrap();
        let told: Vec<_> = found.iter().map(|a| (a.name.as_str(), a.count, a.memory_bytes)).collect();
        assert_eq!(
            told,
            [("NVIDIA H100 80GB HBM3", Some(2), Some(80 << 30)), ("NVIDIA L4", Some(1), Some(23 << 30))]
        );
        assert_eq!(found[0].architecture.as_deref(), Some("sm_120"));
        assert_eq!(cards.driver.as_deref(), Some("590.48.01"));
        assert_eq!(cards.link.as_deref(), Some("PCIe 5.0 x16"));
        assert_eq!(short_name(Some(&found), Some("Xeon"), Some(8)), "2× H100 80GB + L4");
    }

    #[test]
    fn the_kernel_module_is_read_as_it_writes() {
        let dir = tempfile::tempdir().unwrap();
        for (card, model) in
            [("0000:01:00.0", "NVIDIA GeForce RTX 5090"), ("0000:02:00.0", "NVIDIA GeForce RTX 5090")]
        {
            let folder = dir.path().join("gpus").join(card);
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("information"), format!("Model: \t\t {model}\nIRQ:   \t\t 145\n"))
                .unwrap();
        }
        let version = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  590.48.01  Release Build\nGCC version: 13\n";
        std::fs::write(dir.path().join("version"), version).unwrap();
        let read = Cards::read_nvidia(dir.path());
        assert_eq!(read.driver.as_deref(), Some("590.48.01"));
        let cards = read.accelerators.unwrap();
        assert_eq!(
            (cards.len(), cards[0].name.as_str(), cards[0].count),
            (1, "NVIDIA GeForce RTX 5090", Some(2))
        );
    }

    #[test]
    fn no_such_files_is_unknown_and_not_none() {
        assert_eq!(Cards::read_nvidia(Path::new("/nowhere/at/all")), Cards::default());
    }

    #[test]
    fn nothing_private_is_among_the_facts() {
        let facts = serde_json::to_string(&this_machine()).unwrap();
        assert_eq!(dyno_shared::privacy::find_secret(&facts), None, "{facts}");
        let host = System::host_name().unwrap_or_default();
        assert!(host.is_empty() || !facts.contains(&host), "{facts}");
    }
}
