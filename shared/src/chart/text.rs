//! Text of figures: made harmless, measured from a table of our own, and cut to a width.
//!
//! The widths are ours because plotters asks the DOM for them in wasm and guesses natively: with a
//! table, both sides lay a figure out to the same byte, and neither needs a font library.

/// The two text sizes of figures, in CSS pixels. A page that uses figures should have both among its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextSize {
    /// Ticks, axis titles, notes: 12 px.
    Small,
    /// Row labels and values: 14 px.
    Body,
}

impl TextSize {
    /// The size in CSS pixels.
    pub const fn px(self) -> f64 {
        match self {
            Self::Small => 12.0,
            Self::Body => 14.0,
        }
    }
}

/// What stands at the end of a text that was cut.
const ELLIPSIS: char = '…';

/// No text of a figure has more characters than this, however narrow they are.
const MOST_CHARACTERS: usize = 400;

/// Combining marks that may follow one base character. More of them only climb over the rows above.
const MOST_COMBINING: usize = 3;

/// Advance widths of `DejaVu Sans` for U+0020 to U+007E, in thousandths of an em. It is about the widest of
/// the fonts that `system-ui` stands for, so what fits by this table fits with the others.
const ASCII_WIDTHS: [u16; 95] = [
    318, 401, 460, 838, 636, 950, 780, 275, 390, 390, 500, 838, 318, 361, 318, 337, 636, 636, 636, 636, 636,
    636, 636, 636, 636, 636, 337, 337, 838, 838, 838, 531, 1000, 684, 686, 698, 770, 632, 575, 775, 752, 295,
    295, 656, 557, 863, 748, 787, 603, 787, 695, 635, 611, 732, 684, 989, 685, 611, 685, 390, 337, 390, 838,
    500, 500, 613, 635, 550, 635, 615, 352, 635, 634, 278, 278, 579, 278, 974, 634, 612, 635, 635, 411, 521,
    392, 634, 592, 818, 592, 592, 525, 636, 337, 636, 838,
];

/// Width of a character of which the table knows nothing: that of a wide letter.
const UNKNOWN_WIDTH: u16 = 770;

/// The text as it may be shown: one line, no character that is not text.
///
/// White space becomes single blanks. Other control characters and the two that XML forbids become
/// U+FFFD, so that a reader sees that something stood there. Marks that reorder or hide text (bidirectional
/// controls, zero-width blanks, tags) go; of stacked combining marks three stay. Markup is not touched: it
/// is text, and is escaped where it is written.
pub fn clean(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut combining = 0;
    for c in text.chars() {
        if c.is_whitespace() {
            if !shown.is_empty() && !shown.ends_with(' ') {
                shown.push(' ');
            }
        } else if c.is_control() || matches!(c, '\u{FFFE}' | '\u{FFFF}') {
            shown.push(char::REPLACEMENT_CHARACTER);
        } else if !is_invisible(c) {
            combining = if is_combining(c) { combining + 1 } else { 0 };
            if combining <= MOST_COMBINING {
                shown.push(c);
            }
        }
    }
    shown.truncate(shown.trim_end().len());
    shown
}

/// The width of `text` in CSS pixels, by our table.
pub fn measure(text: &str, size: TextSize) -> f64 {
    text.chars().map(|c| f64::from(width_of(c))).sum::<f64>() / 1000.0 * size.px()
}

/// `text` made harmless, and cut with an ellipsis if it is wider than `room` CSS pixels. Empty where not
/// even the ellipsis fits.
pub fn cut(text: &str, size: TextSize, room: f64) -> String {
    let shown = clean(text);
    if measure(&shown, size) <= room && shown.chars().nth(MOST_CHARACTERS).is_none() {
        return shown;
    }
    let thousandths = room / size.px() * 1000.0 - f64::from(width_of(ELLIPSIS));
    if thousandths.is_nan() || thousandths < 0.0 {
        return String::new();
    }
    let mut used = 0.0;
    let mut kept: String = shown
        .chars()
        .take(MOST_CHARACTERS)
        .take_while(|&c| {
            used += f64::from(width_of(c));
            used <= thousandths
        })
        .collect();
    kept.truncate(kept.trim_end_matches([' ', '\u{200D}']).len());
    kept.push(ELLIPSIS);
    kept
}

/// `text` for an attribute or the content of an element.
pub fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&apos;"),
            other => safe.push(other),
        }
    }
    safe
}

