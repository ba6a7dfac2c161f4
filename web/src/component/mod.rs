//! Pieces that pages are made of. They are functions; only what keeps a state of its own is a component of Yew.

mod estimates;
mod facet;
mod facts;
mod figure;
mod legend;
mod marked_figure;
mod notice;
mod run_table;
mod words;

pub use estimates::{Scale, estimates, every_estimate, figure_cell};
pub use facet::facet_list;
pub use facts::{Fact, facts, facts_under};
pub use figure::{figure, mark_cell};
pub use legend::{legend, swatch};
pub use marked_figure::MarkedFigure;
pub use notice::{notice, notice_with};
pub use run_table::run_table;
pub use words::{badges, unknown};
