//! Server-sent events: bytes in any split → frames. Pure: no socket, no clock.
//!
//! Follows the event-stream format of the WHATWG HTML standard (§9.2.6): lines end with LF, CR or CR LF, a blank
//! line ends a frame, several `data` lines are joined with LF, lines that start with `:` are comments. Two things are
//! taken more kindly: a last frame without its blank line is still given (marked as cut), and the field `error`,
//! which older llama.cpp servers send, is a frame of the event `error`.

use std::mem;

/// The most bytes that one frame may have: an endless line must not fill the memory.
pub const MAX_FRAME_BYTES: usize = 8 << 20;

const BOM: [u8; 3] = [0xEF, 0xBB, 0xBF];

/// One event, borrowed from the decoder's buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The event's type; empty where the server named none.
    pub event: &'a [u8],
    /// The data lines, joined with LF. Not checked to be UTF-8.
    pub data: &'a [u8],
    /// False for a last frame that the end of the stream cut before its blank line.
    pub complete: bool,
}

/// A frame grew beyond [`MAX_FRAME_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("one event of the stream is larger than {} MiB: this is not a token stream", MAX_FRAME_BYTES >> 20)]
pub struct FrameTooLong;

/// The state between two pushes.
#[derive(Debug, Default)]
pub struct Decoder {
    /// Bytes of the byte-order mark seen so far; past the mark's length once the start is behind us.
    mark: usize,
    /// A line whose end has not come yet.
    line: Vec<u8>,
    event: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last line ended with CR: an LF that follows belongs to it.
    after_cr: bool,
}

