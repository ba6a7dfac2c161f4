//! What an export costs: requests a second and the memory that it takes. `cargo bench -p dyno --bench export`.
//!
//! The shards are simulated in virtual time and written as JSON first; each export reads them from the disk. It runs in
//! a process of its own, so that its memory is its own. Prints one JSON object.

#![expect(clippy::print_stdout, reason = "stdout is what this program gives")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::Context as _;
use dyno_collector::export::{Compression, Dataset, Format, Options, export};
use dyno_collector::simulator::Truth;
use dyno_collector::simulator::virtual_time::{Asked, submission};
use dyno_shared::shard::write;
use dyno_shared::workload::Regime;
use serde_json::{Value, json};

/// What each export reads.
struct Shape {
    name: &'static str,
    shards: u32,
    runs: u32,
    streams: u32,
    output_tokens: u32,
    /// Whether each gap between two tokens is kept, as Dyno's own client does.
    gaps: bool,
}

/// A million requests as a load test of another tool gives them, without the gaps between tokens; and as many as fit a
/// bench of Dyno's own shards, with the gap of every token.
const SHAPES: [Shape; 2] = [
    Shape {
        name: "a million requests",
        shards: 100,
        runs: 10,
        streams: 1_000,
        output_tokens: 2,
        gaps: false,
    },
    Shape { name: "gaps of 256 tokens", shards: 100, runs: 16, streams: 64, output_tokens: 256, gaps: true },
];
const EXPORTS: [(&str, Format, Option<Dataset>); 4] = [
    ("parquet, zstd, requests", Format::Parquet(Compression::Zstd), Some(Dataset::Requests)),
    ("parquet, snappy, requests", Format::Parquet(Compression::Snappy), Some(Dataset::Requests)),
    ("csv, requests", Format::Csv, Some(Dataset::Requests)),
    ("parquet, zstd, both", Format::Parquet(Compression::Zstd), None),
];
/// Set in the process that makes one export: the number of that export and the folder.
const CHILD: &str = "DYNO_BENCH_EXPORT";

fn main() -> anyhow::Result<()> {
    if let Ok(child) = std::env::var(CHILD) {
        let (at, folder) = child.split_once(' ').context("a number and a folder")?;
        println!("{}", measure(at.parse()?, Path::new(folder))?);
        return Ok(());
    }
    let mut found = Vec::new();
    for shape in &SHAPES {
        let folder = tempfile::tempdir()?;
        let bytes = make(shape, &folder.path().join("shards"))?;
        let exports: Vec<Value> =
            (0..EXPORTS.len()).map(|at| apart(at, folder.path())).collect::<anyhow::Result<_>>()?;
        found.push(
            json!({ "shape": shape.name, "shards": shape.shards, "json_bytes": bytes, "exports": exports }),
        );
    }
    println!("{}", json!({ "shapes": found }));
    Ok(())
}

/// Writes the shards, of five engines and four months.
fn make(shape: &Shape, folder: &Path) -> anyhow::Result<u64> {
    let asked = Asked {
        id: "load",
        regime: Regime::Load,
        streams: shape.streams,
        prompt_tokens: 512,
        output_tokens: shape.output_tokens,
    };
    std::fs::create_dir_all(folder)?;
    let mut bytes = 0;
    for seed in 0..shape.shards {
        let truth = Truth { seed: u64::from(seed), jitter: 0.1, decode_tok_s: 100.0, ..Truth::default() };
        let mut shard = submission(&truth, "bench", &[asked], shape.runs, 0.1);
        shard.system.engine.name = format!("engine {}", seed % 5);
        shard.provenance.started_at = Some(format!("2026-{:02}-01T00:00:00Z", 1 + seed / 5 % 4));
        if !shape.gaps {
            for run in shard.cases.iter_mut().flat_map(|case| &mut case.runs) {
                for request in &mut run.requests {
                    request.gaps = None;
                }
            }
        }
        let text = write(&shard)?;
        bytes += text.len() as u64;
        std::fs::write(folder.join(format!("{seed}.json")), text)?;
    }
    Ok(bytes)
}

fn apart(at: usize, folder: &Path) -> anyhow::Result<Value> {
    let child = format!("{at} {}", folder.display());
    let output = Command::new(std::env::current_exe()?).env(CHILD, child).output()?;
    let text = String::from_utf8(output.stdout)?;
    serde_json::from_str(&text).with_context(|| String::from_utf8_lossy(&output.stderr).into_owned())
}

fn measure(at: usize, folder: &Path) -> anyhow::Result<Value> {
    let (name, format, only) = *EXPORTS.get(at).context("no such export")?;
    let out = folder.join(format!("out-{at}"));
    let options =
        Options { inputs: vec![folder.join("shards")], out: out.clone(), format, only, force: false };
    let start = Instant::now();
    let exported = export(&options)?;
    let elapsed_s = start.elapsed().as_secs_f64();
    let bytes = size(&out)?;
    std::fs::remove_dir_all(&out)?;
    anyhow::ensure!(exported.bad.is_empty(), "{:?}", exported.bad);
    Ok(json!({
        "export": name,
        "requests": exported.requests,
        "figures": exported.summaries,
        "elapsed_s": elapsed_s,
        "requests_per_s": exported.requests as f64 / elapsed_s,
        "peak_memory_bytes": peak_memory_bytes(),
        "out_bytes": bytes,
    }))
}

fn size(folder: &PathBuf) -> anyhow::Result<u64> {
    let mut bytes = 0;
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        bytes += if entry.file_type()?.is_dir() { size(&entry.path())? } else { entry.metadata()?.len() };
    }
    Ok(bytes)
}

/// The most memory that this process held; unknown where the system does not tell.
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? * 1024)
}
