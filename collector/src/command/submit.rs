//! `dyno submit`: a shard on its way into a board's `results/`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use dyno_shared::plain::plain;
use dyno_shared::shard::content_id;
use dyno_shared::submission::Submission;

use crate::board::checkout::{RESULTS, above};
use crate::board::examine::{LARGEST_SUBMISSION_BYTES, doubled_names, examine, refusals};
use crate::board::place::Place;
use crate::board::scrub::{Removed, scrub_value};
use crate::board::similar::{Similar, similar};
use crate::exit::{Exit, Failure};
use crate::output::write_whole;
use crate::talk::{say, say_error};

/// Put shards into a checkout of the board, where their content says, ready for a pull request.
///
/// Each is checked as `dyno validate` does. Keys, addresses, e-mail addresses, names of machines and home paths are
/// removed, and what was removed is listed. The files that you name stay as they are; nothing is sent anywhere.
#[derive(Debug, clap::Args)]
pub struct SubmitArgs {
    /// Shards.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// The checkout [default: the one that this folder is in].
    #[arg(long, value_name = "DIR")]
    pub into: Option<PathBuf>,
    /// Say where each would go, and write nothing.
    #[arg(long)]
    pub dry_run: bool,
}

/// Shards of one system, label and day, at most.
const MOST_OF_A_NAME: u32 = 1_000;

/// A shard that can be added.
struct Ready {
    text: String,
    shard: Submission,
    removed: Vec<Removed>,
}

/// Adds every file; a bad one does not keep the others from being added.
///
/// # Errors
/// If there is no checkout, or stdout is closed.
pub fn run(args: &SubmitArgs) -> Result<Exit, Failure> {
    let checkout = checkout(args)?;
    let mut added: Vec<String> = Vec::new();
    let (mut taken, mut bad) = (BTreeSet::new(), 0);
    for path in &args.files {
        match submit(args, &checkout, path, &mut taken) {
            Ok(place) => added.extend(place),
            Err(error) => {
                say_error(&error.context(plain(&path.to_string_lossy())));
                bad += 1;
            }
        }
    }
    for place in &added {
        let shown = if args.dry_run {
            format!("{RESULTS}/{place}")
        } else {
            named(&checkout, place).display().to_string()
        };
        super::print(&format!("{}\n", plain(&shown)))?;
    }
    if let (Some(first), false) = (added.first(), args.dry_run) {
        next_step(&checkout, &added, first);
    }
    if bad > 0 {
        say(format_args!("{bad} of {} files were not added", args.files.len()));
        return Ok(Exit::Usage);
    }
    Ok(Exit::Done)
}

/// The root of the checkout; with `--dry-run` this folder where there is none.
fn checkout(args: &SubmitArgs) -> Result<PathBuf, Failure> {
    let here = std::env::current_dir().context("there is no current folder")?;
    match &args.into {
        Some(folder) if folder.is_dir() => Ok(folder.clone()),
        Some(folder) => {
            Err(anyhow!("{} is no folder: name the root of your checkout with --into", folder.display()).into())
        }
        None => above(&here).or(args.dry_run.then_some(here)).ok_or_else(|| {
            anyhow!(
                "no checkout of a board here or above, with {RESULTS}/ in it: clone one and name it with --into, or see where the files would go with --dry-run"
            )
            .into()
        }),
    }
}

/// Adds one file, and says where below `results/`; nothing where it is there already.
fn submit(
    args: &SubmitArgs,
    checkout: &Path,
    path: &Path,
    taken: &mut BTreeSet<String>,
) -> anyhow::Result<Option<String>> {
    let source = plain(&path.to_string_lossy());
    let ready = ready(&crate::input::text(path)?, &source)?;
    for Removed { path, what } in &ready.removed {
        say(format_args!("{source}: removed {what} from {}", plain(path)));
    }
    let results = checkout.join(RESULTS);
    let Similar { same, near } = similar(&results, &ready.text, &ready.shard);
    if let Some(same) = same.first() {
        say(format_args!("{source}: is there already, as {RESULTS}/{same}"));
        return Ok(None);
    }
    for near in near {
        say(format_args!(
            "{source}: warning: {RESULTS}/{near} has the same system and configuration, and is of the same day. Add both only if both were measured"
        ));
    }
    let place = Place::of(&ready.shard);
    let free = (1..=MOST_OF_A_NAME)
        .map(|number| place.path(number))
        .find(|of| !taken.contains(of) && !results.join(of).exists());
    let free = free.with_context(|| {
        format!("{MOST_OF_A_NAME} shards of that name are there: give it a label of its own")
    })?;
    if !args.dry_run {
        write_whole(&named(checkout, &free), ready.text.as_bytes(), false)?;
    }
    say(format_args!(
        "{source}: {} {RESULTS}/{free} (content {})",
        if args.dry_run { "would be added as" } else { "added as" },
        content_id(&ready.text)
    ));
    taken.insert(free.clone());
    Ok(Some(free))
}

/// Scrubs and checks a text. One that holds nothing private keeps its bytes.
fn ready(text: &str, source: &str) -> anyhow::Result<Ready> {
    let mut text = text.trim_start_matches('\u{feff}').to_owned();
    let mut removed = Vec::new();
    let mut problems: Vec<String> = doubled_names(&text).iter().map(ToString::to_string).collect();
    // What is no JSON is refused below, with its place.
    if let Ok(mut raw) = serde_json::from_str(&text) {
        removed = scrub_value(&mut raw);
        if !removed.is_empty() && problems.is_empty() {
            text = serde_json::to_string(&raw)? + "\n";
        }
    }
    let examined = examine(&text);
    if problems.is_empty() {
        problems.extend(examined.errors.iter().map(ToString::to_string));
    }
    problems.extend(examined.shard.iter().flat_map(refusals));
    if text.len() > LARGEST_SUBMISSION_BYTES {
        problems.push(format!(
            "is larger than {} MB: leave `--keep-output` out, or split it",
            LARGEST_SUBMISSION_BYTES / 1_000_000
        ));
    }
    for warning in &examined.warnings {
        say(format_args!("{source}: warning: {warning}"));
    }
    match examined.shard {
        Some(shard) if problems.is_empty() => Ok(Ready { text, shard, removed }),
        _ => Err(anyhow!("{}", problems.join("\n"))),
    }
}

fn named(checkout: &Path, place: &str) -> PathBuf {
    checkout.join(RESULTS).join(place)
}

/// What to do now, as commands for a shell.
fn next_step(checkout: &Path, added: &[String], first: &str) {
    let name = first.rsplit('/').next().unwrap_or(first).trim_end_matches(".json");
    let branch = format!("result-{}", name.chars().take(60).collect::<String>());
    let folder = checkout.to_string_lossy().into_owned();
    let quoted =
        |text: &str| shlex::try_quote(text).map_or_else(|_| text.to_owned(), std::borrow::Cow::into_owned);
    let files: Vec<String> = added.iter().map(|place| quoted(&format!("{RESULTS}/{place}"))).collect();
    say("\nNext: look at it with `dyno report`, then open a pull request:");
    say(format_args!("  cd {}", quoted(&folder)));
    say(format_args!("  git switch -c {}", quoted(&branch)));
    say(format_args!("  git add {}", files.join(" ")));
    say(format_args!("  git commit -m {}", quoted(&format!("Result: {name}"))));
    say("  git push -u origin HEAD");
}
