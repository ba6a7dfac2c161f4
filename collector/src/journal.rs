//! The journal: every run on disk before the next begins, so that a crash loses at most the one in flight.
//!
//! One JSON object a line: first the [`Header`], then the entries. A last line that was cut off is the run in
//! flight, and is dropped.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use dyno_shared::submission::Calibration;
use serde::{Deserialize, Serialize};

use crate::protocol::{Entry, Plan};

/// The version that this program writes and reads.
const VERSION: u32 = 2;

/// What a measurement must keep to be resumed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// Version of the journal.
    pub journal: u32,
    /// When the measurement began, in seconds since 1970.
    pub started_unix_s: f64,
    /// What is measured.
    pub plan: Plan,
    /// The engine's name and version.
    pub engine: String,
    /// The model as the engine names it.
    pub model: String,
    /// Whether the quick suite was asked for, and what the user said of the submission.
    pub details: Details,
    /// How much the client itself adds, found before the first case.
    #[serde(default)]
    pub calibration: Option<Calibration>,
}

/// What the user said of the submission.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Details {
    /// Label.
    pub label: Option<String>,
    /// Name of the machine.
    pub hardware: Option<String>,
    /// Name of the model as published.
    pub model_name: Option<String>,
    /// Quantisation.
    pub quantisation: Option<String>,
    /// Name of the engine.
    pub engine_name: Option<String>,
    /// Who submits.
    pub submitter: Option<String>,
    /// Requested configuration, `key=value` each.
    pub set: Vec<String>,
    /// Remarks made when it began, such as the cases that were left out.
    pub notes: Vec<String>,
}

impl Details {
    /// These, and where they say nothing the others.
    #[must_use]
    pub fn or(self, others: Self) -> Self {
        let list = |mine: Vec<String>, others: Vec<String>| if mine.is_empty() { others } else { mine };
        Self {
            label: self.label.or(others.label),
            hardware: self.hardware.or(others.hardware),
            model_name: self.model_name.or(others.model_name),
            quantisation: self.quantisation.or(others.quantisation),
            engine_name: self.engine_name.or(others.engine_name),
            submitter: self.submitter.or(others.submitter),
            set: list(self.set, others.set),
            notes: list(self.notes, others.notes),
        }
    }
}

impl Header {
    /// A header of this version.
    pub fn new(started_unix_s: f64, plan: Plan, engine: String, model: String, details: Details) -> Self {
        Self { journal: VERSION, started_unix_s, plan, engine, model, details, calibration: None }
    }
}

/// Why a journal is of no use.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// There is one already.
    #[error(
        "an unfinished measurement lies in {}: go on with it with --resume, or start over with --force",
        .0.display()
    )]
    Unfinished(PathBuf),
    /// There is none.
    #[error("there is no unfinished measurement at {}: leave out --resume, or name its file with --out", .0.display())]
    Missing(PathBuf),
    /// It cannot be read.
    #[error("{}, line {line} is damaged: {message}. Start over with --force", .path.display())]
    Damaged {
        /// The journal.
        path: PathBuf,
        /// The line, from 1.
        line: usize,
        /// What is wrong.
        message: String,
    },
    /// Another version wrote it.
    #[error("{} was written by another version of dyno ({found}, this one reads {VERSION}): finish it with that one, or start over with --force", .path.display())]
    Version {
        /// The journal.
        path: PathBuf,
        /// Its version.
        found: u32,
    },
    /// Another process writes it.
    #[error("another dyno is measuring into {}: wait until it ends, or name another file with --out", .0.display())]
    InUse(PathBuf),
    /// The disk is full.
    #[error("no space left for the journal {}: free some, then go on with --resume; all runs before this one are kept", .0.display())]
    Full(PathBuf),
    /// Anything else.
    #[error("cannot write the journal {}: {cause}. Check the folder, or name another file with --out", .path.display())]
    Io {
        /// The journal.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
}

