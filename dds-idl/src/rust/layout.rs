//! The layout of generated code: that of `prettyplease`, with empty lines between items.
//!
//! In: items as the back end writes them, with a line for each attribute, field and brace. Out: the same lines,
//! indented, and broken where they are too long.
//!
//! Nearly all lines fit or are attributes, and this file lays them out itself. An item with another long line takes
//! the detour over `syn` and `prettyplease`, which costs some hundred times more. A test compares both ways.

/// Columns of a line, including its indentation.
const WIDTH: usize = 89;

/// Columns of a line that is deeply indented, without its indentation.
const WIDTH_MIN: usize = 60;

/// Columns of an indentation.
const INDENT: usize = 4;

/// Lays out an item inside of `depth` modules.
pub(super) fn item(code: &str, depth: usize) -> syn::Result<String> {
    match by_lines(code, depth) {
        Some(text) => Ok(text),
        None => by_syntax(code, depth),
    }
}

/// The code with each line in its place; `None` if a line other than an attribute is too long.
fn by_lines(code: &str, depth: usize) -> Option<String> {
    let mut text = String::with_capacity(code.len() + code.len() / 4);
    let mut depth = depth;
    let mut is_in_impl = false;
    for line in code.lines() {
        if line == "}" {
            depth = depth.checked_sub(1)?;
        }
        let (indent, is_comment) = (depth * INDENT, line.starts_with("///"));
        if is_comment || fits(line, indent) {
            push_line(&mut text, indent, line);
        } else {
            push_attribute(&mut text, indent, line.strip_prefix("#[")?.strip_suffix(")]")?)?;
        }
        if is_comment {
            continue;
        }
        // The values of `Default` may contain macros, which have a layout of their own.
        is_in_impl |= line.starts_with("impl ");
        if is_in_impl && line.contains('!') {
            return None;
        }
        if line.ends_with('{') {
            depth += 1;
        }
    }
    Some(text)
}

/// Returns whether a line stays as it is. As in `prettyplease`, a character counts as many columns as it has bytes.
fn fits(line: &str, indent: usize) -> bool {
    line.len() <= WIDTH.saturating_sub(indent).max(WIDTH_MIN)
}

/// Lines inside of `depth` modules that are never broken.
pub(super) fn lines(code: &str, depth: usize) -> String {
    let mut text = String::with_capacity(code.len());
    for line in code.lines() {
        push_line(&mut text, depth * INDENT, line);
    }
    text
}

fn push_line(text: &mut String, indent: usize, line: &str) {
    // No line has spaces at its end: an empty line of documentation, and an empty list that is broken.
    let line = line.trim_end_matches(' ');
    if !line.is_empty() {
        text.extend(std::iter::repeat_n(' ', indent));
    }
    text.push_str(line);
    text.push('\n');
}

/// Breaks an attribute, `name(arguments` without its end: each argument on a line.
fn push_attribute(text: &mut String, indent: usize, attribute: &str) -> Option<()> {
    let (name, arguments) = attribute.split_once('(')?;
    push_line(text, indent, &format!("#[{name}("));
    push_arguments(text, indent + INDENT, arguments)?;
    push_line(text, indent, ")]");
    Some(())
}

fn push_arguments(text: &mut String, indent: usize, arguments: &str) -> Option<()> {
    let arguments = split_arguments(arguments)?;
    for (index, argument) in arguments.iter().enumerate() {
        let comma = if index + 1 < arguments.len() { "," } else { "" };
        let line = format!("{argument}{comma}");
        if fits(&line, indent) {
            push_line(text, indent, &line);
            continue;
        }
        // Only a list in parentheses can be broken further. A long text stays on its line.
        let Some((name, inner)) = argument.strip_suffix(')').and_then(|argument| argument.split_once('(')) else {
            push_line(text, indent, &line);
            continue;
        };
        push_line(text, indent, &format!("{name}("));
        push_arguments(text, indent + INDENT, inner)?;
        push_line(text, indent, &format!("){comma}"));
    }
    Some(())
}

/// The arguments between commas; `None` if they contain brackets, whose lists break in another way.
fn split_arguments(arguments: &str) -> Option<Vec<&str>> {
    let mut found = Vec::new();
    let (mut start, mut depth) = (0, 0_usize);
    // In a text in quotes, and behind a backslash in it.
    let (mut is_text, mut is_escaped) = (false, false);
    for (index, character) in arguments.char_indices() {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' if is_text => is_escaped = true,
            '"' => is_text = !is_text,
            _ if is_text => {}
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            // A character in apostrophes may be a quote or a parenthesis.
            '[' | '\'' => return None,
            ',' if depth == 0 => {
                found.push(arguments.get(start..index)?);
                start = index + 2;
            }
            _ => {}
        }
    }
    found.push(arguments.get(start..)?);
    Some(found)
}

/// The layout by `prettyplease`, which breaks long types and expressions.
fn by_syntax(code: &str, depth: usize) -> syn::Result<String> {
    let modules = "mod m {\n".repeat(depth);
    let file = syn::parse_file(&format!("{modules}{code}{}", "}\n".repeat(depth)))?;
    let text = prettyplease::unparse(&file);
    let lines: Vec<&str> = text.lines().collect();
    let mut inner = String::with_capacity(text.len());
    for line in lines.get(depth..lines.len().saturating_sub(depth)).unwrap_or_default() {
        inner.push_str(line);
        inner.push('\n');
    }
    Ok(inner)
}

