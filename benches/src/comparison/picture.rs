//! The results as SVG: a row for each library, a column for each work.

use super::record::{Comparison, Contender, Outcome, Pattern, WORK, Work};
use crate::perf::quantity::bytes_text;
use crate::perf::report::escaped;
use std::fmt::{self, Write};

/// Colors of a picture.
#[derive(Debug, Clone, Copy)]
pub struct Theme {
    /// Name in the file name.
    pub name: &'static str,
    text: &'static str,
    soft: &'static str,
    ours: &'static str,
    others: &'static str,
}

/// The themes of browsers.
pub const THEMES: [Theme; 2] = [
    Theme { name: "light", text: "#1c2024", soft: "#60646c", ours: "#0072b2", others: "#a9aeb8" },
    Theme { name: "dark", text: "#e8eaed", soft: "#a0a6ae", ours: "#56b4e9", others: "#5c636e" },
];

const WIDTH: f64 = 960.0;
/// Left edge of the columns, behind the names.
const LEFT: f64 = 190.0;
const COLUMN: f64 = (WIDTH - LEFT) / WORK.len() as f64;
/// Length of the longest bar. The rest of the column has the value.
const BAR: f64 = 82.0;
const TOP: f64 = 62.0;
const ROW: f64 = 26.0;
const NOTE_LINE: f64 = 17.0;
/// Characters of a line of the note.
const NOTE_LEN: usize = 150;
/// This implementation, which has another color.
const OURS: &str = "dds-core";

/// The picture of the results.
#[must_use]
pub fn svg(comparison: &Comparison, theme: &Theme) -> String {
    let mut svg = String::new();
    // Writing to a `String` cannot fail.
    let _ = write(&mut svg, comparison, theme);
    svg
}

fn write(svg: &mut String, comparison: &Comparison, theme: &Theme) -> fmt::Result {
    let Theme { text, soft, ours, others, .. } = theme;
    let notes = wrapped(&notes(comparison));
    let bottom = TOP + comparison.libraries.len() as f64 * ROW;
    let height = bottom + 14.0 + notes.len() as f64 * NOTE_LINE;
    writeln!(svg, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\">")?;
    writeln!(svg, "<title>Round trips and throughput between two processes</title>")?;
    writeln!(
        svg,
        "<style>text {{ font: 13px system-ui, 'DejaVu Sans', sans-serif; fill: {text}; }} .soft {{ fill: {soft}; font-weight: 400; }} \
         .note {{ font-size: 11px; fill: {soft}; }} .head {{ font-weight: 600; }} .ours {{ fill: {ours}; }} \
         .others {{ fill: {others}; }} .line {{ stroke: {others}; stroke-opacity: 0.4; }}</style>"
    )?;
    heads(svg)?;
    writeln!(svg, "<line class=\"line\" x1=\"0\" y1=\"{:.0}\" x2=\"{WIDTH}\" y2=\"{:.0}\"/>", TOP - 6.0, TOP - 6.0)?;
    for (row, library) in comparison.libraries.iter().enumerate() {
        let y = TOP + row as f64 * ROW;
        let Contender { name, transport, .. } = library;
        let weight = if name == OURS { " class=\"head\"" } else { "" };
        let (name, transport, baseline) = (escaped(name), escaped(transport), y + 17.0);
        writeln!(
            svg,
            "<text x=\"4\" y=\"{baseline}\"{weight}>{name} <tspan class=\"soft\">{transport}</tspan></text>"
        )?;
    }
    for (column, work) in WORK.into_iter().enumerate() {
        bars(svg, comparison, column, work)?;
    }
    for (index, note) in notes.iter().enumerate() {
        let y = bottom + 20.0 + index as f64 * NOTE_LINE;
        writeln!(svg, "<text class=\"note\" x=\"4\" y=\"{y}\">{}</text>", escaped(note))?;
    }
    svg.write_str("</svg>\n")
}

fn heads(svg: &mut String) -> fmt::Result {
    for pattern in [Pattern::Roundtrip, Pattern::Throughput] {
        let first = WORK.iter().position(|work| work.pattern == pattern).unwrap_or_default();
        let (title, hint) = match pattern {
            Pattern::Roundtrip => ("Round trip, median", "shorter is better"),
            Pattern::Throughput => ("Samples per second", "longer is better"),
        };
        let x = x_of(first);
        writeln!(svg, "<text class=\"head\" x=\"{x}\" y=\"18\">{title} <tspan class=\"soft\">({hint})</tspan></text>")?;
    }
    for (column, work) in WORK.iter().enumerate() {
        writeln!(svg, "<text class=\"soft\" x=\"{}\" y=\"44\">{}</text>", x_of(column), bytes_text(work.size as u64))?;
    }
    Ok(())
}

