//! The stages, in order, and what each one does.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context as _, Result, bail};
use clap::ValueEnum;
use serde_json::Value;

use super::Outcome;
use super::counts::{self, Counts};
use crate::setup::{Group, WASM};
use crate::workshop::Workshop;
use crate::{llama_cpp, process, site};

/// One check. The order is the order of running: cheap ones first, and each after what it builds on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// rustfmt
    Fmt,
    /// lints, native
    Clippy,
    /// lints, for WebAssembly
    ClippyWasm,
    /// unit and integration tests
    Test,
    /// integration tests against llama-server
    Engine,
    /// the build of the explorer
    Wasm,
    /// publishing results/ into the explorer
    Data,
    /// tests of the explorer in Chromium
    Browser,
}

impl Stage {
    /// Its name on the command line, and what it does.
    pub fn describe(self) -> (String, String) {
        let value = self.to_possible_value().unwrap_or_default();
        (value.get_name().to_owned(), value.get_help().map(ToString::to_string).unwrap_or_default())
    }

    /// What must be installed for it.
    pub fn needs(self) -> &'static [Group] {
        match self {
            Self::Fmt | Self::Clippy | Self::ClippyWasm => &[Group::Rust],
            Self::Test | Self::Engine | Self::Data => &[],
            Self::Wasm => &[Group::Wasm],
            Self::Browser => &[Group::Browser],
        }
    }

    pub fn run(self, shop: &Workshop, keep_going: bool) -> Outcome {
        let result = match self {
            Self::Fmt => plain(shop.command("cargo").args(["fmt", "--all", "--check"])),
            Self::Clippy => plain(&mut clippy(shop, &["--workspace", "--exclude", WEB, "--all-targets"])),
            Self::ClippyWasm => plain(&mut clippy(shop, &["-p", WEB, "--all-targets", "--target", WASM])),
            Self::Test => test(shop, keep_going),
            Self::Engine => engine(shop, keep_going),
            Self::Wasm => site::build(shop, &test_site(shop)).map(|_| NO_TESTS),
            Self::Data => data(shop),
            Self::Browser => browser(shop),
        };
        result.unwrap_or_else(|error| Outcome::Failed(Counts::default(), format!("{error:#}")))
    }
}

/// Package of the explorer. Its lints run for WebAssembly only, and with them those of `shared` below it; its unit tests
/// are pure and run natively.
const WEB: &str = "dyno-web";
const NO_TESTS: Outcome = Outcome::Passed(Counts { passed: 0, failed: 0, skipped: 0 });
/// Test targets with this prefix need a real engine.
const ENGINE_PREFIX: &str = "engine_";

/// Where the site under test is built; apart from `dist`, so that no test overwrites what somebody looks at.
fn test_site(shop: &Workshop) -> PathBuf {
    shop.target.join("xtask/test-site")
}

fn plain(command: &mut Command) -> Result<Outcome> {
    process::run(command).map(|()| NO_TESTS)
}

fn clippy(shop: &Workshop, scope: &[&str]) -> Command {
    let mut command = shop.command("cargo");
    command.arg("clippy").args(scope).args(["--", "-D", "warnings"]);
    command
}

fn cargo_test(shop: &Workshop, keep_going: bool) -> Command {
    let mut command = shop.command("cargo");
    command.args(["test", "--workspace"]);
    if keep_going {
        command.arg("--no-fail-fast");
    }
    command
}

fn test(shop: &Workshop, keep_going: bool) -> Result<Outcome> {
    let targets = test_targets(shop)?;
    let mut total = Counts::default();
    let mut tests = cargo_test(shop, keep_going);
    tests.args(["--lib", "--bins"]);
    tests.args(targets.iter().filter(|name| !needs_engine(name)).flat_map(|name| ["--test", name]));
    let mut well = count(&mut tests, counts::of_cargo, &mut total)?;
    if well || keep_going {
        well &= count(cargo_test(shop, keep_going).arg("--doc"), counts::of_cargo, &mut total)?;
    }
    Ok(outcome(well, total))
}

fn engine(shop: &Workshop, keep_going: bool) -> Result<Outcome> {
    let mut targets = test_targets(shop)?;
    targets.retain(|name| needs_engine(name));
    if targets.is_empty() {
        bail!("no test target begins with `{ENGINE_PREFIX}`: where are the tests against a real engine?");
    }
    let Some(engine) = llama_cpp::built(shop) else {
        let why = "llama-server is not built here: run `cargo xtask engine llama-cpp --build-only`";
        return Ok(Outcome::Skipped(why.into()));
    };
    let mut tests = cargo_test(shop, keep_going);
    tests.args(targets.iter().flat_map(|name| ["--test", name]));
    // One at a time: they share the processors with the engine they measure.
    tests.args(["--", "--test-threads=1"]);
    tests.env("DYNO_TEST_LLAMA_SERVER", &engine.server).env("DYNO_TEST_MODEL", &engine.model);
    let mut total = Counts::default();
    let well = count(&mut tests, counts::of_cargo, &mut total)?;
    Ok(outcome(well, total))
}

