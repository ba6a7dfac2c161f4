//! Parts of the Rust toolchain, through rustup.

use std::fs;

use anyhow::{Context as _, Result, bail};

use crate::process;
use crate::workshop::Workshop;

pub const WASM: &str = "wasm32-unknown-unknown";

pub fn has_components(shop: &Workshop) -> bool {
    ["fmt", "clippy"].iter().all(|tool| process::succeeds(shop.command("cargo").args([tool, "--version"])))
}

pub fn add_components(shop: &Workshop) -> Result<()> {
    rustup(shop, &["component", "add", "rustfmt", "clippy"])
}

/// Asks rustc where the target's libraries would be, and looks there: true of every kind of toolchain.
pub fn has_wasm_target(shop: &Workshop) -> bool {
    let asked = process::ask(shop.command("rustc").args(["--print", "target-libdir", "--target", WASM]));
    let Some(Ok(files)) = asked.map(fs::read_dir) else { return false };
    files.flatten().any(|file| {
        let name = file.file_name();
        let name = name.to_string_lossy();
        name.starts_with("libstd-") && name.ends_with(".rlib")
    })
}

pub fn add_wasm_target(shop: &Workshop) -> Result<()> {
    rustup(shop, &["target", "add", WASM])
}

fn rustup(shop: &Workshop, arguments: &[&str]) -> Result<()> {
    let line = arguments.join(" ");
    if shop.find("rustup").is_none() {
        bail!(
            "there is no rustup here: install it (https://rustup.rs), or add to this Rust what `rustup {line}` would"
        );
    }
    process::run(shop.command("rustup").args(arguments)).with_context(|| {
        format!(
            "rustup could not download it: check the network (behind a proxy set https_proxy; behind a mirror set \
             RUSTUP_DIST_SERVER), see that `rustup {line}` works by hand, then try again. A distribution's toolchain \
             that has it will do too: link it with `rustup toolchain link NAME DIR` and set RUSTUP_TOOLCHAIN=NAME"
        )
    })
}
