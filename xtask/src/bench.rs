//! Figures of speed and size. They are printed, and nothing but the budget of the page fails.

pub mod client;
pub mod compare;
mod figures;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::site::{self, Profile};
use crate::workshop::Workshop;

/// Compressed WebAssembly and JavaScript together.
const BUDGET_BYTES: u64 = 250 * 1000;
/// So many of the heaviest crates are listed.
const CRATES: usize = 12;

/// `cargo xtask bench page`.
pub fn page(shop: &Workshop) -> Result<()> {
    let out = shop.target.join("xtask/bench-site");
    let weights = site::build(shop, &out)?;
    let dyno = site::build_dyno(shop, Profile::Release)?;
    site::publish(shop, &dyno, &shop.root.join("results"), &out)?;

    let mut code = 0;
    println!("{:>9} {:>9}  file", "bytes", "gzipped");
    for file in files(&out)? {
        let size = measure(shop, &file)?;
        println!("{:>9} {:>9}  {}", size.plain, size.gzipped, name(&out, &file));
        if is_code(&file) {
            code += size.gzipped;
        }
    }
    for file in files(&out.join(site::DATA))? {
        let size = measure(shop, &file)?;
        println!("{:>9} {:>9}  {}", size.plain, size.gzipped, name(&out, &file));
    }
    println!("{:>9} {:>9}  crate, before compression", "bytes", "functions");
    for weight in weights.iter().take(CRATES) {
        println!("{:>9} {:>9}  {}", weight.bytes, weight.functions, weight.name);
    }
    println!("wasm + js: {code} bytes gzipped, budget {BUDGET_BYTES}");
    if code > BUDGET_BYTES {
        bail!("the page is over its budget by {} bytes", code - BUDGET_BYTES);
    }
    Ok(())
}

struct Size {
    plain: u64,
    gzipped: u64,
}

fn measure(shop: &Workshop, file: &Path) -> Result<Size> {
    let plain = fs::metadata(file).with_context(|| format!("cannot read {}", file.display()))?.len();
    let output =
        shop.command("gzip").args(["-9", "-n", "-c"]).arg(file).output().context("cannot start `gzip`")?;
    if !output.status.success() {
        bail!("gzip failed on {}: {}", file.display(), String::from_utf8_lossy(&output.stderr).trim());
    }
    Ok(Size { plain, gzipped: u64::try_from(output.stdout.len())? })
}

/// The files of one folder, without those below it.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut files: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    Ok(files)
}

fn is_code(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "wasm" || extension == "js")
}

fn name(root: &Path, file: &Path) -> String {
    file.strip_prefix(root).unwrap_or(file).display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_wasm_and_js_count_against_the_budget() {
        assert!(is_code(Path::new("dyno-web_bg.wasm")) && is_code(Path::new("dyno-web.js")));
        assert!(!is_code(Path::new("index.html")) && !is_code(Path::new("style.css")));
    }
}
