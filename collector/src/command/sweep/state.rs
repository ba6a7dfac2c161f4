//! What an interrupted sweep must keep to be gone on with, beside the journals of its variants.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use dyno_shared::submission::Calibration;
use dyno_shared::workload::Sampling;
use serde::{Deserialize, Serialize};

use super::options::Asked;
use super::variants::Variant;
use crate::command::run::Facts;
use crate::exit::Failure;
use crate::output::write_whole;
use crate::protocol::Plan;

/// The version that this program writes and reads.
const VERSION: u32 = 1;

/// A sweep in progress.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct State {
    /// Version of this file.
    sweep: u32,
    /// When it began, in seconds since 1970.
    pub started_unix_s: f64,
    /// The line that starts its servers.
    launch: String,
    /// Its variants.
    variants: Vec<Variant>,
    /// Cycles.
    pub cycles: u32,
    /// What each variant is sent in each cycle.
    pub plan: Plan,
    /// Remarks made when it began.
    pub notes: Vec<String>,
    /// How much the client itself adds, found before the first measurement.
    #[serde(default)]
    pub calibration: Option<Calibration>,
    /// What is known of each variant, by its slug.
    pub known: BTreeMap<String, Known>,
}

/// What is known of a variant from the first look at its server on.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Known {
    /// Engine, model and configuration.
    pub facts: Facts,
    /// What is sent with each case.
    pub samplings: Vec<Sampling>,
}

impl State {
    /// Of a sweep that begins.
    pub fn new(asked: &Asked, cycles: u32, started_unix_s: f64, plan: Plan, notes: Vec<String>) -> Self {
        Self {
            sweep: VERSION,
            started_unix_s,
            launch: asked.launch.clone(),
            variants: asked.variants.clone(),
            cycles,
            plan,
            notes,
            calibration: None,
            known: BTreeMap::new(),
        }
    }

    /// Where it lies.
    pub fn path(folder: &Path) -> PathBuf {
        folder.join("sweep.journal")
    }

    /// Writes it, whole.
    pub fn write(&self, folder: &Path) -> Result<(), Failure> {
        let text = serde_json::to_vec_pretty(self).context("the state of the sweep is no JSON")?;
        write_whole(&Self::path(folder), &text, true).map_err(Failure::usage)
    }

    /// Reads one to go on with, and checks that it is what is asked for now.
    pub fn resume(folder: &Path, asked: &Asked, cycles: u32) -> Result<Self, Failure> {
        let path = Self::path(folder);
        let text = match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(usage(format!(
                    "there is no unfinished sweep in {}: leave out --resume, or name its folder with --out-dir",
                    folder.display()
                )));
            }
            Err(error) => return Err(usage(format!("{} cannot be read: {error}", path.display()))),
        };
        let damaged = |error: serde_json::Error| {
            usage(format!("{} is damaged: {error}. Start over with --force", path.display()))
        };
        let version = serde_json::from_str::<Version>(&text).map_err(damaged)?.sweep;
        if version != VERSION {
            return Err(usage(format!(
                "{} was written by another version of dyno ({version}, this one reads {VERSION}): finish it with that \
                 one, or start over with --force",
                path.display()
            )));
        }
        let state: Self = serde_json::from_str(&text).map_err(damaged)?;
        if let Some(difference) = state.difference(asked, cycles) {
            return Err(usage(format!(
                "the sweep in {} cannot be gone on with: its {difference} differ. Use what it was begun with, or start \
                 over with --force",
                folder.display()
            )));
        }
        Ok(state)
    }

    fn difference(&self, asked: &Asked, cycles: u32) -> Option<&'static str> {
        let kept = |id: &str| asked.cases.iter().find(|case| case.id == id);
        // Those that do not fit into the context were left out then.
        let same_cases =
            self.plan.cases.iter().all(|case| kept(&case.id).is_some_and(|now| now.runs == case.runs));
        let series = asked.run.series.as_ref().is_some_and(|series| *series != self.plan.series);
        [
            (self.launch != asked.launch, "launch lines"),
            (self.variants != asked.variants, "variants"),
            (self.cycles != cycles, "cycles"),
            (!same_cases, "cases or runs"),
            (series, "series"),
        ]
        .into_iter()
        .find_map(|(differs, what)| differs.then_some(what))
    }

    /// Refuses to begin where an unfinished sweep would be lost.
    pub fn refuse(folder: &Path, force: bool) -> Result<(), Failure> {
        if Self::path(folder).exists() && !force {
            return Err(usage(format!(
                "an unfinished sweep lies in {}: go on with it with --resume, start over with --force, or name another \
                 folder with --out-dir",
                folder.display()
            )));
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Version {
    sweep: u32,
}

fn usage(message: String) -> Failure {
    Failure::usage(anyhow::anyhow!(message))
}
