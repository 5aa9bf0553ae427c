//! Includes the messages of ROS that a file uses without an `#include`.
//!
//! `rosidl` finds `geometry_msgs::msg::Vector3` by its name, so files of packages lack such lines.

use super::Preprocessor;
use super::directive::{include_built_in, include_file};
use super::load;
use crate::idl::symbol::keyword;
use crate::idl::token::{Token, TokenKind};
use crate::model::{Diagnostic, SourceFile, Span};
use std::path::{Path, PathBuf};

/// Includes the messages in `tokens`, the definitions of the file that is being read.
pub(super) fn include_messages(this: &mut Preprocessor<'_>, tokens: &[Token]) {
    if !is_in_package(this) {
        return;
    }
    for parts in tokens.windows(5) {
        let [package, before, folder, behind, name] = parts else { continue };
        let is_path = before.kind == TokenKind::Scope && behind.kind == TokenKind::Scope;
        if is_path && folder.kind == TokenKind::Identifier && this.symbols.text(folder.symbol) == "msg" {
            include_message(this, package, name);
        }
    }
}

/// Whether the file has the path of a message, a service or an action: `PACKAGE/msg/Name.idl`.
fn is_in_package(this: &Preprocessor<'_>) -> bool {
    let file = this.open_files.last().and_then(|(file, _)| this.sources.file(*file));
    let folder = file.map(SourceFile::path).and_then(Path::parent).and_then(Path::file_name);
    folder.is_some_and(|name| ["msg", "srv", "action"].iter().any(|kind| name == *kind))
}

fn include_message(this: &mut Preprocessor<'_>, package: &Token, name: &Token) {
    let span = package.span.to(name.span);
    let (package, message) = (this.symbols.text(package.symbol), this.symbols.text(name.symbol));
    // `Name_Constants` stands in the file of `Name`.
    let is_message = !package.is_empty() && !message.is_empty() && !message.contains('_');
    let path = format!("{package}/msg/{message}.idl");
    if !is_message || is_defined(this, name) {
        return;
    }
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

/// Whether a file that was read has a struct of this name.
fn is_defined(this: &Preprocessor<'_>, name: &Token) -> bool {
    let is_definition = |pair: &[Token]| matches!(pair, [first, second] if first.symbol == keyword::STRUCT && second.symbol == name.symbol);
    this.output.tokens.windows(2).any(is_definition)
}

fn warn(this: &mut Preprocessor<'_>, path: &str, span: Span) {
    let warning = Diagnostic::warning("a type without an `#include` is not standard IDL", span);
    this.report(warning.note("accepted for ROS 2").help(format!("write `#include \"{path}\"`")));
}
