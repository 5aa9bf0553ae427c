//! Line figures as SVG in HTML. The style of the page defines the colors, in a light and a dark scheme.

use super::axis::Axis;
use std::fmt::Write;

/// Number of colors. Further lines repeat them and are dashed.
pub(super) const COLORS: usize = 8;

const WIDTH: f64 = 900.0;
const HEIGHT: f64 = 380.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 46.0;

/// A figure.
#[derive(Debug)]
pub(super) struct Figure {
    pub(super) x: Axis,
    pub(super) y: Axis,
    pub(super) lines: Vec<Line>,
}

/// One line of it.
#[derive(Debug)]
pub(super) struct Line {
    /// Shown beside the pointer.
    pub(super) name: String,
    /// Number of the result, from 0.
    pub(super) number: usize,
    pub(super) is_dashed: bool,
    pub(super) points: Vec<(f64, f64)>,
    /// Marked points: position and text.
    pub(super) marked: Vec<((f64, f64), String)>,
}

impl Figure {
    /// The figure as an element `svg`.
    pub(super) fn svg(&self) -> String {
        let mut svg = String::new();
        // Writing to a `String` cannot fail.
        let _ = self.write(&mut svg);
        svg
    }

    fn write(&self, svg: &mut String) -> std::fmt::Result {
        write!(svg, "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\">")?;
        let (bottom, right) = (HEIGHT - BOTTOM, WIDTH - RIGHT);
        for (value, text) in &self.x.marks {
            let x = self.x_of(*value);
            write!(svg, "<line class=\"grid\" x1=\"{x:.1}\" y1=\"{TOP}\" x2=\"{x:.1}\" y2=\"{bottom}\"/>")?;
            write!(svg, "<text x=\"{x:.1}\" y=\"{}\" text-anchor=\"middle\">{}</text>", bottom + 16.0, escaped(text))?;
        }
        for (value, text) in &self.y.marks {
            let y = self.y_of(*value);
            write!(svg, "<line class=\"grid\" x1=\"{LEFT}\" y1=\"{y:.1}\" x2=\"{right}\" y2=\"{y:.1}\"/>")?;
            let place = LEFT - 8.0;
            write!(svg, "<text x=\"{place}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>", y + 4.0, escaped(text))?;
        }
        let middle = (LEFT + right) / 2.0;
        write!(svg, "<text class=\"label\" x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">", HEIGHT - 8.0)?;
        write!(svg, "{}</text>", self.x.label)?;
        let middle = (TOP + bottom) / 2.0;
        write!(svg, "<text class=\"label\" transform=\"translate(14 {middle}) rotate(-90)\" text-anchor=\"middle\">")?;
        write!(svg, "{}</text>", self.y.label)?;
        for line in &self.lines {
            self.write_line(svg, line)?;
        }
        svg.write_str("</svg>")
    }

    fn write_line(&self, svg: &mut String, line: &Line) -> std::fmt::Result {
        let (color, dashed) = (line.number % COLORS, line.is_dashed || line.number >= COLORS);
        let dashed = if dashed { " dashed" } else { "" };
        write!(svg, "<g class=\"c{color}\"><polyline class=\"line{dashed}\" points=\"")?;
        for (x, y) in &line.points {
            write!(svg, "{:.1},{:.1} ", self.x_of(*x), self.y_of(*y))?;
        }
        write!(svg, "\"><title>{}</title></polyline>", escaped(&line.name))?;
        for ((x, y), text) in &line.marked {
            let (x, y) = (self.x_of(*x), self.y_of(*y));
            write!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.5\"><title>{}</title></circle>", escaped(text))?;
        }
        svg.write_str("</g>")
    }

    fn x_of(&self, value: f64) -> f64 {
        LEFT + self.x.place(value) * (WIDTH - LEFT - RIGHT)
    }

    fn y_of(&self, value: f64) -> f64 {
        HEIGHT - BOTTOM - self.y.place(value) * (HEIGHT - BOTTOM - TOP)
    }
}

/// Escapes text for HTML.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_spans_the_frame() {
        let points = vec![(0.0, 0.0), (10.0, 10.0)];
        let axis = || Axis::linear("values", [10.0].into_iter());
        let line = Line { name: "a<b".into(), number: 9, is_dashed: false, points, marked: Vec::new() };
        let svg = Figure { x: axis(), y: axis(), lines: vec![line] }.svg();
        assert!(svg.contains("points=\"64.0,334.0 884.0,12.0 \""), "{svg}");
        assert!(svg.contains("class=\"c1\"") && svg.contains("dashed") && svg.contains("a&lt;b"));
    }
}
