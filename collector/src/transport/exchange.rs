//! One HTTP/1.1 exchange on one connection, driven by the very task that waits for it.

use std::error::Error as _;
use std::future::Future;
use std::io;
use std::pin::{Pin, pin};
use std::task::Poll;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1;
use hyper::header::{ACCEPT, AUTHORIZATION, CONNECTION, CONTENT_TYPE, HOST, USER_AGENT};
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;

use super::Target;
use super::socket::{Io, LastRead, Socket};

/// What is asked of one route.
pub(super) struct Asking<'a> {
    pub(super) method: Method,
    pub(super) route: &'a str,
    pub(super) body: Option<Bytes>,
    pub(super) accept: &'static str,
}

/// The request, ready to be written.
pub(super) fn request(
    target: &Target,
    asking: Asking<'_>,
) -> Result<Request<Full<Bytes>>, hyper::http::Error> {
    let mut request = Request::builder()
        .method(asking.method)
        .uri(target.path(asking.route))
        .header(HOST, target.host_header.clone())
        .header(USER_AGENT, concat!("dyno/", env!("CARGO_PKG_VERSION")))
        .header(ACCEPT, asking.accept)
        // One request, one connection: the server need not keep it.
        .header(CONNECTION, "close");
    if let Some(authorization) = &target.authorization {
        request = request.header(AUTHORIZATION, authorization.clone());
    }
    if asking.body.is_some() {
        request = request.header(CONTENT_TYPE, "application/json");
    }
    request.body(Full::new(asking.body.unwrap_or_default()))
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

impl Broken {
    fn from_hyper(error: &hyper::Error) -> Self {
        let cause = error.source().map_or_else(|| error.to_string(), ToString::to_string);
        let io_kind =
            error.source().and_then(|source| source.downcast_ref::<io::Error>()).map(io::Error::kind);
        let malformed_chunk =
            matches!(io_kind, Some(io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput));
        if error.is_parse() || malformed_chunk { Self::NotHttp(cause) } else { Self::Closed(cause) }
    }
}

/// What reads and writes the socket while it is polled.
type Driver = http1::Connection<TokioIo<Box<dyn Io>>, Full<Bytes>>;

/// A connection with the machinery that reads and writes it.
pub(super) struct Exchange {
    sender: http1::SendRequest<Full<Bytes>>,
    driver: Option<Driver>,
    last_read: LastRead,
}

impl std::fmt::Debug for Exchange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Exchange").finish_non_exhaustive()
    }
}

impl Exchange {
    /// Starts HTTP on a socket; nothing is written yet.
    pub(super) async fn start(socket: Socket) -> Result<Self, hyper::Error> {
        let Socket { stream, last_read, .. } = socket;
        let (sender, driver) = http1::handshake(TokioIo::new(stream)).await?;
        Ok(Self { sender, driver: Some(driver), last_read })
    }

    /// The instant of the last socket read.
    pub(super) fn last_read(&self) -> Instant {
        self.last_read.at()
    }

    /// Writes the request and waits for the headers, at most `patience` from `since`.
    pub(super) async fn send(
        &mut self,
        request: Request<Full<Bytes>>,
        since: Instant,
        patience: Duration,
    ) -> Result<Response<Incoming>, Broken> {
        let response = self.sender.send_request(request);
        let waited = drive(&mut self.driver, &self.last_read, response, |_| since + patience).await;
        waited.ok_or(Broken::Silent(patience))?.map_err(|error| Broken::from_hyper(&error))
    }

    /// The next bytes of the body, with `None` at its end. Every read postpones the end of patience.
    pub(super) async fn bytes(
        &mut self,
        body: &mut Incoming,
        patience: Duration,
    ) -> Result<Option<Bytes>, Broken> {
        loop {
            let waited =
                drive(&mut self.driver, &self.last_read, body.frame(), |last_read| last_read + patience)
                    .await;
            match waited.ok_or(Broken::Silent(patience))? {
                None => return Ok(None),
                Some(Err(error)) => return Err(Broken::from_hyper(&error)),
                Some(Ok(frame)) => {
                    // Trailers are no data.
                    if let Ok(bytes) = frame.into_data() {
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }
}

/// Waits for `future` while driving the connection in the same task, so that no other task stands between a read and
/// its stamp. `None` once the deadline, which follows the last read, has passed.
async fn drive<D, F>(
    driver: &mut Option<D>,
    last_read: &LastRead,
    future: F,
    deadline: impl Fn(Instant) -> Instant,
) -> Option<F::Output>
where
    D: Future + Unpin,
    F: Future,
{
    let mut future = pin!(future);
    let mut alarm = pin!(tokio::time::sleep_until(deadline(last_read.at()).into()));
    std::future::poll_fn(|cx| {
        // Bytes that are here already are taken before more are read.
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        if let Some(connection) = driver.as_mut() {
            if Pin::new(connection).poll(cx).is_ready() {
                // What went wrong reaches the future through hyper's channel.
                *driver = None;
            }
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(Some(output));
            }
        }
        while alarm.as_mut().poll(cx).is_ready() {
            let due = deadline(last_read.at());
            if due <= Instant::now() {
                return Poll::Ready(None);
            }
            alarm.as_mut().reset(due.into());
        }
        Poll::Pending
    })
    .await
}
