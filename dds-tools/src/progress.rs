//! The progress of a command on a line of the terminal, below its notes.

use crate::options::OutputOptions;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, Write};
use std::time::{Duration, Instant};

/// Time between two updates of the line.
const UPDATE: Duration = Duration::from_millis(200);

/// A line with the progress on the standard error output.
///
/// It is hidden with `--json`, and if the output is no terminal. The end of the value removes the line.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
    updated: Option<Instant>,
}

impl ProgressLine {
    /// A bar, for work whose end is known.
    pub(crate) fn bar(report: &OutputOptions) -> Self {
        Self::with_template(report, "{wide_bar} {msg}")
    }

    /// A text, for work without a known end.
    pub(crate) fn text(report: &OutputOptions) -> Self {
        Self::with_template(report, "{wide_msg}")
    }

    /// No line.
    pub(crate) fn hidden() -> Self {
        Self { bar: ProgressBar::hidden(), updated: None }
    }

    fn with_template(report: &OutputOptions, template: &str) -> Self {
        if report.json {
            return Self::hidden();
        }
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        // This type limits the rate itself.
        let target = ProgressDrawTarget::stderr_with_hz(u8::MAX);
        Self { bar: ProgressBar::with_draw_target(None, target).with_style(style), updated: None }
    }

    /// Returns whether the line is old enough for an update.
    pub(crate) fn is_due(&self) -> bool {
        !self.bar.is_hidden() && self.updated.is_none_or(|updated| updated.elapsed() >= UPDATE)
    }

    /// Shows a text.
    pub(crate) fn show(&mut self, text: String) {
        self.show_part(Duration::ZERO, Duration::ZERO, text);
    }

    /// Shows a text, and the part of the whole that is done.
    pub(crate) fn show_part(&mut self, done: Duration, whole: Duration, text: String) {
        self.updated = Some(Instant::now());
        // Each call draws the line.
        if self.bar.length() != Some(millis(whole)) {
            self.bar.set_length(millis(whole));
        }
        self.bar.set_position(millis(done.min(whole)));
        self.bar.set_message(text);
    }

    /// Returns a writer of notes above the line.
    pub(crate) fn notes<'n>(&self, notes: &'n mut dyn Write) -> NotesAbove<'n> {
        NotesAbove { bar: self.bar.clone(), notes, part: Vec::new() }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Removes the line with the progress while it writes a note.
pub(crate) struct NotesAbove<'n> {
    bar: ProgressBar,
    notes: &'n mut dyn Write,
    /// The start of a note. The line must not follow it.
    part: Vec<u8>,
}

impl Write for NotesAbove<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.part.extend_from_slice(bytes);
        if self.part.ends_with(b"\n") {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let part = std::mem::take(&mut self.part);
        // Nothing is shown yet.
        if self.bar.length().is_none() {
            return self.notes.write_all(&part).and_then(|()| self.notes.flush());
        }
        self.bar.suspend(|| self.notes.write_all(&part).and_then(|()| self.notes.flush()))
    }
}
