//! The configuration in effect: what its keys mean, the same on every engine.

/// Longest prompt and answer together of one request, in tokens.
pub const CONTEXT_LIMIT_TOKENS: &str = "context_limit_tokens";
/// Tokens that the KV cache holds, of all requests together.
pub const KV_CAPACITY_TOKENS: &str = "kv_capacity_tokens";
/// Bytes of the KV cache.
pub const KV_CAPACITY_BYTES: &str = "kv_capacity_bytes";
/// Requests that run at once.
pub const MAX_RUNNING_REQUESTS: &str = "max_running_requests";
/// Whether prompts take what they share with earlier ones from a cache.
pub const PREFIX_CACHE: &str = "prefix_cache";
/// The kind of speculative decoding, or whether there is any.
pub const SPECULATIVE: &str = "speculative";
