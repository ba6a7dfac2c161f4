//! Energy of the CPU packages, from the kernel's RAPL counters. AMD's processors stand under the same names.
//!
//! Tested against a fabricated tree only: the machines that this was written on are virtual and have no such counters.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::files::number;

const FOR_ROOT_ONLY: &str = "only root may read the energy counters of the processor (RAPL); \
    `sudo chmod a+r /sys/class/powercap/*/energy_uj` opens them until the next start";

const UNREADABLE: &str = "an energy counter of the processor (RAPL) cannot be read";

/// The counters of all packages.
#[derive(Debug)]
pub struct Rapl {
    zones: Vec<Zone>,
}

#[derive(Debug)]
struct Zone {
    counter: PathBuf,
    /// Where the counter begins again at 0; unknown where the kernel does not say.
    range_uj: Option<u64>,
    last_uj: u64,
    total_uj: u64,
}

impl Rapl {
    /// Opens the packages below `root` (`/` on a real machine).
    ///
    /// # Errors
    /// Why there is nothing to read, in words for a reader of the shard.
    pub fn open(root: &Path) -> Result<Self, String> {
        let mut zones = Vec::new();
        for entry in fs::read_dir(root.join("sys/class/powercap")).into_iter().flatten().flatten() {
            let folder = entry.path();
            if !is_package(&folder) {
                continue;
            }
            let counter = folder.join("energy_uj");
            match fs::read_to_string(&counter) {
                Ok(text) => {
                    // Without one package the energy of the others would pass for that of all.
                    let last_uj = text.trim().parse().map_err(|_| UNREADABLE.to_owned())?;
                    let range_uj = number(&folder.join("max_energy_range_uj"));
                    zones.push(Zone { counter, range_uj, last_uj, total_uj: 0 });
                }
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                    return Err(FOR_ROOT_ONLY.to_owned());
                }
                Err(_) => return Err(UNREADABLE.to_owned()),
            }
        }
        if zones.is_empty() {
            return Err("the kernel offers no energy counter of a processor (RAPL)".to_owned());
        }
        Ok(Self { zones })
    }

    /// Joules that all packages used since they were opened; `None` where one cannot be read any more.
    pub fn joules(&mut self) -> Option<f64> {
        let mut total_uj = 0.0;
        for zone in &mut self.zones {
            zone.advance(number(&zone.counter)?)?;
            total_uj += zone.total_uj as f64;
        }
        Some(total_uj / 1e6)
    }
}

impl Zone {
    /// Adds what was used since the last reading. A counter that went back has begun again once: at 200 W it does so
    /// every twenty minutes, and a window is read ten times a second.
    fn advance(&mut self, now_uj: u64) -> Option<()> {
        let used = match now_uj.checked_sub(self.last_uj) {
            Some(used) => used,
            None => self.range_uj?.checked_sub(self.last_uj)?.checked_add(now_uj)?,
        };
        self.total_uj = self.total_uj.checked_add(used)?;
        self.last_uj = now_uj;
        Some(())
    }
}

/// A whole package. Its cores (`intel-rapl:0:0`) are in it; the platform (`psys`) holds it; `intel-rapl-mmio` is the
/// same counter once more: all three would count twice.
fn is_package(folder: &Path) -> bool {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let top_level = name
        .strip_prefix("intel-rapl:")
        .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()));
    top_level && fs::read_to_string(folder.join("name")).is_ok_and(|name| name.trim().starts_with("package"))
}

#[cfg(test)]
mod tests {
    use super::super::files::testing::Tree;
    use super::*;

    fn two_packages() -> Tree {
        let tree = Tree::new();
        for (zone, name, energy, range) in [
            ("intel-rapl:0", "package-0", "262143000000", "262143328850"),
            ("intel-rapl:0:0", "core", "90000000", "262143328850"),
            ("intel-rapl:1", "package-1", "1000", "262143328850"),
            ("intel-rapl:2", "psys", "5000", "262143328850"),
            ("intel-rapl-mmio:0", "package-0", "262143000000", "262143328850"),
        ] {
            let at = format!("sys/class/powercap/{zone}");
            tree.write(&format!("{at}/name"), name);
            tree.write(&format!("{at}/energy_uj"), energy);
            tree.write(&format!("{at}/max_energy_range_uj"), range);
        }
        tree.write("sys/class/powercap/intel-rapl/enabled", "1");
        tree
    }

    #[test]
    fn packages_are_added_and_nothing_in_or_around_them() {
        let tree = two_packages();
        let mut rapl = Rapl::open(tree.path()).unwrap();
        assert_eq!(rapl.joules(), Some(0.0));
        tree.write("sys/class/powercap/intel-rapl:0/energy_uj", "262143300000");
        tree.write("sys/class/powercap/intel-rapl:0:0/energy_uj", "99000000");
        tree.write("sys/class/powercap/intel-rapl:1/energy_uj", "2501000");
        tree.write("sys/class/powercap/intel-rapl:2/energy_uj", "900005000");
        assert_eq!(rapl.joules(), Some(0.3 + 2.5));
    }

    #[test]
    fn a_counter_that_began_again_loses_nothing() {
        let tree = two_packages();
        let mut rapl = Rapl::open(tree.path()).unwrap();
        tree.write("sys/class/powercap/intel-rapl:0/energy_uj", "671150");
        assert_eq!(rapl.joules(), Some((262_143_328_850_u64 - 262_143_000_000 + 671_150) as f64 / 1e6));
    }

    #[test]
    fn a_counter_that_went_back_without_a_known_range_is_unknown() {
        let tree = two_packages();
        tree.remove("sys/class/powercap/intel-rapl:0/max_energy_range_uj");
        let mut rapl = Rapl::open(tree.path()).unwrap();
        tree.write("sys/class/powercap/intel-rapl:0/energy_uj", "5");
        assert_eq!(rapl.joules(), None);
    }

    #[test]
    fn a_counter_that_goes_away_is_unknown_and_not_zero() {
        let tree = two_packages();
        let mut rapl = Rapl::open(tree.path()).unwrap();
        tree.remove("sys/class/powercap/intel-rapl:1/energy_uj");
        assert_eq!(rapl.joules(), None);
    }

    #[test]
    #[cfg(unix)]
    fn counters_for_root_alone_are_absent_for_others_and_the_reason_may_be_published() {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(dyno_shared::privacy::find_secret(FOR_ROOT_ONLY), None);
        let tree = two_packages();
        let counter = tree.path().join("sys/class/powercap/intel-rapl:0/energy_uj");
        fs::set_permissions(&counter, fs::Permissions::from_mode(0o000)).unwrap();
        // Root reads them all the same.
        let expected = fs::read(&counter).err().map(|_| FOR_ROOT_ONLY);
        assert_eq!(Rapl::open(tree.path()).err().as_deref(), expected);
    }

    #[test]
    fn one_package_that_cannot_be_read_makes_all_of_them_absent() {
        let tree = two_packages();
        tree.write("sys/class/powercap/intel-rapl:1/energy_uj", "<not supported>");
        assert_eq!(Rapl::open(tree.path()).err().as_deref(), Some(UNREADABLE));
    }

    #[test]
    fn a_machine_without_counters_says_so() {
        let reason = Rapl::open(Tree::new().path()).unwrap_err();
        assert!(reason.contains("RAPL"), "{reason}");
    }
}
