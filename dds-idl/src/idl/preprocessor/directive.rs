//! Lines that begin with `#`.

use super::condition;
use super::expansion::{self, Macro};
use super::load::{self, IncludeTarget};
use super::{Branch, Conditional, FileProgress, INCLUDE_DEPTH_MAX, INCLUSIONS_MAX, Pragma, Preprocessor};
use crate::idl::symbol::Symbol;
use crate::idl::token::{Token, TokenKind};
use crate::model::{Diagnostic, Span};
use std::path::Path;

const DIRECTIVES: [&str; 14] = [
    "define", "elif", "else", "endif", "error", "ident", "if", "ifdef", "ifndef", "include", "line", "pragma", "undef",
    "warning",
];

/// Reads one directive. `line` holds the tokens behind `#`, and `text` is the file.
pub(super) fn read(this: &mut Preprocessor<'_>, hash: Span, line: &[Token], text: &str) {
    let Some((first, rest)) = line.split_first() else { return };
    let name = this.symbols.text(first.symbol).to_owned();
    let span = hash.to(first.span);
    match name.as_str() {
        "if" | "ifdef" | "ifndef" => open_conditional(this, &name, span, rest),
        "elif" | "else" => next_branch(this, &name, span, rest),
        "endif" => {
            if this.conditionals.pop().is_none() {
                this.error("`#endif` without `#if`", span);
            }
        }
        _ if !this.is_active() => {}
        "define" => define(this, span, rest),
        "undef" => match rest.first() {
            Some(token) if token.kind == TokenKind::Identifier => {
                this.macros.remove(&token.symbol);
            }
            _ => this.error("expected the name of a macro", span),
        },
        "include" => include(this, span, rest, text),
        "pragma" => pragma(this, span, rest, text),
        "error" | "warning" => {
            let message = line_text(rest, text);
            let message = if message.is_empty() { format!("`#{name}`") } else { message.to_owned() };
            let diagnostic =
                if name == "error" { Diagnostic::error(message, span) } else { Diagnostic::warning(message, span) };
            this.diagnostics.push(diagnostic);
        }
        // Other preprocessors write these lines, and this one needs no line numbers of theirs.
        "line" | "ident" => {}
        _ if first.kind == TokenKind::Number => {}
        _ => unknown(this, &name, hash, first.span),
    }
}

/// Reports a line that begins with `#`. Some files begin comments with `# `.
fn unknown(this: &mut Preprocessor<'_>, name: &str, hash: Span, first: Span) {
    let message = format!("unknown directive `#{name}`");
    let error = Diagnostic::error(message, hash.to(first)).did_you_mean(name, DIRECTIVES);
    let is_comment = hash.end < first.start && error.help.is_none();
    this.diagnostics.push(if is_comment {
        Diagnostic::warning("a comment that begins with `#` is not standard IDL", hash)
            .note("accepted for COVESA's Vehicle Signal Specification")
            .help("begin the comment with `//`")
    } else {
        error
    });
}

/// The text of a line from its first to its last token.
fn line_text<'t>(line: &[Token], text: &'t str) -> &'t str {
    let (Some(first), Some(last)) = (line.first(), line.last()) else { return "" };
    text.get(first.span.start as usize..last.span.end as usize).unwrap_or("")
}

fn open_conditional(this: &mut Preprocessor<'_>, name: &str, span: Span, rest: &[Token]) {
    let branch = if !this.is_active() {
        Branch::Finished
    } else {
        let is_true = match name {
            "if" => condition::evaluate(this, span, rest),
            _ => match rest.first() {
                Some(token) if token.kind == TokenKind::Identifier => {
                    this.macros.contains_key(&token.symbol) == (name == "ifdef")
                }
                _ => {
                    this.error("expected the name of a macro", span);
                    false
                }
            },
        };
        if is_true { Branch::Taken } else { Branch::Waiting }
    };
    this.conditionals.push(Conditional { span, branch, has_else: false });
}

fn next_branch(this: &mut Preprocessor<'_>, name: &str, span: Span, rest: &[Token]) {
    let Some(open) = this.conditionals.last_mut() else {
        this.error(format!("`#{name}` without `#if`"), span);
        return;
    };
    if open.has_else {
        let start = open.span;
        let diagnostic = Diagnostic::error(format!("`#{name}` after `#else`"), span);
        this.diagnostics.push(diagnostic.label(start, "the conditional starts here"));
        return;
    }
    open.has_else = name == "else";
    let before = open.branch;
    let is_taken = before == Branch::Waiting && (name == "else" || condition::evaluate(this, span, rest));
    if let Some(open) = this.conditionals.last_mut() {
        open.branch = match before {
            Branch::Waiting if is_taken => Branch::Taken,
            Branch::Waiting => Branch::Waiting,
            Branch::Taken | Branch::Finished => Branch::Finished,
        };
    }
}

