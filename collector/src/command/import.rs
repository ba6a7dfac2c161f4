//! `dyno import`: other tools' result files as shards.

mod place;
mod source;

use std::collections::BTreeSet;
use std::path::PathBuf;

use dyno_shared::import::{self, FORMATS, Imported, SHARD};
use dyno_shared::plain::plain;
use dyno_shared::shard;
use dyno_shared::submission::Submission;
use dyno_shared::validate::validate;
use serde::Serialize;

use super::run::{name, write_shard};
use crate::board::scrub::{self, Removed};
use crate::exit::{Exit, Failure};
use crate::talk::{say, say_error};

/// Read result files of other tools (docs/FORMATS.md lists them) and write a shard for each configuration in them.
///
/// The format is recognised by the content. Raw requests stay raw runs, all else stays the statistic that its tool
/// states. What a file does not name (the engine, the model, the machine) can be named here.
#[derive(Debug, clap::Args)]
pub struct ImportArgs {
    /// Result files; `-` reads one from stdin.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Format of the files, instead of the one that they look like.
    #[arg(long = "as", value_name = "FORMAT", value_parser = format())]
    pub format: Option<String>,
    /// Folder for the shards; `-` prints them, one a line [default: below results/ in a checkout that has it, else this
    /// folder].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Replace shards that exist.
    #[arg(long)]
    pub force: bool,
    /// Print JSON instead of file names: an array with an object for each shard.
    #[arg(long)]
    pub json: bool,
    /// A short name that tells this configuration from its neighbours, such as `TP=4`; of several in a file it comes
    /// before their own.
    #[arg(long, value_parser = name)]
    pub label: Option<String>,
    /// Name of the engine.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub engine_name: Option<String>,
    /// Name of the model as published.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub model_name: Option<String>,
    /// Quantisation of the weights, such as `Q4_1`.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub quantisation: Option<String>,
    /// Name of the machine for people, such as `RTX 5090`; never its host name.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub hardware: Option<String>,
    /// Who submits it, by a name of your choice.
    #[arg(long, value_name = "NAME", value_parser = name)]
    pub submitter: Option<String>,
}

fn format() -> clap::builder::PossibleValuesParser {
    FORMATS.iter().map(|format| format.tag).collect::<Vec<_>>().into()
}

/// One shard that was made of a file.
#[derive(Debug, Serialize)]
struct Made {
    /// The file that was read.
    source: String,
    /// Tag of its format.
    format: &'static str,
    /// The shard, unless it was printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    out: Option<String>,
    /// `raw` or `summary`.
    evidence: dyno_shared::submission::Evidence,
    cases: usize,
    runs: usize,
    /// What was removed because it says who or where, with its place.
    removed: Vec<Removed>,
    /// What the shard says about itself.
    notes: Vec<String>,
}

/// Imports every file; a bad one does not keep the others from being imported.
///
/// # Errors
/// If stdout is closed.
pub fn run(args: &ImportArgs) -> Result<Exit, Failure> {
    let mut taken = BTreeSet::new();
    let mut all = Vec::new();
    let mut bad = 0;
    for path in &args.files {
        match file(args, path, &mut taken) {
            Ok(made) => all.extend(made),
            Err(Failure { error, .. }) => {
                say_error(&error.context(plain(&path.to_string_lossy())));
                bad += 1;
            }
        }
    }
    if args.json {
        super::print_json(&all)?;
    }
    if bad > 0 && args.files.len() > 1 {
        say(format_args!("{bad} of {} files were not imported", args.files.len()));
    }
    Ok(if bad == 0 { Exit::Done } else { Exit::Usage })
}

/// Every shard of one file. All of them are made before the first is written.
fn file(
    args: &ImportArgs,
    path: &std::path::Path,
    taken: &mut BTreeSet<PathBuf>,
) -> Result<Vec<Made>, Failure> {
    let bytes = source::bytes(path)?;
    let text = import::decode(&bytes).map_err(anyhow::Error::from)?;
    let imported = import::read(&text, args.format.as_deref()).map_err(anyhow::Error::from)?;
    if imported.format == SHARD {
        return Err(anyhow::anyhow!(
            "is a shard already: show it with `dyno report`, check it with `dyno validate`"
        )
        .into());
    }
    let source = plain(&path.to_string_lossy());
    announce(&source, &imported);
    let several = imported.submissions.len() > 1;
    let mut shards = Vec::new();
    for submission in imported.submissions {
        let (mut shard, removed) = scrub::scrubbed(&submission)?;
        place::named(args, several, &mut shard);
        let problems: Vec<String> = validate(&shard).iter().map(ToString::to_string).collect();
        if !problems.is_empty() {
            return Err(anyhow::anyhow!("{}", problems.join("\n")).into());
        }
        shards.push((shard, removed));
    }
    let (mut all, mut said) = (Vec::new(), BTreeSet::new());
    for (shard, removed) in shards {
        let out = write(args, &shard, taken)?;
        for Removed { path, what } in &removed {
            say(format_args!("removed {what} from {}", plain(path)));
        }
        for note in shard.notes.iter().filter(|note| said.insert((*note).clone())) {
            say(format_args!("note: {note}"));
        }
        all.push(Made {
            source: source.clone(),
            format: imported.format,
            out,
            evidence: shard.provenance.evidence,
            cases: shard.cases.len(),
            runs: shard.cases.iter().map(|case| case.runs.len()).sum(),
            removed,
            notes: shard.notes,
        });
    }
    Ok(all)
}

fn announce(source: &str, imported: &Imported) {
    let count = match imported.submissions.len() {
        1 => "1 configuration".to_owned(),
        n => format!("{n} configurations"),
    };
    say(format_args!("{source}: {}, {count}", imported.title));
    for note in &imported.notes {
        say(format_args!("note: {note}"));
    }
}

/// Writes or prints the shard, and says where it is.
fn write(
    args: &ImportArgs,
    shard: &Submission,
    taken: &mut BTreeSet<PathBuf>,
) -> Result<Option<String>, Failure> {
    if args.out.as_ref().is_some_and(|out| out.as_os_str() == "-") {
        if !args.json {
            super::print(&shard::write(shard).map_err(anyhow::Error::from)?)?;
        }
        return Ok(None);
    }
    let out = place::free(&place::out(args, shard), taken);
    if out.exists() && !args.force {
        return Err(anyhow::anyhow!(
            "{} exists: tell the shards apart with --label, name another folder with --out, or replace it with --force",
            out.display()
        )
        .into());
    }
    write_shard(shard, &out, args.force)?;
    let name = out.display().to_string();
    taken.insert(out);
    if !args.json {
        super::print(&format!("{name}\n"))?;
    }
    Ok(Some(name))
}
