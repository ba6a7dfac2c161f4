//! The columns that both datasets share: the submission and the case.

use dyno_shared::submission::{Case, Evidence, Origin, Submission};
use dyno_shared::system::Accelerator;
use dyno_shared::workload::Arrival;

use super::column::{Column, Value, columns};

/// A shard that was read.
#[derive(Debug)]
pub struct Source {
    /// The first 16 hex digits of the SHA-256 of its bytes.
    pub id: String,
    /// What it says.
    pub submission: Submission,
    /// What was requested, as JSON.
    requested: String,
    /// What is in effect, as JSON.
    effective: String,
}

impl Source {
    /// A shard with its identity.
    pub fn new(id: String, submission: Submission) -> Self {
        // A map of settings is always written; a number that JSON cannot hold becomes null.
        let json = |empty: bool, text: serde_json::Result<String>| match text {
            Ok(text) if !empty => text,
            _ => String::new(),
        };
        let configuration = &submission.configuration;
        let requested =
            json(configuration.requested.is_empty(), serde_json::to_string(&configuration.requested));
        let effective =
            json(configuration.effective.is_empty(), serde_json::to_string(&configuration.effective));
        Self { id, submission, requested, effective }
    }

    /// The first kind of accelerator.
    fn accelerator(&self) -> Option<&Accelerator> {
        self.submission.system.hardware.accelerators.as_ref()?.first()
    }
}

/// Where a row comes from.
#[derive(Debug, Clone, Copy)]
pub struct Place<'a> {
    /// The shard.
    pub source: &'a Source,
    /// One of its cases.
    pub case: &'a Case,
}

impl<'a> Place<'a> {
    const fn of(self) -> &'a Submission {
        &self.source.submission
    }
}

/// The way to a cell.
pub type OfPlace = for<'a> fn(Place<'a>) -> Value<'a>;

