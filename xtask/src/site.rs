//! The explorer as a folder of static files, with published data under `data/`.

use std::path::{Path, PathBuf};
use std::{env, fs};

use anyhow::{Context as _, Result};

use crate::cli::SiteOptions;
use crate::process;
use crate::setup::{self, Group, WASM};
use crate::squeeze::{self, Weight};
use crate::workshop::Workshop;

/// Where a site has its data, below its root.
pub const DATA: &str = "data";

/// How the collector is compiled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Quick to build; the tests have built it already.
    Dev,
    /// For whatever is measured or large.
    Release,
}

/// `cargo xtask site`.
pub fn run(shop: &Workshop, options: &SiteOptions) -> Result<()> {
    let out = shop.root.join(&options.out);
    build(shop, &out)?;
    let dyno = build_dyno(shop, Profile::Release)?;
    publish(shop, &dyno, &shop.root.join("results"), &out)?;
    publish_schema(shop, &out)?;
    println!("{}", out.display());
    Ok(())
}

/// Builds the explorer into a folder, and says what its code is made of; what was there goes away.
pub fn build(shop: &Workshop, out: &Path) -> Result<Vec<Weight>> {
    setup::ensure(shop, &[Group::Wasm])?;
    eprintln!("site: building the explorer (about 3 minutes the first time, seconds later)");
    // With `--offline` trunk uses the tools it finds or says what it misses, instead of downloading others; cargo
    // below it then needs all crates at hand.
    let host = host(shop)?;
    process::run(shop.command("cargo").args(["fetch", "--quiet", "--target", WASM, "--target", &host]))
        .context("cannot download the crates of the explorer: check the network, then try again")?;
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let mut trunk = shop.command("trunk");
    trunk.args(["build", "--config", "Trunk.toml", "--offline=true", "--release=true", "--dist"]).arg(out);
    // Trunk reads this variable as a boolean and fails on the usual `1`.
    trunk.env_remove("NO_COLOR");
    trunk.env("CARGO_ENCODED_RUSTFLAGS", anonymous_paths(&cargo_home(), &shop.root));
    process::run(&mut trunk)?;
    squeeze::run(shop, out).context("cannot squeeze the explorer")
}

/// Flags that keep the builder's folders out of the binary: the message of a panic names its source file.
fn anonymous_paths(cargo_home: &Path, root: &Path) -> String {
    let remap = |from: &Path, to: &str| format!("--remap-path-prefix={}={to}", from.display());
    // The separator that cargo asks for, so that a folder may hold blanks.
    [remap(cargo_home, "cargo"), remap(root, "dyno")].join("\u{1f}")
}

fn cargo_home() -> PathBuf {
    let named = env::var_os("CARGO_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    named.or_else(|| env::home_dir().map(|home| home.join(".cargo"))).unwrap_or_default()
}

/// Publishes a folder of shards as the data of a site.
pub fn publish(shop: &Workshop, dyno: &Path, shards: &Path, site: &Path) -> Result<()> {
    let data = site.join(DATA);
    eprintln!("site: publishing {} to {}", shards.display(), data.display());
    process::run(shop.command(dyno).arg("publish").arg(shards).arg("--out").arg(&data))
}

/// Puts the JSON Schema of the shards where docs/SHARD.md says.
fn publish_schema(shop: &Workshop, site: &Path) -> Result<()> {
    let name = Path::new("schema/dyno-1.schema.json");
    let to = site.join(name);
    fs::create_dir_all(to.parent().unwrap_or(site))
        .with_context(|| format!("cannot create {}", to.display()))?;
    fs::copy(shop.root.join(name), &to).with_context(|| format!("cannot write {}", to.display()))?;
    Ok(())
}

/// Builds the collector and says where it is.
pub fn build_dyno(shop: &Workshop, profile: Profile) -> Result<PathBuf> {
    let mut cargo = shop.command("cargo");
    cargo.args(["build", "--package", "dyno", "--bin", "dyno"]);
    let folder = match profile {
        Profile::Dev => "debug",
        Profile::Release => {
            eprintln!("site: building the collector (about 3 minutes the first time, seconds later)");
            cargo.arg("--release");
            "release"
        }
    };
    process::run(&mut cargo)?;
    Ok(shop.target.join(folder).join("dyno").with_extension(std::env::consts::EXE_EXTENSION))
}

fn host(shop: &Workshop) -> Result<String> {
    let text = process::capture(shop.command("rustc").arg("-vV"))?;
    let host = text.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say what machine it is for")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_builders_folders_have_other_names_in_the_binary() {
        let flags = anonymous_paths(Path::new("/home/a b/.cargo"), Path::new("/src/dyno"));
        assert_eq!(
            flags.split('\u{1f}').collect::<Vec<_>>(),
            ["--remap-path-prefix=/home/a b/.cargo=cargo", "--remap-path-prefix=/src/dyno=dyno"]
        );
    }
}