fn data(shop: &Workshop) -> Result<Outcome> {
    let site = test_site(shop);
    if !site.join("index.html").is_file() {
        bail!("the explorer is not built yet: run the stage `wasm` first");
    }
    let dyno = site::build_dyno(shop, site::Profile::Dev)?;
    site::publish(shop, &dyno, &shop.root.join("results"), &site)?;
    Ok(NO_TESTS)
}

fn browser(shop: &Workshop) -> Result<Outcome> {
    let site = test_site(shop);
    if !site.join("data/latest.json").is_file() {
        bail!("the explorer is not built yet, or has no data: run the stages `wasm` and `data` first");
    }
    let folder = shop.root.join("web/tests");
    let mut files: Vec<PathBuf> = fs::read_dir(&folder)
        .with_context(|| format!("cannot read {}", folder.display()))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.to_string_lossy().ends_with(".test.mjs"))
        .collect();
    files.sort();
    if files.is_empty() {
        bail!("there is no file `*.test.mjs` in {}", folder.display());
    }
    // The tests publish their own shards.
    let dyno = site::build_dyno(shop, site::Profile::Dev)?;
    let mut node = shop.command("node");
    node.env("DYNO_BIN", dyno);
    node.args(["--test", "--test-reporter=spec", "--test-concurrency=1"]).args(files);
    node.env("DYNO_SITE", &site).env("DYNO_NPM", shop.cache.npm());
    node.env("DYNO_CHROMIUM", shop.chromium().context("there is no Chromium here: run `cargo xtask setup`")?);
    let mut total = Counts::default();
    let well = count(&mut node, counts::of_node, &mut total)?;
    Ok(outcome(well && total.passed > 0, total))
}

/// Names of all integration tests of the workspace.
fn test_targets(shop: &Workshop) -> Result<Vec<String>> {
    let metadata =
        process::capture(shop.command("cargo").args(["metadata", "--no-deps", "--format-version=1"]))?;
    targets_of(&metadata).context("cargo's metadata has another form than expected")
}

fn targets_of(metadata: &str) -> Option<Vec<String>> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    let mut names = Vec::new();
    for package in metadata.get("packages")?.as_array()? {
        for target in package.get("targets")?.as_array()? {
            if target.get("kind")?.as_array()?.iter().any(|kind| kind == "test") {
                names.push(target.get("name")?.as_str()?.to_owned());
            }
        }
    }
    Some(names)
}

fn needs_engine(target: &str) -> bool {
    target.starts_with(ENGINE_PREFIX)
}

/// Runs a test runner and adds up what it prints; whether the runner itself was content.
fn count(command: &mut Command, read: fn(&str) -> Option<Counts>, total: &mut Counts) -> Result<bool> {
    let status = process::echo(command, |line| {
        if let Some(counts) = read(line) {
            *total += counts;
        }
    })?;
    Ok(status.success())
}

fn outcome(well: bool, total: Counts) -> Outcome {
    match (well, total.failed) {
        (true, 0) => Outcome::Passed(total),
        (_, 0) => Outcome::Failed(total, "the test runner failed: see its message above".into()),
        (_, failed) => Outcome::Failed(total, format!("{failed} failed: see above")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_integration_tests_are_targets() {
        let metadata = r#"{"packages": [
            {"targets": [{"kind": ["lib"], "name": "dyno_shared"}, {"kind": ["test"], "name": "statistics"}]},
            {"targets": [{"kind": ["bin"], "name": "dyno"}, {"kind": ["test"], "name": "engine_llama_server"}]}
        ]}"#;
        let names = targets_of(metadata).unwrap();
        assert_eq!(names, ["statistics", "engine_llama_server"]);
        assert_eq!(names.iter().map(|name| needs_engine(name)).collect::<Vec<_>>(), [false, true]);
        assert_eq!(targets_of("{}"), None);
    }

    #[test]
    fn a_runner_that_fails_without_a_failed_test_fails_the_stage() {
        let counts = Counts { passed: 3, failed: 0, skipped: 0 };
        assert!(matches!(outcome(true, counts), Outcome::Passed(_)));
        assert!(matches!(outcome(false, counts), Outcome::Failed(..)));
        assert!(matches!(outcome(true, Counts { failed: 1, ..counts }), Outcome::Failed(..)));
    }
}
