//! As much of HTTP/1.1 as an engine needs: requests in, whole answers out. Streams write their own chunks.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::clock::now_ns;

const MOST_HEAD: usize = 64 << 10;
const MOST_BODY: usize = 64 << 20;
const MOST_HEADERS: usize = 100;

/// A request, read to its last byte.
#[derive(Debug, Default)]
pub struct Request {
    /// `GET`, `POST`, …
    pub method: String,
    /// The path without the query.
    pub path: String,
    /// The query without its question mark.
    pub query: String,
    /// The client's `x-request-id`.
    pub request_id: Option<String>,
    /// Whether the connection stays open after the answer.
    pub keep_alive: bool,
    /// The body.
    pub body: Vec<u8>,
    /// When the last byte had been read.
    pub arrived_ns: u64,
}

/// Why there is no request.
#[derive(Debug)]
pub enum NoRequest {
    /// The client has closed, or the connection broke.
    Closed,
    /// What came is not a request that can be answered otherwise than with this status and message.
    Refused(u16, &'static str),
}

impl From<io::Error> for NoRequest {
    fn from(_: io::Error) -> Self {
        // A broken connection has nobody left to tell.
        Self::Closed
    }
}

/// The head of a request.
struct Head {
    request: Request,
    length: usize,
    body_length: usize,
    expects_continue: bool,
}

/// Reads one request. `buffer` holds bytes that were read beyond the one before, and does so again afterwards.
///
/// # Errors
/// [`NoRequest`] at the end of the connection and for malformed or oversized requests.
pub async fn read_request(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<Request, NoRequest> {
    let mut arrived_ns = now_ns();
    let head = loop {
        if let Some(head) = parse_head(buffer)? {
            break head;
        }
        if buffer.len() > MOST_HEAD {
            return Err(NoRequest::Refused(431, "the request's head is larger than 64 KiB"));
        }
        arrived_ns = read_more(stream, buffer).await?;
    };
    if head.body_length > MOST_BODY {
        return Err(NoRequest::Refused(413, "the request's body is larger than 64 MiB"));
    }
    let end = head.length + head.body_length;
    if head.expects_continue && buffer.len() < end {
        stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
    }
    buffer.reserve(end.saturating_sub(buffer.len()));
    while buffer.len() < end {
        arrived_ns = read_more(stream, buffer).await?;
    }
    let beyond = buffer.split_off(end);
    let body = std::mem::replace(buffer, beyond).split_off(head.length);
    Ok(Request { body, arrived_ns, ..head.request })
}

/// Reads once; the time just after.
async fn read_more(stream: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<u64, NoRequest> {
    if stream.read_buf(buffer).await? == 0 {
        return Err(NoRequest::Closed);
    }
    Ok(now_ns())
}

/// The head at the beginning of `bytes`; `None` while it is incomplete.
fn parse_head(bytes: &[u8]) -> Result<Option<Head>, NoRequest> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let length = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(length)) => length,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(_) => return Err(NoRequest::Refused(400, "this is not an HTTP/1.1 request")),
    };
    let (path, query) =
        parsed.path.unwrap_or("/").split_once('?').unwrap_or((parsed.path.unwrap_or("/"), ""));
    let mut head = Head {
        request: Request {
            method: parsed.method.unwrap_or_default().to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
            keep_alive: parsed.version == Some(1),
            ..Request::default()
        },
        length,
        body_length: 0,
        expects_continue: false,
    };
    for header in parsed.headers.iter() {
        let value = String::from_utf8_lossy(header.value);
        let value = value.trim();
        if header.name.eq_ignore_ascii_case("content-length") {
            let refused = NoRequest::Refused(400, "the content-length is not a number");
            head.body_length = value.parse().map_err(|_| refused)?;
        } else if header.name.eq_ignore_ascii_case("transfer-encoding") {
            return Err(NoRequest::Refused(411, "send the body with a content-length"));
        } else if header.name.eq_ignore_ascii_case("connection") {
            head.request.keep_alive &= !value.eq_ignore_ascii_case("close");
        } else if header.name.eq_ignore_ascii_case("expect") {
            head.expects_continue = value.eq_ignore_ascii_case("100-continue");
        } else if header.name.eq_ignore_ascii_case("x-request-id") {
            head.request.request_id = Some(value.to_owned());
        }
    }
    Ok(Some(head))
}

/// An answer that is known as a whole.
#[derive(Debug)]
pub struct Answer {
    /// Status code.
    pub status: u16,
    /// `Content-Type`.
    pub content_type: &'static str,
    /// Body.
    pub body: String,
}

impl Answer {
    /// JSON with status 200.
    pub fn json(body: String) -> Self {
        Self { status: 200, content_type: "application/json", body }
    }

    /// An error as OpenAI and llama.cpp word it.
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let body = serde_json::json!({ "error": { "message": message, "type": kind, "code": status } });
        Self { status, ..Self::json(body.to_string()) }
    }

    /// The bytes on the wire.
    pub fn bytes(&self, keep_alive: bool) -> Vec<u8> {
        let Self { status, content_type, body } = self;
        let length = body.len();
        let head = head(*status, keep_alive);
        format!("{head}Content-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n{body}").into_bytes()
    }
}

/// Status line and the headers that every answer has.
pub fn head(status: u16, keep_alive: bool) -> String {
    let reason = match status {
        200 => "OK",
        400 => "Bad Request",
        404 => "Not Found",
        405 => "Method Not Allowed",
        411 => "Length Required",
        413 => "Content Too Large",
        429 => "Too Many Requests",
        431 => "Request Header Fields Too Large",
        500 => "Internal Server Error",
        503 => "Service Unavailable",
        _ => "Error",
    };
    let connection = if keep_alive { "keep-alive" } else { "close" };
    format!("HTTP/1.1 {status} {reason}\r\nServer: dyno-simulator\r\nConnection: {connection}\r\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<Head> {
        parse_head(text.as_bytes()).unwrap_or_else(|refused| panic!("{refused:?}"))
    }

    #[test]
    fn a_head_is_read_only_when_it_is_whole() {
        let text =
            "POST /v1/x?since=3&a=b HTTP/1.1\r\nHost: a\r\nContent-Length: 12\r\nX-Request-Id: r7\r\n\r\n";
        for end in 0..text.len() {
            assert!(parse(&text[..end]).is_none(), "whole after {end} bytes");
        }
        let head = parse(text).unwrap();
        assert_eq!((head.length, head.body_length), (text.len(), 12));
        assert_eq!((head.request.path.as_str(), head.request.query.as_str()), ("/v1/x", "since=3&a=b"));
        assert_eq!(head.request.request_id.as_deref(), Some("r7"));
        assert!(head.request.keep_alive);
    }

    #[test]
    fn close_and_http_1_0_end_the_connection() {
        assert!(!parse("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n").unwrap().request.keep_alive);
        assert!(!parse("GET / HTTP/1.0\r\n\r\n").unwrap().request.keep_alive);
    }

    #[test]
    fn what_is_no_request_is_refused() {
        for (text, status) in [
            ("\u{0}\u{1}\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nContent-Length: many\r\n\r\n", 400),
            ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        ] {
            assert!(
                matches!(parse_head(text.as_bytes()), Err(NoRequest::Refused(s, _)) if s == status),
                "{text}"
            );
        }
    }
}
