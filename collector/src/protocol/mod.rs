//! The regimes: how each case is driven.

mod batch;
mod judge;
mod ledger;
mod measure;
mod patience;
mod plan;
mod proof;
mod reproducibility;
mod rig;
mod trial;

pub use ledger::{CaseLedger, Entry, Ledger};
pub use measure::{Ending, Measurement};
pub use plan::Plan;
pub use proof::cached_tokens;
pub use rig::{Clock, Rig};
pub use trial::{Trial, trial};
