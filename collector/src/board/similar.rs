//! Shards that are there already: the same one, or one of the same system on the same day.

use std::fs;
use std::path::{Path, PathBuf};

use dyno_shared::plain::plain;
use dyno_shared::shard::parse;
use dyno_shared::submission::Submission;

use super::place::Place;
use crate::input;

/// What lies below `results/` beside a shard.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Similar {
    /// Paths of the same content, whatever its layout.
    pub same: Vec<String>,
    /// Paths of the same system and configuration on the same day.
    pub near: Vec<String>,
}

/// Looks for them. The place tells engine and day, so only one folder is read; the same bytes are found anywhere.
pub fn similar(results: &Path, text: &str, shard: &Submission) -> Similar {
    let mut found = Similar::default();
    let folder = results.join(Place::of(shard).folder);
    for path in files(results) {
        let name = below(results, &path);
        let beside = path.parent() == Some(folder.as_path());
        let same_size = fs::metadata(&path).is_ok_and(|of| of.len() == text.len() as u64);
        if !beside && !same_size {
            continue;
        }
        let Ok(other) = input::text(&path) else { continue };
        if other == text {
            found.same.push(name);
            continue;
        }
        let Some(other) = beside.then(|| parse(&other).ok()).flatten() else { continue };
        if other == *shard {
            found.same.push(name);
        } else if is_near(&other, shard) {
            found.near.push(name);
        }
    }
    found
}

/// Same engine, model, machine and configuration; the day is that of the folder.
fn is_near(a: &Submission, b: &Submission) -> bool {
    let engine = |of: &Submission| (of.system.engine.name.clone(), of.system.engine.version.clone());
    let model = |of: &Submission| (of.system.model.name.clone(), of.system.model.quantisation.clone());
    engine(a) == engine(b)
        && model(a) == model(b)
        && a.system.hardware.name == b.system.hardware.name
        && a.configuration.requested == b.configuration.requested
        && (a.label == b.label || !a.configuration.requested.is_empty())
}

/// Every file of shards below a folder, in the order of the paths. Links are not followed.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(folder) else { return found };
    for entry in entries.flatten() {
        let (path, Ok(kind)) = (entry.path(), entry.file_type()) else { continue };
        if kind.is_dir() {
            found.extend(files(&path));
        } else if kind.is_file() && path.extension().is_some_and(|extension| extension == "json") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A path below a folder, with slashes on every system and no command to a terminal.
pub fn below(folder: &Path, path: &Path) -> String {
    let parts = path.strip_prefix(folder).unwrap_or(path).components();
    plain(&parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_content_is_found_anywhere_and_the_same_system_on_its_day() {
        let text = r#"{"schema":"dyno/1.0","label":"a","provenance":{"origin":{"kind":"collected"},"evidence":"raw","started_at":"2026-11-30"},
            "system":{"engine":{"name":"e"},"model":{"name":"m"}}}"#;
        let shard = parse(text).unwrap();
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        put("x/copy.json", text);
        put("e/2026-11-30/spaced.json", &format!("{text}\n\n"));
        put("e/2026-11-30/near.json", &text.replace("collected", "imported\",\"tool\":\"t"));
        put("e/2026-11-30/other-label.json", &text.replace("\"a\"", "\"b\""));
        put("e/2026-11-29/other-day.json", &text.replace("11-30", "11-29"));
        assert_eq!(
            similar(dir.path(), text, &shard),
            Similar {
                same: vec!["e/2026-11-30/spaced.json".into(), "x/copy.json".into()],
                near: vec!["e/2026-11-30/near.json".into()]
            }
        );
    }
}
