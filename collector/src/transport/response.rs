//! As much of HTTP/1.1 (RFC 9112) as a client needs to read one answer: the head, then the body in any split. Pure.

/// The longest head that is taken.
pub(super) const MAX_HEAD_BYTES: usize = 64 << 10;
/// Most headers of a head.
const MAX_HEADERS: usize = 128;
/// Most bytes of chunk extensions and trailers, which say nothing to us.
const MAX_IDLE_TALK: usize = 16 << 10;
/// Hexadecimal digits of the largest chunk.
const MAX_SIZE_DIGITS: u8 = 15;

/// What came is not HTTP; the words say how.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NotHttp(pub(super) String);

impl NotHttp {
    fn because(words: &str) -> Self {
        Self(words.to_owned())
    }
}

/// The head of an answer.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Head {
    /// The status.
    pub(super) status: u16,
    /// Bytes of everything before the body, interim answers included.
    pub(super) length: usize,
    /// How the body is framed.
    pub(super) body: Body,
}

/// Reads the head at the beginning of `bytes`; `None` while it is incomplete. Interim answers (1xx) are passed over.
pub(super) fn head(bytes: &[u8]) -> Result<Option<Head>, NotHttp> {
    let mut begin = 0;
    loop {
        let rest = bytes.get(begin..).unwrap_or_default();
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Response::new(&mut headers);
        let length = match parsed.parse(rest) {
            Ok(httparse::Status::Complete(length)) => begin + length,
            Ok(httparse::Status::Partial) if bytes.len() > MAX_HEAD_BYTES => {
                return Err(NotHttp(format!("a head of more than {} KiB", MAX_HEAD_BYTES >> 10)));
            }
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(error) => return Err(NotHttp(error.to_string())),
        };
        let status = parsed.code.unwrap_or_default();
        if (100..200).contains(&status) && status != 101 {
            begin = length;
            continue;
        }
        let body = if matches!(status, 101 | 204 | 304) { Body::OVER } else { framing(parsed.headers)? };
        return Ok(Some(Head { status, length, body }));
    }
}

/// How a body is framed (RFC 9112 §6.3).
fn framing(headers: &[httparse::Header<'_>]) -> Result<Body, NotHttp> {
    let values = |name: &'static str| {
        let mine = headers.iter().filter(move |header| header.name.eq_ignore_ascii_case(name));
        mine.flat_map(|header| header.value.split(|&byte| byte == b',')).map(<[u8]>::trim_ascii)
    };
    if let Some(last) = values("transfer-encoding").next_back() {
        let chunked = last.eq_ignore_ascii_case(b"chunked");
        return Ok(Body {
            state: if chunked { State::Size { size: 0, digits: 0 } } else { State::UntilClose },
            idle_talk: 0,
        });
    }
    let mut known = None;
    for value in values("content-length") {
        let length: Option<u64> = std::str::from_utf8(value)
            .ok()
            .filter(|text| text.bytes().all(|byte| byte.is_ascii_digit()))
            .and_then(|text| text.parse().ok());
        let length = length.ok_or_else(|| NotHttp::because("a content-length that is no number"))?;
        if known.is_some_and(|known| known != length) {
            return Err(NotHttp::because("two content-lengths that differ"));
        }
        known = Some(length);
    }
    let state = match known {
        None => State::UntilClose,
        Some(0) => State::Over,
        Some(length) => State::Rest(length),
    };
    Ok(Body { state, idle_talk: 0 })
}

/// What is still to come of a body.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Body {
    state: State,
    /// Bytes of extensions and trailers so far.
    idle_talk: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// The connection's end is the body's.
    UntilClose,
    /// So many bytes of a body of known length.
    Rest(u64),
    /// The size line of a chunk, read as far as `size`.
    Size { size: u64, digits: u8 },
    /// After the digits: blanks or an extension.
    Extension { size: u64 },
    /// The LF of the size line.
    SizeEnd { size: u64 },
    /// So many bytes of a chunk.
    Chunk(u64),
    /// The CR after a chunk.
    ChunkEnd,
    /// The LF after a chunk.
    ChunkEndLf,
    /// At the beginning of a line after the last chunk.
    Trailer,
    /// Inside a trailer's line.
    TrailerLine,
    /// The LF of the empty line that ends the body.
    LastLf,
    /// Nothing more comes.
    Over,
}

