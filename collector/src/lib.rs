//! Dyno's collector: drives a serving engine over HTTP, measures it, and writes one shard.

pub mod board;
pub mod calendar;
pub mod calibration;
pub mod cli;
pub mod command;
pub mod endpoint;
pub mod engine;
pub mod exit;
pub mod export;
pub mod input;
pub mod journal;
pub mod launch;
pub mod limits;
pub mod ndjson;
pub mod output;
pub mod progress;
pub mod prometheus;
pub mod protocol;
pub mod publish;
pub mod report;
pub mod simulator;
pub mod sse;
pub mod stop;
pub mod stream;
pub mod system;
pub mod talk;
pub mod telemetry;
#[cfg(test)]
mod testing;
pub mod transport;
pub mod workload;
