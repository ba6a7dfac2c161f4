//! The one question we ask a server ourselves: which status does this path give?

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(5);

/// Status of `GET path` on this machine; `None` when nothing answers in HTTP.
pub fn status(port: u16, path: &str) -> Option<u16> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    let mut stream = TcpStream::connect_timeout(&address, TIMEOUT).ok()?;
    stream.set_read_timeout(Some(TIMEOUT)).ok()?;
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").ok()?;
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).ok()?;
    status_of(&line)
}

fn status_of(line: &str) -> Option<u16> {
    line.strip_prefix("HTTP/1.")?.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::status_of;

    #[test]
    fn a_status_is_read_from_http_only() {
        assert_eq!(status_of("HTTP/1.1 503 Service Unavailable\r\n"), Some(503));
        assert_eq!(status_of("SSH-2.0-OpenSSH_9.2\r\n"), None);
        assert_eq!(status_of(""), None);
    }
}
