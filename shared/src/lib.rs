//! What the collector and the explorer both mean by the words.
//!
//! This crate has no I/O, no clock and no unseeded randomness. It compiles natively and for
//! `wasm32-unknown-unknown`, and gives the same numbers to the last bit on both.

pub mod chart;
pub mod comparison;
mod concurrency;
pub mod date;
mod decimal;
pub mod figure;
pub mod format;
pub mod gaps;
pub mod import;
pub mod index;
pub mod json;
pub mod like_for_like;
pub mod metric;
pub mod named;
pub mod objects;
pub mod plain;
pub mod plausible;
pub mod prefill_fit;
pub mod privacy;
pub mod query;
pub mod record;
pub mod request_time;
pub mod shard;
pub mod slug;
pub mod statistics;
pub mod submission;
pub mod summary;
pub mod sweep;
pub mod system;
#[cfg(test)]
mod testing;
pub mod units;
pub mod validate;
pub mod workload;
