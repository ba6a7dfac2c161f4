//! Debian packages.

use std::io::{self, IsTerminal as _};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::process;
use crate::workshop::Workshop;

/// Installs packages with `apt-get`, as root or through sudo.
pub fn install(shop: &Workshop, packages: &[&str]) -> Result<()> {
    let list = packages.join(" ");
    if shop.find("apt-get").is_none() {
        bail!(
            "there is no apt-get here: install {list} (Debian's names) with this system's own package manager"
        );
    }
    let Some(prefix) = privilege(shop) else {
        bail!("this needs root: run `apt-get install {list}` as root, then try again");
    };
    let apt = |arguments: &[&str]| -> Command {
        let words = prefix.iter().copied().chain(["env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq"]);
        let mut words = words.chain(arguments.iter().copied());
        let mut command = shop.command(words.next().unwrap_or("env"));
        command.args(words);
        command
    };
    if let Err(error) = process::run(&mut apt(&["update"])) {
        eprintln!("setup: {error:#}; trying with the package lists there are");
    }
    let mut arguments = vec!["install", "-y", "--no-install-recommends"];
    arguments.extend(packages);
    process::run(&mut apt(&arguments))
        .with_context(|| format!("see apt's message above; once `apt-get install {list}` works, try again"))
}

/// What to put before a command so that it runs as root; `None` when there is no way.
fn privilege(shop: &Workshop) -> Option<Vec<&'static str>> {
    if process::ask(shop.command("id").arg("-u")).as_deref() == Some("0") {
        return Some(Vec::new());
    }
    shop.find("sudo")?;
    if process::succeeds(shop.command("sudo").args(["-n", "true"])) {
        return Some(vec!["sudo", "-n"]);
    }
    // At a terminal sudo may ask for a password.
    io::stdin().is_terminal().then(|| vec!["sudo"])
}
