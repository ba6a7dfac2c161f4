//! The figures of submissions, ready to be drawn by [`chart`](crate::chart): the same for the terminal and for the page.

pub mod identity;
pub mod ratios;
pub mod runs;
