//! A figure as a file of its own: with its colours, a ground, and words that say what it shows.

use std::fmt::Write as _;

use super::Drawing;
use super::paper::UNITS;
use super::text::{TextSize, clean, cut, escape, measure};
use super::theme::{self, Theme, VARIABLES};

/// Around the figure, in CSS pixels.
const MARGIN: u32 = 12;
/// Of a line of words, in CSS pixels.
const LINE: u32 = 18;

/// What stands above a figure in a file of its own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heading {
    /// What it shows; the title of the document, too.
    pub title: String,
    /// What a reader must know beside it, a line each.
    pub notes: Vec<String>,
}

impl Drawing {
    /// The figure as a document under a heading, in the colours of a theme.
    pub fn document(&self, theme: Theme, heading: &Heading) -> String {
        let title = clean(&heading.title);
        let room = f64::from(self.width);
        // Bold letters are a tenth wider than those of the table.
        let mut lines = vec![(cut(&title, TextSize::Body, room / 1.1), TextSize::Body)];
        for note in &heading.notes {
            lines.extend(wrapped(note, room).into_iter().map(|line| (line, TextSize::Small)));
        }
        lines.retain(|(words, _)| !words.is_empty());
        let head = lines.len() as u32 * LINE + if lines.is_empty() { 0 } else { MARGIN };
        let (width, height) = (self.width + 2 * MARGIN, self.height + head + 2 * MARGIN);
        let units = |pixels: u32| (f64::from(pixels) * UNITS).round().to_string();
        let [surface, muted] =
            [VARIABLES[0], VARIABLES[1]].map(|of| format!("var({},{})", of.name, of.light));
        // Not every viewer of SVG knows a background.
        let mut words = format!(
            "<title>{}</title>\n<rect width=\"100%\" height=\"100%\" fill=\"{surface}\"/>\n",
            escape(&title)
        );
        for (line, (text, size)) in (0..).zip(lines) {
            let (weight, fill) = match size {
                TextSize::Body => ("bold", "currentColor"),
                TextSize::Small => ("normal", muted.as_str()),
            };
            // Writing to a String cannot fail.
            let _ = writeln!(
                words,
                "<text x=\"{}\" y=\"{}\" dy=\"0.5ex\" font-size=\"{}\" font-weight=\"{weight}\" fill=\"{fill}\">\n{}\n</text>",
                units(MARGIN),
                units(MARGIN + line * LINE + LINE / 2),
                size.px() * UNITS,
                escape(&text),
            );
        }
        let Some((root, body)) = self.svg.split_once('>') else { return self.svg.clone() };
        let size = |width: u32, height: u32| {
            format!(
                "width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {} {}\"",
                units(width),
                units(height)
            )
        };
        let root = root.replacen(&size(self.width, self.height), &size(width, height), 1);
        let body = body.trim_end().trim_end_matches("</svg>");
        let svg = format!(
            "{root}>\n{words}<g transform=\"translate({},{})\">{body}</g>\n</svg>\n",
            units(MARGIN),
            units(MARGIN + head),
        );
        theme::fixed(&svg, theme)
    }
}

/// Small text in lines of at most `room` CSS pixels; a word that is wider is cut.
fn wrapped(text: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in clean(text).split(' ').map(|word| cut(word, TextSize::Small, room)) {
        if let Some(line) = lines.last_mut() {
            let longer = [line.as_str(), " ", &word].concat();
            if measure(&longer, TextSize::Small) <= room {
                *line = longer;
                continue;
            }
        }
        lines.push(word);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::pen::{Lettering, sheet};
    use super::*;

    fn drawing() -> Drawing {
        let svg = sheet(200, 50, "about", |pen| {
            pen.text((0.0, 9.0), Lettering::NOTE, "currentColor var(--chart-grid,#e4e6ea)");
        });
        Drawing { svg, width: 200, height: 50, marks: Vec::new(), left_out: Vec::new() }
    }

    #[test]
    fn the_heading_makes_room_for_itself_and_is_escaped() {
        let heading = Heading {
            title: "<b>A & \"B\"</b>".into(),
            notes: vec!["one".into(), "long ".repeat(9) + &"x".repeat(99)],
        };
        let svg = drawing().document(Theme::Light, &heading);
        assert!(svg.contains("width=\"224\" height=\"176\" viewBox=\"0 0 1792 1408\""), "{svg}");
        assert!(svg.contains("<title>&lt;b&gt;A &amp; &quot;B&quot;&lt;/b&gt;</title>"), "{svg}");
        assert!(
            svg.contains("\none\n") && svg.contains("\nlong long long\n") && svg.contains("xx…\n"),
            "{svg}"
        );
        assert!(
            svg.contains("<g transform=\"translate(96,912)\">") && svg.ends_with("</g>\n</svg>\n"),
            "{svg}"
        );
    }

    #[test]
    fn each_theme_has_its_ground_and_text_and_no_property_is_left() {
        for (theme, ground, text, muted) in
            [(Theme::Light, "#ffffff", "#1b1d1f", "#5c6370"), (Theme::Dark, "#16181b", "#e8eaed", "#9aa2ad")]
        {
            let svg = drawing().document(theme, &Heading { title: "t".into(), notes: vec!["n".into()] });
            assert!(svg.starts_with(&format!("<svg style=\"background:{ground}\" ")), "{svg}");
            assert!(svg.contains(&format!("fill=\"{text}\"")) && svg.contains(&format!("fill=\"{muted}\"")));
            assert!(!svg.contains("\"var(") && !svg.contains("\"currentColor\""), "{svg}");
            assert!(
                svg.contains("currentColor var(--chart-grid,#e4e6ea)"),
                "words stay what they are: {svg}"
            );
        }
    }
}
