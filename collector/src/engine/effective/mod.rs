//! The configuration in effect: what its keys mean, the same on every engine, and whether it is what was asked for.

mod agreement;

pub use agreement::{
    Checked, Disagreement, Effective, Flag, Meaning, Outcome, Requested, check, disagreements,
};
pub(super) use agreement::{as_number, told};

macro_rules! keys {
    ($($(#[doc = $meaning:literal])+ $name:ident = $key:literal;)+) => {
        $($(#[doc = $meaning])+ pub const $name: &str = $key;)+

        /// Every key that means the same on every engine, with its meaning.
        pub const KEYS: &[(&str, &str)] = &[$(($key, concat!($($meaning),+))),+];
    };
}

keys! {
    /// Longest prompt and answer together of one request, in tokens.
    CONTEXT_LIMIT_TOKENS = "context_limit_tokens";
    /// Route on which chats are asked for, where the engine has more than one.
    CHAT_ROUTE = "chat_route";
    /// Tokens that the KV cache holds, of all requests together.
    KV_CAPACITY_TOKENS = "kv_capacity_tokens";
    /// Bytes of the KV cache.
    KV_CAPACITY_BYTES = "kv_capacity_bytes";
    /// Tokens of one block or page of the KV cache: what a cached prefix is rounded down to.
    KV_BLOCK_TOKENS = "kv_block_tokens";
    /// Number format of the KV cache.
    KV_DTYPE = "kv_dtype";
    /// Requests that run at once.
    MAX_RUNNING_REQUESTS = "max_running_requests";
    /// Prompt tokens that one step takes at most: longer prompts are prefilled in chunks.
    PREFILL_CHUNK_TOKENS = "prefill_chunk_tokens";
    /// Whether prompts take what they share with earlier ones from a cache.
    PREFIX_CACHE = "prefix_cache";
    /// The kind of speculative decoding, or whether there is any.
    SPECULATIVE = "speculative";
    /// Tokens that are drafted per step of speculative decoding.
    SPECULATIVE_DRAFT_TOKENS = "speculative_draft_tokens";
    /// Kernels of attention.
    ATTENTION_BACKEND = "attention_backend";
    /// Where and how the experts of a mixture are computed.
    MOE_BACKEND = "moe_backend";
    /// Experts that are held in the accelerator's memory, of all layers together.
    MOE_RESIDENT_EXPERTS = "moe_resident_experts";
    /// Experts of the model, of all layers together.
    MOE_EXPERTS = "moe_experts";
    /// Quantisation of the weights as the engine names it.
    QUANTISATION = "quantisation";
    /// Kernels of quantised layers.
    QUANTISATION_BACKEND = "quantisation_backend";
    /// Whether the engine found a measurement of the machine's bandwidths, by which it splits work.
    BANDWIDTH_PROFILE = "bandwidth_profile";
    /// Share of the accelerator's memory that the engine may use, 0 to 1.
    GPU_MEMORY_SHARE = "gpu_memory_share";
    /// Bytes of the loaded model, its cache included, wherever they are.
    MODEL_MEMORY_BYTES = "model_memory_bytes";
    /// How many of them are in the accelerators' memory.
    MODEL_VRAM_BYTES = "model_vram_bytes";
    /// Accelerators over which each layer is spread.
    TENSOR_PARALLEL = "tensor_parallel";
    /// Groups of accelerators that hold consecutive layers.
    PIPELINE_PARALLEL = "pipeline_parallel";
    /// Accelerators over which experts are spread.
    EXPERT_PARALLEL = "expert_parallel";
    /// Copies of the model that share the requests.
    DATA_PARALLEL = "data_parallel";
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_key_has_one_meaning() {
        let keys: BTreeSet<&str> = KEYS.iter().map(|(key, _)| *key).collect();
        assert_eq!(keys.len(), KEYS.len());
        assert!(KEYS.iter().all(|(_, meaning)| meaning.trim().ends_with('.')));
    }
}
