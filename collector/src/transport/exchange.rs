//! One HTTP/1.1 exchange on one connection, driven by the very task that waits for it.
//!
//! What a read brought is stamped and then handed on at once, out of a buffer that every connection of a thread reads
//! into: with a thousand streams, memory that is met again only a thousand events later is what costs most.

use std::future::Future;
use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::Method;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use super::Target;
use super::response::{self, Body, Head, NotHttp};
use super::socket::{Io, LastRead, Socket};

/// Bytes that are read at once at most.
const READ_BYTES: usize = 16 << 10;

/// What is asked of one route.
pub(super) struct Asking<'a> {
    pub(super) method: Method,
    pub(super) route: &'a str,
    pub(super) body: Option<Bytes>,
    pub(super) accept: &'static str,
}

/// The request's bytes, ready to be written.
pub(super) fn request(target: &Target, asking: &Asking<'_>) -> Vec<u8> {
    let body = asking.body.as_deref().unwrap_or_default();
    let mut bytes = Vec::with_capacity(body.len() + 512);
    let mut line = |parts: [&[u8]; 3]| {
        for part in parts.iter().chain([&&b"\r\n"[..]]) {
            bytes.extend_from_slice(part);
        }
    };
    line([
        asking.method.as_str().as_bytes(),
        b" ",
        &[target.path(asking.route).as_bytes(), b" HTTP/1.1"].concat(),
    ]);
    line([b"host: ", target.host_header.as_bytes(), b""]);
    line([b"user-agent: dyno/", env!("CARGO_PKG_VERSION").as_bytes(), b""]);
    line([b"accept: ", asking.accept.as_bytes(), b""]);
    // One request, one connection: the server need not keep it.
    line([b"connection: close", b"", b""]);
    if let Some(authorization) = &target.authorization {
        line([b"authorization: ", authorization.as_bytes(), b""]);
    }
    if asking.body.is_some() {
        line([b"content-type: application/json", b"", b""]);
    }
    if asking.body.is_some() || asking.method == Method::POST {
        line([b"content-length: ", body.len().to_string().as_bytes(), b""]);
    }
    line([b"", b"", b""]);
    bytes.extend_from_slice(body);
    bytes
}

/// Why an exchange ended before its time.
#[derive(Debug)]
pub(super) enum Broken {
    /// Nothing came for this long.
    Silent(Duration),
    /// The connection was closed or cut.
    Closed(String),
    /// What came is not HTTP.
    NotHttp(String),
}

impl From<NotHttp> for Broken {
    fn from(NotHttp(cause): NotHttp) -> Self {
        Self::NotHttp(cause)
    }
}

/// A connection that carries one request and its answer.
#[derive(Debug)]
pub(super) struct Exchange {
    stream: Box<dyn Io>,
    last_read: LastRead,
    outgoing: Outgoing,
    /// The head as far as it has come, then what came with it of the body.
    head: Vec<u8>,
    body: Body,
    alarm: Alarm,
}

impl Exchange {
    /// An exchange on a socket; nothing is written yet.
    pub(super) fn new(socket: Socket) -> Self {
        let Socket { stream, last_read, .. } = socket;
        Self {
            stream,
            last_read,
            outgoing: Outgoing::default(),
            head: Vec::new(),
            body: Body::OVER,
            alarm: Alarm::new(),
        }
    }

    /// The instant of the last socket read.
    pub(super) fn last_read(&self) -> Instant {
        self.last_read.at()
    }

    /// Whether the whole body has been decoded.
    pub(super) fn is_over(&self) -> bool {
        self.body.is_over()
    }

    /// Writes the request and waits for the head, at most `patience` from `since`; gives the status.
    pub(super) async fn send(
        &mut self,
        request: Vec<u8>,
        since: Instant,
        patience: Duration,
    ) -> Result<u16, Broken> {
        self.outgoing = Outgoing { bytes: request, written: 0, flushed: false };
        loop {
            let Self { stream, last_read, outgoing, head, alarm, .. } = self;
            let keep = |bytes: &[u8]| head.extend_from_slice(bytes);
            let deadline = since + patience;
            let read = receive(stream, outgoing, last_read, alarm, |_| deadline, keep).await;
            if !settle(read, patience)? {
                return Err(ended());
            }
            if let Some(Head { status, length, body }) = response::head(&self.head)? {
                self.head.drain(..length);
                self.body = body;
                return Ok(status);
            }
        }
    }

