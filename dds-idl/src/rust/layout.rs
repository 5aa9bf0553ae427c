//! The layout of generated code.

/// Bytes of code that are worth a thread.
const PART_LEN: usize = 64 << 10;

/// Bytes of the stack of a thread: as much as the main thread has on most systems.
const STACK_LEN: usize = 8 << 20;

/// Formats items of the root, in several threads if there are many. An empty line separates them.
pub(super) fn format_all(items: &[String]) -> Result<String, String> {
    let total: usize = items.iter().map(String::len).sum();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let part_len = (total / cores).max(PART_LEN);
    let mut parts: Vec<String> = Vec::new();
    for item in items {
        match parts.last_mut() {
            Some(part) if part.len() < part_len => part.push_str(item),
            _ => parts.push(item.clone()),
        }
    }
    let formatted: Vec<Result<String, String>> = std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for part in parts.iter().skip(1) {
            let thread = std::thread::Builder::new().stack_size(STACK_LEN);
            threads.push((part, thread.spawn_scoped(scope, || format(part).map_err(|error| error.to_string()))));
        }
        let here = parts.first().map(|part| format(part).map_err(|error| error.to_string()));
        let others = threads.into_iter().map(|(part, thread)| match thread.map(|thread| thread.join()) {
            Ok(Ok(result)) => result,
            Ok(Err(_)) => Err("a thread panicked".to_owned()),
            // The system has no thread left.
            Err(_) => format(part).map_err(|error| error.to_string()),
        });
        here.into_iter().chain(others).collect()
    });
    let mut text = String::new();
    for part in formatted {
        let part = part?;
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&part);
    }
    Ok(text)
}

/// Formats code, and separates its items by empty lines.
fn format(code: &str) -> syn::Result<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_have_the_layout_of_the_whole() {
        let mut items = Vec::new();
        for number in 0..4_000 {
            let item = match number % 3 {
                0 => format!("#[allow(dead_code)]\npub struct S{number} {{ pub a: u8, pub b: Vec<u8> }}\n"),
                1 => format!("#[allow(dead_code)]\npub const C{number}: u8 = 1;\n"),
                _ => format!("#[allow(dead_code)]\npub mod m{number} {{ pub type T = u8; pub enum E {{ A }} }}\n"),
            };
            items.push(item);
        }
        assert!(items.concat().len() > 2 * PART_LEN);
        assert_eq!(format_all(&items), Ok(format(&items.concat()).unwrap()));
    }
}
