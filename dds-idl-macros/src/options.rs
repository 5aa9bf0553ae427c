//! The attribute at the start of the macro: `#![crate_path = "..", derive_path = "..", include_dir = "..", serde]`.

use dds_idl::rust::RustOptions;
use proc_macro::{Delimiter, Literal, Span, TokenTree};

type OptionError = (String, Span);

#[derive(Default)]
pub(crate) struct MacroOptions {
    pub(crate) rust: RustOptions,
    /// Folders for `#include`, or with packages of ROS, relative to the package.
    pub(crate) include_dirs: Vec<String>,
    /// Whether names that differ only in case are different.
    pub(crate) case_sensitive: bool,
}

/// Returns the options, and the tokens behind them.
pub(crate) fn split(tokens: Vec<TokenTree>) -> Result<(MacroOptions, Vec<TokenTree>), OptionError> {
    let mut options = MacroOptions::default();
    let inner = match tokens.as_slice() {
        [TokenTree::Punct(hash), TokenTree::Punct(mark), TokenTree::Group(group), ..]
            if hash.as_char() == '#' && mark.as_char() == '!' && group.delimiter() == Delimiter::Bracket =>
        {
            group.stream()
        }
        _ => return Ok((options, tokens)),
    };
    let inner: Vec<TokenTree> = inner.into_iter().collect();
    for option in inner.split(|token| matches!(token, TokenTree::Punct(comma) if comma.as_char() == ',')) {
        set(&mut options, option)?;
    }
    Ok((options, tokens.into_iter().skip(3).collect()))
}

fn set(options: &mut MacroOptions, tokens: &[TokenTree]) -> Result<(), OptionError> {
    let Some(TokenTree::Ident(name)) = tokens.first() else {
        let span = tokens.first().map_or_else(Span::call_site, TokenTree::span);
        return if tokens.is_empty() { Ok(()) } else { Err((EXPECTED.to_owned(), span)) };
    };
    match (name.to_string().as_str(), tokens) {
        ("serde", [_]) => options.rust.serde = true,
        ("case_sensitive", [_]) => options.case_sensitive = true,
        ("plain", [_]) => options.rust.ros_path = None,
        ("crate_path", [_, TokenTree::Punct(_), TokenTree::Literal(value)]) => {
            options.rust.crate_path = value_of(value)?;
        }
        ("derive_path", [_, TokenTree::Punct(_), TokenTree::Literal(value)]) => {
            options.rust.derive_path = Some(value_of(value)?);
        }
        ("ros_path", [_, TokenTree::Punct(_), TokenTree::Literal(value)]) => {
            options.rust.ros_path = Some(value_of(value)?);
        }
        ("include_dir", [_, TokenTree::Punct(_), TokenTree::Literal(value)]) => {
            options.include_dirs.push(value_of(value)?);
        }
        _ => return Err((EXPECTED.to_owned(), name.span())),
    }
    Ok(())
}

const EXPECTED: &str = "expected `crate_path = \"..\"`, `derive_path = \"..\"`, `include_dir = \"..\"`, `ros_path = \"..\"`, \
                        `case_sensitive`, `plain` or `serde`";

fn value_of(literal: &Literal) -> Result<String, OptionError> {
    text_of(literal).ok_or_else(|| (EXPECTED.to_owned(), literal.span()))
}

/// The content of a plain string literal. Paths need no escapes.
pub(crate) fn text_of(literal: &Literal) -> Option<String> {
    let text = literal.to_string();
    let inner = text.strip_prefix('"')?.strip_suffix('"')?;
    if inner.contains('\\') { None } else { Some(inner.to_owned()) }
}
