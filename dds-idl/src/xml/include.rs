//! Documents that include others.

use super::canvas::Piece;
use super::translate;
use crate::idl::Options;
use crate::model::{Diagnostic, FileId, SourceMap, Span};
use roxmltree::{Document, ParsingOptions};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Most elements and attributes of a document. A file of 1 MB has about 20 000 elements.
const NODES_MAX: u32 = 1 << 20;

/// Most documents that include each other at one place. Each of them needs stack space.
const INCLUDE_DEPTH_MAX: usize = 100;

/// Most bytes of all documents and of their translations. Real documents have some kilobytes.
const BYTES_MAX: usize = 256 << 20;

/// Largest document in bytes. The tree of its elements takes several times as much memory.
const DOCUMENT_BYTES_MAX: u64 = 64 << 20;

/// Reads a document and those that it includes. The result is IDL in the order of the types.
pub(super) struct XmlReader<'a> {
    options: &'a Options,
    sources: SourceMap,
    pieces: Vec<(FileId, String)>,
    /// For each document whether it is still open. Including an open one again is a cycle.
    documents: HashMap<PathBuf, bool>,
    /// Documents between the root and the current one.
    depth: usize,
    bytes: usize,
}

impl<'a> XmlReader<'a> {
    pub(super) fn new(options: &'a Options) -> Self {
        let (sources, pieces, documents) = (SourceMap::default(), Vec::new(), HashMap::new());
        Self { options, sources, pieces, documents, depth: 0, bytes: 0 }
    }

    /// Reads the document that the caller names.
    pub(super) fn read_root(&mut self, path: &Path) -> Result<(), Diagnostic> {
        match read(path) {
            Ok(text) => self.read_text(path, &text),
            Err(error) => {
                let file = self.sources.add(path, "", None);
                Err(Diagnostic::error(unreadable(path, &error), Span::new(file, 0, 0)))
            }
        }
    }

    pub(super) fn read_text(&mut self, path: &Path, text: &str) -> Result<(), Diagnostic> {
        self.document(identity(path), path, text, None)
    }

    pub(super) fn finish(self) -> (SourceMap, Vec<(FileId, String)>) {
        (self.sources, self.pieces)
    }

    fn document(&mut self, key: PathBuf, path: &Path, text: &str, included_at: Option<Span>) -> Result<(), Diagnostic> {
        let file = self.sources.add(path, text, included_at);
        let at = |offset: usize| {
            let offset = u32::try_from(offset.min(text.len())).unwrap_or(u32::MAX);
            Span::new(file, offset, offset)
        };
        // Documents with entities are refused, so they cannot grow the text.
        let parsing = ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX, ..ParsingOptions::default() };
        let plain = without_doctype(text);
        let document = match Document::parse_with_options(&plain, parsing) {
            Ok(document) => document,
            Err(error) => return Err(Diagnostic::error(format!("not XML: {error}"), at(offset_of(text, error.pos())))),
        };
        let pieces = match translate::translate(&document) {
            Ok(pieces) => pieces,
            Err((message, offset)) => return Err(Diagnostic::error(message, at(offset))),
        };
        // The tree is large, and the included documents need their own.
        drop(document);
        self.documents.insert(key.clone(), true);
        for piece in pieces {
            match piece {
                Piece::Idl(idl) => {
                    self.bytes = self.bytes.saturating_add(idl.len());
                    if self.bytes > BYTES_MAX {
                        let message = format!("all documents together have more than {BYTES_MAX} bytes");
                        return Err(Diagnostic::error(message, included_at.unwrap_or(at(0))));
                    }
                    self.pieces.push((file, idl));
                }
                Piece::Include { file, offset } => self.include(path, &file, at(offset))?,
            }
        }
        self.documents.insert(key, false);
        Ok(())
    }

    fn include(&mut self, from: &Path, name: &str, place: Span) -> Result<(), Diagnostic> {
        let path = self.find(from, name, place)?;
        let key = identity(&path);
        match self.documents.get(&key) {
            // A list of all documents of a folder may name itself, and has its types already.
            Some(true) if self.depth == 0 => return Ok(()),
            Some(true) => return Err(Diagnostic::error(format!("`{name}` includes itself"), place)),
            // Its types exist already.
            Some(false) => return Ok(()),
            None => {}
        }
        if self.depth == INCLUDE_DEPTH_MAX {
            let message = format!("includes are nested more than {INCLUDE_DEPTH_MAX} times");
            return Err(Diagnostic::error(message, place));
        }
        let text = match read(&path) {
            Ok(text) => text,
            Err(error) => return Err(Diagnostic::error(unreadable(&path, &error), place)),
        };
        self.depth += 1;
        self.document(key, &path, &text, Some(place))?;
        self.depth -= 1;
        Ok(())
    }

    /// Searches a document beside the one that includes it, and in the folders of the options.
    fn find(&self, from: &Path, name: &str, place: Span) -> Result<PathBuf, Diagnostic> {
        // Some documents are written on Windows.
        let name = name.replace('\\', "/");
        let beside = from.parent().unwrap_or(Path::new("")).join(&name);
        if beside.is_file() {
            return Ok(beside);
        }
        for folder in &self.options.include_dirs {
            let path = folder.join(&name);
            if path.is_file() {
                return Ok(path);
            }
        }
        let error = Diagnostic::error(format!("cannot find `{name}`"), place);
        Err(error.help("give its folder as an include folder (`-I DIR`)"))
    }
}

/// Reads a document of limited size.
fn read(path: &Path) -> Result<String, io::Error> {
    let mut text = String::new();
    let length = std::fs::File::open(path)?.take(DOCUMENT_BYTES_MAX + 1).read_to_string(&mut text)?;
    if length as u64 > DOCUMENT_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("the limit is {DOCUMENT_BYTES_MAX} bytes")));
    }
    Ok(text)
}

/// Blanks a document type declaration that names a file alone, as RTI Connext writes it. Offsets stay the same.
fn without_doctype(text: &str) -> Cow<'_, str> {
    let found = text.find("<!DOCTYPE").and_then(|start| Some(start..start + text[start..].find('>')? + 1));
    match found {
        // `[` begins declarations of entities, and `--` may be the end of a comment.
        Some(range) if !text[range.clone()].contains('[') && !text[range.clone()].contains("--") => {
            let blank = |letter: char| if letter == '\n' { "\n".to_owned() } else { " ".repeat(letter.len_utf8()) };
            let blanks: String = text[range.clone()].chars().map(blank).collect();
            Cow::Owned(format!("{}{blanks}{}", &text[..range.start], &text[range.end..]))
        }
        _ => Cow::Borrowed(text),
    }
}

fn unreadable(path: &Path, error: &io::Error) -> String {
    format!("cannot read `{}`: {error}", path.display())
}

/// The path that tells documents apart.
fn identity(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn offset_of(text: &str, position: roxmltree::TextPos) -> usize {
    let lines = usize::try_from(position.row).unwrap_or(usize::MAX).saturating_sub(1);
    let line = text.split_inclusive('\n').take(lines).map(str::len).sum::<usize>();
    line + usize::try_from(position.col).unwrap_or(usize::MAX).saturating_sub(1)
}
