//! Comments of definitions.

use super::Parser;
use crate::idl::annotation;
use crate::model::{Annotations, Span};
use std::sync::Arc;

/// The comment directly before the token at the cursor. An empty line ends it.
pub(super) fn before(parser: &Parser<'_>) -> Option<Arc<str>> {
    let comments = comments_at(parser, parser.at);
    let mut texts: Vec<&str> = Vec::new();
    for (span, is_trailing, ends_block) in comments {
        let text = parser.specification.sources.text(span);
        if ends_block || is_trailing {
            texts.clear();
        }
        if !ends_block && !is_trailing && !text.starts_with("//@") {
            texts.push(text);
        }
    }
    clean(&texts)
}

/// Adds the comments behind a line with several names, and returns the annotations in comments.
pub(super) fn after_line(parser: &mut Parser<'_>, doc: &mut Option<Arc<str>>) -> Annotations {
    let mut annotations = Annotations::default();
    after(parser, doc, &mut annotations);
    annotations
}

/// Adds the comments behind a definition in the same line, and applies annotations in comments.
pub(super) fn after(parser: &mut Parser<'_>, doc: &mut Option<Arc<str>>, annotations: &mut Annotations) {
    let comments: Vec<(Span, bool, bool)> = comments_at(parser, parser.at).collect();
    if comments.is_empty() {
        return;
    }
    let mut texts: Vec<String> = Vec::new();
    for (span, is_trailing, _) in comments {
        let text = parser.specification.sources.text(span).to_owned();
        if text.starts_with("//@") {
            annotation::apply_comment(parser, &text, span, annotations);
        } else if is_trailing {
            texts.push(text);
        }
    }
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    if let Some(trailing) = clean(&texts) {
        *doc = match doc.take() {
            Some(before) => Some(format!("{before}\n\n{trailing}").into()),
            None => Some(trailing),
        };
    }
}

/// The comments between the token before a position and the token there.
fn comments_at<'p>(parser: &'p Parser<'_>, position: usize) -> impl Iterator<Item = (Span, bool, bool)> + use<'p> {
    let comments = &parser.input.comments;
    let start = comments.partition_point(|comment| (comment.token as usize) < position);
    let rest = comments.get(start..).unwrap_or_default();
    rest.iter()
        .take_while(move |comment| comment.token as usize == position)
        .map(|comment| (comment.span, comment.is_trailing, comment.ends_block))
}

/// Removes the marks of comments, and common spaces at the start of lines.
fn clean(comments: &[&str]) -> Option<Arc<str>> {
    let mut lines: Vec<String> = Vec::new();
    for comment in comments {
        if let Some(line) = comment.strip_prefix("//") {
            let line = line.trim_start_matches(['/', '!']).trim_start_matches('<');
            lines.push(line.trim_end().to_owned());
            continue;
        }
        let inner = comment.strip_prefix("/*").and_then(|inner| inner.strip_suffix("*/")).unwrap_or("");
        for line in inner.trim_start_matches(['*', '!']).trim_start_matches('<').lines() {
            let trimmed = line.trim_start();
            let line = trimmed.strip_prefix('*').unwrap_or(line).trim_end_matches(['*', ' ', '\t', '\r']);
            lines.push(line.to_owned());
        }
    }
    // A line of `-----` or `=====` is a frame, not text.
    let is_frame = |line: &str| !line.trim().is_empty() && !line.chars().any(char::is_alphanumeric);
    lines.retain(|line| !is_frame(line));
    let is_blank = |line: &String| line.trim().is_empty();
    let first = lines.iter().position(|line| !is_blank(line))?;
    let last = lines.iter().rposition(|line| !is_blank(line))?;
    let lines = lines.get(first..=last)?;
    let indent = lines.iter().filter(|line| !is_blank(line)).map(|line| line.len() - line.trim_start().len()).min();
    let text: Vec<&str> = lines.iter().map(|line| line.get(indent.unwrap_or(0)..).unwrap_or("")).collect();
    Some(text.join("\n").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comment_marks_are_removed() {
        assert_eq!(clean(&["/// One.", "///   Two."]).as_deref(), Some("One.\n  Two."));
        assert_eq!(clean(&["/**\n * One.\n *\n * Two.\n */"]).as_deref(), Some("One.\n\nTwo."));
        assert_eq!(clean(&["/* One */"]).as_deref(), Some("One"));
        assert_eq!(clean(&["//!< One"]).as_deref(), Some("One"));
        assert_eq!(clean(&["//-----", "// One", "//-----"]).as_deref(), Some("One"));
        assert_eq!(clean(&["//"]), None);
    }
}
