//! Errors and warnings with their places.

use super::{FileId, SourceFile, SourceMap, Span};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};
use std::fmt;

/// An error or a warning.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// The message: one sentence without a full stop.
    pub message: String,
    /// Places. The first one is the place of the error, the others explain it.
    pub labels: Vec<SpanLabel>,
    /// Facts that explain the message.
    pub notes: Vec<String>,
    /// The next step for the user, such as "did you mean `Pose`?".
    pub help: Option<String>,
}

/// Severity of a diagnostic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The text is accepted.
    Note,
    /// The text is accepted, but probably wrong, or not standard.
    Warning,
    /// The text is refused.
    Error,
}

/// An underlined part of the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpanLabel {
    /// The underlined part.
    pub span: Span,
    /// The text beside it, or an empty string.
    pub message: String,
}

/// The diagnostics of one specification, in the order of discovery.
///
/// The list keeps at most [`Diagnostics::ERRORS_MAX`] errors and as many warnings, and counts the others.
#[derive(Debug, Clone, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    error_count: usize,
    warning_count: usize,
}

/// The result of a front end for text with errors. Its `Display` shows all of them with their lines.
#[derive(Debug, Clone, Default)]
pub struct IncorrectSource {
    /// The files.
    pub sources: SourceMap,
    /// At least one error, and the warnings.
    pub diagnostics: Diagnostics,
}

impl Diagnostic {
    /// Creates an error at `span`.
    #[must_use]
    pub fn error(message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Error, message.into(), span)
    }

    /// Creates an error for which no place of a file is the cause.
    #[must_use]
    pub fn error_without_place(message: impl Into<String>) -> Self {
        let (severity, message) = (Severity::Error, message.into());
        Self { severity, message, labels: Vec::new(), notes: Vec::new(), help: None }
    }

    /// Creates a warning at `span`.
    #[must_use]
    pub fn warning(message: impl Into<String>, span: Span) -> Self {
        Self::new(Severity::Warning, message.into(), span)
    }

    fn new(severity: Severity, message: String, span: Span) -> Self {
        let labels = vec![SpanLabel { span, message: String::new() }];
        Self { severity, message, labels, notes: Vec::new(), help: None }
    }

    /// Sets the text beside the place of the error.
    #[must_use]
    pub fn primary(mut self, message: impl Into<String>) -> Self {
        if let Some(label) = self.labels.first_mut() {
            label.message = message.into();
        }
        self
    }

    /// Adds another place.
    #[must_use]
    pub fn label(mut self, span: Span, message: impl Into<String>) -> Self {
        self.labels.push(SpanLabel { span, message: message.into() });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Sets the next step for the user.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Sets the help "did you mean" if a candidate is similar to `name`.
    #[must_use]
    pub fn did_you_mean<'a>(mut self, name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Self {
        if let Some(nearest) = dds_cdr::similar::nearest(name, candidates) {
            self.help = Some(format!("did you mean `{nearest}`?"));
        }
        self
    }

    /// The place of the error.
    #[must_use]
    pub fn span(&self) -> Span {
        self.labels.first().map(|label| label.span).unwrap_or_default()
    }

    /// Returns the message with file, line and column in front, as in `a.idl:3:7: error: …`.
    #[must_use]
    pub fn one_line(&self, sources: &SourceMap) -> String {
        let position = sources.position(self.span());
        let path = sources.file(self.span().file).map(|file| file.path().display().to_string()).unwrap_or_default();
        let severity = match self.severity {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        format!("{path}:{}:{}: {severity}: {}", position.line, position.column, self.message)
    }

    /// Returns the message with the lines of the text, as rustc does.
    #[must_use]
    pub fn render(&self, sources: &SourceMap, uses_color: bool) -> String {
        let level = match self.severity {
            Severity::Note => Level::NOTE,
            Severity::Warning => Level::WARNING,
            Severity::Error => Level::ERROR,
        };
        let mut group = level.primary_title(self.message.as_str()).elements(NO_SNIPPETS);
        for (file, path, labels) in self.labels_by_file(sources) {
            let mut snippet = Snippet::source(file.text()).fold(true).path(path);
            for label in labels {
                let is_primary = self.labels.first().is_some_and(|first| std::ptr::eq(first, label));
                let kind = if is_primary { AnnotationKind::Primary } else { AnnotationKind::Context };
                let annotation = kind.span(byte_range(file.text(), label.span));
                let message = (!label.message.is_empty()).then_some(label.message.as_str());
                snippet = snippet.annotation(annotation.label(message));
            }
            group = group.element(snippet);
        }
        for note in &self.notes {
            group = group.element(Level::NOTE.message(note.as_str()));
        }
        if let Some(help) = &self.help {
            group = group.element(Level::HELP.message(help.as_str()));
        }
        let renderer = if uses_color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }

    /// Groups the labels by file. The file of the first label is first.
    fn labels_by_file<'a>(&'a self, sources: &'a SourceMap) -> Vec<(&'a SourceFile, String, Vec<&'a SpanLabel>)> {
        let mut groups: Vec<(FileId, Vec<&SpanLabel>)> = Vec::new();
        for label in &self.labels {
            match groups.iter_mut().find(|(file, _)| *file == label.span.file) {
                Some((_, labels)) => labels.push(label),
                None => groups.push((label.span.file, vec![label])),
            }
        }
        let mut found = Vec::new();
        for (id, labels) in groups {
            if let Some(file) = sources.file(id) {
                found.push((file, file.path().display().to_string(), labels));
            }
        }
        found
    }
}

