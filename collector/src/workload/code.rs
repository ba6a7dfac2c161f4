//! `code`: programming tasks whose answers run to well over 512 tokens.

const LANGUAGES: [&str; 3] = ["Python", "Rust", "JavaScript"];

const TASKS: [&str; 24] = [
    "an LRU cache with get, put, delete, resize and a hit counter",
    "a priority queue on a binary heap with push, pop, peek, update and merge",
    "a JSON tokeniser and recursive-descent parser with line numbers in its errors",
    "a bank with accounts, deposits, withdrawals, transfers and a statement of transactions",
    "a text adventure with rooms, items, an inventory and a command loop",
    "an expression calculator with precedence, parentheses, variables and functions",
    "a matrix type with addition, multiplication, transpose, determinant and inverse",
    "a directed graph with breadth-first search, depth-first search, Dijkstra and topological sort",
    "a tic-tac-toe game with a minimax opponent and a board printer",
    "a CSV reader and writer with quoting, type guessing and column statistics",
    "a binary search tree with insert, delete, range queries and in-order iteration",
    "a library catalogue with books, members, loans, reservations and fines",
    "a rate limiter with token buckets, sliding windows and per-user quotas",
    "a markdown to HTML converter for headings, lists, emphasis, code and links",
    "a spreadsheet with cells, formulas, dependency tracking and cycle detection",
    "a Sudoku solver with constraint propagation and backtracking",
    "an event scheduler with recurring events, conflicts and reminders",
    "a key-value store with a write-ahead log, snapshots and compaction",
    "a Huffman encoder and decoder with a bit reader and a bit writer",
    "a game of life with patterns, wrap-around edges and a generation counter",
    "an HTTP request parser with headers, chunked bodies and clear errors",
    "an inventory system with stock, suppliers, orders and low-stock reports",
    "a regular expression matcher with groups, classes, repetition and anchors",
    "a bowling score keeper with frames, spares, strikes and a score sheet",
];

/// The prompt of this number, from 0; after the tasks are used up, the next language begins.
pub(super) fn prompt(number: usize) -> String {
    let task = TASKS[number % TASKS.len()];
    let language = LANGUAGES[number / TASKS.len() % LANGUAGES.len()];
    format!(
        "Write a complete {language} program that implements {task}. Give every function a comment that says what \
         it does, and write a test for each function. Answer with the code only."
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seventy_two_prompts_differ() {
        let prompts: std::collections::BTreeSet<String> = (0..72).map(prompt).collect();
        assert_eq!(prompts.len(), 72);
    }
}
