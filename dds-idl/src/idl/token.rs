//! Tokens of one file, and its comments.

use super::symbol::{Symbol, SymbolTable};
use crate::model::{Diagnostic, Diagnostics, FileId, Span};
use logos::Logos;

/// Kinds of tokens, and of text between them.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
#[logos(skip r"[ \t\r\x0B\x0C]+")]
#[logos(skip r"\\[ \t]*\r?\n")]
pub(super) enum TokenKind {
    #[token("\n")]
    Newline,
    // A backslash continues the comment on the next line.
    #[regex(r"//([^\n\\]|\\\r?\n|\\)*", allow_greedy = true)]
    LineComment,
    #[regex(r"/\*([^*]|\*+[^*/])*\*+/")]
    BlockComment,
    #[token("/*")]
    OpenComment,
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Identifier,
    #[regex(r"0[xX][0-9A-Za-z_]*", priority = 10)]
    #[regex(r"[0-9]+(\.[0-9]*)?([eE][+-]?[0-9]+)?[A-Za-z0-9_]*")]
    #[regex(r"\.[0-9]+([eE][+-]?[0-9]+)?[A-Za-z0-9_]*")]
    Number,
    #[regex(r#"L?"([^"\\\n]|\\[^\n\r]|\\\r?\n)*""#)]
    String,
    #[regex(r"L?'([^'\\\n]|\\[^\n\r])+'")]
    Char,
    #[regex("L?[\"']")]
    OpenQuote,
    #[token("{")]
    OpenBrace,
    #[token("}")]
    CloseBrace,
    #[token("(")]
    OpenParenthesis,
    #[token(")")]
    CloseParenthesis,
    #[token("[")]
    OpenBracket,
    #[token("]")]
    CloseBracket,
    #[token("<")]
    Less,
    #[token(">")]
    Greater,
    #[token("<<")]
    ShiftLeft,
    #[token(",")]
    Comma,
    #[token(";")]
    Semicolon,
    #[token(":")]
    Colon,
    #[token("::")]
    Scope,
    #[token("=")]
    Equal,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("%")]
    Percent,
    #[token("~")]
    Tilde,
    #[token("|")]
    Pipe,
    #[token("&")]
    Ampersand,
    #[token("^")]
    Caret,
    #[token("@")]
    At,
    #[token("!")]
    Bang,
    #[token("?")]
    Question,
    #[token(".")]
    Dot,
    #[token("...")]
    Ellipsis,
    #[token("#")]
    Hash,
    #[token("##")]
    HashHash,
    /// A character that no token begins with.
    Unknown,
    EndOfFile,
}

/// A token of a file or of a macro.
#[derive(Debug, Clone, Copy)]
pub(super) struct Token {
    pub(super) kind: TokenKind,
    /// Whether this is the first token of a line.
    pub(super) starts_line: bool,
    /// Whether the token directly follows the token before, without space.
    pub(super) is_joined: bool,
    /// Whether macro expansion must ignore this identifier.
    pub(super) is_final: bool,
    /// The text.
    pub(super) symbol: Symbol,
    /// For tokens of a macro, the place of its use.
    pub(super) span: Span,
}

/// A comment.
#[derive(Debug, Clone, Copy)]
pub(super) struct Comment {
    /// Index of the next token.
    pub(super) token: u32,
    pub(super) span: Span,
    /// Whether a token stands before it in the same line.
    pub(super) is_trailing: bool,
    /// Whether an empty line follows.
    pub(super) ends_block: bool,
}

/// Tokens and comments of one file. The last token is the end of the file.
#[derive(Debug, Default)]
pub(super) struct TokenizedFile {
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<Comment>,
}

impl TokenKind {
    /// Text of a token that has always the same text.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::OpenBrace => "{",
            Self::CloseBrace => "}",
            Self::OpenParenthesis => "(",
            Self::CloseParenthesis => ")",
            Self::OpenBracket => "[",
            Self::CloseBracket => "]",
            Self::Less => "<",
            Self::Greater => ">",
            Self::ShiftLeft => "<<",
            Self::Comma => ",",
            Self::Semicolon => ";",
            Self::Colon => ":",
            Self::Scope => "::",
            Self::Equal => "=",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Star => "*",
            Self::Slash => "/",
            Self::Percent => "%",
            Self::Tilde => "~",
            Self::Pipe => "|",
            Self::Ampersand => "&",
            Self::Caret => "^",
            Self::At => "@",
            Self::Bang => "!",
            Self::Question => "?",
            Self::Dot => ".",
            Self::Ellipsis => "...",
            Self::Hash => "#",
            Self::HashHash => "##",
            _ => "",
        }
    }

    /// The kind for messages.
    pub(super) fn description(self) -> String {
        match self {
            Self::Identifier => "an identifier".to_owned(),
            Self::Number => "a number".to_owned(),
            Self::String => "a string".to_owned(),
            Self::Char => "a character".to_owned(),
            Self::EndOfFile => "the end of the file".to_owned(),
            other => format!("`{}`", other.text()),
        }
    }
}

