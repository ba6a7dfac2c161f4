//! Where the shard goes, and whether it may go there.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::anyhow;
use dyno_shared::shard::sha256_hex;
use dyno_shared::slug::slug;
use dyno_shared::system::Hardware;

use super::RunArgs;
use super::assemble::{Facts, SIMULATED};
use crate::calendar::{day, rfc3339, unix_seconds};
use crate::engine::Identified;
use crate::exit::Failure;
use crate::journal::JournalError;
use crate::output::OutputError;

/// The file to write: the one that is named, else below `results/` where there is such a folder, else here. What is
/// simulated never goes below `results/`.
pub(super) fn out(args: &RunArgs, identified: &Identified, hardware: &Hardware) -> PathBuf {
    if let Some(out) = &args.out {
        return out.clone();
    }
    let facts = Facts::of(identified);
    let label = if facts.engine.simulated { SIMULATED } else { args.label.as_deref().unwrap_or("default") };
    let name = named(args, &facts, hardware, label);
    let today = unix_seconds(SystemTime::now());
    match below_results(args, &facts, today) {
        Some(folder) => folder.join(name),
        None => PathBuf::from(format!("dyno-{name}")),
    }
}

/// `<hardware>--<model>--<label>.json`.
pub(in crate::command) fn named(args: &RunArgs, facts: &Facts, hardware: &Hardware, label: &str) -> String {
    let model = args.model_name.as_deref().unwrap_or(&facts.model.name);
    let quantisation = args.quantisation.as_deref().or(facts.model.quantisation.as_deref());
    let model = quantisation.map_or_else(|| model.to_owned(), |q| format!("{model} {q}"));
    format!("{}--{}--{}.json", slug(&hardware.name), slug(&model), slug(label))
}

/// `results/<engine>/<date>` where there is a folder `results/` and the engine is a real one.
pub(in crate::command) fn below_results(args: &RunArgs, facts: &Facts, unix_s: f64) -> Option<PathBuf> {
    let results = Path::new("results");
    if facts.engine.simulated || !results.is_dir() {
        return None;
    }
    let engine = args.engine_name.as_deref().unwrap_or(&facts.engine.name);
    Some(results.join(slug(engine)).join(day(unix_s)))
}

/// Refuses to begin where something would be overwritten, and to go on where nothing was begun.
pub(super) fn refuse(args: &RunArgs, out: &Path, journal: &Path) -> Result<(), Failure> {
    let folder = out.is_dir() || out.as_os_str().as_encoded_bytes().ends_with(b"/");
    if folder || out.file_name().is_none() {
        return Err(Failure::usage(anyhow!("{} is a folder: name a file with --out", out.display())));
    }
    if args.resume {
        return if journal.exists() {
            Ok(())
        } else {
            Err(Failure::usage(JournalError::Missing(journal.to_owned())))
        };
    }
    if args.force {
        return Ok(());
    }
    if journal.exists() {
        return Err(Failure::usage(JournalError::Unfinished(journal.to_owned())));
    }
    if out.exists() { Err(Failure::usage(OutputError::Exists(out.to_owned()))) } else { Ok(()) }
}

/// A series that nobody has measured before: the time, and something of this process.
pub(in crate::command) fn series(started_unix_s: f64) -> String {
    let mut salt = sha256_hex(format!("{started_unix_s:.9} {}", std::process::id()).as_bytes());
    salt.truncate(6);
    format!("{}-{salt}", rfc3339(started_unix_s))
}

#[cfg(test)]
mod tests {
    use super::super::options::parse_for_tests as parse;
    use super::*;

    #[test]
    fn nothing_is_overwritten_by_mistake() {
        let dir = tempfile::tempdir().unwrap();
        let (out, journal) = (dir.path().join("a.json"), dir.path().join("a.json.journal"));
        let refused = |line: &str| refuse(&parse(line), &out, &journal).map_err(|f| f.error.to_string());
        assert_eq!(refused(""), Ok(()));
        assert!(refused("--resume").unwrap_err().contains("no unfinished measurement"));
        std::fs::write(&out, "{}").unwrap();
        assert!(refused("").unwrap_err().contains("--force"));
        assert_eq!(refused("--force"), Ok(()));
        std::fs::write(&journal, "{}").unwrap();
        assert!(refused("").unwrap_err().contains("--resume"));
        assert_eq!(refused("--resume"), Ok(()));
    }

    #[test]
    fn a_folder_is_refused_before_the_runs_and_not_after_them() {
        let dir = tempfile::tempdir().unwrap();
        for out in [dir.path().to_owned(), dir.path().join("new/"), PathBuf::from("..")] {
            for line in ["", "--force", "--resume"] {
                let refused = refuse(&parse(line), &out, &dir.path().join("journal"));
                let said = refused.map_err(|f| f.error.to_string()).unwrap_err();
                assert!(said.contains("name a file with --out"), "{}: {said}", out.display());
            }
        }
    }

    #[test]
    fn two_series_of_one_second_differ() {
        assert_ne!(series(1.0), series(1.001));
        assert!(series(0.0).starts_with("1970-01-01T00:00:00Z-"));
    }
}
