//! `dyno run`: measures a running engine and writes one shard.

mod assemble;
mod command_line;
mod locate;
mod options;
mod place;
mod subject;
mod suite;
mod unfinished;

use std::path::Path;
use std::time::SystemTime;

use anyhow::Context as _;
use dyno_shared::plain::plain;
use dyno_shared::shard;
use dyno_shared::submission::{Calibration, Submission};
use dyno_shared::system::Hardware;
use dyno_shared::validate::validate;

pub(super) use assemble::{Facts, Measured, SIMULATED, setting};
pub(super) use command_line::{cleaned, is_secret, quoted, without_folder};
pub(super) use locate::nothing_found;
pub use options::RunArgs;
pub(crate) use options::{name, share};
pub(super) use place::{below_results, named, series};
pub(super) use subject::{PartOf, Subject};

use crate::calendar::unix_seconds;
use crate::endpoint::openai_chat::Optional;
use crate::engine::Identified;
use crate::exit::{Exit, Failure};
use crate::journal::{Details, Header, Journal};
use crate::limits::need_open_files;
use crate::output::write_whole;
use crate::protocol::{Ending, Ledger, Plan, Trial};
use crate::stop::stopped;
use crate::talk::say;
use crate::workload::CasePlan;
use crate::{calibration, report, system, transport};

/// Measures, writes the shard, and reports.
///
/// # Errors
/// Wrong usage, an endpoint that fails, a disk that is full: each says what to do.
pub fn run(args: &RunArgs) -> Result<Exit, Failure> {
    // What can be refused is refused before anything is sent.
    let asked = suite::asked(args)?;
    let runtime = transport::runtime_for(streams(&asked)).context("no runtime for the client")?;
    runtime.block_on(measure(args, asked))
}

async fn measure(args: &RunArgs, asked: Vec<CasePlan>) -> Result<Exit, Failure> {
    let target = locate::target(args).await?;
    locate::wait(args, &target).await?;
    let mut subject = Subject::of(args, target).await?;
    for warning in &subject.identified.warnings {
        say(format_args!("note: {warning}"));
    }
    let hardware = hardware(args, subject.target.is_loopback());
    let out = place::out(args, &subject.identified, &hardware);
    let journal_path = Journal::path_for(&out);
    place::refuse(args, &out, &journal_path)?;
    let found = subject.trial().await?;
    let (target, identified) = (&subject.target, &subject.identified);
    let (mut journal, header, mut ledger) = if args.resume {
        unfinished::resume(args, &asked, identified, &journal_path)?
    } else {
        begin(args, asked, &subject, &found, &journal_path).await?
    };
    need_open_files(u64::from(streams(&header.plan.cases))).map_err(Failure::usage)?;
    say(announce(identified, &header, &ledger));

    let stop = std::pin::pin!(stopped());
    let ending = subject.measure(&header, None, &mut ledger, &mut journal, stop).await;

    let measured = Measured {
        header: &header,
        ledger: &ledger,
        samplings: subject.samplings(&header, &ledger),
        facts: &Facts::of(identified),
        hardware,
        url: (!target.is_loopback()).then(|| target.url()),
        command: command_line::cleaned(std::env::args().skip(1), !target.is_loopback()),
        ended_unix_s: unix_seconds(SystemTime::now()),
        partial: partial(&ending, &ledger),
    };
    finish(args, &ending, &measured.submission(), &ledger, journal, &out)
}

/// This machine where the engine runs on it; else what the user says.
pub(super) fn hardware(args: &RunArgs, is_here: bool) -> Hardware {
    let local = if is_here { system::this_machine() } else { Hardware::default() };
    let name = args.hardware.clone().unwrap_or_else(|| local.name.clone());
    let name = if name.is_empty() { "unknown machine".to_owned() } else { name };
    Hardware { name, ..local }
}

/// A new measurement: its plan, its journal, and nothing measured yet but the client.
async fn begin(
    args: &RunArgs,
    asked: Vec<CasePlan>,
    subject: &Subject,
    found: &Trial,
    journal_path: &Path,
) -> Result<(Journal, Header, Ledger), Failure> {
    let identified = &subject.identified;
    let (cases, notes) = args.fitting(asked, identified)?;
    for note in &notes {
        say(format_args!("note: {note}"));
    }
    let started = unix_seconds(SystemTime::now());
    let series = args.series.clone().unwrap_or_else(|| place::series(started));
    let plan = args.plan(series, cases, found);
    let mut details = args.details();
    details.notes = notes;
    details.notes.extend(remark(&plan, found));
    details.notes.extend(subject.telemetry.note());
    let ledger = Ledger::new(&plan.cases);
    let engine = unfinished::engine_line(identified);
    let mut header = Header::new(started, plan, engine, identified.model_id.clone(), details);
    header.calibration = certificate(args, &header.plan, found).await;
    let journal = Journal::create(journal_path, &header, args.force).map_err(Failure::usage)?;
    Ok((journal, header, ledger))
}

/// Calibrates the client at the streams of the plan, unless the user leaves it out. A measurement goes on without it.
pub(super) async fn certificate(args: &RunArgs, plan: &Plan, found: &Trial) -> Option<Calibration> {
    if args.no_calibration {
        return None;
    }
    say("calibrating the client for some seconds");
    match calibration::certificate(streams(&plan.cases), found.decode_tok_s).await {
        Ok(calibration) => Some(calibration),
        Err(error) => {
            say(format_args!("note: the client was not calibrated: {error:#}"));
            None
        }
    }
}

/// The most streams that are open at once.
pub(super) fn streams(cases: &[CasePlan]) -> u32 {
    cases.iter().map(|case| case.concurrency).max().unwrap_or(1).max(1)
}

