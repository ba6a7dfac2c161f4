//! The regimes: how each case is driven.

mod asker;
mod batch;
mod cases;
mod entry;
mod judge;
mod ledger;
mod measure;
mod open_loop;
mod patience;
mod plan;
mod proof;
mod reproducibility;
mod rig;
mod session;
mod side_by_side;
mod trial;
mod two_length;
mod until;

pub use entry::Entry;
pub use ledger::{CaseLedger, InFlight, LaterTurns, Ledger, Part};
pub use measure::{Ending, Measurement};
pub use plan::Plan;
pub use proof::cached_tokens;
pub use rig::{Clock, Rig};
pub use trial::{Trial, trial};
