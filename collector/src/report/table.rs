//! Aligned columns for the terminal.

/// Blanks between two columns.
const GAP: usize = 2;

/// How a column is aligned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Align {
    /// Words.
    Left,
    /// Bare numbers.
    Right,
}

/// A column: its name, its unit below the name, and its cells.
#[derive(Debug, Clone)]
pub struct Column {
    head: String,
    unit: String,
    align: Align,
    cells: Vec<String>,
}

impl Column {
    /// A column of these cells.
    pub fn new(head: &str, unit: &str, align: Align, cells: Vec<String>) -> Self {
        Self { head: head.to_owned(), unit: unit.to_owned(), align, cells }
    }

    fn width(&self) -> usize {
        let texts = [&self.head, &self.unit].into_iter().chain(&self.cells);
        texts.map(|text| text.chars().count()).max().unwrap_or(0)
    }

    fn padded(&self, text: &str) -> String {
        let missing = " ".repeat(self.width().saturating_sub(text.chars().count()));
        match self.align {
            Align::Left => format!("{text}{missing}"),
            Align::Right => format!("{missing}{text}"),
        }
    }
}

/// The columns as lines: names, units (if there are any), then a line for each row. No line ends in blanks.
pub fn draw(columns: &[Column]) -> String {
    let mut lines = vec![line(columns, |c| &c.head)];
    if columns.iter().any(|c| !c.unit.is_empty()) {
        lines.push(line(columns, |c| &c.unit));
    }
    let rows = columns.iter().map(|c| c.cells.len()).max().unwrap_or(0);
    for row in 0..rows {
        lines.push(line(columns, |c| c.cells.get(row).map_or("", String::as_str)));
    }
    lines.join("\n") + "\n"
}

fn line<'a>(columns: &'a [Column], text: impl Fn(&'a Column) -> &'a str) -> String {
    let cells: Vec<String> = columns.iter().map(|c| c.padded(text(c))).collect();
    cells.join(&" ".repeat(GAP)).trim_end().to_owned()
}

/// Columns of prose.
const WIDTH: usize = 100;

/// Words in lines of at most 100 columns, the first indented by two blanks and the others by four. A longer word has
/// a line of its own.
pub fn wrapped(text: &str) -> String {
    let mut out = String::from(" ");
    let mut column = 1;
    for word in text.split_whitespace() {
        let length = word.chars().count();
        if column > 4 && column + 1 + length > WIDTH {
            out.push_str("\n   ");
            column = 3;
        }
        out.push(' ');
        out.push_str(word);
        column += 1 + length;
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_by_what_is_seen_and_units_stand_once() {
        let columns = [
            Column::new("case", "", Align::Left, vec!["code".into(), "a long name".into()]),
            Column::new("rate", "tok/s", Align::Right, vec!["39.5".into(), "–".into()]),
            Column::new("note", "", Align::Left, vec!["x".into(), String::new()]),
        ];
        insta::assert_snapshot!(draw(&columns), @r"
        case          rate  note
                     tok/s
        code          39.5  x
        a long name      –
        ");
    }

    #[test]
    fn prose_is_wrapped_between_words_and_a_long_word_stays_whole() {
        assert_eq!(wrapped("one two"), "  one two\n");
        let lines = wrapped(&format!("{} {}", "word ".repeat(40), "x".repeat(150)));
        assert!(
            lines.lines().all(|line| line.chars().count() <= 100 || line.trim().chars().all(|c| c == 'x')),
            "{lines}"
        );
        assert!(lines.starts_with("  word") && lines.contains("\n    word"), "{lines}");
        assert_eq!(lines.split_whitespace().count(), 41);
    }
}
