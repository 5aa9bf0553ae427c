//! Spelling of identifiers in Rust.

/// Words that cannot be identifiers without `r#`.
const KEYWORDS: [&str; 48] = [
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "do", "dyn", "else", "enum",
    "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move",
    "mut", "override", "priv", "pub", "ref", "return", "static", "struct", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Words that `r#` cannot escape.
const PATH_WORDS: [&str; 5] = ["self", "super", "crate", "Self", "_"];

/// Names that a module must not have: it would hide the primitive type.
const PRIMITIVES: [&str; 17] = [
    "bool", "char", "str", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16", "u32", "u64", "u128", "usize",
    "f32", "f64",
];

/// Names that a type must not have: the derive reads them as the types of the standard library.
const DERIVE_WORDS: [&str; 4] = ["Option", "HashSet", "BTreeSet", "Char16"];

/// The name of a type or variant: `PoseStamped`.
pub(super) fn upper_camel(name: &str) -> String {
    let mut text = String::new();
    for word in words(name) {
        let mut characters = word.chars();
        if let Some(first) = characters.next() {
            // Without the underscore, `V1_2` and `V12` would be the same.
            if text.ends_with(|last: char| last.is_ascii_digit()) && first.is_ascii_digit() {
                text.push('_');
            }
            text.push(first.to_ascii_uppercase());
        }
        let is_acronym = word.len() > 1 && word.chars().all(|letter| !letter.is_ascii_lowercase());
        for letter in characters {
            text.push(if is_acronym { letter.to_ascii_lowercase() } else { letter });
        }
    }
    let text = first_letter(text);
    if PATH_WORDS.contains(&text.as_str()) { format!("{text}_") } else { text }
}

/// The name of a type: `PoseStamped`.
pub(super) fn type_name(name: &str) -> String {
    usable_type_name(upper_camel(name))
}

/// The name of a type with this spelling: `OptionType` for `Option`.
pub(super) fn usable_type_name(text: String) -> String {
    if DERIVE_WORDS.contains(&text.as_str()) {
        format!("{text}Type")
    } else if PATH_WORDS.contains(&text.as_str()) {
        format!("{text}_")
    } else {
        text
    }
}

/// The name of a field: `frame_id`, `r#type`.
pub(super) fn field_name(name: &str) -> String {
    escaped(joined(name))
}

/// The name of a module: `sensor_msgs`, `r#move`, `char_`.
pub(super) fn module_name(name: &str) -> String {
    let text = joined(name);
    if PRIMITIVES.contains(&text.as_str()) { format!("{text}_") } else { escaped(text) }
}

/// The name of a constant: `RATE_MAX`.
pub(super) fn constant_name(name: &str) -> String {
    let text = first_letter(joined(name).to_ascii_uppercase());
    if text == "_" { "__".to_owned() } else { text }
}

/// Returns whether a name is a keyword of Rust.
pub(super) fn is_keyword(name: &str) -> bool {
    KEYWORDS.contains(&name) || PATH_WORDS.contains(&name)
}

/// The identifier without `r#`.
pub(super) fn without_escape(ident: &str) -> &str {
    ident.strip_prefix("r#").unwrap_or(ident)
}

fn joined(name: &str) -> String {
    let is_usual = !name.contains("__") && !name.contains(|letter: char| letter.is_ascii_uppercase());
    if is_usual && name.contains(|letter: char| letter != '_') {
        return first_letter(name.to_owned());
    }
    let lower: Vec<String> = words(name).iter().map(|word| word.to_ascii_lowercase()).collect();
    first_letter(lower.join("_"))
}

fn escaped(text: String) -> String {
    if PATH_WORDS.contains(&text.as_str()) {
        format!("{text}_")
    } else if KEYWORDS.contains(&text.as_str()) {
        format!("r#{text}")
    } else {
        text
    }
}

/// An identifier cannot be empty, and cannot start with a digit.
fn first_letter(text: String) -> String {
    if text.starts_with(|first: char| first.is_ascii_digit()) || text.is_empty() { format!("_{text}") } else { text }
}

/// Splits `PoseStamped`, `pose_stamped` and `HTTPServer2D` into words.
fn words(name: &str) -> Vec<&str> {
    let mut found = Vec::new();
    for part in name.split('_').filter(|part| !part.is_empty()) {
        let bytes = part.as_bytes();
        let mut start = 0;
        for at in 1..bytes.len() {
            let (Some(before), Some(here)) = (bytes.get(at - 1), bytes.get(at)) else { continue };
            let is_followed = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            let starts_word = here.is_ascii_uppercase() && (before.is_ascii_lowercase() || is_followed);
            let stays_with_digit = before.is_ascii_digit() && !is_followed;
            if starts_word && !stays_with_digit {
                found.extend(part.get(start..at));
                start = at;
            }
        }
        found.extend(part.get(start..));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_get_the_spelling_of_rust() {
        assert_eq!(type_name("pose_stamped"), "PoseStamped");
        assert_eq!(type_name("PoseStamped"), "PoseStamped");
        assert_eq!(type_name("POSE"), "Pose");
        assert_eq!(type_name("String_"), "String");
        assert_eq!(type_name("Vector3D"), "Vector3D");
        assert_eq!(type_name("V1_2"), "V1_2");
        assert_eq!(type_name("option"), "OptionType");
        assert_eq!(type_name("self"), "Self_");
        assert_eq!(field_name("frameId"), "frame_id");
        assert_eq!(field_name("HTTPServer"), "http_server");
        assert_eq!(field_name("type"), "r#type");
        assert_eq!(field_name("Self"), "self_");
        assert_eq!(field_name("type_"), "type_");
        assert_eq!(field_name("_1st"), "_1st");
        assert_eq!(module_name("char"), "char_");
        assert_eq!(constant_name("maxRate"), "MAX_RATE");
    }
}
