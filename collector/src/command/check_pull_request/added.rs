//! What a pull request changes below `results/`.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use anyhow::Context as _;
use dyno_shared::plain::plain;
use dyno_shared::shard::content_id;

use super::{Addition, CheckPullRequestArgs};
use crate::board::checkout::RESULTS;
use crate::board::examine::{Examined, Finding, LARGEST_SUBMISSION_BYTES, examine, refusals};
use crate::board::flags::{self, Flags};
use crate::board::place::Place;
use crate::board::similar::{Similar, below, similar};
use crate::input;

/// Shards of one pull request, at most.
const MOST_SHARDS: usize = 200;

/// Something that a pull request does.
pub(super) enum Change {
    /// It adds a shard, at this path below `results/`.
    Shard(String),
    /// It does something else.
    Other(Other),
}

/// Something else than adding a shard.
pub(super) struct Other {
    /// What, and what to do.
    pub(super) text: String,
    /// Whether it must not be merged as it is.
    pub(super) refused: bool,
}

/// A file, as far as it matters here.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File(u64),
    Other,
}

/// Everything that differs between two folders of results, in the order of the paths.
pub(super) fn changes(base: &Path, head: &Path) -> anyhow::Result<Vec<Change>> {
    let (mut before, mut after) = (BTreeMap::new(), BTreeMap::new());
    list(base, base, &mut before).with_context(|| format!("cannot read {}", base.display()))?;
    list(head, head, &mut after).with_context(|| format!("cannot read {}", head.display()))?;
    let mut changes = Vec::new();
    let other = |text: String, refused| Change::Other(Other { text: plain(&text), refused });
    let mut shards = 0;
    for (path, kind) in &after {
        let is_shard = Path::new(path).extension().is_some_and(|extension| extension == "json");
        match (before.get(path), kind) {
            (_, Kind::Other) => {
                changes.push(other(format!("{path} is no plain file. Send the shard itself, and no link to it"), true));
            }
            (Some(old), new) if old == new && same(&base.join(path), &head.join(path))? => {}
            (_, Kind::File(_)) if path == flags::FILE => changes.push(flags_of(head)),
            (Some(_), _) if is_shard => changes.push(other(
                format!(
                    "{path} is changed. A shard stays as it was measured: add a new one, and ask for a flag on this one in {}",
                    flags::FILE
                ),
                true,
            )),
            (Some(_), _) => changes.push(other(format!("{path} is changed: for a maintainer to read"), false)),
            (None, _) if is_shard => {
                shards += 1;
                if shards <= MOST_SHARDS {
                    changes.push(Change::Shard(path.clone()));
                }
            }
            (None, _) => changes.push(other(
                format!("{path} is no shard. Only <engine>/<date>/<hardware>--<model>--<label>.json is added here"),
                true,
            )),
        }
    }
    if shards > MOST_SHARDS {
        changes.push(other(
            format!("{shards} shards are added, and {MOST_SHARDS} were looked at. Split the pull request"),
            true,
        ));
    }
    for path in before.keys().filter(|path| !after.contains_key(*path)) {
        let text =
            format!("{path} is removed. A shard stays, and a maintainer's flag in {} marks it", flags::FILE);
        changes.push(other(text, true));
    }
    Ok(changes)
}

/// Whether the flags would still be read.
fn flags_of(head: &Path) -> Change {
    Change::Other(match Flags::of(head) {
        Ok(_) => {
            Other { text: format!("{} is changed: for a maintainer to decide", flags::FILE), refused: false }
        }
        Err(error) => Other { text: plain(&error.to_string()), refused: true },
    })
}

/// Every file below a folder, by its path in it. No link is followed.
fn list(root: &Path, folder: &Path, found: &mut BTreeMap<String, Kind>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let (path, kind) = (entry.path(), entry.file_type()?);
        if kind.is_dir() {
            list(root, &path, found)?;
        } else {
            let size = entry.metadata()?.len();
            found.insert(below(root, &path), if kind.is_file() { Kind::File(size) } else { Kind::Other });
        }
    }
    Ok(())
}

/// Whether two files of one size have the same bytes.
fn same(a: &Path, b: &Path) -> anyhow::Result<bool> {
    let bytes = |path: &Path| fs::read(path).with_context(|| format!("cannot read {}", path.display()));
    Ok(bytes(a)? == bytes(b)?)
}

/// Looks at a shard that is added; `earlier` are the others of the same pull request.
pub(super) fn look_at(args: &CheckPullRequestArgs, path: String, earlier: &[Addition]) -> Addition {
    let (examined, similar) = match read(&args.head.join(RESULTS).join(&path)) {
        Ok(text) => {
            let mut examined = examine(&text);
            let mut found = Similar::default();
            if let Some(shard) = &examined.shard {
                examined.errors.extend(refusals(shard).into_iter().map(Finding::whole));
                let place = Place::of(shard);
                if !place.allows(&path) {
                    examined.errors.push(Finding::whole(format!(
                        "lies elsewhere than its content says. Move it to {RESULTS}/{}, where `dyno submit` puts it",
                        place.path(1)
                    )));
                }
                found = similar(&args.base.join(RESULTS), &text, shard);
                let twice = |other: &&Addition| other.examined.shard.as_ref() == Some(shard);
                found.same.extend(earlier.iter().find(twice).map(|other| other.path.clone()));
                for same in &found.same {
                    examined.errors.push(Finding::whole(format!(
                        "is the same as {RESULTS}/{same} (content {}). Leave it out",
                        content_id(&text)
                    )));
                }
                for near in &found.near {
                    examined.warnings.push(Finding::whole(format!(
                        "{RESULTS}/{near} has the same system and configuration, and is of the same day"
                    )));
                }
            }
            (examined, found)
        }
        Err(error) => {
            (Examined { errors: vec![Finding::whole(error)], ..Examined::default() }, Similar::default())
        }
    };
    Addition { path, examined, similar, chart: None }
}

fn read(path: &Path) -> Result<String, String> {
    let size = fs::symlink_metadata(path).map_err(|error| error.to_string())?.len();
    if size > LARGEST_SUBMISSION_BYTES as u64 {
        let most = LARGEST_SUBMISSION_BYTES / 1_000_000;
        return Err(format!("is larger than {most} MB. Measure without `--keep-output`, or split it"));
    }
    input::text(path).map_err(|error| error.to_string())
}
