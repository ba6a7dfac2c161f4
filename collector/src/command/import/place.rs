//! What a shard is called, and where it goes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use dyno_shared::submission::Submission;

use super::ImportArgs;
use crate::board::checkout::RESULTS;
use crate::board::place::Place;

/// Sets the names that the user gave. `several` configurations of one file keep their own labels behind the user's.
pub(super) fn named(args: &ImportArgs, several: bool, shard: &mut Submission) {
    if let Some(label) = &args.label {
        shard.label = if several { format!("{label} {}", shard.label) } else { label.clone() };
    }
    let system = &mut shard.system;
    for (given, place) in [
        (&args.engine_name, &mut system.engine.name),
        (&args.model_name, &mut system.model.name),
        (&args.hardware, &mut system.hardware.name),
    ] {
        if let Some(name) = given {
            place.clone_from(name);
        }
    }
    if args.quantisation.is_some() {
        system.model.quantisation.clone_from(&args.quantisation);
    }
    if args.submitter.is_some() {
        shard.provenance.submitter.clone_from(&args.submitter);
    }
    shard.provenance.collector_version = Some(env!("CARGO_PKG_VERSION").to_owned());
}

/// The file of a shard: `<hardware>--<model>--<label>.json` in the folder that is named, else below `results/` where
/// there is such a folder, else here.
pub(super) fn out(args: &ImportArgs, shard: &Submission) -> PathBuf {
    let place = Place::of(shard);
    let results = Path::new(RESULTS);
    match &args.out {
        Some(folder) => folder.join(format!("{}.json", place.stem)),
        None if results.is_dir() => results.join(place.path(1)),
        None => PathBuf::from(format!("dyno-{}.json", place.stem)),
    }
}

/// The same with a number where this very call has written a file of that name.
pub(super) fn free(out: &Path, taken: &BTreeSet<PathBuf>) -> PathBuf {
    let stem = out.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let numbered = (2_u32..).map(|n| out.with_file_name(format!("{stem}-{n}.json")));
    std::iter::once(out.to_owned())
        .chain(numbered)
        .find(|path| !taken.contains(path))
        .unwrap_or_else(|| out.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_shard_of_one_call_replaces_another() {
        let mut taken = BTreeSet::new();
        let names: Vec<String> = (0..3)
            .map(|_| {
                let path = free(Path::new("a/m--x.y.json"), &taken);
                taken.insert(path.clone());
                path.display().to_string()
            })
            .collect();
        assert_eq!(names, ["a/m--x.y.json", "a/m--x.y-2.json", "a/m--x.y-3.json"]);
    }
}