fn define(this: &mut Preprocessor<'_>, span: Span, rest: &[Token]) {
    let Some((name, body)) = rest.split_first().filter(|(name, _)| name.kind == TokenKind::Identifier) else {
        this.error("expected the name of a macro", span);
        return;
    };
    if this.symbols.text(name.symbol) == "defined" {
        this.error("`defined` cannot be a macro", name.span);
        return;
    }
    let is_function = body.first().is_some_and(|token| token.kind == TokenKind::OpenParenthesis && token.is_joined);
    let (parameters, body) = if is_function {
        let Some((parameters, body)) = macro_parameters(this, body) else { return };
        (Some(parameters), body)
    } else {
        (None, body)
    };
    let is_variadic = parameters.as_ref().is_some_and(|parameters| parameters.is_variadic);
    let parameters = parameters.map(|parameters| parameters.names);
    let new = Macro::new(name.span, parameters, is_variadic, body.to_vec());
    if let Some(old) = this.macros.insert(name.symbol, new)
        && !expansion::is_same_body(&old, body)
    {
        let message = format!("macro `{}` has another definition already", this.symbols.text(name.symbol));
        this.diagnostics.push(Diagnostic::warning(message, name.span).label(old.span(), "first definition"));
    }
}

/// Parameters of a macro.
struct MacroParameters {
    names: Vec<Symbol>,
    /// Whether the last one takes all other arguments.
    is_variadic: bool,
}

/// Reads `(A, B, ...)`. Returns the parameters and the body.
fn macro_parameters<'t>(this: &mut Preprocessor<'_>, tokens: &'t [Token]) -> Option<(MacroParameters, &'t [Token])> {
    let (mut names, mut is_variadic) = (Vec::new(), false);
    for (at, token) in tokens.iter().enumerate().skip(1) {
        match token.kind {
            TokenKind::CloseParenthesis => {
                return Some((MacroParameters { names, is_variadic }, tokens.get(at + 1..)?));
            }
            TokenKind::Comma => {}
            TokenKind::Ellipsis => {
                is_variadic = true;
                names.push(this.symbols.intern("__VA_ARGS__"));
            }
            TokenKind::Identifier => names.push(token.symbol),
            _ => break,
        }
    }
    let span = tokens.first().map(|token| token.span).unwrap_or_default();
    this.error("expected parameters of a macro: `(A, B)`", span);
    None
}

fn include(this: &mut Preprocessor<'_>, span: Span, rest: &[Token], text: &str) {
    let expanded;
    let is_direct = rest.first().is_some_and(|token| matches!(token.kind, TokenKind::String | TokenKind::Less));
    let (name, is_quoted) = if is_direct {
        included_name(this, rest, line_text(rest, text))
    } else {
        expanded = expansion::expand_list(this, rest);
        let Some(joined) = this.created_text(&expanded, span) else { return };
        included_name(this, &expanded, &joined).or_else(|| name_without_quotes(this, rest, text))
    }
    .unwrap_or_default();
    let place = rest.first().map_or(span, |first| rest.last().map_or(first.span, |last| first.span.to(last.span)));
    if name.is_empty() {
        let diagnostic = Diagnostic::error("expected the name of a file", place);
        this.diagnostics.push(diagnostic.help("write `#include \"types.idl\"` or `#include <types.idl>`"));
        return;
    }
    match load::find(this, &name, is_quoted) {
        Ok(found) => include_found(this, found, &name, place),
        Err(folders) => {
            let mut diagnostic = Diagnostic::error(format!("cannot find the file `{name}`"), place);
            if this.diagnostics.may_suggest() {
                let names = folders.first().map(|folder| load::names_in(folder)).unwrap_or_default();
                diagnostic = diagnostic.did_you_mean(&name, names.iter().map(String::as_str));
            }
            for folder in &folders {
                let shown = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
                diagnostic = diagnostic.note(format!("searched in `{}`", shown.display()));
            }
            if diagnostic.help.is_none() {
                diagnostic = diagnostic.help("add the folder of the file with `-I DIR`");
            }
            this.diagnostics.push(diagnostic);
        }
    }
}

/// The name in `"…"` or `<…>`, and whether quotes were used.
fn included_name(this: &Preprocessor<'_>, line: &[Token], text: &str) -> Option<(String, bool)> {
    let first = line.first()?;
    if first.kind == TokenKind::String {
        return Some((this.symbols.text(first.symbol).trim_matches('"').to_owned(), true));
    }
    let name = text.strip_prefix('<')?.split('>').next()?;
    Some((name.trim().to_owned(), false))
}

/// The name in `#include types.idl`.
fn name_without_quotes(this: &mut Preprocessor<'_>, line: &[Token], text: &str) -> Option<(String, bool)> {
    let name = line_text(line, text);
    let is_name = !name.contains(char::is_whitespace) && (name.ends_with(".idl") || name.ends_with(".pidl"));
    let span = line.first()?.span.to(line.last()?.span);
    is_name.then(|| {
        this.diagnostics.push(
            Diagnostic::warning("the name of a file without quotes is not standard IDL", span)
                .note("accepted for TAOX11")
                .help(format!("write `#include \"{name}\"`")),
        );
        (name.to_owned(), true)
    })
}

