//! The preprocessor: includes, macros, conditionals and pragmas (IDL 4.2, 7.3).
//!
//! In: files and `Options`. Out: one list of tokens without directives, and the pragmas.
//!
//! | file | content |
//! |---|---|
//! | `directive` | lines that begin with `#` |
//! | `expansion` | macros |
//! | `condition` | expressions of `#if` |
//! | `load` | reads files, and searches included ones |
//! | `ros` | messages of ROS that a file uses without an `#include` |
//!
//! Its limits keep time and memory proportional to the size of the files: [`INCLUDE_DEPTH_MAX`], [`INCLUSIONS_MAX`],
//! [`MESSAGES_MAX`], [`EXPANDED_TOKENS_MAX`], [`EXPANSION_DEPTH_MAX`] and [`CREATED_BYTES_MAX`].

mod condition;
mod directive;
mod expansion;
mod load;
mod ros;

use super::symbol::{Symbol, SymbolTable};
use super::token::{Comment, Token, TokenKind, TokenizedFile, tokenize};
use super::{IncludeFinder, Options};
use crate::model::{Diagnostic, Diagnostics, FileId, SourceMap, Span};
use expansion::Macro;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// Most files that include each other at one place. Real specifications nest about ten files.
pub(super) const INCLUDE_DEPTH_MAX: usize = 100;

/// Most `#include` directives that are followed. Two files that include each other twice would double them each time.
pub(super) const INCLUSIONS_MAX: usize = 20_000;

/// Most messages of ROS that files use without an `#include`. Each of them asks the file system.
pub(super) const MESSAGES_MAX: usize = 20_000;

/// Most bytes of all files. A file of directives counts each time that another file includes it.
pub(super) const READ_BYTES_MAX: usize = 256 << 20;

/// Most tokens that all macros together produce. Doubling macros reach any number in a few lines.
pub(super) const EXPANDED_TOKENS_MAX: usize = 2_000_000;

/// Most macro calls inside of arguments of macro calls. Each of them needs stack space.
pub(super) const EXPANSION_DEPTH_MAX: usize = 100;

/// Most bytes of all texts that macros create by `#` and `##`. All strings have the same limit.
///
/// A macro that turns its own result into a string doubles one token each time.
pub(super) const CREATED_BYTES_MAX: usize = 16 << 20;

/// A `#pragma` that has a meaning for types.
#[derive(Debug)]
pub(super) struct Pragma {
    /// Index of the next token.
    pub(super) token: u32,
    pub(super) span: Span,
    /// The words behind `#pragma`.
    pub(super) words: Vec<(String, Span)>,
}

/// The result: tokens of all files, with one end of file.
#[derive(Debug, Default)]
pub(super) struct Preprocessed {
    pub(super) tokens: Vec<Token>,
    pub(super) comments: Vec<Comment>,
    pub(super) pragmas: Vec<Pragma>,
}

/// Lengths of the lists of the output.
#[derive(Debug, Clone, Copy)]
struct OutputLen {
    tokens: usize,
    comments: usize,
    pragmas: usize,
}

impl Preprocessed {
    fn len(&self) -> OutputLen {
        OutputLen { tokens: self.tokens.len(), comments: self.comments.len(), pragmas: self.pragmas.len() }
    }

    /// Takes the parts behind `start`.
    fn split_off(&mut self, start: OutputLen) -> Self {
        Self {
            tokens: self.tokens.split_off(start.tokens),
            comments: self.comments.split_off(start.comments),
            pragmas: self.pragmas.split_off(start.pragmas),
        }
    }

    /// Adds the parts that stood behind `start` before.
    fn append(&mut self, mut moved: Self, start: OutputLen) {
        let distance = u32::try_from(self.tokens.len() - start.tokens).unwrap_or(u32::MAX);
        let comments = moved.comments.iter_mut().map(|comment| &mut comment.token);
        for token in comments.chain(moved.pragmas.iter_mut().map(|pragma| &mut pragma.token)) {
            *token = token.saturating_add(distance);
        }
        self.tokens.append(&mut moved.tokens);
        self.comments.append(&mut moved.comments);
        self.pragmas.append(&mut moved.pragmas);
    }
}

