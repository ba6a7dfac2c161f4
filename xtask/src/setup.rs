//! Installs what is missing, and says so; silent when nothing is.

mod apt;
mod cargo_tools;
mod node;
mod rust;

use std::fs::{self, File, TryLockError};

use anyhow::{Context as _, Result, bail};

use crate::process;
use crate::workshop::Workshop;
pub use rust::WASM;

/// What a command may need; each group brings several pieces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Formatting and lints.
    Rust,
    /// The build of the explorer.
    Wasm,
    /// The tests in a browser.
    Browser,
    /// The build of a real engine.
    Engine,
    /// Fuzzing, which no check needs.
    Fuzz,
}

impl Group {
    pub const ALL: [Self; 4] = [Self::Rust, Self::Wasm, Self::Browser, Self::Engine];
}

/// One thing to install.
struct Piece {
    name: &'static str,
    groups: &'static [Group],
    /// What it is for, and about how long it takes.
    why: &'static str,
    /// Without it the work goes on, with a note.
    optional: bool,
    present: fn(&Workshop) -> bool,
    install: fn(&Workshop) -> Result<()>,
}

/// In the order of installation: later pieces may use earlier ones.
const PIECES: &[Piece] = &[
    Piece {
        name: "rustfmt and clippy",
        groups: &[Group::Rust],
        why: "format and lints; seconds",
        optional: false,
        present: rust::has_components,
        install: rust::add_components,
    },
    Piece {
        name: "the standard library for wasm32-unknown-unknown",
        groups: &[Group::Rust, Group::Wasm],
        why: "the explorer is WebAssembly; seconds",
        optional: false,
        present: rust::has_wasm_target,
        install: rust::add_wasm_target,
    },
    Piece {
        name: "Node.js and npm",
        groups: &[Group::Wasm, Group::Browser],
        why: "they run wasm-opt and the browser tests; a minute",
        optional: false,
        present: node::has_node,
        install: node::install_node,
    },
    Piece {
        name: "wasm-opt",
        groups: &[Group::Wasm],
        why: "makes the explorer small; seconds",
        optional: false,
        present: node::has_wasm_opt,
        install: node::install_wasm_opt,
    },
    Piece {
        name: "wasm-bindgen",
        groups: &[Group::Wasm],
        why: "joins WebAssembly and JavaScript; about 3 minutes on two cores",
        optional: false,
        present: cargo_tools::has_wasm_bindgen,
        install: cargo_tools::install_wasm_bindgen,
    },
    Piece {
        name: "trunk",
        groups: &[Group::Wasm],
        why: "builds the explorer; about 4 minutes on two cores",
        optional: false,
        present: cargo_tools::has_trunk,
        install: cargo_tools::install_trunk,
    },
    Piece {
        name: "playwright-core",
        groups: &[Group::Browser],
        why: "drives the browser in tests; seconds",
        optional: false,
        present: node::has_playwright,
        install: node::install_playwright,
    },
    Piece {
        name: "Chromium",
        groups: &[Group::Browser],
        why: "the browser of the tests; a minute",
        optional: false,
        present: |shop| shop.chromium().is_some(),
        install: |shop| apt::install(shop, &["chromium"]),
    },
    Piece {
        name: "DejaVu and Noto Color Emoji fonts",
        groups: &[Group::Browser],
        why: "so that screenshots show every sign; seconds",
        optional: true,
        present: has_fonts,
        install: |shop| apt::install(shop, &["fonts-dejavu-core", "fonts-noto-color-emoji"]),
    },
    Piece {
        name: "Python 3 with venv",
        groups: &[Group::Engine],
        why: "fetches the source of llama.cpp and a model; a minute",
        optional: false,
        present: has_python,
        install: |shop| apt::install(shop, &["python3", "python3-venv", "python3-pip"]),
    },
    Piece {
        name: "a C++ compiler",
        groups: &[Group::Engine, Group::Fuzz],
        why: "compiles llama.cpp, and the driver of the fuzz targets; a minute",
        optional: false,
        present: |shop| ["c++", "g++", "clang++"].iter().any(|name| shop.find(name).is_some()),
        install: |shop| apt::install(shop, &["g++"]),
    },
    Piece {
        name: "cargo-fuzz",
        groups: &[Group::Fuzz],
        why: "throws bytes at the parsers; about a minute on two cores",
        optional: false,
        present: cargo_tools::has_cargo_fuzz,
        install: cargo_tools::install_cargo_fuzz,
    },
];

/// Sees to it that every piece of these groups is there.
///
/// # Errors
/// When a piece cannot be installed; the error says what to do about it.
pub fn ensure(shop: &Workshop, groups: &[Group]) -> Result<()> {
    let missing =
        |piece: &&Piece| piece.groups.iter().any(|group| groups.contains(group)) && !(piece.present)(shop);
    if PIECES.iter().find(missing).is_none() {
        return Ok(());
    }
    let _lock = lock(shop)?;
    // Asked anew, one by one: another set-up may have ended meanwhile, and some pieces bring others along.
    for piece in PIECES {
        if !missing(&piece) {
            continue;
        }
        eprintln!("setup: installing {} ({})", piece.name, piece.why);
        let result = (piece.install)(shop).and_then(|()| {
            if (piece.present)(shop) {
                return Ok(());
            }
            bail!("it was installed, but still cannot be used: is another version first in PATH?")
        });
        match result {
            Ok(()) => {}
            Err(error) if piece.optional => eprintln!("setup: going on without {}: {error:#}", piece.name),
            Err(error) => return Err(error.context(format!("could not install {}", piece.name))),
        }
    }
    cargo_tools::sweep(shop);
    Ok(())
}

/// Holds the cache for ourselves until the file is dropped.
pub fn lock(shop: &Workshop) -> Result<File> {
    let home = shop.cache.home();
    let path = home.join("setup.lock");
    let advice =
        || format!("cannot write to {}: set DYNO_CACHE to a folder you can write to", home.display());
    fs::create_dir_all(home).with_context(advice)?;
    let file = File::create(&path).with_context(advice)?;
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            eprintln!("setup: waiting for another set-up to end ({} is locked)", path.display());
            file.lock().with_context(|| format!("cannot lock {}", path.display()))?;
        }
        Err(TryLockError::Error(error)) => {
            return Err(error).with_context(|| format!("cannot lock {}", path.display()));
        }
    }
    Ok(file)
}

/// Looked for only where Debian would put them; elsewhere the fonts are the user's business.
fn has_fonts(shop: &Workshop) -> bool {
    shop.find("dpkg").is_none()
        || ["dejavu/DejaVuSans.ttf", "noto/NotoColorEmoji.ttf"]
            .iter()
            .all(|font| std::path::Path::new("/usr/share/fonts/truetype").join(font).is_file())
}

/// Debian packs `ensurepip`, without which `venv` fails, apart from Python.
fn has_python(shop: &Workshop) -> bool {
    process::succeeds(shop.command("python3").args(["-c", "import ensurepip, venv"]))
}