/// What readers must know of the lengths of prompts.
pub(super) fn remark(plan: &Plan, found: &Trial) -> Option<String> {
    let is_about = !found.measured && plan.cases.iter().any(|case| case.prompt_tokens.is_some());
    is_about.then(|| {
        "the engine does not count prompt tokens: long prompts have about the length aimed at".to_owned()
    })
}

fn announce(identified: &Identified, header: &Header, ledger: &Ledger) -> String {
    let recorded = ledger.recorded();
    let runs = ledger
        .planned()
        .map_or_else(|| "as many runs as their figures need".to_owned(), |planned| format!("{planned} runs"));
    let done = if recorded > 0 { format!(", {recorded} of them done before") } else { String::new() };
    format!(
        "measuring {} on {}: {} cases, {runs}{done}",
        plain(&identified.model.name),
        plain(&header.engine),
        header.plan.cases.len()
    )
}

/// Why the shard is only a part, if it is.
fn partial(ending: &Ending, ledger: &Ledger) -> Option<String> {
    let so_far = format!("after {}", ledger.so_far());
    match ending {
        Ending::Complete => None,
        Ending::Stopped => Some(format!("stopped by the user {so_far}")),
        Ending::Lost(why) => Some(format!("ended {so_far}: {why}")),
        Ending::Unkept(_) => Some(format!("ended {so_far}: a run could not be written to the journal")),
    }
}

/// Writes the shard, removes the journal of a complete one, shows the table and says what to do next.
fn finish(
    args: &RunArgs,
    ending: &Ending,
    shard: &Submission,
    ledger: &Ledger,
    journal: Journal,
    out: &Path,
) -> Result<Exit, Failure> {
    if let Ending::Unkept(error) = ending {
        return Err(Failure::usage(anyhow::anyhow!("{error}")));
    }
    if ledger.recorded() == 0 && !matches!(ending, Ending::Complete) {
        // Nothing is lost that is not made again in a moment.
        journal.remove().context("cannot remove the empty journal")?;
        if let Ending::Lost(why) = ending {
            return Err(Failure::endpoint(anyhow::anyhow!("nothing was measured: {why}")));
        }
        say("stopped before the first recorded run: no file was written");
        return Ok(Exit::ChecksFailed);
    }
    let kept = || format!("no run is lost: they are in {}; go on with --resume", journal.path().display());
    write_shard(shard, out, args.force || args.resume)
        .map_err(|Failure { exit, error }| Failure { exit, error: error.context(kept()) })?;
    say(format_args!("\n{}", report::text(shard)));
    let resume = format!("dyno run --resume --out {}", command_line::quoted(&out.to_string_lossy()));
    let exit = match ending {
        Ending::Complete => {
            journal.remove().context("cannot remove the journal; the shard is written")?;
            say(next_steps(shard, out));
            complete_exit(shard, ledger)
        }
        Ending::Lost(why) => {
            say(format_args!(
                "error: {why}\nwhat was measured is in {}; when the engine is back: {resume}",
                out.display()
            ));
            Exit::Endpoint
        }
        Ending::Stopped | Ending::Unkept(_) => {
            say(format_args!("stopped; what was measured is in {}; to go on: {resume}", out.display()));
            Exit::ChecksFailed
        }
    };
    if args.json {
        super::print_json(&report::json::report(&out.to_string_lossy(), shard))?;
    } else {
        super::print(&format!("{}\n", out.display()))?;
    }
    Ok(exit)
}

/// Writes the shard if it may be published.
pub(super) fn write_shard(shard: &Submission, out: &Path, replace: bool) -> Result<(), Failure> {
    let problems = validate(shard);
    if !problems.is_empty() {
        let list: Vec<String> = problems.iter().map(ToString::to_string).collect();
        return Err(Failure::usage(anyhow::anyhow!("{}", list.join("\n"))));
    }
    let text = shard::write(shard).context("the shard cannot be written as JSON")?;
    write_whole(out, text.as_bytes(), replace).map_err(Failure::usage)
}

/// A complete measurement in which nothing was answered is the endpoint's failure, not that of a check.
fn complete_exit(shard: &Submission, ledger: &Ledger) -> Exit {
    let answered =
        |run: &dyno_shared::submission::Run| run.requests.iter().all(|request| request.error.is_none());
    let runs = || shard.cases.iter().flat_map(|case| &case.runs);
    if !runs().any(answered) {
        say("error: no request was answered; the reasons stand above. Check the engine and its log");
        return Exit::Endpoint;
    }
    if ledger.failed() > 0 || !ledger.is_complete() { Exit::ChecksFailed } else { Exit::Done }
}

fn next_steps(shard: &Submission, out: &Path) -> String {
    let file = command_line::quoted(&out.to_string_lossy());
    let share = if shard.system.engine.simulated {
        "it is simulated: try things with it, but do not submit it".to_owned()
    } else {
        "to share it, put it below results/ and open a pull request with that one file".to_owned()
    };
    format!("wrote {file}\n  dyno report {file}   shows this table again\n  {share}")
}

impl RunArgs {
    /// What the user says of the submission.
    pub(super) fn details(&self) -> Details {
        Details {
            label: self.label.clone(),
            hardware: self.hardware.clone(),
            model_name: self.model_name.clone(),
            quantisation: self.quantisation.clone(),
            engine_name: self.engine_name.clone(),
            submitter: self.submitter.clone(),
            set: self.set.clone(),
            notes: Vec::new(),
        }
    }

    /// The fields that are sent: those that the engine takes, without those that the user leaves out.
    fn optional(&self, of_engine: Optional) -> Optional {
        let mut optional = of_engine;
        for field in self.omit.fields() {
            optional.omit(field);
        }
        optional
    }
}
