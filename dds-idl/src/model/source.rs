//! Files and places in them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A file of a [`SourceMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct FileId(u32);

/// A range of bytes in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span {
    /// The file.
    pub file: FileId,
    /// Offset of the first byte.
    pub start: u32,
    /// Offset behind the last byte.
    pub end: u32,
}

/// Line and column of a character, both from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TextPosition {
    /// Number of the line, from 1.
    pub line: u32,
    /// Number of the character in its line, from 1.
    pub column: u32,
}

/// A file that a front end has read.
#[derive(Debug, Clone)]
pub struct SourceFile {
    path: PathBuf,
    text: Arc<str>,
    included_at: Option<Span>,
}

/// All files of a specification.
#[derive(Debug, Clone, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
}

impl Span {
    /// Creates a span of the bytes `start..end`.
    #[must_use]
    pub fn new(file: FileId, start: u32, end: u32) -> Self {
        Self { file, start, end }
    }

    /// Returns the span from the start of this span to the end of `end`.
    ///
    /// If the spans are in different files, the result is this span.
    #[must_use]
    pub fn to(self, end: Self) -> Self {
        if self.file == end.file && end.end >= self.start { Self { end: end.end, ..self } } else { self }
    }
}

impl SourceFile {
    /// Path as the caller or the `#include` spelled it, joined with its search folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Text of the file.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Text of the file, shared.
    #[must_use]
    pub fn shared_text(&self) -> Arc<str> {
        Arc::clone(&self.text)
    }

    /// The `#include` that named this file first; `None` for a file that the caller named.
    #[must_use]
    pub fn included_at(&self) -> Option<Span> {
        self.included_at
    }
}

impl SourceMap {
    /// Adds a file. `included_at` is the `#include` that names it.
    pub fn add(&mut self, path: impl Into<PathBuf>, text: impl Into<Arc<str>>, included_at: Option<Span>) -> FileId {
        let id = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        self.files.push(SourceFile { path: path.into(), text: text.into(), included_at });
        FileId(id)
    }

    /// Notes that the caller named a file that another file included before.
    pub(crate) fn set_root(&mut self, id: FileId) {
        if let Some(file) = self.files.get_mut(id.0 as usize) {
            file.included_at = None;
        }
    }

    /// Returns a file of this map.
    #[must_use]
    pub fn file(&self, id: FileId) -> Option<&SourceFile> {
        self.files.get(id.0 as usize)
    }

    /// Returns all files, in the order of their first use.
    pub fn files(&self) -> impl Iterator<Item = (FileId, &SourceFile)> {
        (0..).map(FileId).zip(&self.files)
    }

    /// Returns whether the caller named the file of `span`, in contrast to an included file.
    #[must_use]
    pub fn is_root(&self, span: Span) -> bool {
        self.file(span.file).is_some_and(|file| file.included_at.is_none())
    }

    /// Returns the text of a span; empty if the span is not in this map.
    #[must_use]
    pub fn text(&self, span: Span) -> &str {
        self.file(span.file).and_then(|file| file.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// Returns line and column of the start of a span.
    #[must_use]
    pub fn position(&self, span: Span) -> TextPosition {
        let text = self.file(span.file).map_or("", SourceFile::text);
        let mut end = text.len().min(span.start as usize);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let before = text.get(..end).unwrap_or("");
        let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or("").chars().count() + 1;
        TextPosition {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: u32::try_from(column).unwrap_or(u32::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn position_counts_lines_and_characters_from_one() {
        let mut sources = SourceMap::default();
        let file = sources.add("a.idl", "struct\n  é A", None);
        assert_eq!(sources.position(Span::new(file, 0, 6)), TextPosition { line: 1, column: 1 });
        assert_eq!(sources.position(Span::new(file, 12, 13)), TextPosition { line: 2, column: 5 });
        assert_eq!(sources.text(Span::new(file, 12, 13)), "A");
    }

    #[test]
    fn span_of_an_unknown_file_is_empty() {
        let sources = SourceMap::default();
        assert_eq!(sources.text(Span::new(FileId(3), 0, 9)), "");
        assert_eq!(sources.position(Span::new(FileId(3), 7, 9)), TextPosition { line: 1, column: 1 });
    }
}
