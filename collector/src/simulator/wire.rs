//! Writes an answer's events to the socket, one write for each, and stamps every write.

use std::io::Write;

use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::clock::{Timer, now_ns};
use super::fault::Fault;
use super::log::{End, Kind, Recorder, RequestLog, Sent};

/// Pause between the pieces of a split event, so that a quick reader meets them one by one.
const PIECE_NS: u64 = 300_000;

/// There is nobody to write to any more.
#[derive(Debug)]
pub struct Gone;

/// The answering end of one request.
#[derive(Debug)]
pub struct Wire<'a> {
    stream: &'a mut TcpStream,
    timer: &'a Timer,
    recorder: Recorder,
    shape: Shape,
    /// Bytes that wait for the next write.
    bytes: Vec<u8>,
    /// The events among them.
    events: Vec<Sent>,
    /// Where `bytes` is cut into several writes.
    cuts: Vec<usize>,
}

/// How events are laid out.
#[derive(Debug)]
struct Shape {
    line_end: &'static str,
    pieces: usize,
    together: usize,
}

impl<'a> Wire<'a> {
    /// A wire whose log entry is kept by `recorder`.
    pub fn new(stream: &'a mut TcpStream, timer: &'a Timer, recorder: Recorder, faults: &[Fault]) -> Self {
        let pieces = faults.iter().find_map(|fault| match fault {
            Fault::Split(pieces) => Some(*pieces as usize),
            _ => None,
        });
        let shape = Shape {
            line_end: if faults.contains(&Fault::Crlf) { "\r\n" } else { "\n" },
            pieces: pieces.unwrap_or(1),
            together: if faults.contains(&Fault::Merge) { 2 } else { 1 },
        };
        let (bytes, events) = (Vec::with_capacity(1024), Vec::with_capacity(4));
        Self { stream, timer, recorder, shape, bytes, events, cuts: Vec::new() }
    }

    /// Changes the log entry.
    pub fn note(&mut self, edit: impl FnOnce(&mut RequestLog)) {
        self.recorder.edit(edit);
    }

    /// Puts bytes that are no event of a stream (a head, a whole answer) into the next write.
    pub fn put(&mut self, kind: Kind, tokens: u32, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.events.push(Sent { kind, tokens, due_ns: now_ns(), before_ns: 0, after_ns: 0 });
    }

    /// Puts a line of the event stream, joined from `parts`, and the empty line after it into the next write.
    pub fn put_event(&mut self, kind: Kind, tokens: u32, due_ns: u64, parts: &[&[u8]]) {
        self.put_ended(kind, tokens, due_ns, parts, 2);
    }

    /// Puts a line of its own, joined from `parts`, into the next write.
    pub fn put_line(&mut self, kind: Kind, tokens: u32, due_ns: u64, parts: &[&[u8]]) {
        self.put_ended(kind, tokens, due_ns, parts, 1);
    }

    fn put_ended(&mut self, kind: Kind, tokens: u32, due_ns: u64, parts: &[&[u8]], line_ends: usize) {
        let end = self.shape.line_end;
        let length = parts.iter().map(|part| part.len()).sum::<usize>() + line_ends * end.len();
        let payload = parts.iter().copied().chain(std::iter::repeat_n(end.as_bytes(), line_ends));
        if self.shape.pieces == 1 {
            let _ = write!(self.bytes, "{length:x}\r\n");
            payload.for_each(|part| self.bytes.extend_from_slice(part));
            self.bytes.extend_from_slice(b"\r\n");
        } else {
            let whole: Vec<u8> = payload.flatten().copied().collect();
            for piece in whole.chunks(length.div_ceil(self.shape.pieces)) {
                let _ = write!(self.bytes, "{:x}\r\n", piece.len());
                self.bytes.extend_from_slice(piece);
                self.bytes.extend_from_slice(b"\r\n");
                self.cuts.push(self.bytes.len());
            }
        }
        self.events.push(Sent { kind, tokens, due_ns, before_ns: 0, after_ns: 0 });
    }

    /// Ends the chunked body within the next write.
    pub fn put_end(&mut self) {
        self.bytes.extend_from_slice(b"0\r\n\r\n");
    }

    /// Writes all that waits, unless two events are to share a write and there is only one yet.
    pub async fn send_full(&mut self) -> Result<(), Gone> {
        if self.events.len() < self.shape.together { Ok(()) } else { self.send().await }
    }

    /// Waits until `due_ns`, then does as [`Self::send_full`].
    pub async fn send_at(&mut self, due_ns: u64) -> Result<(), Gone> {
        self.timer.until(due_ns).await;
        self.send_full().await
    }

    /// Writes all that waits.
    pub async fn send(&mut self) -> Result<(), Gone> {
        if self.bytes.is_empty() {
            return Ok(());
        }
        let before_ns = now_ns();
        let mut start = 0;
        for at in 0..=self.cuts.len() {
            let end = self.cuts.get(at).copied().unwrap_or(self.bytes.len());
            let Some(piece) = self.bytes.get(start..end).filter(|piece| !piece.is_empty()) else { continue };
            if start > 0 {
                self.timer.until(now_ns() + PIECE_NS).await;
            }
            self.stream.write_all(piece).await.map_err(|_| Gone)?;
            start = end;
        }
        let after_ns = now_ns();
        let events = &mut self.events;
        self.recorder.edit(|request| {
            request.sent.extend(events.drain(..).map(|event| Sent { before_ns, after_ns, ..event }));
        });
        self.bytes.clear();
        self.cuts.clear();
        Ok(())
    }

    /// The last write of an answer.
    pub async fn close(&mut self, end: End) -> Result<(), Gone> {
        self.recorder.closing(end);
        self.send().await
    }

    /// Waits until `due_ns`, or ends with [`Gone`] when the client hangs up before.
    pub async fn wait(&self, due_ns: u64) -> Result<(), Gone> {
        self.unless_gone(self.timer.until(due_ns)).await
    }

    /// Waits for `work`, or ends with [`Gone`] when the client hangs up before.
    pub async fn unless_gone<T>(&self, work: impl Future<Output = T>) -> Result<T, Gone> {
        tokio::select! {
            biased;
            done = work => Ok(done),
            () = self.hung_up() => Err(Gone),
        }
    }

    /// Completes when the client has closed its end.
    pub async fn hung_up(&self) {
        // Bytes that come instead are a next request, which waits; whether the client goes then shows in a write.
        if matches!(self.stream.peek(&mut [0]).await, Ok(1..)) {
            std::future::pending::<()>().await;
        }
    }

    /// Makes the end of the connection a reset instead of an end of file.
    pub fn reset_on_close(&mut self) {
        // If that fails the client sees an end of file, which is as dead.
        let _ = self.stream.set_zero_linger();
    }
}

/// Appends `text` as the inside of a JSON string.
pub fn escape(text: &str, out: &mut Vec<u8>) {
    for byte in text.bytes() {
        match byte {
            b'"' => out.extend_from_slice(b"\\\""),
            b'\\' => out.extend_from_slice(b"\\\\"),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => {
                let _ = write!(out, "\\u{byte:04x}");
            }
            _ => out.push(byte),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_text_is_read_back_by_a_json_parser() {
        let text = "a \"b\" \\ \n\r\t\u{1} é 한 \u{FFFD}";
        let mut json = b"\"".to_vec();
        escape(text, &mut json);
        json.push(b'"');
        assert_eq!(serde_json::from_slice::<String>(&json).unwrap(), text);
    }
}
