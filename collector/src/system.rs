//! Facts about this machine that matter for speed. Never its name, its address or its user.

use std::path::Path;

use dyno_shared::system::{Accelerator, Hardware};
use sysinfo::{CpuRefreshKind, MemoryRefreshKind, RefreshKind, System};

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
    let nvidia = Nvidia::read(Path::new("/proc/driver/nvidia"));
    Hardware {
        name: short_name(nvidia.accelerators.as_deref(), cpu.as_deref(), threads),
        accelerators: nvidia.accelerators,
        cpu,
        cpu_threads: threads,
        memory_bytes: system.as_ref().map(System::total_memory).filter(|bytes| *bytes > 0),
        link: None,
        driver: nvidia.driver,
        os: System::long_os_version().ok().map(|os| tidy(&os)).filter(|os| !os.is_empty()),
    }
}

/// The accelerator's name, else the processor's with its threads, else that nothing is known.
fn short_name(accelerators: Option<&[Accelerator]>, cpu: Option<&str>, threads: Option<u32>) -> String {
    if let Some(first) = accelerators.and_then(<[Accelerator]>::first) {
        return match first.count {
            Some(count) if count > 1 => format!("{count} × {}", first.name),
            _ => first.name.clone(),
        };
    }
    match (cpu.map(without_clock), threads) {
        (Some(cpu), Some(threads)) => format!("{cpu}, {threads} threads"),
        (Some(cpu), None) => cpu,
        (None, Some(threads)) => format!("CPU, {threads} threads"),
        (None, None) => "unknown machine".to_owned(),
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

/// What NVIDIA's kernel module says in files. No file is not "no accelerator": other makers have none there.
#[derive(Debug, Default, PartialEq)]
struct Nvidia {
    accelerators: Option<Vec<Accelerator>>,
    driver: Option<String>,
}

impl Nvidia {
    fn read(root: &Path) -> Self {
        let mut models: Vec<String> = Vec::new();
        // A machine without the module has no such folder, which says nothing.
        for entry in std::fs::read_dir(root.join("gpus")).into_iter().flatten().flatten() {
            let information = std::fs::read_to_string(entry.path().join("information")).unwrap_or_default();
            models.extend(model_of(&information));
        }
        models.sort();
        let mut accelerators: Vec<Accelerator> = Vec::new();
        for name in models {
            match accelerators.last_mut().filter(|last| last.name == name) {
                Some(same) => same.count = same.count.map(|n| n + 1),
                None => accelerators.push(Accelerator { name, count: Some(1), ..Accelerator::default() }),
            }
        }
        let version = std::fs::read_to_string(root.join("version")).unwrap_or_default();
        Self { accelerators: (!accelerators.is_empty()).then_some(accelerators), driver: driver_of(&version) }
    }
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

    #[test]
    fn the_name_says_what_computes() {
        let card = |count| {
            [Accelerator { name: "NVIDIA H200".into(), count: Some(count), ..Accelerator::default() }]
        };
        assert_eq!(short_name(Some(&card(1)), Some("Xeon"), Some(8)), "NVIDIA H200");
        assert_eq!(short_name(Some(&card(4)), None, None), "4 × NVIDIA H200");
        let xeon = tidy("Intel(R) Xeon(R) CPU  E5-2680 v4 @ 2.40GHz");
        assert_eq!(short_name(None, Some(&xeon), Some(2)), "Intel Xeon E5-2680 v4, 2 threads");
        assert_eq!(short_name(None, None, None), "unknown machine");
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
        let read = Nvidia::read(dir.path());
        assert_eq!(read.driver.as_deref(), Some("590.48.01"));
        let cards = read.accelerators.unwrap();
        assert_eq!(
            (cards.len(), cards[0].name.as_str(), cards[0].count),
            (1, "NVIDIA GeForce RTX 5090", Some(2))
        );
    }

    #[test]
    fn no_such_files_is_unknown_and_not_none() {
        assert_eq!(Nvidia::read(Path::new("/nowhere/at/all")), Nvidia::default());
    }

    #[test]
    fn nothing_private_is_among_the_facts() {
        let facts = serde_json::to_string(&this_machine()).unwrap();
        assert_eq!(dyno_shared::privacy::find_secret(&facts), None, "{facts}");
        let host = System::host_name().unwrap_or_default();
        assert!(host.is_empty() || !facts.contains(&host), "{facts}");
    }
}
