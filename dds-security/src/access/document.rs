//! Reads XML with bounds on its size, and names the place of each fault.

use roxmltree::{Document, Node, ParsingOptions};
use std::fmt;

/// Most bytes of a document. A fleet's permissions for one participant have a few kilobytes.
const LEN_MAX: usize = 1 << 20;

/// Most elements, attributes and texts of a document.
const NODES_MAX: u32 = 100_000;

/// Most elements within each other. The schema needs 7.
const DEPTH_MAX: usize = 32;

/// A governance or permissions document is faulty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentError {
    /// Line, from 1.
    pub line: u32,
    /// Description of the fault.
    pub message: String,
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for DocumentError {}

/// Parses a document, and passes its element `name` to `read`.
pub(super) fn parse<T>(
    text: &str,
    name: &str,
    read: impl FnOnce(Node<'_, '_>) -> Result<T, DocumentError>,
) -> Result<T, DocumentError> {
    let at_start = |message: String| DocumentError { line: 1, message };
    if text.len() > LEN_MAX {
        return Err(at_start(format!("the document has more than {LEN_MAX} bytes")));
    }
    // The parser recurses into elements, so their depth is bounded before it runs.
    if depth_of(text) > DEPTH_MAX {
        return Err(at_start(format!("elements lie more than {DEPTH_MAX} levels within each other")));
    }
    // Entities of a DTD could expand a short file into a huge text.
    let options = ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX, ..ParsingOptions::default() };
    let document = Document::parse_with_options(text.trim_start_matches('\u{feff}'), options)
        .map_err(|error| DocumentError { line: error.pos().row, message: error.to_string() })?;
    let root = document.root_element();
    let found = if is_named(root, name) { Some(root) } else { children(root).find(|node| is_named(*node, name)) };
    read(found.ok_or_else(|| error_at(root, format!("the document has no element <{name}>")))?)
}

/// Returns the depth of elements. Text, comments and attribute values may contain any tag.
fn depth_of(text: &str) -> usize {
    let (mut depth, mut deepest, mut rest) = (0_usize, 0, text);
    while let Some((_, tag)) = rest.split_once('<') {
        let skipped = [("!--", "-->"), ("![CDATA[", "]]>"), ("?", "?>"), ("!", ">"), ("/", ">")];
        if let Some((begin, end)) = skipped.into_iter().find(|(begin, _)| tag.starts_with(begin)) {
            depth = depth.saturating_sub(usize::from(begin == "/"));
            rest = tag.split_once(end).map_or("", |(_, behind)| behind);
            continue;
        }
        let len = tag_len(tag);
        if !tag[..len].ends_with('/') {
            depth += 1;
            deepest = deepest.max(depth);
        }
        rest = &tag[len..];
    }
    deepest
}

/// Returns the length of a tag up to its end, which is not in quotes.
fn tag_len(tag: &str) -> usize {
    let mut quote = None;
    for (at, c) in tag.char_indices() {
        match (quote, c) {
            (None, '>') => return at,
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    tag.len()
}

pub(super) fn is_named(node: Node<'_, '_>, name: &str) -> bool {
    node.tag_name().name() == name
}

/// The elements directly inside of an element.
pub(super) fn children<'a, 'b>(node: Node<'a, 'b>) -> impl Iterator<Item = Node<'a, 'b>> + use<'a, 'b> {
    node.children().filter(Node::is_element)
}

/// The elements with a name directly inside of an element.
pub(super) fn named<'a, 'b, 'n>(
    node: Node<'a, 'b>,
    name: &'n str,
) -> impl Iterator<Item = Node<'a, 'b>> + use<'a, 'b, 'n> {
    children(node).filter(move |node| is_named(*node, name))
}

/// The only element with a name. An error without one, or with a second one.
pub(super) fn only<'a, 'b>(node: Node<'a, 'b>, name: &str) -> Result<Node<'a, 'b>, DocumentError> {
    optional(node, name)?.ok_or_else(|| error_at(node, format!("<{}> has no <{name}>", node.tag_name().name())))
}

/// The element with a name, if there is one. An error if there is a second one.
pub(super) fn optional<'a, 'b>(node: Node<'a, 'b>, name: &str) -> Result<Option<Node<'a, 'b>>, DocumentError> {
    let mut found = named(node, name);
    let first = found.next();
    match found.next() {
        Some(second) => Err(error_at(second, format!("<{name}> occurs twice"))),
        None => Ok(first),
    }
}

/// The text of an element without spaces and comments. An error if it has an element inside.
pub(super) fn text(node: Node<'_, '_>) -> Result<String, DocumentError> {
    allow_only(node, &[])?;
    // A comment splits the text. Half of a name would match other topics.
    let text: String = node.children().filter(Node::is_text).filter_map(|part| part.text()).collect();
    Ok(text.trim().to_owned())
}

/// A boolean in the spellings of all vendors.
pub(super) fn boolean(node: Node<'_, '_>) -> Result<bool, DocumentError> {
    match text(node)?.to_ascii_lowercase().as_str() {
        "true" | "1" => Ok(true),
        "false" | "0" => Ok(false),
        other => Err(error_at(node, format!("`{other}` is neither true nor false"))),
    }
}

/// Refuses elements that have no meaning, because an ignored rule may be one that denies.
pub(super) fn allow_only(node: Node<'_, '_>, names: &[&str]) -> Result<(), DocumentError> {
    match children(node).find(|child| !names.contains(&child.tag_name().name())) {
        None => Ok(()),
        Some(unknown) => Err(error_at(unknown, format!("<{}> is unknown here", unknown.tag_name().name()))),
    }
}

pub(super) fn error_at(node: Node<'_, '_>, message: String) -> DocumentError {
    DocumentError { line: line_of(node), message }
}

pub(super) fn line_of(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_elements_only() {
        for (text, depth) in [
            ("", 0),
            ("<a/>", 0),
            ("<a></a><b></b>", 1),
            ("<a><b><c/></b></a>", 2),
            ("<?xml version='1.0'?><!-- <x><y> --><a><![CDATA[<x>]]></a>", 1),
            ("<a b='/>' c=\"<\"><d></d></a>", 2),
        ] {
            assert_eq!(depth_of(text), depth, "{text}");
        }
        // Text that looks like the end of a tag does not hide the depth.
        assert_eq!(depth_of(&"<a>/>".repeat(1000)), 1000);
    }
}
