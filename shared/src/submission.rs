//! The shard: one configuration on one machine, with all its cases and every run of them.

use serde::{Deserialize, Serialize};

use crate::record::RequestRecord;
use crate::system::{Configuration, System};
use crate::units::{Joules, Seconds};
use crate::workload::{Arrival, Regime, Sampling};

/// The schema that this version writes.
pub const SCHEMA: &str = "dyno/1.0";
/// The major that this version reads.
pub const SCHEMA_MAJOR: u32 = 1;

/// One submission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Submission {
    /// `dyno/MAJOR.MINOR`: the major breaks, the minor adds.
    pub schema: String,
    /// A short name that tells this configuration from its neighbours, e.g. `TP=4`, `hybrid`.
    pub label: String,
    /// Where it comes from, and how much it proves.
    pub provenance: Provenance,
    /// What was measured.
    #[serde(default)]
    pub system: System,
    /// How it was configured.
    #[serde(default)]
    pub configuration: Configuration,
    /// What was asked, and every run of it.
    #[serde(default)]
    pub cases: Vec<Case>,
    /// Comparisons that the source states without the runs behind them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated_comparisons: Vec<StatedComparison>,
    /// Remarks for readers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

impl Submission {
    /// A submission without cases, of which nothing more is known.
    pub fn new(label: &str, origin: Origin, evidence: Evidence, system: System) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            label: label.to_owned(),
            provenance: Provenance {
                origin,
                evidence,
                collector_version: None,
                collector_commit: None,
                started_at: None,
                ended_at: None,
                series: None,
                submitter: None,
                command: None,
                partial: None,
                calibration: None,
            },
            system,
            configuration: Configuration::default(),
            cases: Vec::new(),
            stated_comparisons: Vec::new(),
            notes: Vec::new(),
        }
    }
}

/// Where a submission comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Provenance {
    /// Who made the numbers.
    pub origin: Origin,
    /// Whether every run is here or only a summary.
    pub evidence: Evidence,
    /// Version of the collector that wrote the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collector_version: Option<String>,
    /// Commit of that collector.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub collector_commit: Option<String>,
    /// Start, UTC, RFC 3339; for a transcription the day when the source says it was measured or published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_at: Option<String>,
    /// End, UTC, RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
    /// The series: runs pair only within one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<String>,
    /// Who submits it, by a name of their choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub submitter: Option<String>,
    /// The command line, secrets removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Set when the measurement ended before all cases were done, with the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
    /// How much the client itself adds, measured against the simulated engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calibration: Option<Calibration>,
}

/// Who made the numbers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Origin {
    /// Dyno's own collector.
    Collected,
    /// Another tool's result file.
    Imported {
        /// Name of the tool.
        tool: String,
        /// Its version.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
    },
    /// A published text, copied by hand.
    Transcribed {
        /// Title of the source.
        source: String,
        /// Where in it the figures stand.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        location: Option<String>,
        /// Who published it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        author: Option<String>,
    },
    /// An origin that this version does not know.
    #[serde(other)]
    Unknown,
}

/// How much a submission proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// Every run is in the file; every statistic is computed from them.
    Raw,
    /// Only stated figures.
    Summary,
    /// A tier that this version does not know.
    #[serde(other)]
    Unknown,
}

/// The client's own error, measured against a simulated engine at the streams and the rate of this submission: the
/// client's stamp of an event minus the engine's stamp just before it wrote that event, on one clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Calibration {
    /// Concurrent streams.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub streams: Option<u32>,
    /// Tokens per second of each stream.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_tok_s: Option<f64>,
    /// Requests behind the errors of TTFT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// Tokens behind the rest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// Mean error of TTFT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_error_mean_s: Option<Seconds>,
    /// Median error of TTFT.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_error_median_s: Option<Seconds>,
    /// Its 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_error_p99_s: Option<Seconds>,
    /// Median of the absolute error of a gap between two events.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_error_median_s: Option<Seconds>,
    /// Its 99th percentile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_error_p99_s: Option<Seconds>,
    /// Tokens that were sent and not seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lost_tokens: Option<u64>,
    /// Tokens that were seen and not sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extra_tokens: Option<u64>,
    /// The client's own CPU time for those tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_cpu_s: Option<Seconds>,
    /// The same as a share of the time it took, 1 being one core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_cpu_share: Option<f64>,
    /// The most memory that the client held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_memory_bytes: Option<u64>,
}

/// A workload in a regime at a concurrency.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Case {
    /// Its name, unique in the submission: `code`, `cold_prefill_2k`. Cases of one name pair across submissions.
    pub id: String,
    /// The regime.
    pub regime: Regime,
    /// The workload: `code`, `prose`, `structured`, `counting`, `needle`, ….
    pub workload: String,
    /// Concurrent streams.
    pub concurrency: u32,
    /// Prompt tokens that were aimed at; what was achieved stands in each request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt_tokens_target: Option<u64>,
    /// Output tokens that were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens_target: Option<u64>,
    /// Cached context before the prompt, in tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub depth_tokens: Option<u64>,
    /// How requests arrive in an open loop; absent in a closed one, where a stream's next request waits for its last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arrival: Option<Arrival>,
    /// Turns of each session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// The sampling that was sent.
    #[serde(default)]
    pub sampling: Sampling,
    /// What the case is about, where its name does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Unrecorded repetitions before the first run; never in a summary.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warmups: Vec<Run>,
    /// Every repetition, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs: Vec<Run>,
    /// Figures that the source states, for a summary without runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<StatedEstimate>,
    /// Whether the same prompt gave the same answer three times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reproducibility: Option<Reproducibility>,
    /// Why the case has fewer runs than were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_early: Option<String>,
}

