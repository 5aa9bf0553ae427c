//! Reads Markdown: headings, links, code blocks.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A fenced code block.
pub(crate) struct Block {
    /// The text behind the opening fence, such as `rust,no_run`.
    pub(crate) info: String,
    pub(crate) code: String,
    /// The line before the block that is not empty.
    pub(crate) before: String,
}

pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// All Markdown files below a folder, sorted.
pub(crate) fn pages_below(folder: &Path) -> Vec<PathBuf> {
    files_below(folder, "md")
}

/// All files below a folder whose names end in this way, sorted.
pub(crate) fn files_below(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_below(&path, extension));
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
    found.sort();
    found
}

pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    let mut before = "";
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), open.take()) {
            (Some(info), None) => {
                open = Some(Block { info: info.to_owned(), code: String::new(), before: before.to_owned() });
            }
            (Some(_), Some(block)) => found.push(block),
            (None, Some(mut block)) => {
                block.code.push_str(line);
                block.code.push('\n');
                open = Some(block);
            }
            (None, None) if !line.trim().is_empty() => before = line,
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a code block does not end: {text}");
    found
}

/// Lines outside of code blocks.
fn prose(text: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            found.push(line);
        }
    }
    found
}

/// The anchors of all headings, as GitHub and mdBook form them.
pub(crate) fn anchors(text: &str) -> Vec<String> {
    let mut times: HashMap<String, u32> = HashMap::new();
    let mut found = Vec::new();
    for line in prose(text) {
        let Some(heading) = line.strip_prefix('#') else { continue };
        let heading = heading.trim_start_matches('#').trim().to_lowercase();
        let mut anchor = String::new();
        for letter in heading.chars() {
            if letter.is_whitespace() {
                anchor.push('-');
            } else if letter.is_alphanumeric() || letter == '-' || letter == '_' {
                anchor.push(letter);
            }
        }
        let count = times.entry(anchor.clone()).or_insert(0);
        found.push(if *count == 0 { anchor } else { format!("{anchor}-{count}") });
        *count += 1;
    }
    found
}

/// Targets of links and images: `[text](target)`, `src="target"` and `srcset="target"`.
pub(crate) fn links(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in prose(text) {
        let line = without_code(line);
        for (start, end) in [("](", ')'), ("src=\"", '"'), ("srcset=\"", '"')] {
            for part in line.split(start).skip(1) {
                if let Some((target, _)) = part.split_once(end) {
                    found.push(target.to_owned());
                }
            }
        }
    }
    found
}

/// The line without its inline code.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

#[test]
fn anchors_are_those_of_github() {
    let text = "# A `b` & C\n\n```text\n# no\n```\n\n## Twice\n\n## Twice\n";
    assert_eq!(anchors(text), ["a-b--c", "twice", "twice-1"]);
}

#[test]
fn links_skip_code() {
    assert_eq!(links("[a](b.md#c) `[x](y)` ![d](e.svg) <img src=\"f.svg\">"), ["b.md#c", "e.svg", "f.svg"]);
}
