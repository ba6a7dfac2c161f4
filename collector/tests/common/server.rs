//! Small scripted servers on real sockets.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use dyno_collector::transport::Target;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// What a server does after it has read a request.
#[derive(Debug, Clone)]
pub enum Step {
    /// Writes these bytes in one write.
    Write(Vec<u8>),
    /// Waits so many milliseconds.
    Wait(u64),
    /// Keeps the connection open for ever.
    Hang,
    /// Resets the connection.
    Reset,
}

/// Head of a streamed answer that ends with the connection.
pub const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n";
/// Head of a streamed answer in chunks.
pub const CHUNKED: &str =
    "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";

/// One write.
pub fn write(text: impl AsRef<[u8]>) -> Step {
    Step::Write(text.as_ref().to_vec())
}

/// One event in one write.
pub fn event(data: &str) -> Step {
    write(format!("data: {data}\n\n"))
}

/// One event as an HTTP chunk.
pub fn chunk(data: &str) -> Step {
    let event = format!("data: {data}\n\n");
    write(format!("{:x}\r\n{event}\r\n", event.len()))
}

/// A chunk of generated text.
pub fn say(text: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}"}},"finish_reason":null}}]}}"#)
}

/// A whole answer with a length.
pub fn answer(status: u16, body: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
    .into_bytes()
}

/// A running server; stops when it is dropped.
pub struct Server {
    /// Its root.
    pub url: String,
    /// Every request that it has read, head and body.
    pub requests: Arc<Mutex<Vec<String>>>,
    accepting: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Server {
    /// Serves what `script` makes of each request.
    pub async fn start(script: impl Fn(&str) -> Vec<Step> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let (seen, script) = (Arc::clone(&requests), Arc::new(script));
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (seen, script) = (Arc::clone(&seen), Arc::clone(&script));
                tokio::spawn(async move { converse(stream, &seen, &*script).await });
            }
        });
        Self { url, requests, accepting }
    }

    /// Serves one script whatever is asked.
    pub async fn always(steps: Vec<Step>) -> Self {
        Self::start(move |_| steps.clone()).await
    }

    /// Where it listens.
    pub fn target(&self) -> Target {
        Target::parse(&self.url).unwrap()
    }
}

async fn converse(
    mut stream: TcpStream,
    seen: &Mutex<Vec<String>>,
    script: &(dyn Fn(&str) -> Vec<Step> + Sync),
) {
    stream.set_nodelay(true).unwrap();
    let Some(request) = read_request(&mut stream).await else { return };
    let steps = script(&request);
    seen.lock().unwrap().push(request);
    for step in steps {
        match step {
            Step::Write(bytes) => {
                if stream.write_all(&bytes).await.is_err() {
                    return;
                }
            }
            Step::Wait(ms) => tokio::time::sleep(Duration::from_millis(ms)).await,
            Step::Hang => std::future::pending().await,
            Step::Reset => {
                stream.set_zero_linger().unwrap();
                return;
            }
        }
    }
    // The client has its answer before the connection goes.
    let _ = stream.shutdown().await;
}

/// Head and body of one request; `None` when the client goes first.
pub async fn read_request(stream: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_lowercase();
            let length = length.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
            if body.len() >= length.map_or(0, |n| n.trim().parse().unwrap()) {
                return Some(text);
            }
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}