/// Separates items by empty lines.
pub(super) fn separated(code: &str) -> String {
    let mut text = String::with_capacity(code.len() + code.len() / 16);
    let mut last = "";
    for line in code.lines() {
        let next = line.trim_start();
        let is_start = ["///", "#[", "pub ", "impl ", "mod "].iter().any(|start| next.starts_with(start));
        let is_behind_block = last == "}";
        let is_statement = last.ends_with(';') && !last.starts_with("//");
        let is_behind_statement = is_statement && (next.starts_with("///") || next.starts_with("#["));
        let is_new_kind = is_statement && last.split(' ').nth(1) != next.split(' ').nth(1);
        if is_start && (is_behind_block || is_behind_statement || is_new_kind) {
            text.push('\n');
        }
        text.push_str(line);
        text.push('\n');
        last = next;
    }
    text
}

/// The lines of a comment as documentation.
pub(super) fn documentation(text: Option<&str>, additions: &[String]) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut is_in_fence = false;
    for line in text.unwrap_or_default().lines() {
        let trimmed = line.trim();
        if let Some(language) = trimmed.strip_prefix("```") {
            is_in_fence = !is_in_fence;
            // Without a language, rustdoc would run the text as a test.
            let language = if is_in_fence && language.is_empty() { "text" } else { language };
            lines.push(format!("```{language}"));
            continue;
        }
        // An indentation of four spaces would also become a test.
        let indentation = if is_in_fence { usize::MAX } else { 3 };
        let spaces = line.len() - line.trim_start().len();
        lines.push(format!("{}{}", " ".repeat(spaces.min(indentation)), trimmed));
    }
    if is_in_fence {
        lines.push("```".to_owned());
    }
    if !lines.is_empty() && !additions.is_empty() {
        lines.push(String::new());
    }
    lines.extend_from_slice(additions);
    let mut text = String::new();
    for line in &lines {
        text.push_str("///");
        if !line.is_empty() {
            text.push(' ');
            // A carriage return inside of a comment is an error of Rust.
            text.push_str(&line.replace('\r', " "));
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both ways have one result, wherever the first one has any.
    fn check(code: &str, depth: usize) -> bool {
        let exact = by_syntax(code, depth).unwrap();
        match by_lines(code, depth) {
            Some(text) => {
                assert_eq!(text, exact, "{code}");
                true
            }
            None => false,
        }
    }

    #[test]
    fn layout_by_lines_equals_prettyplease() {
        let word = |len: usize| "w".repeat(len);
        for depth in 0..12 {
            for len in 1..100 {
                let text = word(len);
                for attribute in [
                    format!("#[dds(name = \"{text}\")]"),
                    format!("#[dds(key, name = \"{text}\", id = 4)]"),
                    format!("#[dds(bitmask, flags({text}, B = 3, C), crate = \"::dds_cdr\")]"),
                    format!("#[dds(name = \"a, (b\\\"\", case = {text}::A, default = \"{text}\".to_owned())]"),
                    format!("#[derive(Debug, Clone, ::{text}::Type, PartialEq)]"),
                ] {
                    assert!(check(&format!("{attribute}\npub struct A {{\npub a: u8,\n}}\n"), depth));
                    check(&format!("pub struct A {{\n{attribute}\npub a: u8,\n}}\n"), depth);
                }
                check(&format!("/// {text} {text}\npub struct A {{\npub a: Vec<{text}>,\n}}\n"), depth);
                check(&format!("pub enum A {{\n/// B.\nB,\n{text} = 4,\nD(Vec<{text}>),\n}}\n"), depth);
                check(&format!("pub enum A {{\nB {{ #[dds(d)] d: i32, value: {text} }},\n}}\n"), depth);
                check(&format!("pub type A = ::std::collections::BTreeMap<String, {text}>;\n"), depth);
                check(&format!("pub const A: &str = \"{text}\";\npub struct B(pub {text});\n"), depth);
                for value in [
                    format!("{text}::B"),
                    "\"x\".to_owned()".to_owned(),
                    format!("::core::array::from_fn(|_| {text}::B)"),
                    format!("::core::array::from_fn(|_| ::core::array::from_fn(|_| {text}))"),
                    format!("[{text}; 3]"),
                    format!("[[{text}; 3]; 4]"),
                    format!("[{text}::A, B::C]"),
                    format!("vec![{text}::A, B::C]"),
                ] {
                    let body = format!("Self {{\na: Default::default(),\nb: {value},\n}}");
                    check(&format!("impl Default for A {{\nfn default() -> Self {{\n{body}\n}}\n}}\n"), depth);
                }
            }
        }
    }

    #[test]
    fn long_type_is_broken() {
        let code = format!("pub struct A {{\npub a: Vec<{}>,\n}}\n", "a".repeat(80));
        assert_eq!(by_lines(&code, 0), None);
        assert!(item(&code, 0).unwrap().contains("pub a: Vec<\n"));
    }
}
