//! Text with the lines of another text.

/// IDL at the offsets of the elements that it comes from. Line breaks of the document stay, so lines are the same.
pub(super) struct Canvas<'d> {
    document: &'d str,
    text: String,
}

impl<'d> Canvas<'d> {
    pub(super) fn new(document: &'d str) -> Self {
        Self { document, text: String::with_capacity(document.len()) }
    }

    /// Adds IDL at an offset of the document, or behind the text if that is longer already.
    pub(super) fn put(&mut self, offset: usize, idl: &str) {
        self.fill(offset);
        self.text.push_str(idl);
        self.text.push(' ');
    }

    pub(super) fn finish(mut self) -> String {
        self.fill(self.document.len());
        self.text
    }

    fn fill(&mut self, offset: usize) {
        let gap = self.document.as_bytes().get(self.text.len()..offset).unwrap_or_default();
        for byte in gap {
            self.text.push(if *byte == b'\n' { '\n' } else { ' ' });
        }
    }
}
