//! A small server of static files on 127.0.0.1, for looking at the site.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read as _, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Component, Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result};

/// What a browser that is not ours may keep us waiting.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Longer requests are not from a browser.
const MAX_HEAD_BYTES: u64 = 32 * 1024;

/// Takes a port for the server: the one asked for; without a wish the usual one, or any free one.
pub fn bind(port: Option<u16>) -> Result<TcpListener> {
    const USUAL: u16 = 4173;
    match port {
        Some(port) => TcpListener::bind((Ipv4Addr::LOCALHOST, port))
            .with_context(|| format!("port {port} is taken: choose another with --port")),
        None => TcpListener::bind((Ipv4Addr::LOCALHOST, USUAL))
            .or_else(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
            .context("no port of 127.0.0.1 is free"),
    }
}

/// Serves a folder until the process ends.
pub fn serve(listener: &TcpListener, root: &Path) -> Result<()> {
    let root = fs::canonicalize(root).with_context(|| format!("cannot serve {}", root.display()))?;
    for stream in listener.incoming() {
        // A connection that failed is the other side's business.
        let Ok(stream) = stream else { continue };
        let root = root.clone();
        thread::spawn(move || answer(&stream, &root));
    }
    Ok(())
}

fn answer(stream: &TcpStream, root: &Path) -> io::Result<()> {
    stream.set_read_timeout(Some(TIMEOUT))?;
    stream.set_write_timeout(Some(TIMEOUT))?;
    let mut lines = BufReader::new(stream.take(MAX_HEAD_BYTES));
    let mut first = String::new();
    lines.read_line(&mut first)?;
    // The rest of the head is read, so that closing does not reset the connection, and not looked at.
    let mut rest = String::new();
    while lines.read_line(&mut rest)? > 2 {
        rest.clear();
    }
    respond(stream, &first, root)
}

fn respond(mut to: impl Write, request: &str, root: &Path) -> io::Result<()> {
    let mut words = request.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else {
        return plain(to, "400 Bad Request", "");
    };
    if !matches!(method, "GET" | "HEAD") {
        return plain(to, "405 Method Not Allowed", "Allow: GET, HEAD\r\n");
    }
    let Some(path) = locate(root, target) else {
        return plain(to, "404 Not Found", "");
    };
    let Ok(mut file) = File::open(&path) else {
        return plain(to, "404 Not Found", "");
    };
    let length = file.metadata()?.len();
    write!(
        to,
        "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nContent-Length: {length}\r\nCache-Control: no-cache\r\n\
         X-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
        mime(&path)
    )?;
    if method == "GET" {
        io::copy(&mut file, &mut to)?;
    }
    to.flush()
}

fn plain(mut to: impl Write, status: &str, extra: &str) -> io::Result<()> {
    let length = status.len();
    write!(
        to,
        "HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\n{extra}Connection: close\r\n\r\n\
         {status}"
    )?;
    to.flush()
}

/// The file a request target names, if it is a file inside the (canonical) root, links followed.
fn locate(root: &Path, target: &str) -> Option<PathBuf> {
    let mut path = root.join(relative(target)?);
    if path.is_dir() {
        path.push("index.html");
    }
    let path = fs::canonicalize(path).ok()?;
    (path.starts_with(root) && path.is_file()).then_some(path)
}

/// The path of a request target below the root; `None` when it is malformed or would leave the root.
fn relative(target: &str) -> Option<PathBuf> {
    let path = target.strip_prefix('/')?;
    let path = path.split(['?', '#']).next()?;
    let path = decode(path)?;
    if path.contains(['\0', '\\']) {
        return None;
    }
    let path = PathBuf::from(path);
    path.components().all(|part| matches!(part, Component::Normal(_))).then_some(path)
}

/// Undoes percent-encoding; `None` when that is malformed or the result is not UTF-8.
fn decode(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let digits = [char::from(rest.next()?).to_digit(16)?, char::from(rest.next()?).to_digit(16)?];
            bytes.push(u8::try_from(digits[0] * 16 + digits[1]).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

fn mime(path: &Path) -> &'static str {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("css") => "text/css; charset=utf-8",
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("ico") => "image/x-icon",
        Some("csv") => "text/csv; charset=utf-8",
        Some("txt" | "md") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        fs::create_dir_all(root.join("data")).unwrap();
        fs::write(root.join("index.html"), "<p>hello").unwrap();
        fs::write(root.join("data/a b.json"), "{}").unwrap();
        fs::write(folder.path().join("secret"), "no").unwrap();
        folder
    }

    fn reply(request: &str) -> String {
        let folder = site();
        let root = fs::canonicalize(folder.path().join("root")).unwrap();
        let mut out = Vec::new();
        respond(&mut out, request, &root).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_page_is_served_with_its_type_and_length() {
        let text = reply("GET / HTTP/1.1\r\n");
        assert!(text.starts_with("HTTP/1.1 200 OK\r\n"), "{text}");
        assert!(text.contains("Content-Type: text/html; charset=utf-8\r\nContent-Length: 8\r\n"), "{text}");
        assert!(text.ends_with("\r\n\r\n<p>hello"), "{text}");
    }

    #[test]
    fn head_has_the_same_head_and_no_body() {
        let text = reply("HEAD /data/a%20b.json?v=1 HTTP/1.1\r\n");
        assert!(
            text.contains("200 OK") && text.contains("application/json\r\nContent-Length: 2\r\n"),
            "{text}"
        );
        assert!(text.ends_with("\r\n\r\n"), "{text}");
    }

    #[test]
    fn what_is_not_there_is_404_and_what_is_not_a_read_is_405() {
        assert!(reply("GET /absent HTTP/1.1").starts_with("HTTP/1.1 404 "));
        assert!(reply("GET /data HTTP/1.1").starts_with("HTTP/1.1 404 "));
        assert!(reply("POST / HTTP/1.1").starts_with("HTTP/1.1 405 "));
        assert!(reply("\r\n").starts_with("HTTP/1.1 400 "));
    }

    #[test]
    fn no_path_leads_out_of_the_root() {
        for target in [
            "/../secret",
            "/data/../../secret",
            "/%2e%2e/secret",
            "/..%2fsecret",
            "//etc/passwd",
            "/data/%00",
            "/..\\secret",
            "/%zz",
            "/%ff",
            "secret",
            "http://example.org/",
        ] {
            assert!(reply(&format!("GET {target} HTTP/1.1")).starts_with("HTTP/1.1 404 "), "{target}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn no_link_leads_out_of_the_root() {
        let folder = site();
        let root = fs::canonicalize(folder.path().join("root")).unwrap();
        std::os::unix::fs::symlink(folder.path().join("secret"), root.join("link")).unwrap();
        assert_eq!(locate(&root, "/link"), None);
        assert!(locate(&root, "/index.html").is_some());
    }

    #[test]
    fn wasm_has_the_type_that_browsers_insist_on() {
        assert_eq!(mime(Path::new("a/b_bg.wasm")), "application/wasm");
        assert_eq!(mime(Path::new("LICENSE")), "application/octet-stream");
    }

    #[test]
    fn the_server_answers_over_a_socket() {
        let folder = site();
        let listener = bind(Some(0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let root = folder.path().join("root");
        thread::spawn(move || serve(&listener, &root));
        assert_eq!(crate::http::status(port, "/index.html"), Some(200));
        assert_eq!(crate::http::status(port, "/absent"), Some(404));
    }
}