impl Body {
    /// A body without bytes.
    pub(super) const OVER: Self = Self { state: State::Over, idle_talk: 0 };

    /// Whether nothing more comes.
    pub(super) fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// The connection has ended: whether the body may end there.
    pub(super) fn close(&mut self) -> bool {
        if self.state == State::UntilClose {
            self.state = State::Over;
        }
        self.is_over()
    }

    /// Takes the next bytes and hands the data among them to `on_data`, in order. Bytes after the end are ignored.
    pub(super) fn push(&mut self, mut bytes: &[u8], mut on_data: impl FnMut(&[u8])) -> Result<(), NotHttp> {
        while let Some(&byte) = bytes.first() {
            match self.state {
                State::Over => return Ok(()),
                State::UntilClose => {
                    on_data(bytes);
                    return Ok(());
                }
                State::Rest(left) | State::Chunk(left) => {
                    let (data, rest) =
                        bytes.split_at(bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX)));
                    on_data(data);
                    bytes = rest;
                    let left = left - data.len() as u64;
                    self.state = match (self.state, left) {
                        (State::Rest(_), 0) => State::Over,
                        (State::Rest(_), _) => State::Rest(left),
                        (_, 0) => State::ChunkEnd,
                        _ => State::Chunk(left),
                    };
                    continue;
                }
                _ => self.state = self.line(byte)?,
            }
            bytes = &bytes[1..];
        }
        Ok(())
    }

    /// One byte of what stands between the chunks.
    fn line(&mut self, byte: u8) -> Result<State, NotHttp> {
        Ok(match (self.state, byte) {
            (State::Size { size, digits }, _) => {
                if let Some(digit) = char::from(byte).to_digit(16) {
                    if digits == MAX_SIZE_DIGITS {
                        return Err(NotHttp::because("a chunk beyond all measure"));
                    }
                    State::Size { size: size << 4 | u64::from(digit), digits: digits + 1 }
                } else if digits == 0 {
                    return Err(NotHttp::because("a chunk without its size"));
                } else {
                    match byte {
                        b'\r' => State::SizeEnd { size },
                        b' ' | b'\t' | b';' => State::Extension { size },
                        _ => return Err(NotHttp::because("a chunk's size that is no number")),
                    }
                }
            }
            (State::Extension { size }, b'\r') => State::SizeEnd { size },
            (State::Extension { .. }, b'\n') => return Err(NotHttp::because("a line end that is none")),
            (State::SizeEnd { size: 0 } | State::TrailerLine, b'\n') => State::Trailer,
            (State::SizeEnd { size }, b'\n') => State::Chunk(size),
            (State::ChunkEnd, b'\r') => State::ChunkEndLf,
            (State::ChunkEndLf, b'\n') => State::Size { size: 0, digits: 0 },
            (State::Trailer, b'\r') => State::LastLf,
            (State::LastLf, b'\n') => State::Over,
            (State::Extension { .. } | State::Trailer | State::TrailerLine, _) => {
                self.idle_talk += 1;
                if self.idle_talk > MAX_IDLE_TALK {
                    return Err(NotHttp::because("trailers without end"));
                }
                if let State::Extension { size } = self.state {
                    State::Extension { size }
                } else {
                    State::TrailerLine
                }
            }
            _ => return Err(NotHttp::because("chunks that do not end where they say")),
        })
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::*;
    use proptest::prelude::*;

    use crate::testing::pieces;

    fn read(head_text: &str) -> Head {
        head(head_text.as_bytes()).unwrap().unwrap()
    }

    /// The data of a whole answer given in pieces, and whether its end was seen.
    fn data(pieces: &[&[u8]]) -> Result<(String, bool), NotHttp> {
        let (mut before, mut body, mut out) = (Vec::new(), None, Vec::new());
        for piece in pieces {
            let keep = |bytes: &[u8], out: &mut Vec<u8>| out.extend_from_slice(bytes);
            match &mut body {
                None => {
                    before.extend_from_slice(piece);
                    if let Some(Head { length, body: mut found, .. }) = head(&before)? {
                        found.push(&before[length..], |bytes| keep(bytes, &mut out))?;
                        body = Some(found);
                    }
                }
                Some(body) => body.push(piece, |bytes| keep(bytes, &mut out))?,
            }
        }
        let over = body.as_mut().is_some_and(Body::close);
        Ok((String::from_utf8_lossy(&out).into_owned(), over))
    }

    fn chunked(body: &str) -> Result<(String, bool), NotHttp> {
        data(&[format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{body}").as_bytes()])
    }

    #[test]
    fn a_head_is_read_only_when_it_is_whole_and_interim_ones_are_passed_over() {
        let text = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
        for end in 0..text.len() {
            assert_eq!(head(&text.as_bytes()[..end]), Ok(None), "whole after {end} bytes");
        }
        let whole = read(text);
        assert_eq!((whole.status, whole.length), (200, text.len()));
    }

    #[test]
    fn every_framing_ends_where_it_says() {
        for (text, expected) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello and more", ("hello", true)),
            ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", ("hel", false)),
            ("HTTP/1.1 200 OK\r\ncontent-length: 5, 5\r\n\r\nhello", ("hello", true)),
            ("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nx", ("", true)),
            ("HTTP/1.1 204 Nothing\r\n\r\nx", ("", true)),
            ("HTTP/1.0 200 OK\r\n\r\nto the end", ("to the end", true)),
            ("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nx", ("x", true)),
            (
                "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: gzip, Chunked\r\n\r\n1\r\na\r\n0\r\n\r\n",
                ("a", true),
            ),
        ] {
            let (out, over) = data(&[text.as_bytes()]).unwrap();
            assert_eq!((out.as_str(), over), expected, "{text}");
        }
    }

    #[test]
    fn chunks_may_have_extensions_blanks_and_trailers() {
        let whole = |body| chunked(body).unwrap();
        assert_eq!(whole("5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n"), ("hello world".into(), true));
        assert_eq!(whole("A \r\n0123456789\r\n000\r\nX: y\r\nZ: w\r\n\r\nmore"), ("0123456789".into(), true));
        assert_eq!(whole("5\r\nhel"), ("hel".into(), false));
        assert_eq!(whole("5\r\nhello\r\n0\r\n"), ("hello".into(), false), "the last line is missing");
    }

    #[test]
    fn what_is_no_http_is_an_error_that_says_how() {
        for text in [
            "SSH-2.0-OpenSSH_9.2\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: +5\r\n\r\nhello",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        ] {
            assert!(data(&[text.as_bytes()]).is_err(), "{text}");
        }
        for body in
            ["zz\r\n", "\r\n", "5\nhello", "5x\r\n", "2\r\nabc\r\n", "fffffffffffffffff\r\n", "1;a\nb"]
        {
            assert!(chunked(body).is_err(), "{body}");
        }
        let endless = "x".repeat(MAX_IDLE_TALK + 1);
        assert!(chunked(&format!("0\r\n{endless}")).is_err());
        assert!(chunked(&format!("1;{endless}")).is_err());
        assert!(head(format!("HTTP/1.1 200 OK\r\nX: {}", "y".repeat(MAX_HEAD_BYTES)).as_bytes()).is_err());
    }

    proptest! {
        #[test]
        fn no_split_changes_the_data(
            texts in proptest::collection::vec("[a-z\r\n]{0,20}", 0..6),
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
        ) {
            let mut chunks = String::new();
            for text in texts.iter().filter(|text| !text.is_empty()) {
                write!(chunks, "{:x}\r\n{text}\r\n", text.len()).unwrap();
            }
            let answer = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}0\r\n\r\n");
            prop_assert_eq!(data(&pieces(answer.as_bytes(), &cuts)), Ok((texts.concat(), true)));
        }

        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut answer = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
            answer.extend_from_slice(&bytes);
            let _ = data(&[&answer]);
            let _ = data(&[&bytes]);
        }
    }
}