impl Case {
    /// A case without runs and figures.
    pub fn new(id: &str, regime: Regime, workload: &str, concurrency: u32) -> Self {
        Self {
            id: id.to_owned(),
            regime,
            workload: workload.to_owned(),
            concurrency,
            prompt_tokens_target: None,
            output_tokens_target: None,
            depth_tokens: None,
            arrival: None,
            turns: None,
            sampling: Sampling::default(),
            description: None,
            warmups: Vec::new(),
            runs: Vec::new(),
            stated: Vec::new(),
            reproducibility: None,
            ended_early: None,
        }
    }
}

/// One repetition of a case: one request, or one batch of concurrent requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Run {
    /// Its number, from 1: run 5 pairs with run 5.
    pub number: u32,
    /// The cycle of an A/B measurement, from 1: a fresh server process each. Absent where there was only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cycle: Option<u32>,
    /// Start, in seconds from the start of the submission.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started_s: Option<Seconds>,
    /// `n` in runs of a tool that divides all tokens by the span, whose decode rate stays that; absent where the first
    /// event's are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_convention: Option<String>,
    /// What was observed of each request.
    pub requests: Vec<RequestRecord>,
    /// What the engine's counters moved by over the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counters: Option<EngineCounters>,
    /// What the machine did meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub telemetry: Option<Telemetry>,
    /// The output checks, failed ones with what was wrong.
    pub checks: Vec<Check>,
    /// Other reasons to leave the run out of the summary, or to look twice: see [`flag`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

/// Flags that a run may carry.
pub mod flag {
    /// A cold run that the prefix cache answered: leaves the summary.
    pub const SERVED_FROM_CACHE: &str = "served_from_cache";
    /// A cached run that missed the cache: leaves the summary.
    pub const NOT_CACHED: &str = "not_cached";
    /// An engine counter went back during the run, so its delta is unknown.
    pub const COUNTER_RESET: &str = "counter_reset";
    /// The answer to a long prompt lacked the needle. The run stays: its speed is not in doubt.
    pub const NEEDLE_MISSED: &str = "needle_missed";
    /// A cold run that was in flight when the measurement broke off, and that was made again with a prompt of its own,
    /// because an engine that still lives may have the first one in its cache. It counts, and pairs with no other run.
    pub const MADE_AGAIN: &str = "made_again";
    /// Flags that take a run out of the summary.
    pub const EXCLUDING: [&str; 2] = [SERVED_FROM_CACHE, NOT_CACHED];
}

/// One output check of one run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Check {
    /// Its name: `not_empty`, `no_replacement_character`, ….
    pub name: String,
    /// Whether it passed.
    pub passed: bool,
    /// What was wrong, with the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// Deltas of the engine's own counters over a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct EngineCounters {
    /// Where they were read: `/metrics`, `/v1/stats`, `log`.
    pub source: String,
    /// Prompt tokens processed, cached ones excluded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_tokens: Option<f64>,
    /// Prompt tokens taken from the prefix cache.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cached_tokens: Option<f64>,
    /// Time spent on prompts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt_s: Option<Seconds>,
    /// Tokens generated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<f64>,
    /// Time spent generating, of all requests together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decode_s: Option<Seconds>,
    /// Tokens that were generated within `decode_s`, where those are not all: an engine that counts the time from the
    /// first token on leaves one token of each request out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decode_tokens: Option<f64>,
    /// Decode rate of one stream in tokens per second, where the engine states rates and neither tokens nor time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated_decode_tok_s: Option<f64>,
    /// Prefill rate in tokens per second, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stated_prefill_tok_s: Option<f64>,
    /// Times to first token, added up over `ttft_requests`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_s: Option<Seconds>,
    /// Requests whose first token fell into the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttft_requests: Option<f64>,
    /// Times in the queue, added up over `queue_requests`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_s: Option<Seconds>,
    /// Requests whose wait in the queue was counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_requests: Option<f64>,
    /// Draft tokens proposed by speculative decoding.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub draft_tokens: Option<f64>,
    /// Draft tokens accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accepted_tokens: Option<f64>,
    /// Verify steps.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verify_steps: Option<f64>,
}

