//! The inks of figures, as CSS custom properties with a light fallback.

use plotters::style::RGBColor;

/// A custom property that figures draw with. A page sets it to its light or its dark colour; where it
/// is not set, as in a downloaded file, the light colour stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Name of the custom property.
    pub name: &'static str,
    /// Colour on a light surface.
    pub light: &'static str,
    /// Colour on a dark surface.
    pub dark: &'static str,
}

const fn variable(name: &'static str, light: &'static str, dark: &'static str) -> Variable {
    Variable { name, light, dark }
}

/// Every custom property of figures. Text has none: it is drawn in `currentColor`.
///
/// The series are Okabe and Ito's eight in their order (black, orange, sky blue, bluish green, yellow,
/// blue, vermillion, reddish purple); where one has less than 3 : 1 against its surface it is
/// darkened on light, or lightened on dark, until it has.
pub const VARIABLES: [Variable; 12] = [
    variable("--chart-surface", "#ffffff", "#16181b"),
    variable("--chart-muted", "#5c6370", "#9aa2ad"),
    variable("--chart-axis", "#8a9099", "#6b727c"),
    variable("--chart-grid", "#e4e6ea", "#2a2e33"),
    variable("--series-1", "#1b1d1f", "#e8eaed"),
    variable("--series-2", "#c07f00", "#e69f00"),
    variable("--series-3", "#2b93d1", "#56b4e9"),
    variable("--series-4", "#009e73", "#009e73"),
    variable("--series-5", "#998a00", "#f0e442"),
    variable("--series-6", "#0072b2", "#1f86c9"),
    variable("--series-7", "#d55e00", "#d55e00"),
    variable("--series-8", "#c0689b", "#cc79a7"),
];

/// How many series have a colour of their own.
pub const SERIES: usize = 8;

/// What a stroke, a fill or a text is drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ink {
    /// Text, and lines as strong as text.
    Text,
    /// The surface the figure lies on: the inside of hollow marks.
    Surface,
    /// Text of second rank.
    Muted,
    /// Axis lines and reference lines.
    Axis,
    /// Hairlines of grid and rows.
    Grid,
    /// A series, by its index in Okabe and Ito's order; counted round after the eighth.
    Series(usize),
}

impl Ink {
    fn index(self) -> u8 {
        match self {
            Self::Text => 0,
            Self::Surface => 1,
            Self::Muted => 2,
            Self::Axis => 3,
            Self::Grid => 4,
            Self::Series(i) => 5 + (i % SERIES) as u8,
        }
    }

    /// The colour that stands for this ink on its way through plotters, which knows of no custom properties.
    pub(super) fn colour(self) -> RGBColor {
        RGBColor(self.index(), 0, 0)
    }
}

/// What an attribute says for the colour of an ink: `currentColor`, or `var(--name,#fallback)`.
pub(super) fn paint((index, ..): (u8, u8, u8)) -> String {
    match usize::from(index).checked_sub(1).and_then(|i| VARIABLES.get(i)) {
        Some(Variable { name, light, .. }) => ["var(", name, ",", light, ")"].concat(),
        None => "currentColor".to_owned(),
    }
}

/// Whether a figure lies on a light ground or a dark one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Theme {
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// The colour of a property.
    pub const fn of(self, variable: Variable) -> &'static str {
        match self {
            Self::Light => variable.light,
            Self::Dark => variable.dark,
        }
    }
}

/// `svg` with the colours of a theme in the place of the properties, on its surface. Words of the figure stay: no quotes
/// stand in them, but around every attribute.
pub(super) fn fixed(svg: &str, theme: Theme) -> String {
    // Text is as black as the first series.
    let [surface, text] = [VARIABLES[0], VARIABLES[4]].map(|of| theme.of(of));
    let ground = ["<svg style=\"background:", surface, "\" "].concat();
    let quoted = |colour: &str| ["\"", colour, "\""].concat();
    let mut out = svg.replacen("<svg ", &ground, 1).replace("\"currentColor\"", &quoted(text));
    for variable in VARIABLES {
        let property = ["\"var(", variable.name, ",", variable.light, ")\""].concat();
        out = out.replace(&property, &quoted(theme.of(variable)));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn luminance(colour: &str) -> f64 {
        let channel = |i: usize| {
            let c = f64::from(u8::from_str_radix(&colour[i..i + 2], 16).unwrap()) / 255.0;
            if c <= 0.03928 { c / 12.92 } else { libm::pow((c + 0.055) / 1.055, 2.4) }
        };
        0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5)
    }

    fn contrast(a: &str, b: &str) -> f64 {
        let (a, b) = (luminance(a), luminance(b));
        (a.max(b) + 0.05) / (a.min(b) + 0.05)
    }

    #[test]
    fn marks_have_three_to_one_and_text_has_four_and_a_half() {
        let surface = VARIABLES[0];
        for v in VARIABLES {
            let least = match v.name {
                "--chart-surface" | "--chart-grid" => continue,
                "--chart-muted" => 4.5,
                _ => 3.0,
            };
            for (ink, ground) in [(v.light, surface.light), (v.dark, surface.dark)] {
                assert!(
                    contrast(ink, ground) >= least,
                    "{} {ink} on {ground}: {}",
                    v.name,
                    contrast(ink, ground)
                );
            }
        }
    }

    #[test]
    fn every_ink_finds_its_own_custom_property() {
        let inks = [
            (Ink::Surface, "--chart-surface"),
            (Ink::Muted, "--chart-muted"),
            (Ink::Axis, "--chart-axis"),
            (Ink::Grid, "--chart-grid"),
            (Ink::Series(0), "--series-1"),
            (Ink::Series(7), "--series-8"),
            (Ink::Series(8), "--series-1"),
        ];
        for (ink, name) in inks {
            let RGBColor(r, g, b) = ink.colour();
            let paint = paint((r, g, b));
            assert!(paint.starts_with(&format!("var({name},#")) && paint.ends_with(')'), "{paint}");
        }
        assert_eq!(paint((0, 0, 0)), "currentColor");
    }
}