/// Progress of a file that was included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FileProgress {
    /// The file is being read. Including it again is a cycle.
    Open,
    /// The file contains definitions. Reading it again would repeat them.
    HasTokens,
    /// The file contains only directives. Macros decide their effect, so it is read again.
    HasDirectivesOnly,
}

/// An open `#if`.
#[derive(Debug)]
struct Conditional {
    span: Span,
    branch: Branch,
    has_else: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Branch {
    /// The lines are used.
    Taken,
    /// The lines are skipped, and a later branch may be taken.
    Waiting,
    /// The lines are skipped up to `#endif`.
    Finished,
}

pub(super) struct Preprocessor<'a> {
    options: &'a Options,
    find: Option<&'a mut IncludeFinder<'a>>,
    sources: &'a mut SourceMap,
    symbols: &'a mut SymbolTable,
    diagnostics: &'a mut Diagnostics,
    macros: HashMap<Symbol, Macro, foldhash::fast::RandomState>,
    files: HashMap<PathBuf, (FileProgress, FileId)>,
    /// The files that are being read, with the `#include` of each.
    open_files: Vec<(FileId, Span)>,
    conditionals: Vec<Conditional>,
    messages: ros::Messages,
    inclusions: usize,
    /// Size of all files, counted each time a file is read.
    read_bytes: usize,
    expanded_tokens: usize,
    expansion_depth: usize,
    /// Size of the texts that macros have created.
    created_bytes: usize,
    /// Whether a limit was exceeded. The rest of the input is not read.
    is_aborted: bool,
    output: Preprocessed,
}

impl<'a> Preprocessor<'a> {
    pub(super) fn new(
        options: &'a Options,
        find: Option<&'a mut IncludeFinder<'a>>,
        sources: &'a mut SourceMap,
        symbols: &'a mut SymbolTable,
        diagnostics: &'a mut Diagnostics,
    ) -> Self {
        let mut this = Self {
            options,
            find,
            sources,
            symbols,
            diagnostics,
            macros: HashMap::default(),
            files: HashMap::new(),
            open_files: Vec::new(),
            conditionals: Vec::new(),
            messages: ros::Messages::default(),
            inclusions: 0,
            read_bytes: 0,
            expanded_tokens: 0,
            expansion_depth: 0,
            created_bytes: 0,
            is_aborted: false,
            output: Preprocessed::default(),
        };
        this.define_number("__IDLC__", "1");
        for (name, value) in &options.defines {
            this.define_option(name, value);
        }
        this
    }

    /// Reads a file that the caller names.
    pub(super) fn add_file(&mut self, path: &Path) -> Result<(), std::io::Error> {
        let bytes = load::read(path)?;
        self.add_bytes(path, &bytes);
        Ok(())
    }

    /// Reads a text that the caller has in memory. Its `#include`s are relative to `path`.
    pub(super) fn add_bytes(&mut self, path: &Path, bytes: &[u8]) {
        let key = load::identity(path);
        if let Some((_, file)) = self.files.get(&key) {
            // Another file has included it.
            self.sources.set_root(*file);
            return;
        }
        let file = load::add_source(self, path, bytes, None);
        self.read_file(key, file, Span::new(file, 0, 0));
    }

    /// Reads text that stands for a part of a file. It has no directives.
    #[cfg(feature = "xml")]
    pub(super) fn add_translated(&mut self, file: FileId, text: &str) {
        let tokenized = tokenize(text, file, self.symbols, self.diagnostics);
        self.read_tokens(&tokenized, text);
    }

    /// Returns the tokens of all files.
    pub(super) fn finish(mut self) -> Preprocessed {
        let span = self.output.tokens.last().map(|token| Span::new(token.span.file, token.span.end, token.span.end));
        self.output.tokens.push(Token {
            kind: TokenKind::EndOfFile,
            starts_line: true,
            is_joined: false,
            is_final: true,
            symbol: Symbol::EMPTY,
            span: span.unwrap_or_default(),
        });
        self.output
    }

