//! `cargo xtask fuzz`: the parsers of what arrives from outside, against bytes nobody wrote.
//!
//! The seeds are the recorded answers of real engines. What is found grows in the cache, outside the checkout.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::cli::FuzzOptions;
use crate::process;
use crate::setup::{self, Group};
use crate::workshop::Workshop;

/// The crate of the targets, in the checkout.
const CRATE: &str = "collector/fuzz";
/// Recorded answers of real engines.
const CAPTURES: &str = "collector/tests/fixtures/captures";

/// A target, and which recorded answers it begins with.
struct Target {
    name: &'static str,
    /// Bytes of steering before the data.
    head: &'static [u8],
    takes: fn(&str) -> bool,
}

const TARGETS: [Target; 3] = [
    Target { name: "stream", head: &[1, 7], takes: |name| !name.starts_with("get_") },
    Target { name: "sse", head: &[7], takes: |name| name.contains("stream") },
    Target { name: "prometheus", head: &[], takes: |name| name.starts_with("get_metrics") },
];

/// Runs every target for the time that is asked for; the first crash ends it with an error.
pub fn run(shop: &Workshop, options: &FuzzOptions) -> Result<()> {
    setup::ensure(shop, &[Group::Fuzz])?;
    for target in &TARGETS {
        let corpus = shop.cache.fuzz().join(target.name);
        let seeds = plant(shop, target, &corpus)?;
        println!("{}: {seeds} seeds, {} s", target.name, options.seconds);
        let mut fuzz = shop.command("cargo");
        fuzz.current_dir(shop.root.join(CRATE))
            // The compiler in use: without a sanitiser nothing of nightly is needed, and the code is safe Rust.
            .args(["fuzz", "run", "--sanitizer", "none", "--fuzz-dir", "."])
            .arg("--target-dir")
            .arg(shop.cache.fuzz().join("target"))
            .arg(target.name)
            .arg(&corpus)
            .args(["--", "-max_len=65536", "-timeout=10", "-print_final_stats=1", "-verbosity=0"])
            .arg(format!("-max_total_time={}", options.seconds));
        process::run(&mut fuzz).with_context(|| {
            format!(
                "`{0}` failed: see its message above; an input that it cannot stand lies below {CRATE}/artifacts/{0}",
                target.name
            )
        })?;
    }
    println!("no crash");
    Ok(())
}

/// Writes the seeds of a target into its corpus; what was found before stays.
fn plant(shop: &Workshop, target: &Target, corpus: &Path) -> Result<usize> {
    fs::create_dir_all(corpus).with_context(|| format!("cannot create {}", corpus.display()))?;
    let mut seeds = 0;
    for file in captures(&shop.root.join(CAPTURES))? {
        let name = file.file_stem().unwrap_or_default().to_string_lossy();
        if !(target.takes)(&name) {
            continue;
        }
        let raw = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let engine = file.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        let seed = corpus.join(format!("{engine}--{name}"));
        fs::write(&seed, [target.head, &body(&raw)].concat())
            .with_context(|| format!("cannot write {}", seed.display()))?;
        seeds += 1;
    }
    if seeds == 0 {
        bail!("no recorded answer below {CAPTURES} suits `{}`", target.name);
    }
    Ok(seeds)
}

/// Every recorded answer.
fn captures(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(captures(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "raw") {
            files.push(path);
        }
    }
    Ok(files)
}

/// The body of a recorded answer, without HTTP's head and chunk sizes.
fn body(raw: &[u8]) -> Vec<u8> {
    let Some(end) = find(raw, b"\r\n\r\n") else { return raw.to_vec() };
    let (head, mut rest) = (String::from_utf8_lossy(&raw[..end]).to_lowercase(), &raw[end + 4..]);
    if !head.contains("transfer-encoding: chunked") {
        return rest.to_vec();
    }
    let mut body = Vec::new();
    while let Some(line) = find(rest, b"\r\n") {
        let size = usize::from_str_radix(String::from_utf8_lossy(&rest[..line]).trim(), 16).unwrap_or(0);
        let data = rest.get(line + 2..).unwrap_or_default();
        let size = size.min(data.len());
        if size == 0 {
            break;
        }
        body.extend_from_slice(&data[..size]);
        rest = data.get(size + 2..).unwrap_or_default();
    }
    body
}

fn find(bytes: &[u8], what: &[u8]) -> Option<usize> {
    bytes.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_is_the_body_without_its_framing() {
        assert_eq!(
            body(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
            b"abcde"
        );
        assert_eq!(body(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"), b"hi");
        assert_eq!(body(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nab"), b"ab");
    }

    #[test]
    fn every_target_has_its_program() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(CRATE);
        for target in &TARGETS {
            assert!(root.join(format!("fuzz_targets/{}.rs", target.name)).is_file(), "{}", target.name);
        }
        assert_eq!(fs::read_dir(root.join("fuzz_targets")).unwrap().count(), TARGETS.len());
    }
}
