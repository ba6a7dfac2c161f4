//! Where things that are dear to make are kept between checkouts.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

/// The cache and its layout.
#[derive(Debug, Clone)]
pub struct Cache {
    home: PathBuf,
}

impl Cache {
    /// The cache of this user: `$DYNO_CACHE`, else `$XDG_CACHE_HOME/dyno`, else `~/.cache/dyno`.
    pub fn of_user() -> Result<Self> {
        let chosen = choose(env::var_os("DYNO_CACHE"), env::var_os("XDG_CACHE_HOME"), env::var_os("HOME"))
            .context("no folder for the cache: set DYNO_CACHE to one")?;
        let home = std::path::absolute(&chosen)
            .with_context(|| format!("cannot use {} as the cache: set DYNO_CACHE", chosen.display()))?;
        Ok(Self { home })
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The root that `cargo install` writes to.
    pub fn tools(&self) -> PathBuf {
        self.home.join("tools")
    }

    /// The tools themselves; first in the `PATH` of all that is run.
    pub fn tools_bin(&self) -> PathBuf {
        self.home.join("tools/bin")
    }

    /// Prefix of the npm packages.
    pub fn npm(&self) -> PathBuf {
        self.home.join("tools/npm")
    }

    /// Target folder while tools are built.
    pub fn tools_build(&self) -> PathBuf {
        self.home.join("tools/build")
    }

    /// Target folder of the workspace, unless the caller set another.
    pub fn target(&self) -> PathBuf {
        self.home.join("target")
    }

    pub fn llama_cpp(&self) -> PathBuf {
        self.home.join("llama-cpp")
    }

    /// Corpora and builds of `cargo xtask fuzz`.
    pub fn fuzz(&self) -> PathBuf {
        self.home.join("fuzz")
    }

    /// Shards and site of `cargo xtask demo`.
    pub fn demo(&self) -> PathBuf {
        self.home.join("demo")
    }
}

/// An empty variable counts as unset, and so does a relative `XDG_CACHE_HOME` (its specification says so).
fn choose(dyno: Option<OsString>, xdg: Option<OsString>, home: Option<OsString>) -> Option<PathBuf> {
    let set = |variable: Option<OsString>| variable.filter(|value| !value.is_empty()).map(PathBuf::from);
    set(dyno)
        .or_else(|| set(xdg).filter(|path| path.is_absolute()).map(|path| path.join("dyno")))
        .or_else(|| set(home).map(|path| path.join(".cache/dyno")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(dyno: Option<&str>, xdg: Option<&str>, home: Option<&str>) -> Option<String> {
        choose(dyno.map(Into::into), xdg.map(Into::into), home.map(Into::into))
            .map(|path| path.to_string_lossy().into_owned())
    }

    #[test]
    fn the_most_specific_variable_wins() {
        assert_eq!(chosen(Some("/d"), Some("/x"), Some("/h")).as_deref(), Some("/d"));
        assert_eq!(chosen(None, Some("/x"), Some("/h")).as_deref(), Some("/x/dyno"));
        assert_eq!(chosen(None, None, Some("/h")).as_deref(), Some("/h/.cache/dyno"));
        assert_eq!(chosen(None, None, None), None);
    }

    #[test]
    fn empty_and_relative_variables_are_passed_over() {
        assert_eq!(chosen(Some(""), Some(""), Some("/h")).as_deref(), Some("/h/.cache/dyno"));
        assert_eq!(chosen(None, Some("relative"), Some("/h")).as_deref(), Some("/h/.cache/dyno"));
    }
}
