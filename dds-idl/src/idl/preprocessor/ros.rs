//! Includes the messages of ROS that a file uses without an `#include`.
//!
//! `rosidl` finds `geometry_msgs::msg::Vector3` by its name, so files of packages lack such lines.

use super::directive::{include_built_in, include_file};
use super::load;
use super::{MESSAGES_MAX, Preprocessor};
use crate::idl::symbol::{Symbol, keyword};
use crate::idl::token::{Token, TokenKind};
use crate::model::{Diagnostic, SourceFile, Span};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The package of a message, and its name.
type MessageName = (Symbol, Symbol);

/// The messages of a run. They make the work for each use of a message constant.
#[derive(Debug, Default)]
pub(super) struct Messages {
    /// The messages in the first `read_count` tokens of the output.
    defined: HashSet<MessageName, foldhash::fast::RandomState>,
    read_count: usize,
    /// One entry for each brace that is open behind these tokens: the name of a module, or the empty text.
    scopes: Vec<Symbol>,
    /// The messages that the file system was asked for.
    searched: HashSet<MessageName, foldhash::fast::RandomState>,
}

impl Messages {
    /// Adds the definitions in the tokens that were not read. `folder` is `msg`.
    fn read(&mut self, tokens: &[Token], folder: Symbol) {
        for (at, token) in tokens.iter().enumerate().skip(self.read_count) {
            let before = |count: usize| at.checked_sub(count).and_then(|at| tokens.get(at)).map(|token| token.symbol);
            match token.kind {
                TokenKind::OpenBrace => {
                    let is_module = before(2) == Some(keyword::MODULE);
                    self.scopes.push(before(1).filter(|_| is_module).unwrap_or(Symbol::EMPTY));
                }
                TokenKind::CloseBrace => {
                    self.scopes.pop();
                }
                TokenKind::Identifier if before(1) == Some(keyword::STRUCT) => {
                    if let [package, inner] = self.scopes.as_slice()
                        && *inner == folder
                    {
                        self.defined.insert((*package, token.symbol));
                    }
                }
                _ => {}
            }
        }
        self.read_count = tokens.len();
    }
}

/// Includes the messages in `tokens`, the definitions of the file that is being read.
///
/// Lines that a later `#if` leaves out count too: the modules of the file are not open yet, nor are its macros known.
pub(super) fn include_messages(this: &mut Preprocessor<'_>, tokens: &[Token]) {
    if !is_in_package(this) {
        return;
    }
    let msg = this.symbols.intern("msg");
    for parts in tokens.windows(5) {
        if this.is_aborted || this.diagnostics.is_full() {
            return;
        }
        let [package, before, folder, behind, name] = parts else { continue };
        let is_path = before.kind == TokenKind::Scope && behind.kind == TokenKind::Scope && folder.symbol == msg;
        if is_path && [package, name].iter().all(|token| token.kind == TokenKind::Identifier) {
            include_message(this, package, msg, name);
        }
    }
}

/// Whether the file has the path of a message, a service or an action: `PACKAGE/msg/Name.idl`.
fn is_in_package(this: &Preprocessor<'_>) -> bool {
    let file = this.open_files.last().and_then(|(file, _)| this.sources.file(*file));
    let folder = file.map(SourceFile::path).and_then(Path::parent).and_then(Path::file_name);
    folder.is_some_and(|name| ["msg", "srv", "action"].iter().any(|kind| name == *kind))
}

fn include_message(this: &mut Preprocessor<'_>, package: &Token, msg: Symbol, name: &Token) {
    let (key, span) = ((package.symbol, name.symbol), package.span.to(name.span));
    // `Name_Constants` stands in the file of `Name`.
    if this.symbols.text(name.symbol).contains('_') {
        return;
    }
    this.messages.read(&this.output.tokens, msg);
    if this.messages.defined.contains(&key) || !this.messages.searched.insert(key) {
        return;
    }
    if this.messages.searched.len() > MESSAGES_MAX {
        this.abort(format!("more than {MESSAGES_MAX} messages of ROS have no `#include`"), span);
        return;
    }
    let path = format!("{}/msg/{}.idl", this.symbols.text(package.symbol), this.symbols.text(name.symbol));
    let is_new = match load::find(this, &path, false) {
        Ok(found) if this.files.contains_key(&load::identity(&found)) => false,
        Ok(found) => {
            include_file(this, &found, span);
            true
        }
        Err(_) => !this.files.contains_key(&PathBuf::from(format!("<{path}>"))) && include_built_in(this, &path, span),
    };
    if is_new {
        warn(this, &path, span);
    }
}

fn warn(this: &mut Preprocessor<'_>, path: &str, span: Span) {
    let warning = Diagnostic::warning("a type without an `#include` is not standard IDL", span);
    this.report(warning.note("accepted for ROS 2").help(format!("write `#include \"{path}\"`")));
}