/// One column: a bar for each library, relative to the largest value of the column.
fn bars(svg: &mut String, comparison: &Comparison, column: usize, work: Work) -> fmt::Result {
    let medians = || comparison.libraries.iter().map(|library| median(library, work));
    let largest = medians().flatten().fold(0.0, f64::max);
    let x = x_of(column);
    for (row, (median, library)) in medians().zip(&comparison.libraries).enumerate() {
        let y = TOP + row as f64 * ROW;
        let baseline = y + 17.0;
        let Some(median) = median else {
            writeln!(svg, "<text class=\"soft\" x=\"{x}\" y=\"{baseline}\">no result</text>")?;
            continue;
        };
        let class = if library.name == OURS { "ours" } else { "others" };
        let length = (median / largest * BAR).max(1.5);
        let (y, behind, value) = (y + 5.0, x + length + 5.0, value_text(work, median));
        writeln!(svg, "<rect class=\"{class}\" x=\"{x}\" y=\"{y}\" width=\"{length:.1}\" height=\"16\" rx=\"2\"/>")?;
        writeln!(svg, "<text x=\"{behind:.1}\" y=\"{baseline}\">{value}</text>")?;
    }
    Ok(())
}

fn x_of(column: usize) -> f64 {
    LEFT + column as f64 * COLUMN
}

fn outcome(library: &Contender, work: Work) -> Option<&Outcome> {
    library.results.iter().find(|outcome| outcome.work == work)
}

fn median(library: &Contender, work: Work) -> Option<f64> {
    outcome(library, work).and_then(|outcome| outcome.median)
}

/// Two or three significant digits.
fn value_text(work: Work, value: f64) -> String {
    let (value, unit) = match (work.pattern, value) {
        (Pattern::Roundtrip, 1e6..) => (value / 1e6, "ms"),
        (Pattern::Roundtrip, _) => (value / 1e3, "µs"),
        (Pattern::Throughput, 1e6..) => (value / 1e6, "M"),
        (Pattern::Throughput, 1e3..) => (value / 1e3, "k"),
        (Pattern::Throughput, _) => (value, ""),
    };
    let digits = if value < 10.0 { 1 } else { 0 };
    format!("{value:.digits$} {unit}").trim_end().to_owned()
}

/// The method, the versions, and the reasons of missing results.
fn notes(comparison: &Comparison) -> Vec<String> {
    let Comparison { turns, millis, processor, cores, kernel, date, command, .. } = comparison;
    let day = date.split(' ').next().unwrap_or_default();
    let mut notes = vec![format!(
        "Two processes on one host, reliable samples, medians of {turns} turns of {millis} ms. {processor}, {cores} cores, \
         {kernel}, {day}. Made by `{command}`."
    )];
    let mut versions: Vec<String> = Vec::new();
    for Contender { name, version, .. } in &comparison.libraries {
        let version = format!("{name} {version}");
        if !versions.contains(&version) {
            versions.push(version);
        }
    }
    notes.push(format!("Versions: {}.", versions.join(", ")));
    for library in &comparison.libraries {
        for work in WORK {
            let Some(outcome) = outcome(library, work).filter(|outcome| outcome.median.is_none()) else { continue };
            let reason = outcome.failures.last().map_or("not measured", String::as_str);
            let direction = match work.pattern {
                Pattern::Roundtrip => "round trip",
                Pattern::Throughput => "samples",
            };
            let Contender { name, transport, .. } = library;
            notes.push(format!("{name} by {transport}, {direction} of {}: {reason}.", bytes_text(work.size as u64)));
        }
    }
    notes
}

fn wrapped(notes: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    for note in notes {
        let mut line = String::new();
        for word in note.split(' ') {
            if !line.is_empty() && line.chars().count() + word.chars().count() >= NOTE_LEN {
                lines.push(std::mem::take(&mut line));
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        lines.push(line);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::super::record::read;
    use super::*;
    use std::path::Path;

    #[test]
    fn pictures_of_the_readme_show_the_committed_results() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let comparison = read(&root.join("benches/comparison.json")).unwrap();
        for theme in THEMES {
            let file = root.join(format!("docs/images/comparison-{}.svg", theme.name));
            let drawn = std::fs::read_to_string(&file).unwrap();
            assert!(drawn == svg(&comparison, &theme), "run `benches/comparison --draw`: {} differs", file.display());
        }
    }

    #[test]
    fn missing_result_is_shown_with_its_reason() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut comparison = read(&root.join("comparison.json")).unwrap();
        let outcome = &mut comparison.libraries[2].results[1];
        *outcome = Outcome { failures: vec!["it <hangs>".into()], ..Outcome::new(outcome.work) };
        let svg = svg(&comparison, &THEMES[0]);
        assert!(svg.contains("no result") && svg.contains("round trip of 16 KiB: it &lt;hangs&gt;."), "{svg}");
    }

    #[test]
    fn values_have_their_unit() {
        let text = |work: usize, value| value_text(WORK[work], value);
        assert_eq!([text(0, 7_430.0), text(0, 52_300.0), text(2, 1_460_000.0)], ["7.4 µs", "52 µs", "1.5 ms"]);
        assert_eq!([text(3, 900.0), text(3, 74_400.0), text(3, 1_250_000.0)], ["900", "74 k", "1.2 M"]);
    }
}
