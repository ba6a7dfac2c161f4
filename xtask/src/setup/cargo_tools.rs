//! Tools that cargo builds from source.

use std::fs;
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::process;
use crate::versions::{CARGO_FUZZ, TRUNK, WASM_BINDGEN};
use crate::workshop::Workshop;

pub fn has_wasm_bindgen(shop: &Workshop) -> bool {
    says(shop, "wasm-bindgen", WASM_BINDGEN)
}

/// Not `--locked`: the lock file it ships with names a crate version that not every registry has.
pub fn install_wasm_bindgen(shop: &Workshop) -> Result<()> {
    install(shop, &["wasm-bindgen-cli", "--version", WASM_BINDGEN, "--no-default-features"])
}

pub fn has_trunk(shop: &Workshop) -> bool {
    says(shop, "trunk", TRUNK)
}

pub fn install_trunk(shop: &Workshop) -> Result<()> {
    install(shop, &["trunk", "--version", TRUNK, "--locked", "--no-default-features", "--features", "rustls"])
}

pub fn has_cargo_fuzz(shop: &Workshop) -> bool {
    says(shop, "cargo-fuzz", CARGO_FUZZ)
}

pub fn install_cargo_fuzz(shop: &Workshop) -> Result<()> {
    install(shop, &["cargo-fuzz", "--version", CARGO_FUZZ, "--locked"])
}

/// Removes what the builds left behind; the tools themselves are in `bin`.
pub fn sweep(shop: &Workshop) {
    let build = shop.cache.tools_build();
    if build.exists()
        && let Err(error) = fs::remove_dir_all(&build)
    {
        eprintln!("setup: cannot remove {}, which is no longer needed: {error}", build.display());
    }
}

fn says(shop: &Workshop, tool: &str, version: &str) -> bool {
    let mut command: Command = shop.command(tool);
    process::ask(command.arg("--version")).is_some_and(|line| line == format!("{tool} {version}"))
}

fn install(shop: &Workshop, arguments: &[&str]) -> Result<()> {
    let mut command = shop.command("cargo");
    command.arg("install").args(arguments).arg("--force").arg("--root").arg(shop.cache.tools());
    // These tools run for seconds: a quick build matters more than quick code.
    command
        .env("CARGO_TARGET_DIR", shop.cache.tools_build())
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16");
    process::run(&mut command).context(
        "see cargo's message above; if it could not download, check the network (and the registry in cargo's \
         configuration), then try again",
    )
}