/// The shared columns.
pub const PLACE: &[Column<OfPlace>] = columns! { OfPlace;
    Text "submission_id" "First 16 hex digits of the SHA-256 of the shard: its name on the page." |p| (&p.source.id).into();
    Text "label" "The submission's own short name." |p| (&p.of().label).into();
    Text "engine_name" "Engine, exactly as the shard names it; the partition `engine` is its form for paths." |p| (&p.of().system.engine.name).into();
    Text "engine_version" "Its version." |p| (&p.of().system.engine.version).into();
    Text "engine_commit" "Commit of its source." |p| (&p.of().system.engine.commit).into();
    Flag "engine_simulated" "True for Dyno's own simulated engine: never a result." |p| p.of().system.engine.simulated.into();
    Text "model_name" "Model as published." |p| (&p.of().system.model.name).into();
    Text "model_revision" "Revision of the weights." |p| (&p.of().system.model.revision).into();
    Text "model_quantisation" "Quantisation, e.g. `Q4_1`." |p| (&p.of().system.model.quantisation).into();
    Text "model_format" "File format, e.g. `GGUF`." |p| (&p.of().system.model.format).into();
    Count "model_size_bytes" "Size of the weights." |p| p.of().system.model.size_bytes.into();
    Count "model_parameters" "Parameters in all." |p| p.of().system.model.parameters.into();
    Count "model_active_parameters" "Parameters active per token." |p| p.of().system.model.active_parameters.into();
    Text "hardware_name" "Machine, by its short name." |p| (&p.of().system.hardware.name).into();
    Text "accelerator_name" "First kind of accelerator; null where there is none or nobody said." |p| p.source.accelerator().map(|a| &a.name).into();
    Count "accelerator_count" "How many of that kind." |p| p.source.accelerator().and_then(|a| a.count).into();
    Count "accelerator_memory_bytes" "Memory of each of them." |p| p.source.accelerator().and_then(|a| a.memory_bytes).into();
    Text "cpu" "CPU model." |p| (&p.of().system.hardware.cpu).into();
    Count "cpu_threads" "Logical CPUs that the engine could use." |p| p.of().system.hardware.cpu_threads.into();
    Count "host_memory_bytes" "Host memory." |p| p.of().system.hardware.memory_bytes.into();
    Text "driver" "Accelerator driver." |p| (&p.of().system.hardware.driver).into();
    Text "os" "Operating system." |p| (&p.of().system.hardware.os).into();
    Count "tensor_parallel" "Tensor parallelism." |p| p.of().system.topology.tensor_parallel.into();
    Count "pipeline_parallel" "Pipeline parallelism." |p| p.of().system.topology.pipeline_parallel.into();
    Count "expert_parallel" "Expert parallelism." |p| p.of().system.topology.expert_parallel.into();
    Count "nodes" "Machines." |p| p.of().system.topology.nodes.into();
    Text "requested_json" "Settings that were asked for, as a JSON object." |p| (&p.source.requested).into();
    Text "effective_json" "What the engine says that it runs, as a JSON object of values and sources." |p| (&p.source.effective).into();
    Text "origin" "`collected`, `imported` or `transcribed`." |p| origin(&p.of().provenance.origin).into();
    Text "origin_source" "The tool of an import, the title of what was transcribed." |p| origin_source(&p.of().provenance.origin).into();
    Text "evidence" "`raw`: every run is there. `summary`: only stated figures." |p| evidence(p.of().provenance.evidence).into();
    Text "collector_version" "Version of Dyno that wrote the shard." |p| (&p.of().provenance.collector_version).into();
    Text "started_at" "Start in UTC, RFC 3339; a day alone where the source says no more." |p| (&p.of().provenance.started_at).into();
    Text "ended_at" "End, likewise." |p| (&p.of().provenance.ended_at).into();
    Text "series" "Runs pair only within one series." |p| (&p.of().provenance.series).into();
    Text "submitter" "Who submitted it, by a name of their choice." |p| (&p.of().provenance.submitter).into();
    Text "partial" "Why the measurement ended before all cases were done; null where it did not." |p| (&p.of().provenance.partial).into();
    Text "case_id" "The case; cases of one name pair across submissions." |p| (&p.case.id).into();
    Text "regime" "`decode`, `cold_prefill`, `cached_prefix`, `decode_at_depth`, `load`, `session` or `other`." |p| p.case.regime.tag().into();
    Text "workload" "The workload." |p| (&p.case.workload).into();
    Count "concurrency" "Concurrent streams." |p| p.case.concurrency.into();
    Text "arrival" "`constant` or `poisson` in an open loop; null in a closed one." |p| p.case.arrival.map(arrival).into();
    Number "arrival_requests_per_s" "Requests per second of that open loop." |p| p.case.arrival.map(Arrival::per_s).into();
    Count "prompt_tokens_target" "Prompt tokens that were aimed at." |p| p.case.prompt_tokens_target.into();
    Count "output_tokens_target" "Output tokens that were asked for." |p| p.case.output_tokens_target.into();
    Count "depth_tokens" "Cached context before the prompt." |p| p.case.depth_tokens.into();
    Count "turns" "Turns of each session." |p| p.case.turns.into();
    Number "temperature" "Temperature that was sent; 0 is greedy." |p| p.case.sampling.temperature.into();
    Count "max_tokens" "The most tokens that an answer may have." |p| p.case.sampling.max_tokens.into();
    Flag "ignore_eos" "Whether the engine was told to go on past the end of sequence." |p| p.case.sampling.ignore_eos.into();
    Flag "thinking" "Whether thinking was on." |p| p.case.sampling.thinking.into();
};

const fn origin(origin: &Origin) -> Option<&'static str> {
    match origin {
        Origin::Collected => Some("collected"),
        Origin::Imported { .. } => Some("imported"),
        Origin::Transcribed { .. } => Some("transcribed"),
        Origin::Unknown => None,
    }
}

fn origin_source(origin: &Origin) -> Option<&str> {
    match origin {
        Origin::Imported { tool, .. } => Some(tool),
        Origin::Transcribed { source, .. } => Some(source),
        Origin::Collected | Origin::Unknown => None,
    }
}

const fn evidence(evidence: Evidence) -> Option<&'static str> {
    match evidence {
        Evidence::Raw => Some("raw"),
        Evidence::Summary => Some("summary"),
        Evidence::Unknown => None,
    }
}

const fn arrival(arrival: Arrival) -> &'static str {
    match arrival {
        Arrival::Constant { .. } => "constant",
        Arrival::Poisson { .. } => "poisson",
    }
}
