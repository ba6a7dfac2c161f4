//! How many tests ran, read from what the test runners print.

use std::ops::AddAssign;

/// Tests by how they ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: u64,
    pub failed: u64,
    /// Ignored or skipped by the runner.
    pub skipped: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

/// Reads the line that ends one test binary of `cargo test`, such as
/// `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s`.
pub fn of_cargo(line: &str) -> Option<Counts> {
    let (_verdict, numbers) = line.strip_prefix("test result: ")?.split_once(". ")?;
    let mut counts = Counts::default();
    for part in numbers.split("; ") {
        match part.split_once(' ') {
            Some((number, "passed")) => counts.passed = number.parse().ok()?,
            Some((number, "failed")) => counts.failed = number.parse().ok()?,
            Some((number, "ignored")) => counts.skipped = number.parse().ok()?,
            _ => {}
        }
    }
    Some(counts)
}

/// Reads one line of the summary of `node --test` (`ℹ pass 5`; each line has one of the numbers).
pub fn of_node(line: &str) -> Option<Counts> {
    let (label, number) = line.strip_prefix("ℹ ")?.split_once(' ')?;
    let number: u64 = number.parse().ok()?;
    let none = Counts::default();
    match label {
        "pass" => Some(Counts { passed: number, ..none }),
        "fail" | "cancelled" => Some(Counts { failed: number, ..none }),
        "skipped" | "todo" => Some(Counts { skipped: number, ..none }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(text: &str, read: fn(&str) -> Option<Counts>) -> Counts {
        let mut total = Counts::default();
        for counts in text.lines().filter_map(read) {
            total += counts;
        }
        total
    }

    #[test]
    fn every_binary_of_cargo_test_is_counted() {
        let text = "\
running 2 tests
test a ... ok
test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s
test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s
5 passed; 7 failed
";
        assert_eq!(sum(text, of_cargo), Counts { passed: 16, failed: 2, skipped: 1 });
    }

    #[test]
    fn the_summary_of_node_is_counted() {
        let text = "\
✔ opens (2.1ms)
ℹ tests 9
ℹ suites 1
ℹ pass 5
ℹ fail 1
ℹ cancelled 1
ℹ skipped 2
ℹ todo 0
ℹ duration_ms 81.2
";
        assert_eq!(sum(text, of_node), Counts { passed: 5, failed: 2, skipped: 2 });
    }

    #[test]
    fn a_line_that_only_looks_like_a_result_is_passed_over() {
        assert_eq!(of_cargo("test result: ok"), None);
        assert_eq!(of_cargo("test result: ok. many passed; 0 failed"), None);
        assert_eq!(of_node("ℹ pass"), None);
        assert_eq!(of_node("pass 5"), None);
    }
}
