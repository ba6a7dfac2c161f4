//! What the simulator really sent, and when.
//!
//! A request keeps its entries to itself while it streams and hands them over once, at its end: streams never
//! wait for each other here.

use std::collections::VecDeque;
use std::io::{BufWriter, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::JoinHandle;

use serde::{Deserialize, Serialize};

use super::clock::{lock, now_ns};
use crate::talk::say;

/// Entries of finished requests that are kept; when there are more, the oldest requests go.
const MOST_ENTRIES: usize = 2_000_000;

/// All that happened to one chat request. Times are nanoseconds of the machine's monotonic clock.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RequestLog {
    /// Number of the chat request, counted from 1 in order of arrival; also in the answer's `id` and its
    /// `x-simulator-request` header.
    pub number: u64,
    /// The client's port: tells requests of one client apart.
    pub client_port: u16,
    /// The request's `x-request-id`, if it had one.
    pub request_id: Option<String>,
    /// When the last byte of the request had been read.
    pub arrived_ns: u64,
    /// When the request got a slot: on arrival when one was free; `None` when it never did.
    pub admitted_ns: Option<u64>,
    /// The slot.
    pub slot: Option<usize>,
    /// Planned prefill, without the overhead; `None` when it was never planned.
    pub prefill_ns: Option<u64>,
    /// Tokens of the prompt, cached ones among them.
    pub prompt_tokens: usize,
    /// Prompt tokens found in the prefix cache; `None` when the request never got a slot.
    pub cached_tokens: Option<usize>,
    /// Faults that befell it, as they were asked for.
    pub faults: Vec<String>,
    /// How it ended.
    pub end: End,
    /// What was written, in order.
    pub sent: Vec<Sent>,
}

impl RequestLog {
    /// Output tokens that were written.
    pub fn output_tokens(&self) -> u64 {
        self.sent.iter().map(|sent| u64::from(sent.tokens)).sum()
    }

    /// The first event that carried generated text.
    pub fn first_text(&self) -> Option<&Sent> {
        self.sent.iter().find(|sent| sent.tokens > 0)
    }

    /// The last event that carried generated text.
    pub fn last_text(&self) -> Option<&Sent> {
        self.sent.iter().rfind(|sent| sent.tokens > 0)
    }
}

/// One event of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sent {
    /// What it was.
    pub kind: Kind,
    /// Output tokens in it.
    pub tokens: u32,
    /// When it was due; for what has no schedule, when it was made.
    pub due_ns: u64,
    /// Just before the write that carried its first byte.
    pub before_ns: u64,
    /// Just after the write that carried its last byte.
    pub after_ns: u64,
}

/// What an event was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Status line and headers.
    Head,
    /// A chunk with the role and no text.
    Role,
    /// A comment or an empty delta during the prefill.
    KeepAlive,
    /// Reasoning text.
    Reasoning,
    /// Text.
    Text,
    /// The chunk with the finish reason.
    Finish,
    /// The chunk with the usage only.
    Usage,
    /// An error event.
    Error,
    /// `[DONE]` and the end of the body.
    Done,
    /// A whole answer that is not a stream.
    Body,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// All was sent.
    Done,
    /// Refused with an error status.
    Refused,
    /// A fault that was asked for.
    Fault,
    /// The client had gone, or the simulator was stopped.
    CutOff,
}

/// What `GET /v1/simulator/log` answers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogReply {
    /// Always true.
    pub simulated: bool,
    /// The clock of every `_ns`.
    pub clock: String,
    /// The clock's time at this answer.
    pub now_ns: u64,
    /// Requests forgotten because there were too many.
    pub forgotten: u64,
    /// Finished chat requests in the order in which they ended.
    pub requests: Vec<RequestLog>,
}

/// The log of one simulator; clones share it.
#[derive(Debug, Clone, Default)]
pub struct Log {
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    kept: Mutex<Kept>,
    /// Requests whose last bytes are being written and that are not in the log yet.
    closing: AtomicUsize,
    file: Option<LogFile>,
}

#[derive(Debug, Default)]
struct Kept {
    requests: VecDeque<RequestLog>,
    entries: usize,
    forgotten: u64,
}

impl Log {
    /// A log that also appends each request as one line of JSON to `out`, from a thread of its own.
    ///
    /// # Errors
    /// When the operating system gives no thread.
    pub fn to_writer(out: impl Write + Send + 'static) -> std::io::Result<Self> {
        let file = Some(LogFile::start(out)?);
        Ok(Self { shared: Arc::new(Shared { file, ..Shared::default() }) })
    }

    /// Finished requests with a number above `since`; 0 gives all that are kept.
    pub async fn since(&self, since: u64) -> LogReply {
        self.between(since, u64::MAX).await
    }

    /// Finished requests with a number above `since` and up to `until`, so that a long log can be read in parts.
    ///
    /// Waits a moment for requests whose last bytes are on their way, so that a client that has just read
    /// `[DONE]` finds its request.
    pub async fn between(&self, since: u64, until: u64) -> LogReply {
        let patience_ns = now_ns() + 200_000_000;
        while self.shared.closing.load(Ordering::Acquire) > 0 && now_ns() < patience_ns {
            tokio::task::yield_now().await;
        }
        let kept = lock(&self.shared.kept);
        let asked = |request: &&RequestLog| request.number > since && request.number <= until;
        let requests = kept.requests.iter().filter(asked).cloned().collect();
        LogReply {
            simulated: true,
            clock: "monotonic, nanoseconds".to_owned(),
            now_ns: now_ns(),
            forgotten: kept.forgotten,
            requests,
        }
    }

