//! The measured path: open, send, observe.

use std::time::{Duration, Instant};

use bytes::Bytes;
use dyno_shared::record::{RequestError, RequestErrorKind, RequestRecord};
use dyno_shared::units::Seconds;
use http::Method;
use tokio::task::JoinSet;

use super::crowd::UnderWay;
use super::exchange::{Asking, Broken, Exchange, request};
use super::socket::dial;
use super::{Target, Timeouts};
use crate::endpoint::Dialect;
use crate::stream::{Observed, Observer};

/// How long the rest of a body may take after `[DONE]`, so that the server can close in peace.
const FAREWELL: Duration = Duration::from_millis(250);

/// Connections that are opened at a time: a server's queue of new ones may be short.
const OPENED_AT_A_TIME: usize = 64;

/// One request, its body built before anything is timed.
#[derive(Debug, Clone)]
pub struct Ask {
    /// The route, e.g. that of a [`Dialect`].
    pub path: &'static str,
    /// The body.
    pub body: Bytes,
    /// Which of the run's concurrent streams this is, from 0.
    pub stream: u32,
    /// The run tag that the prompt carries.
    pub run_tag: String,
    /// SHA-256 of the prompt, in hex.
    pub prompt_sha256: Option<String>,
    /// When the request should start.
    pub t_due: Option<Instant>,
}

impl Ask {
    fn seed(&self, run_start: Instant) -> RequestRecord {
        RequestRecord {
            stream: self.stream,
            run_tag: self.run_tag.clone(),
            prompt_sha256: self.prompt_sha256.clone(),
            t_due_s: self.t_due.map(|due| offset(due, run_start)),
            ..RequestRecord::default()
        }
    }
}

/// A connection of its own for one request, open and idle.
#[derive(Debug)]
pub struct Connection {
    target: Target,
    exchange: Exchange,
    set_up: Duration,
    local_port: u16,
}

/// Opens a connection and times it: look-up, TCP, TLS.
///
/// # Errors
/// [`RequestErrorKind::Connect`] with what to do.
pub async fn open(target: &Target) -> Result<Connection, RequestError> {
    let begin = Instant::now();
    let error = |message| RequestError { kind: RequestErrorKind::Connect, message };
    let socket = dial(target).await.map_err(|failure| error(failure.explain()))?;
    let (set_up, local_port) = (begin.elapsed(), socket.local_port);
    Ok(Connection { target: target.clone(), exchange: Exchange::new(socket), set_up, local_port })
}

/// Opens so many connections, each timed by itself.
pub async fn open_many(target: &Target, count: usize) -> Vec<Result<Connection, RequestError>> {
    let mut connections = Vec::with_capacity(count);
    while connections.len() < count {
        let mut opening = JoinSet::new();
        for _ in connections.len()..count.min(connections.len() + OPENED_AT_A_TIME) {
            let target = target.clone();
            opening.spawn(async move { open(&target).await });
        }
        connections.extend(opening.join_all().await);
    }
    connections
}

/// Opens a connection, sends, and observes to the end. Failures stand in the record.
pub async fn drive(target: &Target, ask: Ask, run_start: Instant) -> Observed {
    match open(target).await {
        Ok(connection) => connection.send(ask, run_start).await,
        Err(error) => not_sent(&ask, run_start, error),
    }
}

/// The record of a request whose connection could not be opened.
pub fn not_sent(ask: &Ask, run_start: Instant, error: RequestError) -> Observed {
    let at = offset(Instant::now(), run_start);
    Observer::of(Dialect::on(ask.path), ask.seed(run_start)).failed(at, error.kind, error.message)
}

impl Connection {
    /// How long it took to open.
    pub fn connect_time(&self) -> Duration {
        self.set_up
    }

    /// Our port: what a server's log may know the request by.
    pub fn local_port(&self) -> u16 {
        self.local_port
    }

    /// Sends the one request and observes its answer to the end. Failures stand in the record.
    pub async fn send(self, ask: Ask, run_start: Instant) -> Observed {
        let target = self.target.clone();
        let Observed { mut record, text, reasoning } = self.observe(ask, run_start).await;
        if let Some(error) = &mut record.error {
            error.message = target.without_key(std::mem::take(&mut error.message));
        }
        record.finish_reason = record.finish_reason.map(|reason| target.without_key(reason));
        Observed { record, text: target.without_key(text), reasoning: target.without_key(reasoning) }
    }

