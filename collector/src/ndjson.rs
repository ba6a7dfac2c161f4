//! Newline-delimited JSON: bytes in any split → lines. Pure: no socket, no clock.
//!
//! A line is what stands before LF; CR, blanks around it and a byte-order mark before the first are no part of it, and
//! an empty line is none. A last line without its LF is still given, marked as cut. That a line is JSON is not checked
//! here.

use std::mem;

use crate::sse::{Frame, FrameTooLong, MAX_FRAME_BYTES};

const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The state between two pushes.
#[derive(Debug, Default)]
pub struct Decoder {
    /// A line whose end has not come yet.
    line: Vec<u8>,
    /// A first line was given, so no mark can come any more.
    begun: bool,
}

impl Decoder {
    /// Takes the next bytes and hands each line that they complete to `on_frame`, in order.
    ///
    /// # Errors
    /// [`FrameTooLong`]; the decoder is of no use afterwards.
    pub fn push(&mut self, bytes: &[u8], mut on_frame: impl FnMut(Frame<'_>)) -> Result<(), FrameTooLong> {
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            let (head, tail) = rest.split_at(end);
            self.within_bounds(head.len())?;
            if self.line.is_empty() {
                self.give(head, true, &mut on_frame);
            } else {
                let mut line = mem::take(&mut self.line);
                line.extend_from_slice(head);
                self.give(&line, true, &mut on_frame);
                line.clear();
                self.line = line;
            }
            rest = tail.strip_prefix(b"\n").unwrap_or(tail);
        }
        self.within_bounds(rest.len())?;
        self.line.extend_from_slice(rest);
        Ok(())
    }

    /// Ends the stream: a line still open is given with `complete: false`.
    pub fn finish(mut self, mut on_frame: impl FnMut(Frame<'_>)) {
        let line = mem::take(&mut self.line);
        self.give(&line, false, &mut on_frame);
    }

    fn within_bounds(&self, more: usize) -> Result<(), FrameTooLong> {
        if self.line.len() + more > MAX_FRAME_BYTES { Err(FrameTooLong) } else { Ok(()) }
    }

    fn give(&mut self, line: &[u8], complete: bool, on_frame: &mut impl FnMut(Frame<'_>)) {
        let line =
            if mem::replace(&mut self.begun, true) { line } else { line.strip_prefix(BOM).unwrap_or(line) };
        let data = line.trim_ascii();
        if !data.is_empty() {
            on_frame(Frame { event: b"", data, complete });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    use crate::testing::pieces;

    fn lines(pieces: &[&[u8]]) -> Vec<(String, bool)> {
        let mut out = Vec::new();
        let mut decoder = Decoder::default();
        let mut keep = |frame: Frame<'_>| {
            out.push((String::from_utf8_lossy(frame.data).into_owned(), frame.complete));
        };
        for piece in pieces {
            decoder.push(piece, &mut keep).unwrap();
        }
        decoder.finish(&mut keep);
        out
    }

    fn whole(texts: &[&str]) -> Vec<(String, bool)> {
        texts.iter().map(|text| ((*text).to_owned(), true)).collect()
    }

    #[test]
    fn two_objects_in_one_read_are_two_lines_and_blank_lines_none() {
        assert_eq!(
            lines(&[b"{\"a\":1}\n{\"b\":2}\r\n\r\n \n{\"c\":3}\n"]),
            whole(&[r#"{"a":1}"#, r#"{"b":2}"#, r#"{"c":3}"#])
        );
    }

    #[test]
    fn a_last_line_without_its_end_is_given_as_cut() {
        assert_eq!(
            lines(&[b"{}\n{\"a\":", b"1}"]),
            [("{}".to_owned(), true), (r#"{"a":1}"#.to_owned(), false)]
        );
        assert_eq!(lines(&[b"{}\n \r"]), whole(&["{}"]));
    }

    #[test]
    fn a_byte_order_mark_is_skipped_at_the_start_only() {
        assert_eq!(lines(&[b"\xEF\xBB", b"\xBF{}\n"]), whole(&["{}"]));
        assert_eq!(lines(&["{}\n\u{feff}{}\n".as_bytes()]), whole(&["{}", "\u{feff}{}"]));
    }

    #[test]
    fn an_endless_line_is_an_error_and_not_a_full_memory() {
        let piece = vec![b'x'; 1 << 20];
        let mut decoder = Decoder::default();
        assert!((0..9).any(|_| decoder.push(&piece, |_| ()).is_err()));
        assert!(decoder.line.len() <= MAX_FRAME_BYTES);
        let mut ended = piece.repeat(9);
        ended.push(b'\n');
        let mut given = 0;
        assert!(Decoder::default().push(&ended, |_| given += 1).is_err());
        assert_eq!(given, 0);
    }

    proptest! {
        #[test]
        fn no_split_of_any_bytes_changes_the_lines(
            text in "(\u{feff}?(\\{[a-c🦊]{0,3}\\}| |é)(\n|\r|\r\n){1,3}){0,12}[a-c]{0,2}",
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..8),
        ) {
            let bytes = text.as_bytes();
            prop_assert_eq!(lines(&pieces(bytes, &cuts)), lines(&[bytes]));
        }
    }
}