impl Decoder {
    /// Takes the next bytes and hands each frame that they complete to `on_frame`, in order.
    ///
    /// # Errors
    /// [`FrameTooLong`]; the decoder is of no use afterwards.
    pub fn push(&mut self, bytes: &[u8], mut on_frame: impl FnMut(Frame<'_>)) -> Result<(), FrameTooLong> {
        let mut rest = self.skip_mark(bytes);
        while let Some(&first) = rest.first() {
            if mem::take(&mut self.after_cr) && first == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr::memchr2(b'\n', b'\r', rest) else {
                self.line.extend_from_slice(rest);
                return self.within_bounds();
            };
            if let Some(data) = self.whole_frame(rest, end) {
                on_frame(Frame { event: &[], data, complete: true });
                rest = &rest[end + 2..];
                continue;
            }
            self.after_cr = rest[end] == b'\r';
            if self.line.is_empty() {
                self.take_line(&rest[..end], &mut on_frame);
            } else {
                let mut line = mem::take(&mut self.line);
                line.extend_from_slice(&rest[..end]);
                self.take_line(&line, &mut on_frame);
                line.clear();
                self.line = line;
            }
            self.within_bounds()?;
            rest = &rest[end + 1..];
        }
        Ok(())
    }

    /// The data of a frame of one `data` line that begins and ends in `rest`, its first line ending at `end`: what nearly
    /// every frame is. It needs no copy.
    fn whole_frame<'a>(&self, rest: &'a [u8], end: usize) -> Option<&'a [u8]> {
        let nothing_open = self.line.is_empty() && self.event.is_empty() && !self.has_data;
        if !nothing_open || rest.get(end..end + 2) != Some(b"\n\n") || end > MAX_FRAME_BYTES {
            return None;
        }
        let value = rest.get(..end)?.strip_prefix(b"data:")?;
        Some(value.strip_prefix(b" ").unwrap_or(value))
    }

    /// Ends the stream: a frame still open is given with `complete: false`.
    pub fn finish(mut self, mut on_frame: impl FnMut(Frame<'_>)) {
        let line = mem::take(&mut self.line);
        if !line.is_empty() {
            self.take_line(&line, &mut on_frame);
        }
        if self.has_data {
            on_frame(Frame { event: &self.event, data: &self.data, complete: false });
        }
    }

    fn within_bounds(&self) -> Result<(), FrameTooLong> {
        if self.line.len() + self.data.len() > MAX_FRAME_BYTES { Err(FrameTooLong) } else { Ok(()) }
    }

    /// The bytes after a byte-order mark, which may come in pieces and only at the very start.
    fn skip_mark<'a>(&mut self, mut bytes: &'a [u8]) -> &'a [u8] {
        while let (Some(&expected), Some(&byte)) = (BOM.get(self.mark), bytes.first()) {
            if byte == expected {
                self.mark += 1;
                bytes = &bytes[1..];
            } else {
                // Not a mark after all: what looked like one is the start of the first line.
                self.line.extend_from_slice(&BOM[..self.mark]);
                self.mark = BOM.len();
            }
        }
        bytes
    }

    fn take_line(&mut self, line: &[u8], on_frame: &mut impl FnMut(Frame<'_>)) {
        if line.is_empty() {
            if self.has_data {
                on_frame(Frame { event: &self.event, data: &self.data, complete: true });
            }
            self.has_data = false;
            self.data.clear();
            self.event.clear();
            return;
        }
        let (field, value) = match memchr::memchr(b':', line) {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => self.add_data(value),
            b"event" => {
                self.event.clear();
                self.event.extend_from_slice(value);
            }
            b"error" => {
                self.event.clear();
                self.event.extend_from_slice(b"error");
                self.add_data(value);
            }
            // Comments (an empty field name), `id`, `retry`, and what the standard says to ignore.
            _ => {}
        }
    }

    fn add_data(&mut self, value: &[u8]) {
        if self.has_data {
            self.data.push(b'\n');
        }
        self.data.extend_from_slice(value);
        self.has_data = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::testing::pieces;

    type Owned = (String, String, bool);

    fn frames(pieces: &[&[u8]]) -> Vec<Owned> {
        let mut out = Vec::new();
        let mut decoder = Decoder::default();
        let mut keep = |frame: Frame<'_>| {
            let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            out.push((text(frame.event), text(frame.data), frame.complete));
        };
        for piece in pieces {
            decoder.push(piece, &mut keep).unwrap();
        }
        decoder.finish(&mut keep);
        out
    }

    fn data(pieces: &[&[u8]]) -> Vec<String> {
        frames(pieces).into_iter().map(|(_, data, _)| data).collect()
    }

    #[test]
    fn all_three_line_ends_are_line_ends_even_when_a_read_splits_them() {
        for text in ["data: a\n\ndata: b\n\n", "data: a\r\n\r\ndata: b\r\n\r\n", "data: a\r\rdata: b\r\r"] {
            assert_eq!(data(&[text.as_bytes()]), ["a", "b"], "{text:?}");
            for at in 0..text.len() {
                let (left, right) = text.as_bytes().split_at(at);
                assert_eq!(data(&[left, right]), ["a", "b"], "{text:?} split at {at}");
            }
        }
    }

    #[test]
    fn several_data_lines_are_one_frame_and_comments_none() {
        assert_eq!(
            data(&[b": hello\n\ndata:a\ndata: b\n:\ndata:  c\nid: 7\nretry: 5\n\n:\n\n"]),
            ["a\nb\n c"]
        );
    }

    #[test]
    fn a_named_event_keeps_its_name_for_one_frame() {
        let expected = [("error", "{}", true), ("", "x", true), ("error", "{\"code\":500}", true)]
            .map(|(event, data, complete)| (event.to_owned(), data.to_owned(), complete));
        assert_eq!(frames(&[b"event: error\ndata: {}\n\ndata: x\n\nerror: {\"code\":500}\n\n"]), expected);
    }

    #[test]
    fn a_byte_order_mark_is_skipped_at_the_start_only() {
        assert_eq!(data(&[b"\xEF\xBB\xBFdata: a\n\n"]), ["a"]);
        assert_eq!(data(&[b"\xEF", b"\xBB", b"\xBF", b"data: a\n\n"]), ["a"]);
        assert_eq!(data(&["data: \u{feff}a\n\n".as_bytes()]), ["\u{feff}a"]);
    }

    #[test]
    fn a_last_frame_without_its_blank_line_is_given_as_cut() {
        for text in ["data: a\n\ndata: [DONE]\n", "data: a\n\ndata: [DONE]"] {
            let all = frames(&[text.as_bytes()]);
            assert_eq!(all[1], (String::new(), "[DONE]".to_owned(), false));
        }
        assert!(frames(&[b"event: x\n"]).is_empty());
    }

    #[test]
    fn an_empty_data_line_is_a_frame_and_a_blank_line_alone_is_not() {
        assert_eq!(data(&[b"\n\ndata\n\n\n"]), [""]);
    }

    #[test]
    fn an_endless_line_is_an_error_and_not_a_full_memory() {
        let piece = vec![b'x'; 1 << 20];
        let mut decoder = Decoder::default();
        let overflowed = (0..9).any(|_| decoder.push(&piece, |_| ()).is_err());
        assert!(overflowed && decoder.line.len() <= 10 << 20);
        let mut decoder = Decoder::default();
        let mut line = b"data: ".to_vec();
        line.extend_from_slice(&piece);
        line.push(b'\n');
        assert!((0..9).any(|_| decoder.push(&line, |_| ()).is_err()));
    }

    proptest! {
        #[test]
        fn no_split_of_any_bytes_changes_the_frames(
            text in "((data|event|id|error|:|é🦊)(: ?)?[a-c🦊]{0,3}(\n|\r|\r\n){1,3}){0,12}",
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
        ) {
            let bytes = text.as_bytes();
            prop_assert_eq!(frames(&pieces(bytes, &cuts)), frames(&[bytes]));
        }
    }
}
