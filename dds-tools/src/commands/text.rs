//! Tables and short texts of the commands.

use crate::error::ToolError;
use comfy_table::{Table, presets};
use std::io::Write;

/// Returns an empty table without borders.
pub(super) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING).set_header(header);
    table
}

/// Writes a table without spaces at the ends of its lines.
pub(super) fn write_table(output: &mut dyn Write, table: &Table) -> Result<(), ToolError> {
    for line in table.lines() {
        writeln!(output, "{}", line.trim()).map_err(ToolError::output)?;
    }
    Ok(())
}

/// Writes one JSON object as a line.
pub(super) fn write_json(output: &mut dyn Write, value: &serde_json::Value) -> Result<(), ToolError> {
    writeln!(output, "{value}").and_then(|()| output.flush()).map_err(ToolError::output)
}

/// Returns a number of bytes with a unit.
pub(super) fn bytes_text(bytes: f64) -> String {
    match bytes {
        bytes if bytes >= 1e9 => format!("{:.2} GB", bytes / 1e9),
        bytes if bytes >= 1e6 => format!("{:.2} MB", bytes / 1e6),
        bytes if bytes >= 1e3 => format!("{:.2} kB", bytes / 1e3),
        bytes => format!("{bytes:.0} B"),
    }
}

/// Returns a time with a unit.
pub(super) fn nanos_text(nanos: f64) -> String {
    match nanos {
        nanos if nanos >= 1e9 => format!("{:.3} s", nanos / 1e9),
        nanos if nanos >= 1e6 => format!("{:.3} ms", nanos / 1e6),
        nanos => format!("{:.1} us", nanos / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::{bytes_text, nanos_text};

    #[test]
    fn numbers_have_units() {
        assert_eq!(bytes_text(999.0), "999 B");
        assert_eq!(bytes_text(1500.0), "1.50 kB");
        assert_eq!(bytes_text(2.5e9), "2.50 GB");
        assert_eq!(nanos_text(1500.0), "1.5 us");
        assert_eq!(nanos_text(2.5e6), "2.500 ms");
        assert_eq!(nanos_text(2.5e9), "2.500 s");
    }
}
