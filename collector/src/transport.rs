//! The only sockets. A measured request has a fresh connection, opened and timed before it is sent; every socket read
//! is stamped before its bytes are parsed; nothing is ever retried in silence.
//!
//! `http://` and `https://` are spoken, HTTP/1.1 only. Proxy variables of the environment are not honoured: a proxy
//! between the client and the engine would be measured with it.

mod call;
mod exchange;
mod measured;
mod socket;
mod target;

pub use call::{CallError, Reply, call, get, get_json, get_text, post_json};
pub use hyper::Method;
pub use measured::{Ask, Connection, drive, not_sent, open};
pub use target::{API_KEY_ENV, Target, TargetError, Timeouts};

/// The runtime on which streams are driven, measured by `cargo xtask bench client`.
///
/// # Errors
/// When the operating system refuses the poller.
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()
}
