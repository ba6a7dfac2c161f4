//! A board: a checkout whose `results/` holds the shards that are published. What is looked at before one is added.

pub mod checkout;
pub mod examine;
pub mod flags;
mod locate;
pub mod place;
pub mod scrub;
pub mod similar;
