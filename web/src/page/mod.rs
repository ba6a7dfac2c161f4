//! One file per page.

mod case;
mod compare;
mod configuration;
mod leaderboard;
mod method;
mod picks;
mod plain;
mod provenance;
mod rows;
mod submission;
mod system;
mod telemetry;

pub use compare::compare;
pub use leaderboard::leaderboard;
pub use method::method;
pub use plain::{debug_chart, not_found};
pub use submission::{name, submission};
