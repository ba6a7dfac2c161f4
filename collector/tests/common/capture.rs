//! Recorded answers of real servers, for the tests.

use std::path::{Path, PathBuf};

use dyno_collector::stream::{Observed, Observer};
use dyno_shared::record::{RequestErrorKind, RequestRecord};
use dyno_shared::units::Seconds;

/// One recorded answer: every byte with the read that brought it.
pub struct Capture {
    /// `folder/name`.
    pub name: String,
    /// Bytes of each read, with its time.
    pub reads: Vec<(Seconds, Vec<u8>)>,
    /// When the connection ended, by whomever.
    pub closed: Seconds,
}

/// How the bytes of a capture reach the observer.
#[derive(Debug, Clone, Copy)]
pub enum Split {
    /// As the client really read them.
    AsRead,
    /// One byte at a time, each with the stamp of its read.
    Bytes,
    /// All at once, with the stamp of the last read.
    Whole,
}

impl Capture {
    /// Reads `folder/name` of the fixtures.
    pub fn load(name: &str) -> Self {
        let raw = std::fs::read(folder().join(format!("{name}.raw"))).unwrap();
        let reads_text = std::fs::read_to_string(folder().join(format!("{name}.reads"))).unwrap();
        let (mut reads, mut closed, mut at) = (Vec::new(), None, 0);
        for line in reads_text.lines() {
            let (ns, what) = line.split_once('\t').unwrap();
            let stamp = Seconds(ns.parse::<f64>().unwrap() / 1e9);
            match what.parse::<usize>() {
                Ok(n) => {
                    reads.push((stamp, raw[at..at + n].to_vec()));
                    at += n;
                }
                Err(_) => closed = Some(stamp),
            }
        }
        assert_eq!(at, raw.len(), "{name}: reads and bytes disagree");
        Self { name: name.to_owned(), reads, closed: closed.unwrap() }
    }

    /// Every recorded answer whose name passes, in order.
    pub fn all(passes: impl Fn(&str) -> bool) -> Vec<Self> {
        let mut names = Vec::new();
        for engine in
            std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path()).filter(|p| p.is_dir())
        {
            for file in std::fs::read_dir(&engine).unwrap().map(|entry| entry.unwrap().path()) {
                if file.extension().is_some_and(|extension| extension == "raw") {
                    let stem = |path: &Path| path.file_stem().unwrap().to_str().unwrap().to_owned();
                    names.push(format!("{}/{}", stem(&engine), stem(&file)));
                }
            }
        }
        names.sort();
        names.iter().filter(|name| passes(name)).map(|name| Self::load(name)).collect()
    }

    /// All bytes, as one.
    pub fn raw(&self) -> Vec<u8> {
        self.reads.iter().flat_map(|(_, bytes)| bytes.clone()).collect()
    }

    /// The body without its HTTP framing.
    pub fn body(&self) -> Vec<u8> {
        let mut http = Http::default();
        http.feed(&self.raw()).into_iter().flatten().collect()
    }

    /// The body as text, and whether its head says it is one that is read whole.
    pub fn text(&self) -> String {
        String::from_utf8(self.body()).unwrap()
    }

    /// What the observer makes of it.
    pub fn observe(&self, split: Split) -> Observed {
        let pieces: Vec<(Seconds, Vec<u8>)> = match split {
            Split::AsRead => self.reads.clone(),
            Split::Bytes => self
                .reads
                .iter()
                .flat_map(|(at, bytes)| bytes.iter().map(|byte| (*at, vec![*byte])))
                .collect(),
            Split::Whole => vec![(self.reads.last().unwrap().0, self.raw())],
        };
        let mut observer = Observer::new(RequestRecord::default());
        let mut http = Http::default();
        for (at, piece) in pieces {
            let had_status = http.status.is_some();
            let bodies = http.feed(&piece);
            if let (false, Some(status)) = (had_status, http.status) {
                observer.headers(at, status);
            }
            for body in bodies {
                observer.bytes(at, &body);
            }
        }
        if http.ended() {
            observer.end(self.closed)
        } else {
            observer.failed(self.closed, RequestErrorKind::Disconnected, "cut")
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captures")
}

/// HTTP/1.1 as far as the captures need it: one head, then chunks or a length.
#[derive(Default)]
struct Http {
    head: Vec<u8>,
    status: Option<u16>,
    chunked: bool,
    state: State,
}

enum State {
    /// A chunk's size line.
    Size(Vec<u8>),
    /// Bytes left of the chunk, or of the body.
    Data(usize),
    /// Bytes left of the line end after a chunk.
    Gap(usize),
    /// Over.
    End,
}

impl Default for State {
    fn default() -> Self {
        Self::Size(Vec::new())
    }
}

impl Http {
    fn ended(&self) -> bool {
        matches!(self.state, State::End)
    }

    /// The pieces of the body in these bytes.
    fn feed(&mut self, mut bytes: &[u8]) -> Vec<Vec<u8>> {
        while self.status.is_none() {
            let Some((first, rest)) = bytes.split_first() else { return Vec::new() };
            self.head.push(*first);
            bytes = rest;
            if self.head.ends_with(b"\r\n\r\n") {
                self.read_head();
            }
        }
        let mut pieces = Vec::new();
        while let Some((&first, rest)) = bytes.split_first() {
            match &mut self.state {
                State::Size(line) => {
                    line.push(first);
                    bytes = rest;
                    if line.ends_with(b"\r\n") {
                        let size = std::str::from_utf8(&line[..line.len() - 2]).unwrap();
                        let size = usize::from_str_radix(size, 16).unwrap();
                        self.state = if size == 0 { State::End } else { State::Data(size) };
                    }
                }
                State::Data(left) => {
                    let (piece, rest) = bytes.split_at(bytes.len().min(*left));
                    pieces.push(piece.to_vec());
                    bytes = rest;
                    *left -= piece.len();
                    if *left == 0 {
                        self.state = if self.chunked { State::Gap(2) } else { State::End };
                    }
                }
                State::Gap(left) => {
                    bytes = rest;
                    *left -= 1;
                    if *left == 0 {
                        self.state = State::default();
                    }
                }
                State::End => break,
            }
        }
        pieces
    }

    fn read_head(&mut self) {
        let head = String::from_utf8(self.head.clone()).unwrap().to_lowercase();
        self.status = Some(head.split(' ').nth(1).unwrap().parse().unwrap());
        self.chunked = head.contains("transfer-encoding: chunked");
        if !self.chunked {
            let length = head.split("content-length: ").nth(1).unwrap();
            let length: usize = length.split("\r\n").next().unwrap().parse().unwrap();
            self.state = if length == 0 { State::End } else { State::Data(length) };
        }
    }
}