    async fn observe(mut self, ask: Ask, run_start: Instant) -> Observed {
        let _under_way = UnderWay::begin();
        let mut seed = ask.seed(run_start);
        seed.connect_s = Some(Seconds(self.set_up.as_nanos() as f64 / 1e9));
        let asking = Asking {
            method: Method::POST,
            route: ask.path,
            body: Some(ask.body),
            accept: "text/event-stream, application/x-ndjson, application/json",
        };
        let request = request(&self.target, &asking);
        let Timeouts { first_byte, idle, .. } = self.target.timeouts();
        let t_send = Instant::now();
        seed.t_send_s = Some(offset(t_send, run_start));
        let mut observer = Observer::of(Dialect::on(ask.path), seed);
        match self.exchange.send(request, t_send, first_byte).await {
            Ok(status) => observer.headers(offset(self.exchange.last_read(), run_start), status),
            Err(broken) => {
                let (kind, message) = before_headers(broken);
                return observer.failed(offset(Instant::now(), run_start), kind, message);
            }
        }
        loop {
            let at = offset(self.exchange.last_read(), run_start);
            if self.exchange.is_over() {
                return observer.end(at);
            }
            // A role chunk or a comment may come at once and the first token after a long prefill.
            let has_text = observer.last_text().is_some();
            let patience = if has_text { idle } else { first_byte };
            let watch = |at, bytes: &[u8]| observer.bytes(offset(at, run_start), bytes);
            let read = self.exchange.read(patience, watch).await;
            let at = offset(self.exchange.last_read(), run_start);
            if let Some(message) = stalled(&observer, at, idle) {
                return observer.failed(at, RequestErrorKind::IdleTimeout, message);
            }
            if observer.is_over() {
                // A server that goes on talking is not waited for.
                let _ = tokio::time::timeout(FAREWELL, self.farewell()).await;
                return observer.end(at);
            }
            if let Err(broken) = read {
                let (kind, message) = in_body(broken, has_text);
                return observer.failed(offset(Instant::now(), run_start), kind, message);
            }
        }
    }

    /// Reads on until the server closes, which it may do in peace.
    async fn farewell(mut self) {
        while !self.exchange.is_over() && self.exchange.read(FAREWELL, |_, _| ()).await.is_ok() {}
    }
}

/// Seconds from the start of the run; negative for what came before it.
fn offset(at: Instant, run_start: Instant) -> Seconds {
    // Whole nanoseconds over 1e9 are written with nine decimals; `as_secs_f64` is often one digit off that.
    let seconds = |span: Duration| span.as_nanos() as f64 / 1e9;
    Seconds(match at.checked_duration_since(run_start) {
        Some(after) => seconds(after),
        None => -seconds(run_start.duration_since(at)),
    })
}

/// What to say of a stream whose text has stopped though the server goes on with comments or empty chunks: that is
/// life while it works on a prompt, and a stall once text has come.
fn stalled(observer: &Observer, at: Seconds, idle: Duration) -> Option<String> {
    let since = observer.last_text()?;
    let limit_s = idle.as_secs_f64();
    (!observer.is_over() && at.0 - since.0 > limit_s)
        .then(|| format!("signs of life, but no text for {limit_s} s (--idle-timeout)"))
}

fn before_headers(broken: Broken) -> (RequestErrorKind, String) {
    match broken {
        Broken::Silent(limit) => (
            RequestErrorKind::FirstByteTimeout,
            format!("no answer within {} s (--first-byte-timeout)", limit.as_secs_f64()),
        ),
        Broken::Closed(cause) => (
            RequestErrorKind::Disconnected,
            format!(
                "the server closed the connection before the first byte of its answer ({cause}): it may be \
                 overloaded or restarting; the request was not repeated, its log says more"
            ),
        ),
        Broken::NotHttp(cause) => (
            RequestErrorKind::Protocol,
            format!(
                "the answer is not HTTP ({cause}): is --url right, and http or https as the server speaks it?"
            ),
        ),
    }
}

fn in_body(broken: Broken, begun: bool) -> (RequestErrorKind, String) {
    match broken {
        Broken::Silent(limit) if begun => (
            RequestErrorKind::IdleTimeout,
            format!("the stream was silent for {} s (--idle-timeout)", limit.as_secs_f64()),
        ),
        Broken::Silent(limit) => (
            RequestErrorKind::FirstByteTimeout,
            format!("no text yet, and silence for {} s (--first-byte-timeout)", limit.as_secs_f64()),
        ),
        Broken::Closed(cause) => (
            RequestErrorKind::Disconnected,
            format!(
                "the connection was cut in the middle of the answer ({cause}): the engine's log says more"
            ),
        ),
        Broken::NotHttp(cause) => {
            (RequestErrorKind::Protocol, format!("the body breaks the rules of HTTP ({cause})"))
        }
    }
}
