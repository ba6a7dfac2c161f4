//! Figures in the docs: what a benchmark writes there, and nothing else of the page.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, anyhow};

/// What they end with.
const END: &str = "<!-- end of figures -->";

/// The machine in words, without its name.
pub(super) fn machine() -> String {
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or("processor unknown", |(_, model)| model.trim());
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    format!("Measured on {cores} cores ({model}, {})", std::env::consts::OS)
}

/// Puts `text` into a page, where the figures of `command` stand.
pub(super) fn write(page: &Path, command: &str, text: &str) -> Result<()> {
    let old = fs::read_to_string(page).with_context(|| format!("cannot read {}", page.display()))?;
    let start = format!("<!-- figures: {command} -->");
    let new = between(&old, &start, text)
        .ok_or_else(|| anyhow!("{} lacks the lines `{start}` and `{END}`", page.display()))?;
    fs::write(page, new).with_context(|| format!("cannot write {}", page.display()))
}

fn between(old: &str, start: &str, text: &str) -> Option<String> {
    let (before, rest) = old.split_once(start)?;
    let (_, after) = rest.split_once(END)?;
    Some(format!("{before}{start}\n{}\n{END}{after}", text.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_stands_between_the_marks_is_replaced() {
        let page = format!("before\n<!-- figures: a -->\nold\n{END}\nafter\n");
        let new = between(&page, "<!-- figures: a -->", "new\n").unwrap();
        assert_eq!(new, format!("before\n<!-- figures: a -->\nnew\n{END}\nafter\n"));
        assert_eq!(between("a page without marks", "<!-- figures: a -->", "x"), None);
    }
}
