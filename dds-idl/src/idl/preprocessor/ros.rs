//! Includes the messages of ROS that a file uses without an `#include`.
//!
//! `rosidl` finds `geometry_msgs::msg::Vector3` by its name, so files of packages lack such lines.

use super::directive::include_found;
use super::load::{self, IncludeTarget};
use super::{MESSAGES_MAX, OutputLen, Preprocessor};
use crate::idl::symbol::{Symbol, keyword};
use crate::idl::token::{Token, TokenKind};
use crate::model::{Diagnostic, SourceFile, Span};
use crate::ros::InterfaceKind;
use std::collections::HashSet;
use std::path::Path;

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
    /// Adds the structs in `module PACKAGE { module msg { … } }` of the tokens that were not read. `folder` is `msg`.
    fn read(&mut self, tokens: &[Token], folder: Symbol) {
        for (at, token) in tokens.iter().enumerate().skip(self.read_count) {
            let before = |count: usize| at.checked_sub(count).and_then(|at| tokens.get(at)).map(|token| token.symbol);
            match token.kind {
                TokenKind::OpenBrace => {
                    let is_module = before(2) == Some(keyword::MODULE);
                    let name = if is_module { before(1) } else { None };
                    self.scopes.push(name.unwrap_or(Symbol::EMPTY));
                }
                TokenKind::CloseBrace => {
                    self.scopes.pop();
                }
                TokenKind::Identifier if before(1) == Some(keyword::STRUCT) => {
                    if let [package, inner] = self.scopes[..]
                        && inner == folder
                    {
                        self.defined.insert((package, token.symbol));
                    }
                }
                _ => {}
            }
        }
        self.read_count = tokens.len();
    }
}

/// Includes the messages that a file uses, before its definitions. These stand behind `start` in the output.
///
/// So macros are known, and lines that an `#if` leaves out do not count.
pub(super) fn include_messages(this: &mut Preprocessor<'_>, start: OutputLen) {
    let own = this.output.tokens.get(start.tokens..).unwrap_or_default();
    if !is_interface(this, own) {
        return;
    }
    let msg = this.symbols.intern("msg");
    this.messages.read(&this.output.tokens, msg);
    let used = used_messages(this, this.output.tokens.get(start.tokens..).unwrap_or_default(), msg);
    if used.is_empty() {
        return;
    }
    let definitions = this.output.split_off(start);
    // The definitions close each brace that they open, so the scopes stay.
    this.messages.read_count = start.tokens;
    for (name, span) in used {
        include_message(this, name, span);
        this.messages.read(&this.output.tokens, msg);
    }
    this.output.append(definitions, start);
    this.messages.read_count = this.output.tokens.len();
}

/// The names `PACKAGE::msg::Name` in tokens, without those that files define and those that were searched.
fn used_messages(this: &Preprocessor<'_>, tokens: &[Token], msg: Symbol) -> Vec<(MessageName, Span)> {
    let mut found = Vec::new();
    for parts in tokens.windows(5) {
        let [package, before, folder, behind, name] = parts else { continue };
        let is_path = before.kind == TokenKind::Scope && behind.kind == TokenKind::Scope && folder.symbol == msg;
        let is_name = |token: &Token| token.kind == TokenKind::Identifier;
        let key = (package.symbol, name.symbol);
        let is_known = || this.messages.defined.contains(&key) || this.messages.searched.contains(&key);
        // `Name_Constants` stands in the file of `Name`.
        let is_part = || this.symbols.text(name.symbol).contains('_');
        if is_path && is_name(package) && is_name(name) && !is_known() && !is_part() {
            found.push((key, package.span.to(name.span)));
        }
    }
    found
}

/// Whether the file is an interface of ROS: `PACKAGE/msg/Name.idl`, or in a subfolder, with the modules `PACKAGE` and
/// `msg` in its tokens.
///
/// The path alone does not say so: each file below `/srv` has such a folder.
fn is_interface(this: &Preprocessor<'_>, tokens: &[Token]) -> bool {
    let file = this.open_files.last().and_then(|(file, _)| this.sources.file(*file));
    let folder = file.map(SourceFile::path).and_then(Path::parent).unwrap_or(Path::new(""));
    let is_folder = |name: &str| InterfaceKind::from_folder(name).is_some() && folder.iter().any(|part| part == name);
    tokens.windows(6).any(|parts| {
        let [module, _, brace, inner, kind, inner_brace] = parts else { return false };
        [module, inner].iter().all(|token| token.symbol == keyword::MODULE)
            && [brace, inner_brace].iter().all(|token| token.kind == TokenKind::OpenBrace)
            && is_folder(this.symbols.text(kind.symbol))
    })
}

fn include_message(this: &mut Preprocessor<'_>, key: MessageName, span: Span) {
    let is_over = this.is_aborted || this.diagnostics.is_full();
    // A file that was included just now may define the message.
    if is_over || this.messages.defined.contains(&key) || !this.messages.searched.insert(key) {
        return;
    }
    if this.messages.searched.len() > MESSAGES_MAX {
        this.abort(format!("more than {MESSAGES_MAX} messages of ROS have no `#include`"), span);
        return;
    }
    let path = format!("{}/msg/{}.idl", this.symbols.text(key.0), this.symbols.text(key.1));
    let Ok(found) = load::find(this, &path, false) else { return };
    let is_known = match &found {
        IncludeTarget::File(path) => this.files.contains_key(&load::identity(path)),
        IncludeTarget::KnownText => true,
        IncludeTarget::Text(..) | IncludeTarget::Unreadable(_) => false,
    };
    if !is_known {
        include_found(this, found, &path, span);
        let warning = Diagnostic::warning("a type without an `#include` is not standard IDL", span);
        this.report(warning.note("accepted for ROS 2").help(format!("write `#include \"{path}\"`")));
    }
}