/// The advance width of `c` in thousandths of an em.
fn width_of(c: char) -> u16 {
    if let Some(&width) = (c as usize).checked_sub(0x20).and_then(|i| ASCII_WIDTHS.get(i)) {
        return width;
    }
    match c {
        '·' | '’' | '‘' => 318,
        '–' => 500,
        '×' | '÷' | '±' | '≈' | '←'..='↓' | '≤' | '≥' | '−' => 838,
        '\u{FDFA}' => 3500,
        '\u{FDFD}' => 10_000,
        c if is_combining(c) || is_invisible(c) || matches!(c, '\u{200C}' | '\u{200D}') => 0,
        // Hangul, CJK and their full-width forms, emoji; the ellipsis and the long dash.
        '…'
        | '—'
        | 'Ж'
        | 'Ю'
        | 'Щ'
        | '\u{1100}'..='\u{115F}'
        | '\u{2E80}'..='\u{A4CF}'
        | '\u{AC00}'..='\u{D7A3}'
        | '\u{F900}'..='\u{FAFF}'
        | '\u{FE30}'..='\u{FE4F}'
        | '\u{FF00}'..='\u{FF60}'
        | '\u{FFE0}'..='\u{FFE6}'
        | '\u{12000}'..='\u{123FF}'
        | '\u{1F000}'..='\u{1FAFF}'
        | '\u{20000}'..='\u{3FFFD}' => 1080,
        _ => UNKNOWN_WIDTH,
    }
}

/// Marks that sit on the character before them and take no width.
fn is_combining(c: char) -> bool {
    matches!(c,
        '\u{0300}'..='\u{036F}'
        | '\u{0483}'..='\u{0489}'
        | '\u{0591}'..='\u{05BD}'
        | '\u{0610}'..='\u{061A}'
        | '\u{064B}'..='\u{065F}'
        | '\u{0E31}' | '\u{0E34}'..='\u{0E3A}' | '\u{0E47}'..='\u{0E4E}'
        | '\u{1AB0}'..='\u{1AFF}'
        | '\u{1DC0}'..='\u{1DFF}'
        | '\u{20D0}'..='\u{20FF}'
        | '\u{FE00}'..='\u{FE0F}'
        | '\u{FE20}'..='\u{FE2F}'
        | '\u{E0100}'..='\u{E01EF}')
}

/// Characters that show nothing and may hide or reorder what is around them. The two joiners are not among
/// them: scripts and emoji need those.
fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{00AD}' | '\u{061C}' | '\u{180E}' | '\u{200B}' | '\u{200E}' | '\u{200F}'
        | '\u{202A}'..='\u{202E}'
        | '\u{2060}'..='\u{206F}'
        | '\u{FEFF}'
        | '\u{FFF9}'..='\u{FFFB}'
        | '\u{E0000}'..='\u{E007F}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_that_fits_is_left_alone() {
        assert_eq!(cut("llama.cpp b11434 · Q4", TextSize::Body, 300.0), "llama.cpp b11434 · Q4");
    }

    #[test]
    fn a_label_of_200_characters_is_cut_to_the_room_it_has() {
        let long = "vLLM 0.27 · RTX PRO 6000 · FP8 · ".repeat(7);
        for room in [40.0, 111.0, 240.0, 700.0] {
            let shown = cut(&long, TextSize::Body, room);
            let width = measure(&shown, TextSize::Body);
            assert!(shown.ends_with('…'), "{shown}");
            assert!(width <= room, "{width} > {room}");
            assert!(width > room - 20.0, "cut too early: {width} of {room}");
        }
    }

    #[test]
    fn wide_scripts_are_measured_as_wide() {
        let shown = cut(&"通义千问".repeat(20), TextSize::Body, 100.0);
        assert!((4..=7).contains(&shown.chars().count()), "{shown}");
        assert!(measure("漢字", TextSize::Small) > 1.8 * measure("ab", TextSize::Small) * 0.8);
    }

    #[test]
    fn nothing_is_left_where_not_even_the_ellipsis_fits() {
        assert_eq!(cut("abc", TextSize::Body, 5.0), "");
        assert_eq!(cut("abc", TextSize::Body, f64::NAN), "");
        assert_eq!(cut("", TextSize::Body, 0.0), "");
    }

    #[test]
    fn control_characters_and_text_that_hides_text_do_not_survive() {
        assert_eq!(clean(" a\t\r\n b \u{0}\u{1b}[31m\u{7f} "), "a b \u{FFFD}\u{FFFD}[31m\u{FFFD}");
        assert_eq!(clean("safe\u{202E}gpj.exe\u{2066}\u{200B}\u{E0041}\u{FFFE}"), "safegpj.exe\u{FFFD}");
        let stacked = format!("a{}b", "\u{0301}".repeat(50));
        assert_eq!(clean(&stacked).chars().count(), 5);
    }

    #[test]
    fn a_flood_of_characters_without_width_is_cut() {
        let flood = "\u{200D}".repeat(10_000);
        assert!(cut(&flood, TextSize::Body, 100.0).chars().count() <= MOST_CHARACTERS + 1);
    }

    #[test]
    fn markup_is_kept_as_text_and_escaped() {
        let hostile = r#"<img src=x onerror="alert('1')">&"#;
        assert_eq!(clean(hostile), hostile);
        assert_eq!(escape(hostile), "&lt;img src=x onerror=&quot;alert(&apos;1&apos;)&quot;&gt;&amp;");
    }
}
