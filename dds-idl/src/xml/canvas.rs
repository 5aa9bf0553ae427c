//! Text with the offsets of another text.

use std::mem;

/// IDL at the offsets of the elements that it comes from. So messages name the place in the document.
pub(super) struct Canvas<'d> {
    document: &'d str,
    text: String,
    pieces: Vec<Piece>,
}

/// A part of a document.
pub(super) enum Piece {
    /// IDL. Spaces stand for everything before it.
    Idl(String),
    /// An `<include>` at an offset.
    Include { file: String, offset: usize },
}

/// Most `<include>` elements of a document. Each of them costs a copy of the text before it.
const INCLUDES_MAX: usize = 1_000;

impl<'d> Canvas<'d> {
    pub(super) fn new(document: &'d str) -> Self {
        Self { document, text: String::with_capacity(document.len()), pieces: Vec::new() }
    }

    /// Adds the types of another document at an offset. Returns `false` if the document has too many of them.
    pub(super) fn include(&mut self, offset: usize, file: &str) -> bool {
        if self.pieces.len() >= 2 * INCLUDES_MAX {
            return false;
        }
        self.fill(offset);
        let blank = " ".repeat(self.text.len());
        self.pieces.push(Piece::Idl(mem::replace(&mut self.text, blank)));
        self.pieces.push(Piece::Include { file: file.to_owned(), offset });
        true
    }

    /// Adds IDL at an offset of the document, or behind the text if that is longer already.
    pub(super) fn put(&mut self, offset: usize, idl: &str) {
        self.fill(offset);
        self.text.push_str(idl);
        self.text.push(' ');
    }

    pub(super) fn finish(mut self) -> Vec<Piece> {
        self.fill(self.document.len());
        self.pieces.push(Piece::Idl(self.text));
        self.pieces
    }

    fn fill(&mut self, offset: usize) {
        let gap = self.document.as_bytes().get(self.text.len()..offset).unwrap_or_default();
        self.text.extend(std::iter::repeat_n(' ', gap.len()));
    }
}
