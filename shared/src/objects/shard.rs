//! The types of a shard, field by field.

use super::{Slot, fields, next};
use crate::json::{Input, Wrong};
use crate::record::{EngineTimings, Gaps, RequestError, RequestErrorKind, RequestRecord, TokenCountSource};
use crate::submission::{
    Calibration, Case, Check, EngineCounters, Evidence, Origin, Provenance, Reproducibility, Run,
    StatedComparison, StatedEstimate, Submission, Telemetry,
};
use crate::system::{
    Accelerator, Configuration, Engine, Hardware, Model, Setting, Sourced, System, Topology,
};
use crate::workload::{Arrival, Regime, Sampling};

fields!(Submission { schema, label, provenance; system, configuration, cases, stated_comparisons, notes });

fields!(Provenance {
    origin, evidence;
    collector_version, collector_commit, started_at, ended_at, series, submitter, command, partial, calibration,
});

fields!(Calibration {
    ;
    streams, rate_tok_s, requests, tokens, ttft_error_mean_s, ttft_error_median_s, ttft_error_p99_s,
    gap_error_median_s, gap_error_p99_s, lost_tokens, extra_tokens, client_cpu_s, client_cpu_share,
    client_memory_bytes,
});

fields!(Case {
    id, regime, workload, concurrency;
    prompt_tokens_target, output_tokens_target, depth_tokens, arrival, turns, sampling, description, warmups, runs,
    stated, reproducibility, ended_early,
});

fields!(Run { ; number, cycle, started_s, rate_convention, requests, counters, telemetry, checks, flags });

fields!(Check { name, passed; detail });

fields!(EngineCounters {
    ;
    source, prompt_tokens, cached_tokens, prompt_s, output_tokens, decode_s, decode_tokens, stated_decode_tok_s,
    stated_prefill_tok_s, ttft_s, ttft_requests, queue_s, queue_requests, draft_tokens, accepted_tokens, verify_steps,
});

fields!(Telemetry {
    ;
    gpu_energy_j, cpu_energy_j, energy_source, window_s, gpus, gpu_power_mean_w, gpu_power_max_w, gpu_memory_bytes,
    gpu_utilisation, gpu_clock_mhz, gpu_temperature_c, other_gpu_processes, throttle_reasons, gpu_throttled_share,
    cpu_clock_mhz, cpu_throttle_events, host_cores, host_load, host_cpu_busy_share, host_cpu_other_share,
    host_steal_share, host_iowait_share, host_memory_bytes,
});

fields!(StatedEstimate {
    ;
    metric, unit, statistic, value, low, high, interval, min, max, n, rate_convention, note,
});

fields!(StatedComparison { ; case, metric, b, a, ratio, low, high, interval, p, n, note });

fields!(Reproducibility { ; attempts, identical, first_difference_chars });

fields!(RequestRecord {
    ;
    stream, turn, run_tag, prompt_sha256, t_due_s, t_send_s, t_headers_s, t_first_s, t_first_answer_s, t_last_s,
    t_end_s, connect_s, status, text_events, gaps, event_tokens, prompt_tokens, cached_prompt_tokens, output_tokens,
    reasoning_tokens, first_event_tokens, token_count_source, finish_reason, engine, output_chars, output_sha256,
    output_text, error,
});

fields!(Gaps { tick_s, ticks; });

fields!(EngineTimings {
    ;
    source, prompt_tokens, prompt_s, cached_tokens, output_tokens, decode_s, ttft_s, queue_s, load_s, draft_tokens,
    accepted_tokens, verify_steps,
});

fields!(RequestError { kind, message; });

fields!(System { ; engine, model, hardware, topology });

fields!(Engine { ; name, version, commit, simulated });

fields!(Model { ; name, revision, quantisation, format, size_bytes, parameters, active_parameters });

fields!(Hardware { ; name, accelerators, cpu, cpu_threads, memory_bytes, link, driver, os });

fields!(Accelerator { ; name, count, memory_bytes, architecture });

fields!(Topology { ; tensor_parallel, pipeline_parallel, expert_parallel, nodes });

fields!(Configuration { ; requested, effective });

fields!(Sourced { value, source; });

fields!(Sampling { ; temperature, top_p, top_k, seed, max_tokens, ignore_eos, thinking });

/// Reads an enum from a word. A word that this version does not know is the last one.
macro_rules! words {
    ($type:ident { $($word:literal => $variant:ident,)* _ => $unknown:ident }) => {
        impl Slot for $type {
            fn blank() -> Self {
                Self::$unknown
            }

            fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
                const WORDS: &[(&str, $type)] = &[$(($word, $type::$variant)),*];
                let word = input.string()?;
                let known = WORDS.iter().find(|(known, _)| *known == word);
                *self = known.map_or(Self::$unknown, |&(_, variant)| variant);
                Ok(())
            }
        }
    };
}

words!(Evidence { "raw" => Raw, "summary" => Summary, _ => Unknown });

words!(TokenCountSource {
    "usage" => Usage,
    "engine_timings" => EngineTimings,
    "chunk_usage" => ChunkUsage,
    "counted_events" => CountedEvents,
    _ => Unknown
});

words!(RequestErrorKind {
    "connect" => Connect,
    "first_byte_timeout" => FirstByteTimeout,
    "idle_timeout" => IdleTimeout,
    "status" => Status,
    "mid_stream" => MidStream,
    "disconnected" => Disconnected,
    "no_text" => NoText,
    "protocol" => Protocol,
    _ => Unknown
});

impl Slot for Regime {
    fn blank() -> Self {
        Self::Other
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        *self = Self::from_tag(&input.string()?);
        Ok(())
    }
}

/// The member that says what the others are.
struct Kind {
    kind: String,
}

struct Imported {
    tool: String,
    version: Option<String>,
}

struct Transcribed {
    source: String,
    location: Option<String>,
    author: Option<String>,
}

struct Rate {
    per_s: f64,
}

fields!(Kind { kind; });
fields!(Imported { tool; version });
fields!(Transcribed { source; location, author });
fields!(Rate { per_s; });

impl Slot for Origin {
    fn blank() -> Self {
        Self::Unknown
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        let mut again = input.clone();
        let Kind { kind } = next(input)?;
        *self = match kind.as_str() {
            "collected" => Self::Collected,
            "imported" => {
                let Imported { tool, version } = next(&mut again)?;
                Self::Imported { tool, version }
            }
            "transcribed" => {
                let Transcribed { source, location, author } = next(&mut again)?;
                Self::Transcribed { source, location, author }
            }
            _ => Self::Unknown,
        };
        Ok(())
    }
}

impl Slot for Arrival {
    fn blank() -> Self {
        Self::Constant { per_s: 0.0 }
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        let Rate { per_s } = next(&mut input.clone())?;
        let Kind { kind } = next(input)?;
        *self = match kind.as_str() {
            "constant" => Self::Constant { per_s },
            "poisson" => Self::Poisson { per_s },
            _ => {
                return Err(input.wrong(&["expected `constant` or `poisson`, found ", &kind]).inside("kind"));
            }
        };
        Ok(())
    }
}

impl Slot for Setting {
    fn blank() -> Self {
        Self::Flag(false)
    }

    fn fill(&mut self, input: &mut Input<'_>) -> Result<(), Wrong> {
        *self = match input.peek() {
            b't' | b'f' => Self::Flag(input.flag()?),
            b'"' => Self::Text(input.string()?.into_owned()),
            b'-' | b'0'..=b'9' => Self::Number(input.number()?.real()),
            _ => return Err(input.expected("a number, a text, true or false")),
        };
        Ok(())
    }
}
