//! The layout of generated code.

/// Formats code, and separates its items by empty lines.
pub(super) fn format(code: &str) -> syn::Result<String> {
    let file = syn::parse_file(code)?;
    let mut text = String::new();
    let mut before = String::new();
    for line in prettyplease::unparse(&file).lines() {
        let (last, next) = (before.trim_start(), line.trim_start());
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
        before.clear();
        before.push_str(line);
    }
    Ok(text)
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
    lines
        .iter()
        .map(|line| format!("#[doc = {:?}]\n", if line.is_empty() { String::new() } else { format!(" {line}") }))
        .collect()
}
