//! An engine that answers, and driving it through a plan: what `dyno run` does once, and `dyno sweep` for every
//! variant in every cycle.

use std::future::Future;
use std::path::Path;
use std::pin::Pin;
use std::time::SystemTime;

use dyno_shared::workload::Sampling;

use super::{RunArgs, locate, options, suite, unfinished};
use crate::calendar::unix_seconds;
use crate::endpoint::Dialect;
use crate::endpoint::openai_chat::Optional;
use crate::engine::{EndpointError, Identified, LogFile, identify, log_lines};
use crate::exit::Failure;
use crate::journal::{Header, Journal};
use crate::protocol::{Clock, Ending, Ledger, Measurement, Plan, Rig, Trial, trial};
use crate::talk::say;
use crate::telemetry::Sampler;
use crate::transport::Target;
use crate::workload::CasePlan;

/// An engine, looked at.
pub(in crate::command) struct Subject {
    /// Where it is.
    pub target: Target,
    /// Which one it is.
    pub identified: Identified,
    /// The fields that it is sent.
    pub optional: Optional,
    /// Watches the machine beside the runs.
    pub telemetry: Sampler,
    /// What it writes beside its answers.
    pub log: Option<LogFile>,
}

/// The part of a sweep that a measurement is.
#[derive(Debug, Clone)]
pub(in crate::command) struct PartOf {
    /// The cycle to which its runs belong.
    pub cycle: u32,
    /// Which part it is, for people.
    pub title: String,
}

impl Subject {
    /// Settles which engine and model are measured. The engine is ready.
    pub async fn of(args: &RunArgs, target: Target) -> Result<Self, Failure> {
        let log = args.engine_log.as_deref().map(log_file).transpose()?;
        let looked = look(&target, args.model.as_deref(), args.endpoint, log.as_ref()).await;
        let identified = looked.map_err(locate::failure)?;
        let optional = args.optional(identified.dialect.optional(identified.engine.optional));
        let telemetry = Sampler::start(target.local_port());
        Ok(Self { target, identified, optional, telemetry, log })
    }

    /// Asks it something before anything is measured. What it tells of a model only once it has loaded it is known
    /// afterwards.
    pub async fn trial(&mut self) -> Result<Trial, Failure> {
        let found = trial(&self.target, &self.identified, self.optional).await.map_err(|error| {
            Failure::endpoint(anyhow::anyhow!(
                "{} does not answer as it should: {}",
                self.target.url(),
                error.message
            ))
        })?;
        if self.identified.context_limit_tokens.is_none() {
            self.look_again().await;
        }
        Ok(found)
    }

    async fn look_again(&mut self) {
        // It answered a moment ago; if it does not now, the measurement will say so.
        let model = Some(self.identified.model_id.as_str());
        let again = look(&self.target, model, Some(self.identified.dialect), self.log.as_ref()).await;
        let Ok(again) = again else { return };
        for warning in again.warnings.iter().filter(|warning| !self.identified.warnings.contains(warning)) {
            say(format_args!("note: {warning}"));
        }
        self.identified = again;
    }

    /// The engine as a journal names it.
    pub fn engine_line(&self) -> String {
        unfinished::engine_line(&self.identified)
    }

    /// Sends what the ledger lacks, until all is there, `stop` completes, or nobody answers any more.
    pub async fn measure<S: Future<Output = ()>>(
        &self,
        header: &Header,
        part: Option<&PartOf>,
        ledger: &mut Ledger,
        journal: &mut Journal,
        stop: Pin<&mut S>,
    ) -> Ending {
        let rig = self.rig(header, part.map(|part| part.cycle));
        let mut measurement = Measurement::new(rig, ledger, journal, stop);
        if let Some(part) = part {
            measurement = measurement.of_part(part.title.clone());
        }
        measurement.run().await
    }

    /// What is sent with each case of a ledger, in its order.
    pub fn samplings(&self, header: &Header, ledger: &Ledger) -> Vec<Sampling> {
        let rig = self.rig(header, None);
        ledger.cases.iter().map(|case| rig.sampling(&case.plan)).collect()
    }

    fn rig<'a>(&'a self, header: &'a Header, cycle: Option<u32>) -> Rig<'a> {
        Rig {
            cycle,
            target: &self.target,
            identified: &self.identified,
            optional: self.optional,
            plan: &header.plan,
            telemetry: &self.telemetry,
            log: self.log.as_ref(),
            clock: Clock::at(unix_seconds(SystemTime::now()) - header.started_unix_s),
        }
    }
}

/// The engine as its answers, the choice of a route and its log describe it.
async fn look(
    target: &Target,
    model: Option<&str>,
    dialect: Option<Dialect>,
    log: Option<&LogFile>,
) -> Result<Identified, EndpointError> {
    let mut identified = identify(target, model).await?.asked_by(dialect);
    let said = log.and_then(|log| log.since(0).ok()).unwrap_or_default();
    let told = log_lines::effective(&said);
    identified.effective.extend(told.into_iter().map(|(key, value)| (key.to_owned(), value)));
    Ok(identified)
}

/// The engine's log.
fn log_file(path: &Path) -> Result<LogFile, Failure> {
    let log = LogFile::new(path);
    log.end().map(|_| log).map_err(|error| {
        Failure::usage(anyhow::anyhow!(
            "cannot read the engine's log {}: {error}. Name the file that it writes, or leave out --engine-log",
            path.display()
        ))
    })
}

impl RunArgs {
    /// Where the engine is that they name, with time-outs and key.
    pub(in crate::command) async fn target(&self) -> Result<Target, Failure> {
        locate::target(self).await
    }

    /// The cases that they ask for.
    pub(in crate::command) fn asked(&self) -> Result<Vec<CasePlan>, Failure> {
        suite::asked(self)
    }

    /// Of some cases those that fit into an engine, and what to say of the others.
    pub(in crate::command) fn fitting(
        &self,
        cases: Vec<CasePlan>,
        identified: &Identified,
    ) -> Result<(Vec<CasePlan>, Vec<String>), Failure> {
        let context = self.context.or(identified.context_limit_tokens);
        let suite::Choice { cases, notes } = suite::fitting(cases, context, identified.total_slots)?;
        Ok((cases, notes))
    }

    /// What is measured, of these cases.
    pub(in crate::command) fn plan(&self, series: String, cases: Vec<CasePlan>, found: &Trial) -> Plan {
        Plan {
            series,
            seed: self.seed.unwrap_or(options::SEED),
            cases,
            chars_per_token: found.chars_per_token,
            template_tokens: found.template_tokens,
            unexpected_script: self.unexpected_script(),
            keep_output: self.keep_output,
        }
    }
}
