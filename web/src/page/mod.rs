//! One file per page.

mod case;
mod configuration;
mod leaderboard;
mod method;
mod plain;
mod provenance;
mod rows;
mod submission;
mod system;
mod telemetry;

pub use leaderboard::leaderboard;
pub use method::method;
pub use plain::{debug_chart, not_found};
pub use submission::{name, submission};
