//! What figures are drawn on: SVG, as plotters' own backend writes it.
//!
//! It differs from that one in four things: a colour is an ink of [`super::theme`], a text is measured by our own table
//! and never by a font or the DOM, there is no root element, and nothing brings the code for writing files and floats
//! along, which the explorer would have to download.

use std::convert::Infallible;
use std::fmt::Display;

use plotters_backend::text_anchor::HPos;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind, FontStyle,
};

use super::text::{self, TextSize, escape};
use super::theme::paint;
use crate::format::full;

/// Units of the drawing per CSS pixel. Plotters draws on whole units, and an interval of one percent is
/// about a pixel wide: eighths keep it honest.
pub(super) const UNITS: f64 = 8.0;

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

/// A sheet whose elements are written into a text.
pub(super) struct Paper<'a> {
    svg: &'a mut String,
    size: (u32, u32),
}

impl<'a> Paper<'a> {
    /// An empty sheet of `size` drawing units, written into `svg`.
    pub(super) fn new(svg: &'a mut String, size: (u32, u32)) -> Self {
        Self { svg, size }
    }

    fn open(&mut self, element: &str) {
        for part in ["<", element] {
            self.svg.push_str(part);
        }
    }

    fn attribute(&mut self, name: &str, value: &dyn Display) {
        for part in [" ", name, "=\"", &escape(&value.to_string()), "\""] {
            self.svg.push_str(part);
        }
    }

    /// The opacity, where it is not full.
    fn opacity(&mut self, colour: BackendColor) {
        if colour.alpha != 1.0 {
            self.attribute("opacity", &full(colour.alpha));
        }
    }

    /// A colour, or none.
    fn colour(&mut self, name: &str, colour: BackendColor, is: bool) {
        if is {
            self.attribute(name, &paint(colour.rgb));
        } else {
            self.attribute(name, &"none");
        }
    }

    fn points(&mut self, points: impl IntoIterator<Item = BackendCoord>) {
        self.svg.push_str(" points=\"");
        for (x, y) in points {
            for part in [&x.to_string(), ",", &y.to_string(), " "] {
                self.svg.push_str(part);
            }
        }
        self.svg.push('"');
    }

    #[expect(clippy::unnecessary_wraps, reason = "what every drawing ends with")]
    fn close(&mut self) -> Drawn {
        self.svg.push_str("/>\n");
        Ok(())
    }
}

impl DrawingBackend for Paper<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        self.size
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn {
        self.draw_rect(point, (point.0 + 1, point.1 + 1), &color, true)
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        self.draw_path([from, to], style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn {
        self.open("rect");
        self.attribute("x", &upper_left.0);
        self.attribute("y", &upper_left.1);
        self.attribute("width", &(bottom_right.0 - upper_left.0));
        self.attribute("height", &(bottom_right.1 - upper_left.1));
        self.opacity(style.color());
        self.colour("fill", style.color(), fill);
        self.colour("stroke", style.color(), !fill);
        self.close()
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        self.open("polyline");
        self.attribute("fill", &"none");
        self.opacity(style.color());
        self.colour("stroke", style.color(), true);
        self.attribute("stroke-width", &style.stroke_width());
        self.points(path);
        self.close()
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn {
        self.open("circle");
        self.attribute("cx", &center.0);
        self.attribute("cy", &center.1);
        self.attribute("r", &radius);
        self.opacity(style.color());
        self.colour("fill", style.color(), fill);
        self.colour("stroke", style.color(), !fill);
        self.attribute("stroke-width", &style.stroke_width());
        self.close()
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Drawn {
        self.open("polygon");
        self.opacity(style.color());
        self.colour("fill", style.color(), true);
        self.points(vert);
        self.close()
    }

    /// Vertically centred on its point, as all texts of figures are.
    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, pos: BackendCoord) -> Drawn {
        self.open("text");
        self.attribute("x", &pos.0);
        self.attribute("y", &pos.1);
        self.attribute("dy", &"0.5ex");
        let anchor = match style.anchor().h_pos {
            HPos::Left => "start",
            HPos::Center => "middle",
            HPos::Right => "end",
        };
        self.attribute("text-anchor", &anchor);
        self.attribute("font-family", &style.family().as_str());
        self.attribute("font-size", &full(style.size()));
        self.opacity(style.color());
        self.colour("fill", style.color(), true);
        if matches!(style.style(), FontStyle::Bold) {
            self.attribute("font-weight", &"bold");
        }
        for part in [">\n", &escape(text), "\n</text>\n"] {
            self.svg.push_str(part);
        }
        Ok(())
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let ems = text::measure(text, TextSize::Body) / TextSize::Body.px();
        let size = style.size();
        Ok(((ems * size).ceil() as u32, size.ceil() as u32))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plotters::drawing::IntoDrawingArea;
    use plotters::style::{IntoFont, TextStyle};

    #[test]
    fn plotters_measures_text_by_our_table() {
        let mut svg = String::new();
        let area = Paper::new(&mut svg, (100, 100)).into_drawing_area();
        let style = TextStyle::from(("sans-serif", 14.0).into_font());
        let (narrow, _) = area.estimate_text_size("iiii", &style).unwrap();
        let (wide, height) = area.estimate_text_size("WWWW", &style).unwrap();
        assert_eq!(narrow, 16);
        assert_eq!((wide, height), (56, 14));
    }
}