/// An open journal.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Where the journal of a shard lies.
    pub fn path_for(shard: &Path) -> PathBuf {
        let mut name = shard.as_os_str().to_owned();
        name.push(".journal");
        PathBuf::from(name)
    }

    /// Begins a journal.
    ///
    /// # Errors
    /// If there is one already and it may not be replaced, or the system refuses.
    pub fn create(path: &Path, header: &Header, replace: bool) -> Result<Self, JournalError> {
        let failed = |source: io::Error| refusal(path, source);
        std::fs::create_dir_all(crate::output::folder_of(path)).map_err(failed)?;
        let mut options = OpenOptions::new();
        options.write(true);
        if replace {
            options.create(true).truncate(false)
        } else {
            options.create_new(true)
        };
        let file = options.open(path).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => JournalError::Unfinished(path.to_owned()),
            _ => failed(source),
        })?;
        reserve(path, &file)?;
        // A device has no length that could be set.
        if file.metadata().map_err(failed)?.len() > 0 {
            file.set_len(0).map_err(failed)?;
        }
        let mut journal = Self { file, path: path.to_owned() };
        match journal.write_line(header) {
            Ok(()) => Ok(journal),
            Err(error) => {
                // Without its first line it is nothing to go on with.
                let _ = journal.remove();
                Err(error)
            }
        }
    }

    /// Opens a journal to go on with, and reads what it holds.
    ///
    /// # Errors
    /// If there is none, or it is damaged before its last line, or of another version.
    pub fn resume(path: &Path) -> Result<(Self, Header, Vec<Entry>), JournalError> {
        let mut file =
            OpenOptions::new().read(true).write(true).open(path).map_err(|source| match source.kind() {
                io::ErrorKind::NotFound => JournalError::Missing(path.to_owned()),
                _ => refusal(path, source),
            })?;
        reserve(path, &file)?;
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(|source| refusal(path, source))?;
        let (header, entries) = parse(path, &text)?;
        // What follows the last line break is the run that was in flight.
        let whole = text.rfind('\n').map_or(0, |at| at + 1);
        file.set_len(whole as u64).map_err(|source| refusal(path, source))?;
        io::Seek::seek(&mut file, io::SeekFrom::End(0)).map_err(|source| refusal(path, source))?;
        Ok((Self { file, path: path.to_owned() }, header, entries))
    }

    /// Adds an entry and waits until it is on the disk.
    ///
    /// # Errors
    /// If the disk is full or the system refuses.
    pub fn append(&mut self, entry: &Entry) -> Result<(), JournalError> {
        self.write_line(entry)
    }

    /// Where it lies.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it, because the shard is safe.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }

    fn write_line(&mut self, line: &impl Serialize) -> Result<(), JournalError> {
        let mut bytes = serde_json::to_vec(line).map_err(|e| refusal(&self.path, e.into()))?;
        bytes.push(b'\n');
        self.file
            .write_all(&bytes)
            .and_then(|()| self.file.sync_data())
            .map_err(|source| refusal(&self.path, source))
    }
}

/// Two processes would write their runs into one measurement, and the first to end would remove it under the other.
/// The system gives the file free when its process ends, however it ends.
fn reserve(path: &Path, file: &File) -> Result<(), JournalError> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => Err(JournalError::InUse(path.to_owned())),
        // Some network file systems have no locks.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

fn refusal(path: &Path, source: io::Error) -> JournalError {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => JournalError::Full(path.to_owned()),
        _ => JournalError::Io { path: path.to_owned(), cause: source },
    }
}

fn parse(path: &Path, text: &str) -> Result<(Header, Vec<Entry>), JournalError> {
    let damaged =
        |line: usize, message: String| JournalError::Damaged { path: path.to_owned(), line, message };
    // Only lines that end in a line break were written whole.
    let mut lines =
        text.split_inclusive('\n').enumerate().filter_map(|(at, line)| Some((at, line.strip_suffix('\n')?)));
    let (_, first) = lines.next().ok_or_else(|| damaged(1, "it is empty".to_owned()))?;
    let version = serde_json::from_str::<Version>(first).map_err(|e| damaged(1, e.to_string()))?.journal;
    if version != VERSION {
        return Err(JournalError::Version { path: path.to_owned(), found: version });
    }
    let header = serde_json::from_str(first).map_err(|e| damaged(1, e.to_string()))?;
    let entries = lines
        .map(|(at, line)| serde_json::from_str(line).map_err(|e| damaged(at + 1, e.to_string())))
        .collect::<Result<_, _>>()?;
    Ok((header, entries))
}

