//! What figures are drawn on: plotters' SVG backend, with text measured by our own table.

use plotters::backend::SVGBackend;
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
};

use super::text::{self, TextSize};

/// Units of the drawing per CSS pixel. Plotters draws on whole units, and an interval of one percent is
/// about a pixel wide: eighths keep it honest.
pub(super) const UNITS: f64 = 8.0;

type Drawn<E> = Result<(), DrawingErrorKind<E>>;

/// Plotters' SVG backend, except that it never asks a font or the DOM how wide a text is.
pub(super) struct Paper<'a>(SVGBackend<'a>);

impl<'a> Paper<'a> {
    /// An empty sheet of `size` drawing units, written into `svg`.
    pub(super) fn new(svg: &'a mut String, size: (u32, u32)) -> Self {
        Self(SVGBackend::with_string(svg, size))
    }
}

impl<'a> DrawingBackend for Paper<'a> {
    type ErrorType = <SVGBackend<'a> as DrawingBackend>::ErrorType;

    fn get_size(&self) -> (u32, u32) {
        self.0.get_size()
    }

    fn ensure_prepared(&mut self) -> Drawn<Self::ErrorType> {
        self.0.ensure_prepared()
    }

    fn present(&mut self) -> Drawn<Self::ErrorType> {
        self.0.present()
    }

    fn draw_pixel(&mut self, point: BackendCoord, color: BackendColor) -> Drawn<Self::ErrorType> {
        self.0.draw_pixel(point, color)
    }

    fn draw_line<S: BackendStyle>(
        &mut self,
        from: BackendCoord,
        to: BackendCoord,
        style: &S,
    ) -> Drawn<Self::ErrorType> {
        self.0.draw_line(from, to, style)
    }

    fn draw_rect<S: BackendStyle>(
        &mut self,
        upper_left: BackendCoord,
        bottom_right: BackendCoord,
        style: &S,
        fill: bool,
    ) -> Drawn<Self::ErrorType> {
        self.0.draw_rect(upper_left, bottom_right, style, fill)
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn<Self::ErrorType> {
        self.0.draw_path(path, style)
    }

    fn draw_circle<S: BackendStyle>(
        &mut self,
        center: BackendCoord,
        radius: u32,
        style: &S,
        fill: bool,
    ) -> Drawn<Self::ErrorType> {
        self.0.draw_circle(center, radius, style, fill)
    }

    fn fill_polygon<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        vert: I,
        style: &S,
    ) -> Drawn<Self::ErrorType> {
        self.0.fill_polygon(vert, style)
    }

    fn draw_text<T: BackendTextStyle>(
        &mut self,
        text: &str,
        style: &T,
        pos: BackendCoord,
    ) -> Drawn<Self::ErrorType> {
        self.0.draw_text(text, style, pos)
    }

    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Self::ErrorType>> {
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