/// An empty list of the type that an empty group of elements requires.
const NO_SNIPPETS: [Snippet<'static, annotate_snippets::Annotation<'static>>; 0] = [];

/// The bytes of a span, extended to whole characters and cut at the end of the text.
fn byte_range(text: &str, span: Span) -> std::ops::Range<usize> {
    let mut start = (span.start as usize).min(text.len());
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    let mut end = (span.end as usize).clamp(start, text.len());
    while !text.is_char_boundary(end) {
        end += 1;
    }
    start..end
}

impl Diagnostics {
    /// Most errors, and most warnings, that the list keeps. More of them do not help a reader.
    pub const ERRORS_MAX: usize = 100;

    /// Most errors with a suggestion. A suggestion compares a name with all others, so more of them take long.
    const SUGGESTIONS_MAX: usize = 10;

    /// Returns whether the next error may search a similar name.
    pub(crate) fn may_suggest(&self) -> bool {
        self.error_count < Self::SUGGESTIONS_MAX
    }

    /// Returns whether the list keeps no more errors.
    pub(crate) fn is_full(&self) -> bool {
        self.error_count >= Self::ERRORS_MAX
    }

    /// Adds a diagnostic, or counts it if the list is full.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let count = match diagnostic.severity {
            Severity::Error => &mut self.error_count,
            Severity::Warning | Severity::Note => &mut self.warning_count,
        };
        *count += 1;
        if *count <= Self::ERRORS_MAX {
            self.list.push(diagnostic);
        }
    }

    /// Adds all diagnostics of another list.
    pub(crate) fn extend(&mut self, other: &Self) {
        other.iter().for_each(|diagnostic| self.push(diagnostic.clone()));
    }

    /// Returns whether there is an error.
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.error_count > 0
    }

    /// Number of errors, with those that the list does not keep.
    #[must_use]
    pub fn error_count(&self) -> usize {
        self.error_count
    }

    /// Number of warnings and notes, with those that the list does not keep.
    #[must_use]
    pub fn warning_count(&self) -> usize {
        self.warning_count
    }

    /// Returns the diagnostics in the order of discovery.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// Returns all diagnostics with the lines of the text.
    #[must_use]
    pub fn render(&self, sources: &SourceMap, uses_color: bool) -> String {
        let mut text = String::new();
        for diagnostic in &self.list {
            text.push_str(&diagnostic.render(sources, uses_color));
            text.push_str("\n\n");
        }
        let hidden = self.error_count + self.warning_count - self.list.len();
        if hidden > 0 {
            text.push_str(&format!("{hidden} more errors and warnings are not shown\n"));
        }
        text
    }
}

impl<'a> IntoIterator for &'a Diagnostics {
    type Item = &'a Diagnostic;
    type IntoIter = std::slice::Iter<'a, Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for IncorrectSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostics.render(&self.sources, false))
    }
}

impl std::error::Error for IncorrectSource {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn diagnostic_shows_the_line_and_the_help() {
        let mut sources = SourceMap::default();
        let file = sources.add("robot.idl", "struct Arm {\n  Poze pose;\n};\n", None);
        let span = Span::new(file, 15, 19);
        let diagnostic = Diagnostic::error("cannot find type `Poze`", span)
            .primary("not found in this scope")
            .label(Span::new(file, 7, 10), "in this struct")
            .did_you_mean("Poze", ["Pose", "Arm"]);
        let text = diagnostic.render(&sources, false);
        let expected = "\
error: cannot find type `Poze`
 --> robot.idl:2:3
  |
1 | struct Arm {
  |        --- in this struct
2 |   Poze pose;
  |   ^^^^ not found in this scope
  |
  = help: did you mean `Pose`?";
        assert_eq!(text, expected);
        assert_eq!(diagnostic.one_line(&sources), "robot.idl:2:3: error: cannot find type `Poze`");
    }

    #[test]
    fn diagnostics_count_more_errors_than_they_keep() {
        let mut diagnostics = Diagnostics::default();
        for _ in 0..150 {
            diagnostics.push(Diagnostic::error("no", Span::default()));
        }
        assert_eq!((diagnostics.iter().count(), diagnostics.error_count()), (Diagnostics::ERRORS_MAX, 150));
        assert!(
            diagnostics.render(&SourceMap::default(), false).ends_with("50 more errors and warnings are not shown\n")
        );
    }
}
