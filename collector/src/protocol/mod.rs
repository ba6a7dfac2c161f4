//! The regimes: how each case is driven.

mod ledger;
mod patience;
mod plan;
mod proof;
mod reproducibility;

pub use ledger::{CaseLedger, Entry, Ledger};
pub use plan::Plan;