    fn push(&self, request: RequestLog) {
        if let Some(file) = &self.shared.file {
            file.push(request.clone());
        }
        let mut kept = lock(&self.shared.kept);
        kept.entries += request.sent.len();
        kept.requests.push_back(request);
        while kept.entries > MOST_ENTRIES
            && let Some(oldest) = kept.requests.pop_front()
        {
            kept.entries -= oldest.sent.len();
            kept.forgotten += 1;
        }
    }
}

/// The log of a request in the making; handed over when dropped, however the request ends.
#[derive(Debug)]
pub struct Recorder {
    log: Log,
    request: Option<RequestLog>,
    closing: bool,
}

impl Recorder {
    /// Begins with what is known on arrival; the end is [`End::CutOff`] until something else is said.
    pub fn new(log: &Log, request: RequestLog) -> Self {
        Self { log: log.clone(), request: Some(request), closing: false }
    }

    /// The entry itself.
    pub fn edit(&mut self, edit: impl FnOnce(&mut RequestLog)) {
        if let Some(request) = &mut self.request {
            edit(request);
        }
    }

    /// Announces the last write of a request: readers of the log wait until the recorder is dropped.
    pub fn closing(&mut self, end: End) {
        if !self.closing {
            self.closing = true;
            self.log.shared.closing.fetch_add(1, Ordering::AcqRel);
        }
        self.edit(|request| request.end = end);
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        if let Some(request) = self.request.take() {
            self.log.push(request);
        }
        if self.closing {
            self.log.shared.closing.fetch_sub(1, Ordering::AcqRel);
        }
    }
}

/// The thread that writes the log file; its drop waits until all is written.
#[derive(Debug)]
struct LogFile {
    lines: Option<mpsc::Sender<RequestLog>>,
    thread: Option<JoinHandle<()>>,
}

impl LogFile {
    fn start(out: impl Write + Send + 'static) -> std::io::Result<Self> {
        let (lines, received) = mpsc::channel::<RequestLog>();
        let thread = std::thread::Builder::new().name("simulator-log".to_owned()).spawn(move || {
            let mut out = BufWriter::new(out);
            for request in received {
                let written = serde_json::to_writer(&mut out, &request).map_err(std::io::Error::from);
                if let Err(error) = written.and_then(|()| out.write_all(b"\n")).and_then(|()| out.flush()) {
                    say(format_args!(
                        "simulated engine: the log file ends here, it cannot be written: {error}"
                    ));
                    return;
                }
            }
        })?;
        Ok(Self { lines: Some(lines), thread: Some(thread) })
    }

    fn push(&self, request: RequestLog) {
        if let Some(lines) = &self.lines {
            // The thread has ended when the file could not be written, and has said so.
            let _ = lines.send(request);
        }
    }
}

impl Drop for LogFile {
    fn drop(&mut self) {
        self.lines = None;
        if let Some(thread) = self.thread.take() {
            // A panic there has been printed by its thread.
            let _ = thread.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(number: u64, entries: usize) -> RequestLog {
        let sent = Sent { kind: Kind::Text, tokens: 2, due_ns: 1, before_ns: 2, after_ns: 3 };
        RequestLog {
            number,
            client_port: 9,
            request_id: None,
            arrived_ns: 0,
            admitted_ns: Some(0),
            slot: Some(0),
            prefill_ns: Some(0),
            prompt_tokens: 4,
            cached_tokens: Some(0),
            faults: Vec::new(),
            end: End::CutOff,
            sent: vec![sent; entries],
        }
    }

    #[tokio::test]
    async fn a_request_is_handed_over_once_when_its_recorder_goes() {
        let log = Log::default();
        let mut recorder = Recorder::new(&log, request(3, 5));
        recorder.closing(End::Done);
        drop(recorder);
        let reply = log.since(2).await;
        assert_eq!(reply.requests.len(), 1);
        assert_eq!((reply.requests[0].end, reply.requests[0].output_tokens()), (End::Done, 10));
        assert_eq!(log.since(3).await.requests, []);
        assert_eq!(log.between(0, 2).await.requests, []);
    }

    #[tokio::test]
    async fn the_oldest_requests_are_forgotten_and_counted() {
        let log = Log::default();
        for number in 1..=3 {
            log.push(request(number, MOST_ENTRIES / 2));
        }
        let reply = log.since(0).await;
        assert_eq!(reply.forgotten, 1);
        assert_eq!(reply.requests.iter().map(|request| request.number).collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn the_file_holds_a_line_for_each_request_when_the_log_goes() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let log = Log::to_writer(file.reopen().unwrap()).unwrap();
        log.push(request(1, 2));
        log.push(request(2, 0));
        drop(log);
        let text = std::fs::read_to_string(file.path()).unwrap();
        let read: Vec<RequestLog> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(read, [request(1, 2), request(2, 0)]);
    }
}
