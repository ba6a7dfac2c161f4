//! What was measured: engine, model, hardware, and the configuration as asked for and as in effect.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The system under test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct System {
    /// The serving engine.
    pub engine: Engine,
    /// The model.
    pub model: Model,
    /// The machine.
    pub hardware: Hardware,
    /// How the model is spread over it.
    pub topology: Topology,
}

/// The serving engine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Engine {
    /// Name, e.g. `llama.cpp`.
    pub name: String,
    /// Version as the engine gives it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Commit of its source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// True for Dyno's own simulated engine: an instrument, never a result.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub simulated: bool,
}

/// The model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Model {
    /// Name as published, e.g. `SmolLM2-135M-Instruct`.
    pub name: String,
    /// Revision of the weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Quantisation, e.g. `Q4_1`, `NVFP4`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quantisation: Option<String>,
    /// File format, e.g. `GGUF`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Size of the weights in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Parameters in all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<u64>,
    /// Parameters active per token, for a mixture of experts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active_parameters: Option<u64>,
}

/// The machine, as far as it matters for speed. Never its name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Hardware {
    /// A short name for people and file names, e.g. `RTX 5090`, `2-core Xeon`.
    pub name: String,
    /// Accelerators; empty where there are none, absent where nobody said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accelerators: Option<Vec<Accelerator>>,
    /// CPU model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<String>,
    /// Logical CPUs that the engine could use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_threads: Option<u32>,
    /// Host memory in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Link between host and accelerators, e.g. `PCIe 4.0 x16`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
    /// Accelerator driver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub driver: Option<String>,
    /// Operating system and version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub os: Option<String>,
}

/// One kind of accelerator in the machine.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Accelerator {
    /// Product name.
    pub name: String,
    /// How many of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
    /// Memory of each in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Architecture, e.g. `sm_120`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub architecture: Option<String>,
}

/// How the model is spread.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Topology {
    /// Tensor parallelism.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tensor_parallel: Option<u32>,
    /// Pipeline parallelism.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pipeline_parallel: Option<u32>,
    /// Expert parallelism.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expert_parallel: Option<u32>,
    /// Machines.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nodes: Option<u32>,
}

/// The configuration as asked for and as in effect. The two are never merged.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct Configuration {
    /// Flags and settings that were asked for.
    pub requested: BTreeMap<String, Setting>,
    /// What the engine says that it runs, each value with its source. Keys that mean the same on every engine:
    /// `context_limit_tokens`, `kv_capacity_tokens`, `kv_capacity_bytes`, `max_running_requests`, `prefix_cache`,
    /// `speculative`, `moe_backend`, `moe_resident_experts`, `quantisation_backend`, `bandwidth_profile`.
    pub effective: BTreeMap<String, Sourced>,
}

/// One setting's value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Setting {
    /// On or off.
    Flag(bool),
    /// A number.
    Number(f64),
    /// Words.
    Text(String),
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Flag(on) => f.write_str(if *on { "on" } else { "off" }),
            Self::Number(x) => f.write_str(&crate::format::full(*x)),
            Self::Text(text) => f.write_str(text),
        }
    }
}

/// A value in effect, and who says so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Sourced {
    /// The value.
    pub value: Setting,
    /// Where it was read, e.g. `/props`, `log`, `stated`.
    pub source: String,
}
