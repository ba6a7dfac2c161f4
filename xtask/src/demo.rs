//! `cargo xtask demo`: from an engine to the page, in one command.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail};

use crate::children::{self, Watched};
use crate::cli::DemoOptions;
use crate::site::{self, Profile};
use crate::workshop::Workshop;
use crate::{process, serve};

/// Exit codes of the collector that the demo tells apart.
mod exit {
    pub const DONE: i32 = 0;
    /// Measured, and something failed its checks: still a result.
    pub const CHECKS_FAILED: i32 = 1;
    pub const NO_ENGINE: i32 = 3;
}

/// What is measured.
enum Subject {
    Real { url: String },
    Simulated { url: String, _server: Watched },
}

pub fn run(shop: &Workshop, options: &DemoOptions) -> Result<()> {
    let listener = serve::bind(options.port)?;
    children::end_with_us()?;
    // Everything is built before anything is measured: nobody waits for a measurement that cannot be shown.
    let dyno = site::build_dyno(shop, Profile::Release)?;
    let home = shop.cache.demo();
    let out = home.join("site");
    site::build(shop, &out)?;
    let shards = if options.show.is_empty() {
        let shards = home.join("shards");
        fs::create_dir_all(&shards).with_context(|| format!("cannot create {}", shards.display()))?;
        let subject = choose(shop, &dyno, options)?;
        measure(shop, &dyno, &subject, options.full, &shards)?;
        shards
    } else {
        gather(&options.show, &home.join("shown"))?
    };

    let staging = home.join("staging");
    stage(&[&shop.root.join("results"), &shards], &staging)?;
    site::publish(shop, &dyno, &staging, &out)?;

    let address = listener.local_addr().context("lost the port of the explorer")?;
    println!("http://{address}/");
    eprintln!("demo: the explorer is at http://{address}/ (Ctrl-C ends it)");
    serve::serve(&listener, &out)
}

fn choose(shop: &Workshop, dyno: &Path, options: &DemoOptions) -> Result<Subject> {
    if let Some(url) = &options.url {
        return Ok(Subject::Real { url: url.clone() });
    }
    if let Some(url) = discover(shop, dyno)? {
        eprintln!("demo: found an engine at {url}");
        return Ok(Subject::Real { url });
    }
    eprintln!(
        "demo: no engine is running here, so the built-in simulated one is measured; for a real one run"
    );
    eprintln!("demo:   cargo xtask engine llama-cpp");
    simulate(shop, dyno)
}

/// The engine that `dyno run` would find.
fn discover(shop: &Workshop, dyno: &Path) -> Result<Option<String>> {
    let output =
        shop.command(dyno).args(["discover", "--json"]).output().context("cannot start `dyno discover`")?;
    match output.status.code() {
        Some(exit::DONE) => {
            let text = String::from_utf8_lossy(&output.stdout).into_owned();
            found(&text)
                .map(Some)
                .with_context(|| format!("`dyno discover` printed no address: {}", text.trim()))
        }
        Some(exit::NO_ENGINE) => Ok(None),
        _ => bail!(
            "`dyno discover` failed ({}): {}",
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        ),
    }
}

fn found(text: &str) -> Option<String> {
    let value: serde_json::Value = serde_json::from_str(text).ok()?;
    Some(value.get("url")?.as_str()?.to_owned())
}