    fn read_file(&mut self, key: PathBuf, file: FileId, included_at: Span) {
        let Some(text) = self.sources.file(file).map(crate::model::SourceFile::shared_text) else { return };
        self.read_bytes = self.read_bytes.saturating_add(text.len());
        if self.read_bytes > READ_BYTES_MAX {
            self.abort(format!("all files together have more than {READ_BYTES_MAX} bytes"), included_at);
            return;
        }
        let tokenized = tokenize(&text, file, self.symbols, self.diagnostics);
        self.files.insert(key.clone(), (FileProgress::Open, file));
        self.open_files.push((file, included_at));
        let outer = std::mem::take(&mut self.conditionals);
        let token_count = self.output.tokens.len();
        self.read_tokens(&tokenized, &text);
        for open in std::mem::replace(&mut self.conditionals, outer) {
            if self.diagnostics.is_full() {
                break;
            }
            self.diagnostics.push(Diagnostic::error("this conditional has no `#endif`", open.span));
        }
        self.open_files.pop();
        let has_tokens = self.output.tokens.len() > token_count;
        let progress = if has_tokens { FileProgress::HasTokens } else { FileProgress::HasDirectivesOnly };
        self.files.insert(key, (progress, file));
    }

    fn read_tokens(&mut self, file: &TokenizedFile, text: &str) {
        let tokens = file.tokens.as_slice();
        let mut comments = file.comments.iter().peekable();
        let (mut at, mut definitions) = (0, None);
        while let Some(token) = tokens.get(at)
            && !self.is_aborted
            && !self.diagnostics.is_full()
        {
            let is_directive = token.kind == TokenKind::Hash && token.starts_line;
            if !is_directive && self.is_active() {
                definitions.get_or_insert_with(|| self.output.len());
            }
            while let Some(comment) = comments.next_if(|comment| comment.token as usize <= at) {
                self.add_comment(comment, is_directive, token.kind == TokenKind::EndOfFile);
            }
            if is_directive {
                let start = at + 1;
                let rest = tokens.get(start..).unwrap_or_default();
                let length = rest.iter().position(|token| token.starts_line).unwrap_or(rest.len());
                at = start + length;
                directive::read(self, token.span, rest.get(..length).unwrap_or_default(), text);
            } else if token.kind == TokenKind::EndOfFile {
                break;
            } else if !self.is_active() {
                at += 1;
            } else if token.kind == TokenKind::Identifier && self.macros.contains_key(&token.symbol) {
                at = expansion::expand_at(self, tokens, at);
            } else {
                self.output.tokens.push(*token);
                at += 1;
            }
        }
        if let Some(start) = definitions {
            ros::include_messages(self, start);
        }
    }

    fn add_comment(&mut self, comment: &Comment, is_before_directive: bool, is_last: bool) {
        // A comment before a directive describes the directive.
        if self.is_active() && (comment.is_trailing || !is_before_directive) {
            let token = u32::try_from(self.output.tokens.len()).unwrap_or(u32::MAX);
            // A comment at the end of a file does not describe the next definition of another file.
            self.output.comments.push(Comment { token, ends_block: comment.ends_block || is_last, ..*comment });
        }
    }

    /// Whether all open conditionals take the current lines.
    fn is_active(&self) -> bool {
        self.conditionals.last().is_none_or(|conditional| conditional.branch == Branch::Taken)
    }

    /// Adds a file without text, for a diagnostic about a file that cannot be read.
    pub(super) fn empty_file(&mut self, path: &Path) -> Span {
        Span::new(self.sources.add(path, "", None), 0, 0)
    }

    pub(super) fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn error(&mut self, message: impl Into<String>, span: Span) {
        self.diagnostics.push(Diagnostic::error(message, span));
    }

    /// The text of tokens. `None`, and the end of the run, if macros create more text than the limit.
    fn created_text(&mut self, tokens: &[Token], span: Span) -> Option<String> {
        self.created_bytes = self.created_bytes.saturating_add(expansion::text_len(self.symbols, tokens));
        if self.created_bytes > CREATED_BYTES_MAX {
            self.abort(format!("macros create more than {CREATED_BYTES_MAX} bytes of text"), span);
            return None;
        }
        Some(expansion::text_of(self.symbols, tokens))
    }

    /// Reports an exceeded limit, once, and ends the run.
    fn abort(&mut self, message: String, span: Span) {
        if !self.is_aborted {
            self.is_aborted = true;
            self.error(message, span);
        }
    }
}
