//! Writes tokens as text, each at the line and column that it has in the Rust file.

use dds_idl::model;
use proc_macro::{Delimiter, Span, TokenStream, TokenTree};

/// IDL text, and the tokens that it comes from.
pub(crate) struct IdlText {
    pub(crate) text: String,
    /// End of each token in the text, in ascending order, with its place in the Rust file.
    tokens: Vec<(usize, Span)>,
    /// Line and column behind the text, as the Rust file counts them.
    line: usize,
    column: usize,
}

/// Most empty lines before a token. A macro may create tokens of distant places.
const EMPTY_LINES_MAX: usize = 1_000;
/// Most spaces before a token.
const SPACES_MAX: usize = 1_000;

impl IdlText {
    pub(crate) fn of(tokens: Vec<TokenTree>) -> Self {
        let start = tokens.first().map_or_else(Span::call_site, TokenTree::span);
        let mut text = Self { text: String::new(), tokens: Vec::new(), line: start.line(), column: 1 };
        text.push_all(tokens.into_iter().collect());
        text
    }

    /// The token at a place in the text, or else the last one.
    pub(crate) fn span_at(&self, span: model::Span) -> Span {
        let at = self.tokens.partition_point(|(end, _)| *end <= span.start as usize);
        let found = self.tokens.get(at).or_else(|| self.tokens.last());
        found.map_or_else(Span::call_site, |(_, span)| *span)
    }

    fn push_all(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            if let TokenTree::Punct(hash) = &token
                && hash.as_char() == '#'
                && let Some(TokenTree::Group(group)) = tokens.peek()
                && let Some(doc) = documentation(group.stream())
            {
                self.push(&doc, hash.span());
                tokens.next();
                continue;
            }
            match token {
                TokenTree::Group(group) => {
                    let (open, close) = delimiters(group.delimiter());
                    self.push(open, group.span_open());
                    self.push_all(group.stream());
                    self.push(close, group.span_close());
                }
                other => self.push(&other.to_string(), other.span()),
            }
        }
    }

    /// Adds a token at its line and column, or behind a space if the text is further already.
    fn push(&mut self, token: &str, span: Span) {
        if token.is_empty() {
            return;
        }
        let (line, column) = (span.line(), span.column());
        if line > self.line {
            let count = (line - self.line).min(EMPTY_LINES_MAX);
            self.text.extend(std::iter::repeat_n('\n', count));
            (self.line, self.column) = (line, 1);
        }
        if line == self.line && column > self.column {
            let count = (column - self.column).min(SPACES_MAX);
            self.text.extend(std::iter::repeat_n(' ', count));
        } else if line != self.line || column < self.column {
            self.text.push(' ');
        }
        self.text.push_str(token);
        let end = span.end();
        (self.line, self.column) = (end.line(), end.column());
        self.tokens.push((self.text.len(), span));
    }
}

fn delimiters(delimiter: Delimiter) -> (&'static str, &'static str) {
    match delimiter {
        Delimiter::Parenthesis => ("(", ")"),
        Delimiter::Brace => ("{", "}"),
        Delimiter::Bracket => ("[", "]"),
        Delimiter::None => ("", ""),
    }
}

/// The comment of `[doc = "text"]`, which the compiler makes of `/// text`.
fn documentation(tokens: TokenStream) -> Option<String> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let [TokenTree::Ident(name), TokenTree::Punct(_), TokenTree::Literal(text)] = tokens.as_slice() else {
        return None;
    };
    if name.to_string() != "doc" {
        return None;
    }
    let text = text.to_string();
    let inner = text.trim_start_matches(['r', '#']).trim_end_matches('#');
    let inner = inner.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(inner);
    let inner = inner.replace("\\\"", "\"").replace("\\'", "'");
    // A line comment would hide the tokens behind it.
    Some(format!("/**{} */", inner.replace("\\n", "\n").replace("*/", "* /")))
}
