//! The end of a sweep: the shards as they are, the comparison, and what to do next.

use std::path::PathBuf;

use anyhow::{Context as _, anyhow};
use dyno_shared::plain::plain;
use dyno_shared::submission::Submission;
use dyno_shared::sweep::compare;
use serde_json::json;

use super::arm::{self, Arm};
use super::state::State;
use super::{Sweep, table};
use crate::command::run::{quoted, write_shard};
use crate::command::{print, print_json};
use crate::exit::{Exit, Failure};
use crate::talk::say;

impl Sweep<'_> {
    /// The shards as they end, the comparison, and what to do next.
    pub(super) fn finish(self, was_stopped: bool) -> Result<Exit, Failure> {
        let cycles = self.args.cycles;
        let resume = format!(
            "the same command with --resume goes on (in {})",
            quoted(&self.shared.folder.to_string_lossy())
        );
        let Some(state) = self.state.as_ref().filter(|_| self.recorded() > 0) else {
            // Nothing is lost that is not made again in a moment.
            self.close()?;
            if was_stopped {
                say("stopped before the first recorded run: no file was written");
                return Ok(Exit::ChecksFailed);
            }
            return Err(Failure::endpoint(anyhow!("no variant could be measured: see above, and the logs")));
        };
        let mut shards = Vec::new();
        let mut is_whole = true;
        for arm in &self.arms {
            let lacks: Vec<u32> = (1..=cycles).filter(|&cycle| !arm.is_complete(cycle)).collect();
            is_whole &= lacks.is_empty();
            let partial = partial(&lacks, cycles, was_stopped);
            if let (Some(shard), Some(path)) = (arm.shard(state, &self.shared, partial), arm.path()) {
                write_shard(&shard, path, true)?;
                shards.push((shard, path.to_owned()));
            } else {
                say(format_args!("{}: nothing was measured", arm.variant.label));
            }
        }
        self.report(&shards)?;
        let failed: usize = self.arms.iter().map(Arm::failed).sum();
        if is_whole {
            self.close()?;
        } else if was_stopped {
            say(format_args!("stopped; {resume}"));
        } else {
            say(format_args!("some measurements failed; {resume} and measures them again"));
        }
        Ok(if is_whole && failed == 0 { Exit::Done } else { Exit::ChecksFailed })
    }

    /// Removes what a sweep is gone on with.
    fn close(self) -> Result<(), Failure> {
        let (state, journals) = (State::path(&self.shared.folder), arm::journals(&self.shared.folder));
        for arm in self.arms {
            arm.close()?;
        }
        if state.exists() {
            std::fs::remove_file(&state).with_context(|| format!("cannot remove {}", state.display()))?;
        }
        // Something else may lie in it.
        let _ = std::fs::remove_dir(journals);
        Ok(())
    }

    fn report(&self, shards: &[(Submission, PathBuf)]) -> Result<(), Failure> {
        let variants: Vec<&Submission> = shards.iter().map(|(shard, _)| shard).collect();
        let comparison = compare(&variants);
        let files: Vec<String> = shards.iter().map(|(_, path)| path.display().to_string()).collect();
        if self.shared.run.json {
            let variants = shards.iter().map(|(shard, path)| {
                json!({ "label": shard.label, "file": path, "partial": shard.provenance.partial })
            });
            let failures = self.arms.iter().flat_map(|arm| {
                arm.failures
                    .iter()
                    .map(|(cycle, why)| json!({ "variant": arm.variant.label, "cycle": cycle, "why": why }))
            });
            print_json(&json!({
                "series": self.state.as_ref().map(|state| &state.plan.series),
                "variants": variants.collect::<Vec<_>>(),
                "failures": failures.collect::<Vec<_>>(),
                "cases": table::json(&comparison),
            }))?;
        } else {
            say("");
            let (text, warnings) = (table::text(&comparison), table::warnings(&variants));
            print(&format!("{}\n{text}{warnings}", header(&variants)))?;
        }
        let written: Vec<String> = files.iter().map(|file| format!("  {}", quoted(file))).collect();
        say(format_args!(
            "\nwrote {} shards (dyno report FILE shows one):\n{}",
            files.len(),
            written.join("\n")
        ));
        Ok(())
    }
}

/// Why a shard is only a part, if it is.
fn partial(lacks: &[u32], cycles: u32, was_stopped: bool) -> Option<String> {
    let list = lacks.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    match lacks {
        [] => None,
        _ if was_stopped => {
            Some(format!("stopped by the user: runs of cycle {list} of {cycles} are missing"))
        }
        _ => Some(format!("runs of cycle {list} of {cycles} are missing")),
    }
}

/// What was compared.
fn header(variants: &[&Submission]) -> String {
    let Some(first) = variants.first() else { return String::new() };
    let (engine, model) = (&first.system.engine, &first.system.model);
    let what = [
        Some(model.name.as_str()),
        model.quantisation.as_deref(),
        Some("on"),
        Some(&engine.name),
        engine.version.as_deref(),
    ];
    let line = what.into_iter().flatten().collect::<Vec<_>>().join(" ");
    let simulated = if engine.simulated {
        "SIMULATED: these figures are of Dyno's own simulated engine, an instrument and no result\n"
    } else {
        ""
    };
    format!("{} · {}\n{simulated}", plain(&line), plain(&first.system.hardware.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shard_says_which_cycles_it_lacks() {
        assert_eq!(partial(&[], 3, true), None);
        assert_eq!(partial(&[2], 3, false).unwrap(), "runs of cycle 2 of 3 are missing");
        assert!(partial(&[2, 3], 3, true).unwrap().contains("by the user: runs of cycle 2, 3 of 3"));
    }
}
