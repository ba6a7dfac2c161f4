//! The only sockets. A measured request has a fresh connection, opened and timed before it is sent; every socket read
//! is stamped before its bytes are parsed; nothing is ever retried in silence.
//!
//! `http://` and `https://` are spoken, HTTP/1.1 only. Proxy variables of the environment are not honoured: a proxy
//! between the client and the engine would be measured with it.

mod call;
mod crowd;
mod exchange;
mod measured;
mod response;
mod socket;
mod target;

pub use call::{CallError, Reply, call, get, get_json, get_text, post_json};
pub use http::Method;
pub use measured::{Ask, Connection, drive, not_sent, open, open_many};
pub use target::{API_KEY_ENV, Target, TargetError, Timeouts};

/// The runtime on which a few streams are driven, or none: [`runtime_for`] one.
///
/// # Errors
/// As [`runtime_for`].
pub fn runtime() -> std::io::Result<tokio::runtime::Runtime> {
    runtime_for(1)
}

/// The runtime on which so many streams are driven: two workers beside the thread that blocks on it, and one where
/// there are many streams.
///
/// One is enough for the work, but where the system takes a thread off its core for some milliseconds, the other goes on
/// stamping. With many streams two of them wake each other all the time, which costs a quarter more. Measured with
/// `cargo xtask bench client`.
///
/// # Errors
/// When the operating system refuses the poller or a thread.
pub fn runtime_for(streams: u32) -> std::io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(if crowd::are_many(u64::from(streams)) { 1 } else { 2 })
        .on_thread_start(crowd::wake_in_time)
        .on_thread_park(crowd::gather)
        .enable_all()
        .build()
}