#[derive(Deserialize)]
struct Version {
    journal: u32,
}

#[cfg(test)]
mod tests {
    use dyno_shared::record::RequestRecord;
    use dyno_shared::submission::Run;

    use super::*;
    use crate::protocol::{CaseLedger, Ledger};
    use crate::workload::tag::run_tag;
    use crate::workload::{CasePlan, CharsPerToken, Take, suite};

    fn header() -> Header {
        let plan = Plan {
            series: "s".into(),
            seed: 42,
            cases: suite::quick(suite::Counts { runs: 3, ..suite::Counts::QUICK }),
            chars_per_token: CharsPerToken::USUAL,
            template_tokens: None,
            unexpected_script: Some(crate::workload::check::Script::Hangul),
            keep_output: false,
        };
        let details = Details { label: Some("a".into()), ..Details::default() };
        Header::new(1.0, plan, "llama.cpp b1".into(), "m".into(), details)
    }

    fn entry(number: u32) -> Entry {
        Entry::Run { case: "code_q128".into(), run: Run { number, ..Run::default() }, continuation: None }
    }

    #[test]
    fn what_is_written_is_read_and_writing_goes_on_after_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = Journal::path_for(&dir.path().join("new/shard.json"));
        let mut journal = Journal::create(&path, &header(), false).unwrap();
        journal.append(&entry(1)).unwrap();
        drop(journal);
        let (mut journal, read, entries) = Journal::resume(&path).unwrap();
        assert_eq!((read, entries), (header(), vec![entry(1)]));
        journal.append(&entry(2)).unwrap();
        drop(journal);
        assert_eq!(Journal::resume(&path).unwrap().2, [entry(1), entry(2)]);
    }

    #[test]
    fn a_last_line_that_was_cut_off_is_dropped_wherever_it_was_cut() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        let mut journal = Journal::create(&path, &header(), false).unwrap();
        journal.append(&entry(1)).unwrap();
        drop(journal);
        let whole = std::fs::read(&path).unwrap();
        let line = serde_json::to_vec(&entry(2)).unwrap();
        for cut in 1..=line.len() {
            std::fs::write(&path, [whole.as_slice(), &line[..cut]].concat()).unwrap();
            let (mut journal, _, entries) = Journal::resume(&path).unwrap();
            assert_eq!(entries, [entry(1)]);
            journal.append(&entry(3)).unwrap();
            drop(journal);
            assert_eq!(Journal::resume(&path).unwrap().2, [entry(1), entry(3)]);
        }
    }

    #[test]
    fn two_processes_do_not_write_one_journal() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        let mut first = Journal::create(&path, &header(), false).unwrap();
        for second in
            [Journal::resume(&path).map(|_| ()), Journal::create(&path, &header(), true).map(|_| ())]
        {
            let said = second.unwrap_err().to_string();
            assert!(said.contains("another dyno") && said.contains("--out"), "{said}");
        }
        first.append(&entry(1)).unwrap();
        drop(first);
        assert_eq!(Journal::resume(&path).unwrap().2, [entry(1)]);
    }

    #[test]
    fn an_unfinished_measurement_is_not_overwritten_by_mistake() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        drop(Journal::create(&path, &header(), false).unwrap());
        let error = Journal::create(&path, &header(), false).unwrap_err().to_string();
        assert!(error.contains("--resume") && error.contains("--force"), "{error}");
        assert!(Journal::create(&path, &header(), true).is_ok());
    }

    #[test]
    fn damage_is_named_with_its_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j");
        assert!(matches!(Journal::resume(&path), Err(JournalError::Missing(_))));
        for (text, line) in [("", 1), ("{}\n", 1), ("nonsense\n", 1)] {
            std::fs::write(&path, text).unwrap();
            assert!(
                matches!(Journal::resume(&path), Err(JournalError::Damaged { line: l, .. }) if l == line),
                "{text}"
            );
        }
        let first = serde_json::to_string(&header()).unwrap();
        std::fs::write(&path, format!("{first}\n{{\"entry\":\"run\"}}\n")).unwrap();
        assert!(matches!(Journal::resume(&path), Err(JournalError::Damaged { line: 2, .. })));
        std::fs::write(&path, first.replace("\"journal\":2", "\"journal\":3") + "\n").unwrap();
        assert!(matches!(Journal::resume(&path), Err(JournalError::Version { found: 3, .. })));
    }

    /// What an engine would leave in a journal from here on: each run has one request, with the tag of its prompt.
    fn go_on(plan: &[CasePlan], ledger: &mut Ledger) -> Vec<Entry> {
        let observed = |case: &CasePlan, take: Take, number: u32| Run {
            number,
            requests: vec![RequestRecord {
                run_tag: run_tag("s", &case.id, take, 0),
                ..RequestRecord::default()
            }],
            ..Run::default()
        };
        let mut entries = Vec::new();
        for (at, plan) in plan.iter().enumerate() {
            let id = || plan.id.clone();
            let later = |run: &Run| plan.turns.is_some().then(|| run.clone());
            let mut enter = |ledger: &mut Ledger, entry: Entry| {
                entries.push(entry.clone());
                ledger.enter(entry);
            };
            for (number, take) in (1..).zip(ledger.cases[at].warmup_takes()) {
                let run = observed(plan, take, number);
                enter(ledger, Entry::Warmup { case: id(), continuation: later(&run), run });
            }
            while let Some(take) = ledger.cases[at].next_run() {
                let number = take.recorded().unwrap();
                enter(ledger, Entry::Begun { case: id(), number });
                let run = observed(plan, take, number);
                enter(ledger, Entry::Run { case: id(), continuation: later(&run), run });
            }
        }
        entries
    }

    /// The recorded runs, each by its case, its number and its tag.
    fn runs(ledger: &Ledger) -> Vec<(String, u32, String)> {
        let of = |case: &CaseLedger| -> Vec<(String, u32, String)> {
            let runs = case.parts().into_iter().flat_map(|part| part.runs.iter().map(move |run| (part, run)));
            runs.map(|(part, run)| {
                let id = format!("{}{}", case.plan.id, part.suffix);
                (id, run.number, run.requests[0].run_tag.clone())
            })
            .collect()
        };
        ledger.cases.iter().flat_map(of).collect()
    }

    #[test]
    fn killed_at_any_byte_of_the_journal_it_becomes_what_it_would_have_been() {
        let counts = suite::Counts { runs: 2, batches: 2, warmups: 1 };
        let wanted = ["code", "cold_prefill_2k", "decode_at_depth_2k", "load4", "session4"];
        let plan: Vec<CasePlan> =
            suite::full(counts).into_iter().filter(|case| wanted.contains(&case.id.as_str())).collect();
        let header = Header { plan: Plan { cases: plan.clone(), ..header().plan }, ..header() };
        let mut whole = Ledger::new(&plan);
        let first = serde_json::to_string(&header).unwrap() + "\n";
        let entries = go_on(&plan, &mut whole);
        let lines = entries.iter().map(|entry| serde_json::to_string(entry).unwrap() + "\n");
        let text = first.clone() + &lines.collect::<String>();
        let undisturbed = runs(&whole);
        assert_eq!(undisturbed.len(), (wanted.len() + 1) * 2);
        let mut again = 0;
        for cut in first.len()..=text.len() {
            let (_, entries) = parse(Path::new("j"), &text[..cut]).unwrap();
            let mut ledger = Ledger::replay(&plan, entries);
            go_on(&plan, &mut ledger);
            let resumed = runs(&ledger);
            let differ: Vec<_> = undisturbed.iter().zip(&resumed).filter(|(a, b)| a != b).collect();
            assert_eq!(resumed.len(), undisturbed.len(), "cut at {cut}");
            for ((case, number, _), (other, of, _)) in &differ {
                assert_eq!((case, number), (other, of), "cut at {cut}");
                let cold = ["cold_prefill_2k", "load4", "session4_admission", "session4_continuation"];
                assert!(cold.contains(&case.as_str()), "cut at {cut}: {case} was sent with other bytes");
            }
            let numbers: std::collections::BTreeSet<u32> = differ.iter().map(|(run, _)| run.1).collect();
            assert!(numbers.len() <= 1, "cut at {cut}: more than the run in flight was made again");
            again += usize::from(!differ.is_empty());
        }
        assert!(again > 0, "no cut fell into a cold run");
    }
}
