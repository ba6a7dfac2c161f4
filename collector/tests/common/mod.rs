//! What several test crates share.
#![allow(dead_code, reason = "each test crate uses its own part")]

pub mod capture;
pub mod server;