/// Splits a file into tokens.
pub(super) fn tokenize(text: &str, file: FileId, symbols: &mut SymbolTable, errors: &mut Diagnostics) -> TokenizedFile {
    let mut found = TokenizedFile::default();
    found.tokens.reserve(text.len() / 5);
    let mut lexer = TokenKind::lexer(text);
    let (mut starts_line, mut newlines, mut last_end) = (true, 0_u32, usize::MAX);
    while let Some(kind) = lexer.next() {
        let range = lexer.span();
        let span = span_of(file, &range);
        let kind = kind.unwrap_or(TokenKind::Unknown);
        match kind {
            TokenKind::Newline => {
                starts_line = true;
                newlines += 1;
                if newlines == 2
                    && let Some(comment) = found.comments.last_mut()
                    && comment.token as usize == found.tokens.len()
                {
                    comment.ends_block = true;
                }
                continue;
            }
            TokenKind::LineComment | TokenKind::BlockComment => {
                let token = u32::try_from(found.tokens.len()).unwrap_or(u32::MAX);
                let is_trailing = !starts_line && token > 0;
                found.comments.push(Comment { token, span, is_trailing, ends_block: false });
                newlines = 0;
                continue;
            }
            TokenKind::OpenComment => {
                errors.push(Diagnostic::error("this comment does not end", span).help("add `*/`"));
                break;
            }
            TokenKind::OpenQuote => {
                // The rest of the line cannot be told apart from the text in quotes.
                let rest = lexer.remainder();
                lexer.bump(rest.find('\n').unwrap_or(rest.len()));
            }
            _ => {}
        }
        let symbol = match kind {
            TokenKind::Identifier | TokenKind::Number | TokenKind::String | TokenKind::Char | TokenKind::Unknown => {
                symbols.intern(text.get(range.clone()).unwrap_or(""))
            }
            _ => Symbol::EMPTY,
        };
        let is_joined = last_end == range.start;
        found.tokens.push(Token { kind, starts_line, is_joined, is_final: false, symbol, span });
        (starts_line, newlines, last_end) = (false, 0, range.end);
    }
    let span = span_of(file, &(text.len()..text.len()));
    let end = TokenKind::EndOfFile;
    found.tokens.push(Token {
        kind: end,
        starts_line: true,
        is_joined: false,
        is_final: true,
        symbol: Symbol::EMPTY,
        span,
    });
    found
}

fn span_of(file: FileId, range: &std::ops::Range<usize>) -> Span {
    let offset = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    Span::new(file, offset(range.start), offset(range.end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::SourceMap;

    fn kinds(text: &str) -> (Vec<TokenKind>, TokenizedFile, Diagnostics) {
        let mut sources = SourceMap::default();
        let file = sources.add("a.idl", text, None);
        let mut errors = Diagnostics::default();
        let found = tokenize(text, file, &mut SymbolTable::new(), &mut errors);
        (found.tokens.iter().map(|token| token.kind).collect(), found, errors)
    }

    #[test]
    fn literals_are_single_tokens() {
        use TokenKind::{Char, EndOfFile, Number, String};
        let text = r#"0x1F 1.5e-3 .5 1d L"a\"b" '\'' L'x' 077"#;
        let expected = [Number, Number, Number, Number, String, Char, Char, Number, EndOfFile];
        assert_eq!(kinds(text).0, expected);
    }

    #[test]
    fn hexadecimal_digit_e_is_not_an_exponent() {
        use TokenKind::{EndOfFile, Number, Plus};
        assert_eq!(kinds("0x1e+5").0, [Number, Plus, Number, EndOfFile]);
    }

    #[test]
    fn continued_line_has_no_new_first_token() {
        let (_, found, _) = kinds("#define A \\\r\n 1\nB");
        let starts: Vec<bool> = found.tokens.iter().map(|token| token.starts_line).collect();
        assert_eq!(starts, [true, false, false, false, true, true]);
    }

    #[test]
    fn comment_knows_its_line_and_block() {
        let (_, found, _) = kinds("// license\n\n// doc\nlong a; // trailing\n");
        let flags: Vec<(u32, bool, bool)> =
            found.comments.iter().map(|c| (c.token, c.is_trailing, c.ends_block)).collect();
        assert_eq!(flags, [(0, false, true), (0, false, false), (3, true, false)]);
    }

    #[test]
    fn open_comment_is_an_error() {
        assert_eq!(kinds("a /* b * c").2.error_count(), 1);
    }

    #[test]
    fn open_quotes_take_linear_time() {
        let text = "\"".to_owned() + &"\\\"".repeat(200_000);
        assert_eq!(kinds(&text).0, [TokenKind::OpenQuote, TokenKind::EndOfFile]);
    }
}