/// Includes the target of an `#include`.
pub(super) fn include_found(this: &mut Preprocessor<'_>, found: IncludeTarget, name: &str, place: Span) {
    match found {
        IncludeTarget::File(path) => include_file(this, &path, place),
        IncludeTarget::Text(path, text) if count_inclusion(this, place) => {
            let file = this.sources.add(&path, text, Some(place));
            this.read_file(path, file, place);
        }
        IncludeTarget::Text(..) | IncludeTarget::KnownText => {}
        IncludeTarget::Unreadable(error) => this.error(format!("cannot read `{name}`: {error}"), place),
    }
}

fn include_file(this: &mut Preprocessor<'_>, path: &Path, place: Span) {
    let key = load::identity(path);
    match this.files.get(&key) {
        Some((FileProgress::HasTokens, _)) => return,
        Some((FileProgress::Open, file)) => {
            let file = *file;
            report_cycle(this, file, place);
            return;
        }
        Some((FileProgress::HasDirectivesOnly, _)) | None => {}
    }
    if !count_inclusion(this, place) {
        return;
    }
    let known = this.files.get(&key).map(|(_, file)| *file);
    match known.map_or_else(|| load::read(path).map(|bytes| load::add_source(this, path, &bytes, Some(place))), Ok) {
        Ok(file) => this.read_file(key, file, place),
        Err(error) => this.error(format!("cannot read `{}`: {error}", path.display()), place),
    }
}

/// Counts an `#include`, and returns whether the limits permit it.
fn count_inclusion(this: &mut Preprocessor<'_>, place: Span) -> bool {
    this.inclusions += 1;
    if this.open_files.len() >= INCLUDE_DEPTH_MAX {
        this.abort(format!("includes are nested more than {INCLUDE_DEPTH_MAX} times"), place);
        return false;
    }
    if this.inclusions > INCLUSIONS_MAX {
        this.abort(format!("more than {INCLUSIONS_MAX} files are included"), place);
        return false;
    }
    true
}

/// A cycle is an error, unless a guard makes the second inclusion empty.
fn report_cycle(this: &mut Preprocessor<'_>, file: crate::model::FileId, place: Span) {
    let Some(source) = this.sources.file(file) else { return };
    let name = source.path().display().to_string();
    if has_guard(source.text()) {
        return;
    }
    let start = this.open_files.iter().position(|(open, _)| *open == file).unwrap_or(0);
    let mut diagnostic = Diagnostic::error(format!("`{name}` includes itself"), place).primary("the cycle closes here");
    for (_, included_at) in this.open_files.iter().skip(start + 1) {
        diagnostic = diagnostic.label(*included_at, "the cycle passes here");
    }
    this.diagnostics.push(diagnostic.help("move the common definitions to a third file, or add `#pragma once`"));
}

/// Whether the first directive of a file is a guard against a second inclusion.
fn has_guard(text: &str) -> bool {
    for line in text.lines() {
        let Some(directive) = line.trim_start().strip_prefix('#') else { continue };
        let directive = directive.trim_start();
        let is_once = directive.strip_prefix("pragma").is_some_and(|rest| rest.trim() == "once");
        return is_once || directive.starts_with("ifndef") || directive.starts_with("if !");
    }
    false
}

fn pragma(this: &mut Preprocessor<'_>, span: Span, rest: &[Token], text: &str) {
    let Some(first) = rest.first() else { return };
    let name = this.symbols.text(first.symbol).to_owned();
    match name.as_str() {
        "keylist" | "DCPS_DATA_TYPE" | "DCPS_DATA_KEY" => {
            let start = first.span.start;
            let words = line_text(rest, text);
            let mut found = Vec::new();
            let mut offset = 0;
            for word in words.split_ascii_whitespace() {
                let at = words.get(offset..).and_then(|rest| rest.find(word)).unwrap_or(0) + offset;
                offset = at + word.len();
                let place = |at: usize| start.saturating_add(u32::try_from(at).unwrap_or(u32::MAX));
                found.push((word.to_owned(), Span::new(span.file, place(at), place(offset))));
            }
            let token = u32::try_from(this.output.tokens.len()).unwrap_or(u32::MAX);
            this.output.pragmas.push(Pragma { token, span, words: found });
        }
        // These change names and code of CORBA, or of one vendor, and no type of DDS. Files are read once in any case.
        "once"
        | "prefix"
        | "ID"
        | "version"
        | "cats"
        | "stac"
        | "ciao"
        | "ndds"
        | "sertopic"
        | "splice"
        | "push"
        | "pop"
        | "pack"
        | "GCC"
        | "clang"
        | "warning"
        | "region"
        | "endregion"
        | "hdrstop"
        | "inhibit_code_generation"
        | "includename"
        | "ident"
        | "message"
        | "javaPackage"
        | "STDC" => {}
        _ => {
            let diagnostic = Diagnostic::warning(format!("unknown pragma `{name}` is ignored"), first.span);
            this.diagnostics.push(diagnostic.did_you_mean(&name, ["keylist", "once"]));
        }
    }
}
