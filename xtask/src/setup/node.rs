//! Node.js and the packages from npm.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use super::apt;
use crate::process;
use crate::versions::{BINARYEN, NODE, NODE_MIN_MAJOR, PLAYWRIGHT_CORE};
use crate::workshop::Workshop;

pub fn has_node(shop: &Workshop) -> bool {
    is_recent(shop) && shop.find("npm").is_some()
}

/// The system's packages first; then, if their Node is too old (Debian 12), a newer one beside it.
pub fn install_node(shop: &Workshop) -> Result<()> {
    if shop.find("node").is_none() || shop.find("npm").is_none() {
        apt::install(shop, &["nodejs", "npm"])?;
    }
    if !is_recent(shop) {
        eprintln!(
            "setup: this system's Node.js is older than {NODE_MIN_MAJOR}: installing {NODE} for our own use"
        );
        install(shop, "node", NODE)?;
        link(shop, "node")?;
    }
    Ok(())
}

pub fn has_wasm_opt(shop: &Workshop) -> bool {
    shop.cache.tools_bin().join("wasm-opt").exists()
        && installed(shop, "binaryen").as_deref() == Some(BINARYEN)
}

pub fn install_wasm_opt(shop: &Workshop) -> Result<()> {
    install(shop, "binaryen", BINARYEN)?;
    link(shop, "wasm-opt")
}

pub fn has_playwright(shop: &Workshop) -> bool {
    installed(shop, "playwright-core").as_deref() == Some(PLAYWRIGHT_CORE)
}

pub fn install_playwright(shop: &Workshop) -> Result<()> {
    install(shop, "playwright-core", PLAYWRIGHT_CORE)
}

fn is_recent(shop: &Workshop) -> bool {
    process::ask(shop.command("node").arg("--version"))
        .and_then(|version| major(&version))
        .is_some_and(|major| major >= NODE_MIN_MAJOR)
}

fn major(version: &str) -> Option<u32> {
    version.strip_prefix('v')?.split('.').next()?.parse().ok()
}

/// Version of a package under our prefix.
fn installed(shop: &Workshop, package: &str) -> Option<String> {
    let manifest = shop.cache.npm().join("node_modules").join(package).join("package.json");
    let manifest: serde_json::Value = serde_json::from_slice(&fs::read(manifest).ok()?).ok()?;
    Some(manifest.get("version")?.as_str()?.to_owned())
}

fn install(shop: &Workshop, package: &str, version: &str) -> Result<()> {
    let prefix = shop.cache.npm();
    fs::create_dir_all(&prefix).with_context(|| format!("cannot create {}", prefix.display()))?;
    let mut command = shop.command("npm");
    command.args(["install", "--loglevel=error", "--no-audit", "--no-fund", "--prefix"]);
    command.arg(prefix).arg(format!("{package}@{version}"));
    process::run(&mut command).context(
        "see npm's message above; if it could not download, check the network (and npm's `registry` and `proxy` \
         settings), then try again",
    )
}

/// Puts a program of an npm package among our tools.
fn link(shop: &Workshop, program: &str) -> Result<()> {
    let bin = shop.cache.tools_bin();
    let from = shop.cache.npm().join("node_modules/.bin").join(program);
    let to = bin.join(program);
    fs::create_dir_all(&bin).with_context(|| format!("cannot create {}", bin.display()))?;
    if to.symlink_metadata().is_ok() {
        fs::remove_file(&to).with_context(|| format!("cannot replace {}", to.display()))?;
    }
    symlink(&from, &to).with_context(|| format!("cannot link {} to {}", to.display(), from.display()))
}

#[cfg(unix)]
fn symlink(from: &Path, to: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(from, to)
}

#[cfg(not(unix))]
fn symlink(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::copy(from, to).map(|_| ())
}

#[cfg(test)]
mod tests {
    use super::major;

    #[test]
    fn the_major_of_node_is_read() {
        assert_eq!(major("v20.20.2"), Some(20));
        assert_eq!(major("v8"), Some(8));
        assert_eq!(major("command not found"), None);
    }
}