fn simulate(shop: &Workshop, dyno: &Path) -> Result<Subject> {
    let mut child = shop
        .command(dyno)
        .args(["simulate", "--port", "0"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("cannot start `dyno simulate`")?;
    let pipe = child.stdout.take();
    let server = Watched::new(child);
    let mut url = String::new();
    if let Some(pipe) = pipe {
        BufReader::new(pipe).read_line(&mut url).context("cannot read from `dyno simulate`")?;
    }
    let url = url.trim().to_owned();
    if !url.starts_with("http://") {
        bail!("`dyno simulate` did not start: see its message above");
    }
    Ok(Subject::Simulated { url, _server: server })
}

fn measure(shop: &Workshop, dyno: &Path, subject: &Subject, full: bool, shards: &Path) -> Result<()> {
    // A simulated shard replaces the last one; a real measurement is kept.
    let (url, full, name) = match subject {
        Subject::Real { url } => (url, full, format!("measured-{}.json", unix_time())),
        Subject::Simulated { url, .. } => (url, false, "simulated.json".to_owned()),
    };
    let shard = shards.join(name);
    let mut command = shop.command(dyno);
    command.args(["run", "--force", "--url", url, "--label", "demo", "--out"]).arg(&shard);
    if !full {
        command.arg("--quick");
    }
    let status = process::status(&mut command)?;
    match status.code() {
        Some(exit::DONE) => {}
        Some(exit::CHECKS_FAILED) => eprintln!("demo: something failed its checks; the page says what"),
        _ => bail!("`dyno run` failed ({status}): see its message above"),
    }
    eprintln!("demo: wrote {}", shard.display());
    Ok(())
}

/// Copies shards that were measured before into a fresh folder.
fn gather(files: &[PathBuf], folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("cannot clear {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    for (number, file) in files.iter().enumerate() {
        // Numbered, so that two files of one name from two folders are both shown.
        let target = folder.join(format!("{number}.json"));
        fs::copy(file, &target)
            .with_context(|| format!("cannot read {}: give the shard's file", file.display()))?;
    }
    Ok(folder.to_owned())
}

/// Puts the shards of several folders side by side into a fresh one.
fn stage(folders: &[&Path], staging: &Path) -> Result<()> {
    if staging.exists() {
        fs::remove_dir_all(staging).with_context(|| format!("cannot clear {}", staging.display()))?;
    }
    for folder in folders {
        let name = folder.file_name().context("a folder of shards needs a name")?;
        copy(folder, &staging.join(name))?;
    }
    Ok(())
}

fn copy(from: &Path, to: &PathBuf) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot create {}", to.display()))?;
    for entry in fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))? {
        let path = entry.with_context(|| format!("cannot read {}", from.display()))?.path();
        let Some(name) = path.file_name() else { continue };
        let target = to.join(name);
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            fs::copy(&path, &target).with_context(|| format!("cannot copy {}", path.display()))?;
        }
    }
    Ok(())
}

fn unix_time() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_is_read_from_what_discover_prints() {
        assert_eq!(found(r#"{"url": "http://127.0.0.1:8080"}"#).as_deref(), Some("http://127.0.0.1:8080"));
        assert_eq!(found("nothing"), None);
        assert_eq!(found("{}"), None);
    }

    #[test]
    fn shards_to_show_are_gathered_afresh_and_a_missing_one_is_named() {
        let home = tempfile::tempdir().unwrap();
        let [a, b, shown] = ["a.json", "sub/a.json", "shown"].map(|name| home.path().join(name));
        fs::create_dir_all(home.path().join("sub")).unwrap();
        fs::write(&a, "1").unwrap();
        fs::write(&b, "2").unwrap();
        gather(&[a.clone(), b], &shown).unwrap();
        assert_eq!(fs::read_dir(&shown).unwrap().count(), 2);
        gather(&[a], &shown).unwrap();
        assert_eq!(fs::read_dir(&shown).unwrap().count(), 1);
        let error = gather(&[home.path().join("gone.json")], &shown).unwrap_err();
        assert!(error.to_string().contains("gone.json"), "{error}");
    }

    #[test]
    fn staging_holds_both_folders_and_nothing_old() {
        let home = tempfile::tempdir().unwrap();
        let [results, shards, staging] = ["results", "shards", "staging"].map(|name| home.path().join(name));
        fs::create_dir_all(results.join("llama.cpp/2026-01-02")).unwrap();
        fs::create_dir_all(&shards).unwrap();
        fs::create_dir_all(&staging).unwrap();
        fs::write(results.join("llama.cpp/2026-01-02/a.json"), "1").unwrap();
        fs::write(shards.join("simulated.json"), "2").unwrap();
        fs::write(staging.join("old.json"), "3").unwrap();
        stage(&[&results, &shards], &staging).unwrap();
        assert!(staging.join("results/llama.cpp/2026-01-02/a.json").is_file());
        assert!(staging.join("shards/simulated.json").is_file());
        assert!(!staging.join("old.json").exists());
    }
}