/// What the machine did over a run. Absent means not measured.
///
/// Of accelerators only those on which the engine computes are counted, where that could be found out, else all. It
/// holds no name of a process and no number of one.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Telemetry {
    /// Energy of the accelerators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_energy_j: Option<Joules>,
    /// Energy of the CPU packages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_energy_j: Option<Joules>,
    /// Where the energies were read, in words: `NVML energy counter`, `NVML power over time`, `RAPL packages`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub energy_source: Option<String>,
    /// The window over which energy was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub window_s: Option<Seconds>,
    /// Accelerators behind the figures of this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpus: Option<u32>,
    /// Mean power of the accelerators together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_power_mean_w: Option<f64>,
    /// Their highest power together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_power_max_w: Option<f64>,
    /// Highest accelerator memory in use, whoever uses it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_memory_bytes: Option<u64>,
    /// Mean accelerator utilisation, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_utilisation: Option<f64>,
    /// Mean clock of the accelerators' compute units.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_clock_mhz: Option<f64>,
    /// Highest temperature of an accelerator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_temperature_c: Option<f64>,
    /// Most compute processes at a time that are not the engine's on the accelerators of this run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub other_gpu_processes: Option<u32>,
    /// Reasons for which an accelerator's clocks were held back, in the words of its maker: `sw_power_cap`,
    /// `hw_thermal_slowdown`, …. Idling and clocks that somebody set are not among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub throttle_reasons: Vec<String>,
    /// Share of the samples in which one of these reasons held, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gpu_throttled_share: Option<f64>,
    /// Mean clock of the host's cores.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_clock_mhz: Option<f64>,
    /// How often a core or package of the host was throttled because of heat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_throttle_events: Option<u64>,
    /// Logical CPUs of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_cores: Option<u32>,
    /// One-minute load of the host at the end of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_load: Option<f64>,
    /// Share of all cores' time in which they were busy, with whatever it was, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_cpu_busy_share: Option<f64>,
    /// Share of all cores' time in which they were busy with neither the engine nor this client, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_cpu_other_share: Option<f64>,
    /// Share of all cores' time that the hypervisor gave to other machines, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_steal_share: Option<f64>,
    /// Share of all cores' time in which they had nothing to do but wait for a disk, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_iowait_share: Option<f64>,
    /// Highest host memory in use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_memory_bytes: Option<u64>,
}

/// A figure that a source states: what was stated and nothing more.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StatedEstimate {
    /// A tag of the metric table, or a name of the source's own.
    pub metric: String,
    /// The unit, where the metric is the source's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The statistic under the name it had: `median`, `mean`, `p99`, `ratio of totals`, `single run`, `range`;
    /// absent where the source does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistic: Option<String>,
    /// The point.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Lower end of a stated interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end of a stated interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// What the interval is: `bootstrap 95 %`, ….
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// Smallest observation, where a range is stated. A range is not an interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    /// Largest observation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    /// Observations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// `n` where all tokens are divided by the span, `n_minus_first` where the first event's are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_convention: Option<String>,
    /// What a reader must know beside the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A ratio that a source states between two configurations.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct StatedComparison {
    /// The case, by its id, or the workload in the source's words.
    pub case: String,
    /// What was compared, e.g. `decode rate`.
    pub metric: String,
    /// The numerator.
    pub b: String,
    /// The denominator.
    pub a: String,
    /// B / A.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Lower end of its interval.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub low: Option<f64>,
    /// Upper end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high: Option<f64>,
    /// What the interval is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// p-value or its bound, as stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p: Option<String>,
    /// Pairs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n: Option<u64>,
    /// What a reader must know beside the number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Whether one prompt, sent three times, gave one answer.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Reproducibility {
    /// How often the prompt was sent; unknown where a source does not say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub attempts: Option<u32>,
    /// Whether all answers were the same.
    pub identical: bool,
    /// Characters up to the first difference.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_difference_chars: Option<u64>,
}

impl Run {
    /// Why this run is not in the summary; empty when it is.
    pub fn failures(&self) -> Vec<String> {
        let mut reasons: Vec<String> = self
            .requests
            .iter()
            .filter_map(|r| r.error.as_ref())
            .map(|error| error.message.clone())
            .collect();
        if self.requests.is_empty() {
            reasons.push("no request was recorded".to_owned());
        }
        reasons.extend(self.checks.iter().filter(|check| !check.passed).map(|check| {
            check.detail.as_ref().map_or_else(|| check.name.clone(), |d| format!("{}: {d}", check.name))
        }));
        reasons.extend(self.flags.iter().filter(|f| flag::EXCLUDING.contains(&f.as_str())).cloned());
        reasons
    }

    /// Tokens that count as decoded inside the span of one of its requests, by the run's own convention.
    pub fn decoded_tokens(&self, request: &RequestRecord) -> Option<f64> {
        match self.rate_convention.as_deref() {
            Some("n") => request.output_tokens.map(|tokens| tokens.get() as f64),
            _ => request.decoded_tokens(),
        }
    }

    /// Whether the run enters the summary.
    pub fn passed(&self) -> bool {
        !self.requests.is_empty()
            && self.requests.iter().all(|r| r.error.is_none())
            && self.checks.iter().all(|c| c.passed)
            && !self.flags.iter().any(|f| flag::EXCLUDING.contains(&f.as_str()))
    }
}