    /// Reads once more and hands what came to `on_data`, with the instant of the read, without the framing of HTTP.
    /// Every read postpones the end of patience. A connection that ends before the body does is an error.
    pub(super) async fn read(
        &mut self,
        patience: Duration,
        mut on_data: impl FnMut(Instant, &[u8]),
    ) -> Result<(), Broken> {
        let Self { stream, last_read, outgoing, head, body, alarm } = self;
        let mut decoded = Ok(());
        let mut decode = |bytes: &[u8]| {
            let at = last_read.at();
            decoded = body.push(bytes, |data| on_data(at, data));
        };
        if !head.is_empty() {
            decode(&std::mem::take(head));
            return Ok(decoded?);
        }
        let deadline = |last_read| last_read + patience;
        let read = receive(stream, outgoing, last_read, alarm, deadline, decode).await;
        let more = settle(read, patience)?;
        decoded?;
        if more || body.close() { Ok(()) } else { Err(ended()) }
    }
}

/// One read into a buffer of the thread; gives how much came, `None` when the deadline passed. What can be written of
/// the request is written: a server may answer before it has read all, and what it says is heard even when the rest
/// cannot be written.
async fn receive(
    stream: &mut Box<dyn Io>,
    outgoing: &mut Outgoing,
    last_read: &LastRead,
    alarm: &mut Alarm,
    deadline: impl Fn(Instant) -> Instant,
    mut on_bytes: impl FnMut(&[u8]),
) -> Option<io::Result<usize>> {
    std::future::poll_fn(|cx| {
        outgoing.poll_write(stream, cx);
        let mut room = [const { MaybeUninit::uninit() }; READ_BYTES];
        let mut buffer = ReadBuf::uninit(&mut room);
        if let Poll::Ready(read) = Pin::new(&mut *stream).poll_read(cx, &mut buffer) {
            let bytes = buffer.filled();
            return Poll::Ready(Some(read.map(|()| {
                on_bytes(bytes);
                bytes.len()
            })));
        }
        alarm.poll_silence(|| deadline(last_read.at()), cx).map(|()| None)
    })
    .await
}

/// Whether anything came; false at the end of the connection.
fn settle(read: Option<io::Result<usize>>, patience: Duration) -> Result<bool, Broken> {
    match read {
        None => Err(Broken::Silent(patience)),
        Some(Ok(count)) => Ok(count > 0),
        Some(Err(error)) => Err(Broken::Closed(error.to_string())),
    }
}

fn ended() -> Broken {
    Broken::Closed("the connection ended before the answer did".to_owned())
}

/// Rings once a deadline, which moves while bytes come, has passed.
#[derive(Debug)]
struct Alarm {
    sleep: Pin<Box<Sleep>>,
    /// When it rings, and whom it wakes then.
    set: Option<(Instant, Waker)>,
}

impl Alarm {
    fn new() -> Self {
        Self { sleep: Box::pin(tokio::time::sleep(Duration::ZERO)), set: None }
    }

    /// It is set anew only when it rings or would ring too late, so that an event costs no timer, not even a look at
    /// it.
    fn poll_silence(&mut self, deadline: impl Fn() -> Instant, cx: &mut Context<'_>) -> Poll<()> {
        let due = deadline();
        let stands = |(at, waker): &(Instant, Waker)| {
            *at <= due && Instant::now() < *at && waker.will_wake(cx.waker())
        };
        if self.set.as_ref().is_some_and(stands) {
            return Poll::Pending;
        }
        let mut due = due;
        loop {
            self.sleep.as_mut().reset(due.into());
            self.set = None;
            if self.sleep.as_mut().poll(cx).is_pending() {
                self.set = Some((due, cx.waker().clone()));
                return Poll::Pending;
            }
            due = deadline();
            if due <= Instant::now() {
                return Poll::Ready(());
            }
        }
    }
}

/// A request on its way.
#[derive(Debug, Default)]
struct Outgoing {
    bytes: Vec<u8>,
    written: usize,
    flushed: bool,
}

impl Outgoing {
    /// Writes what can be written now. What goes wrong shows in the reading.
    fn poll_write(&mut self, stream: &mut Box<dyn Io>, cx: &mut Context<'_>) {
        while let Some(rest) = self.bytes.get(self.written..).filter(|rest| !rest.is_empty()) {
            match Pin::new(&mut *stream).poll_write(cx, rest) {
                Poll::Pending => return,
                Poll::Ready(Ok(written)) if written > 0 => self.written += written,
                Poll::Ready(_) => return self.give_up(),
            }
        }
        // TLS keeps bytes back until it is told.
        if !self.flushed && Pin::new(&mut *stream).poll_flush(cx).is_ready() {
            self.give_up();
        }
    }

    /// Nothing more is written; the bytes are let go.
    fn give_up(&mut self) {
        *self = Self { flushed: true, ..Self::default() };
    }
}
