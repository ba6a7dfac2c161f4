//! Makes the built explorer smaller to download. Nothing that it does changes: its functions stand in another order,
//! and what JavaScript and WebAssembly call each other's by is shorter.

mod bytes;
mod module;
mod names;
mod order;
mod weight;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result};

use crate::process;
use crate::workshop::Workshop;
use module::Module;
pub use weight::Weight;

/// What trunk calls the module, behind its stem.
const WASM: &str = "_bg.wasm";

/// Squeezes the site that trunk has built into a folder, and says what its code is made of.
///
/// # Errors
/// When the folder does not hold what trunk writes, or `wasm-opt` fails.
pub fn run(shop: &Workshop, site: &Path) -> Result<Vec<Weight>> {
    let stem = stem(site)?;
    let (js_file, wasm_file) = (site.join(format!("{stem}.js")), site.join(format!("{stem}{WASM}")));
    let bytes = fs::read(&wasm_file).with_context(|| format!("cannot read {}", wasm_file.display()))?;
    let js = fs::read_to_string(&js_file).with_context(|| format!("cannot read {}", js_file.display()))?;

    let mut module =
        Module::parse(&bytes).with_context(|| format!("cannot take {} apart", wasm_file.display()))?;
    let weights = weight::by_crate(&module.named_bodies()?);
    let short = names::shorten(&module.joints()?);
    module.rename(&short)?;
    module.number_functions(&order::order(&module.bodies()?))?;
    fs::write(&wasm_file, module.bytes()).with_context(|| format!("cannot write {}", wasm_file.display()))?;
    // Sorts by the numbers just given, and drops them and what else no browser reads.
    process::run(
        shop.command("wasm-opt")
            .args(["--optimize-level=0", "--shrink-level=2", "--reorder-functions-by-name"])
            .args(["--strip-debug", "--strip-producers", "--strip-target-features", "-o"])
            .args([&wasm_file, &wasm_file]),
    )?;
    fs::write(&js_file, names::replace(&js, &short))
        .with_context(|| format!("cannot write {}", js_file.display()))?;
    rename(site, &stem)?;
    Ok(weights)
}

/// By which script and module are called: `dyno-web-0123456789abcdef`.
fn stem(site: &Path) -> Result<String> {
    let entries = fs::read_dir(site).with_context(|| format!("cannot read {}", site.display()))?;
    let name =
        entries.flatten().find_map(|entry| entry.file_name().to_str()?.strip_suffix(WASM).map(str::to_owned));
    name.with_context(|| format!("trunk has left no module in {}", site.display()))
}

/// Names both files by what is in them now: trunk's name knows nothing of what was done to them since, and a browser
/// keeps a file for as long as its name.
fn rename(site: &Path, stem: &str) -> Result<()> {
    let read = |suffix: &str| fs::read(site.join(format!("{stem}{suffix}")));
    let hash = fnv(&[read(".js")?, read(WASM)?].concat());
    let base = stem.rsplit_once('-').map_or(stem, |(base, _)| base);
    let new = format!("{base}-{hash:016x}");
    for suffix in [".js", WASM] {
        fs::rename(site.join(format!("{stem}{suffix}")), site.join(format!("{new}{suffix}")))?;
    }
    let page = site.join("index.html");
    let html = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
    fs::write(&page, html.replace(stem, &new)).with_context(|| format!("cannot write {}", page.display()))
}

/// 64 bits of FNV-1a.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_their_content_and_the_page_follows() {
        let site = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| fs::write(site.path().join(name), text).unwrap();
        let names = |js: &str| {
            for entry in fs::read_dir(site.path()).unwrap().flatten() {
                fs::remove_file(entry.path()).unwrap();
            }
            write("dyno-web-00.js", js);
            write("dyno-web-00_bg.wasm", "wasm");
            write("index.html", "./dyno-web-00.js ./dyno-web-00_bg.wasm");
            rename(site.path(), &stem(site.path()).unwrap()).unwrap();
            let stem = stem(site.path()).unwrap();
            let page = fs::read_to_string(site.path().join("index.html")).unwrap();
            assert_eq!(page, format!("./{stem}.js ./{stem}_bg.wasm"));
            assert!(site.path().join(format!("{stem}.js")).is_file());
            stem
        };
        assert_ne!(names("a"), names("b"));
        assert_eq!(names("a"), names("a"));
    }
}
