//! A TCP or TLS stream that notes the instant of every read.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::Target;

/// When a socket last gave bytes. One connection, one task: the atomic is there only because tasks may move
/// between threads.
#[derive(Debug, Clone)]
pub(super) struct LastRead {
    base: Instant,
    after_ns: Arc<AtomicU64>,
}

impl LastRead {
    fn new() -> Self {
        Self { base: Instant::now(), after_ns: Arc::new(AtomicU64::new(0)) }
    }

    fn stamp(&self) {
        // 584 years fit.
        self.after_ns.store(self.base.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }

    /// The instant of the last read; that of the connection before the first.
    pub(super) fn at(&self) -> Instant {
        self.base + Duration::from_nanos(self.after_ns.load(Ordering::Relaxed))
    }
}

/// Why no connection could be made.
#[derive(Debug)]
pub(super) enum DialError {
    /// The time-out of the connection passed.
    TimedOut(Duration),
    /// Look-up, TCP or TLS failed.
    Failed(io::Error),
}

impl DialError {
    /// What happened and what to do, without naming the machine.
    pub(super) fn explain(&self) -> String {
        match self {
            Self::TimedOut(limit) => format!(
                "no connection within {} s (--connect-timeout): is the address right, and is a firewall in between?",
                limit.as_secs_f64()
            ),
            Self::Failed(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
                "connection refused, nothing listens at the engine's address: start the engine, or correct --url"
                    .to_owned()
            }
            Self::Failed(error) if error.kind() == io::ErrorKind::InvalidData => {
                format!("no TLS connection: {error}. Is it an https:// address with a certificate that this machine trusts?")
            }
            Self::Failed(error) => format!("no connection to the engine's address: {error}. Is --url right?"),
        }
    }
}

/// Looks the host up and opens a connection, TLS included, within the time-out.
pub(super) async fn dial(target: &Target) -> Result<Socket, DialError> {
    let limit = target.timeouts().connect;
    match tokio::time::timeout(limit, connect(target)).await {
        Err(_) => Err(DialError::TimedOut(limit)),
        Ok(result) => result.map_err(DialError::Failed),
    }
}

async fn connect(target: &Target) -> io::Result<Socket> {
    let tcp = TcpStream::connect((target.host.as_str(), target.port)).await?;
    tcp.set_nodelay(true)?;
    let local_port = tcp.local_addr()?.port();
    let last_read = LastRead::new();
    let tcp = Stamped { tcp, last_read: last_read.clone() };
    let stream: Box<dyn Io> = match &target.tls {
        None => Box::new(tcp),
        Some(config) => {
            let name = ServerName::try_from(target.host.clone()).map_err(io::Error::other)?;
            Box::new(TlsConnector::from(Arc::clone(config)).connect(name, tcp).await?)
        }
    };
    Ok(Socket { stream, last_read, local_port })
}

/// A connection, whichever way it is spoken.
#[derive(Debug)]
pub(super) struct Socket {
    pub(super) stream: Box<dyn Io>,
    pub(super) last_read: LastRead,
    pub(super) local_port: u16,
}

/// What HTTP needs of a stream.
pub(super) trait Io: AsyncRead + AsyncWrite + Send + Unpin + std::fmt::Debug {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin + std::fmt::Debug> Io for T {}

/// TCP with the stamp: below TLS, so that decryption comes after it.
#[derive(Debug)]
struct Stamped {
    tcp: TcpStream,
    last_read: LastRead,
}

impl AsyncRead for Stamped {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.tcp).poll_read(cx, buffer))?;
        if buffer.filled().len() > before {
            self.last_read.stamp();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Stamped {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.tcp).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.tcp).poll_write_vectored(cx, pieces)
    }

    fn is_write_vectored(&self) -> bool {
        self.tcp.is_write_vectored()
    }
}
