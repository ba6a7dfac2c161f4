//! The checkout, the cache, and commands that run in them.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use crate::cache::Cache;

/// Everything a command needs to know of where it works.
#[derive(Debug)]
pub struct Workshop {
    /// The checkout.
    pub root: PathBuf,
    pub cache: Cache,
    /// Cargo's target folder: the caller's, else the one in the cache.
    pub target: PathBuf,
    /// `PATH` with our tools first.
    path: OsString,
}

impl Workshop {
    pub fn open() -> Result<Self> {
        let here = env::current_dir().context("the current folder is gone: change to the checkout")?;
        let root = env::var_os("CARGO_MANIFEST_DIR")
            .and_then(|xtask| Path::new(&xtask).parent().map(Path::to_owned))
            .or_else(|| {
                here.ancestors().find(|folder| folder.join("xtask/Cargo.toml").is_file()).map(Path::to_owned)
            })
            .context("not inside a checkout of Dyno: change to one and run `cargo xtask` again")?;
        let cache = Cache::of_user()?;
        let target = match env::var_os("CARGO_TARGET_DIR").filter(|folder| !folder.is_empty()) {
            Some(folder) => here.join(folder),
            None => cache.target(),
        };
        let old = env::var_os("PATH").unwrap_or_default();
        let path = env::join_paths(std::iter::once(cache.tools_bin()).chain(env::split_paths(&old)))
            .context("the path of the cache holds a colon: set DYNO_CACHE to another folder")?;
        Ok(Self { root, cache, target, path })
    }

    /// A command in the checkout, with our tools first in its `PATH` and cargo building into our target folder.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let program = program.as_ref();
        let found = self.find(program).map_or_else(|| program.to_owned(), PathBuf::into_os_string);
        let mut command = Command::new(found);
        command.current_dir(&self.root).env("PATH", &self.path).env("CARGO_TARGET_DIR", &self.target);
        // `cargo run` describes *this* package to us; build scripts that watch these variables would run again.
        for (name, _) in env::vars_os() {
            let text = name.to_string_lossy();
            if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
                command.env_remove(&name);
            }
        }
        command
    }

    /// Where a program lies: our tools first, then the caller's `PATH`. A path with a slash is taken as it is.
    pub fn find(&self, program: impl AsRef<OsStr>) -> Option<PathBuf> {
        let program = Path::new(program.as_ref());
        if program.components().count() > 1 {
            return program.is_file().then(|| program.to_owned());
        }
        env::split_paths(&self.path).map(|folder| folder.join(program)).find(|file| is_executable(file))
    }

    /// The first Chromium there is: `$DYNO_CHROMIUM`, else by its usual names.
    pub fn chromium(&self) -> Option<PathBuf> {
        let named = env::var_os("DYNO_CHROMIUM").filter(|path| !path.is_empty());
        match named {
            Some(path) => self.find(path),
            None => ["chromium", "chromium-browser", "google-chrome"].iter().find_map(|name| self.find(name)),
        }
    }
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(file).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_executable(file: &Path) -> bool {
    file.is_file()
}
