//! Members, their types and annotations as IDL.

use roxmltree::Node;

/// A result, or a message with the offset of its element.
pub(super) type Translated<T> = Result<T, (String, usize)>;

/// Returns the first attribute that is present, without spaces around it. Vendors spell some of them differently.
pub(super) fn attribute<'a>(node: Node<'a, '_>, names: &[&str]) -> Option<&'a str> {
    text_attribute(node, names).map(str::trim)
}

/// The same with its spaces: a text.
fn text_attribute<'a>(node: Node<'a, '_>, names: &[&str]) -> Option<&'a str> {
    names.iter().find_map(|name| node.attribute(*name))
}

pub(super) fn is_true(value: &str) -> bool {
    value == "1" || value.eq_ignore_ascii_case("true")
}

fn refused<T>(node: Node<'_, '_>, message: String) -> Translated<T> {
    Err((message, node.range().start))
}

/// The attribute `name` as an identifier that no keyword hides.
pub(super) fn name_of(node: Node<'_, '_>) -> Translated<String> {
    let name = attribute(node, &["name"]).unwrap_or_default();
    let is_start = |letter: char| letter.is_ascii_alphabetic() || letter == '_';
    let is_valid = name.starts_with(is_start) && name.chars().all(|letter| is_start(letter) || letter.is_ascii_digit());
    if !is_valid {
        return refused(node, format!("`<{}>` has no valid name: `{name}`", node.tag_name().name()));
    }
    // `_name` is an escaped identifier, which may be a keyword.
    Ok(format!("_{name}"))
}

/// A scoped name without characters that could end it.
pub(super) fn type_name(node: Node<'_, '_>, name: &str) -> Translated<String> {
    let is_valid =
        !name.is_empty() && name.chars().all(|letter| letter.is_ascii_alphanumeric() || "_:".contains(letter));
    if !is_valid {
        return refused(node, format!("`{name}` is not the name of a type"));
    }
    let (lead, rest) = match name.strip_prefix("::") {
        Some(rest) => ("::", rest),
        None => ("", name),
    };
    let parts: Vec<String> = rest.split("::").map(|part| format!("_{part}")).collect();
    Ok(format!("{lead}{}", parts.join("::")))
}

/// A constant expression: numbers, names and operators.
pub(super) fn expression(node: Node<'_, '_>, text: &str) -> Translated<String> {
    let is_valid = !text.is_empty()
        && text.chars().all(|letter| letter.is_ascii_alphanumeric() || "_:.+-*/%&|^~<>() ".contains(letter));
    if !is_valid || text.contains("//") || text.contains("/*") {
        return refused(node, format!("`{text}` is not a constant expression"));
    }
    Ok(text.to_owned())
}

/// The type of an element without its collections.
pub(super) fn base_type(node: Node<'_, '_>) -> Translated<String> {
    let ty = attribute(node, &["type"]).unwrap_or_default();
    let bound = |bound: Option<&str>, name: &str| match bound {
        Some("-1" | "") | None => Ok(name.to_owned()),
        Some(bound) => Ok(format!("{name}<{}>", expression(node, bound)?)),
    };
    let length = attribute(node, &["stringMaxLength"]);
    Ok(match ty {
        "boolean" => "boolean",
        "byte" | "octet" => "octet",
        "char" | "char8" => "char",
        "char16" | "wchar" | "char32" => "wchar",
        "int8" => "int8",
        "uint8" => "uint8",
        "int16" | "short" => "int16",
        "uint16" | "unsignedShort" => "uint16",
        "int32" | "long" => "int32",
        "uint32" | "unsignedLong" => "uint32",
        "int64" | "longLong" => "int64",
        "uint64" | "unsignedLongLong" => "uint64",
        "float32" | "float" => "float",
        "float64" | "double" => "double",
        "float128" | "longDouble" => "long double",
        "string" => return bound(length, "string"),
        "wstring" => return bound(length, "wstring"),
        "nonBasic" => {
            let name = attribute(node, &["nonBasicTypeName", "nonBasicType"]).unwrap_or_default();
            return type_name(node, name);
        }
        "" => return refused(node, format!("`<{}>` has no attribute `type`", node.tag_name().name())),
        // Fast DDS accepts the name of a type here.
        other => return type_name(node, other),
    }
    .to_owned())
}

/// The type with its collections, and the declarator with its dimensions.
pub(super) fn declaration(node: Node<'_, '_>) -> Translated<(String, String)> {
    let part = |name: &str| node.children().find(|child| child.is_element() && child.tag_name().name() == name);
    // OpenDDS writes the parts of a map as elements.
    let is_map = attribute(node, &["type"]) == Some("map");
    let map_parts = if is_map { part("key").zip(part("value")) } else { None };
    let mut ty = base_type(map_parts.map_or(node, |(_, value)| value))?;
    let bound = |names: &[&str]| match attribute(node, names) {
        Some("-1" | "") => Ok(Some(String::new())),
        Some(bound) => Ok(Some(format!(", {}", expression(node, bound)?))),
        None => Ok(None),
    };
    if let Some(bound) = bound(&["sequenceMaxLength"])? {
        ty = format!("sequence<{ty}{bound}>");
    }
    let key = attribute(node, &["mapKeyType", "key_type", "keyType"]);
    let map_bound = bound(&["mapMaxLength"])?;
    if map_bound.is_some() || key.is_some() || map_parts.is_some() {
        let key = match (key, map_parts) {
            (None, Some((key, _))) => base_type(key)?,
            (Some("nonBasic") | None, _) => {
                let name = attribute(node, &["mapKeyNonBasicTypeName", "mapKeyTypeName"]).unwrap_or_default();
                type_name(node, name)?
            }
            (Some(key), _) => map_key(node, key)?,
        };
        ty = format!("map<{key}, {ty}{}>", map_bound.unwrap_or_default());
    }
    let mut declarator = name_of(node)?;
    if let Some(dimensions) = attribute(node, &["arrayDimensions"]) {
        for dimension in dimensions.split(',') {
            declarator.push_str(&format!("[{}]", expression(node, dimension.trim())?));
        }
    }
    Ok((ty, declarator))
}

fn map_key(node: Node<'_, '_>, key: &str) -> Translated<String> {
    Ok(match key {
        "boolean" => "boolean",
        "byte" | "octet" => "octet",
        "char" | "char8" => "char",
        "char16" | "wchar" => "wchar",
        "int16" | "short" => "int16",
        "uint16" | "unsignedShort" => "uint16",
        "int32" | "long" => "int32",
        "uint32" | "unsignedLong" => "uint32",
        "int64" | "longLong" => "int64",
        "uint64" | "unsignedLongLong" => "uint64",
        "int8" | "uint8" | "string" | "wstring" => key,
        other => return type_name(node, other),
    }
    .to_owned())
}

/// The annotations in `<annotate>` elements, with their arguments.
pub(super) fn applied_annotations(node: Node<'_, '_>) -> Translated<String> {
    let mut text = String::new();
    for child in node.children() {
        if !child.is_element() || child.tag_name().name() != "annotate" {
            continue;
        }
        let name = attribute(child, &["name"]).unwrap_or_default();
        let mut arguments = Vec::new();
        for member in child.children().filter(Node::is_element) {
            if member.tag_name().name() != "member" {
                return refused(member, format!("expected `<member>`, not `<{}>`", member.tag_name().name()));
            }
            let value = text_attribute(member, &["value"]).unwrap_or_default();
            // The type of the parameter is not known here, so a text has quotes.
            let value = match value.trim().strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
                Some(inner) => quoted(member, inner)?,
                None => expression(member, value.trim())?,
            };
            arguments.push(format!("{} = {value}", attribute_name(member)?));
        }
        let name = annotation_name(child, name)?;
        match arguments.as_slice() {
            [] => text.push_str(&format!("@{name} ")),
            arguments => text.push_str(&format!("@{name}({}) ", arguments.join(", "))),
        }
    }
    Ok(text)
}

/// The name of a parameter. Unlike the name of a member, it needs no escape.
fn attribute_name(node: Node<'_, '_>) -> Translated<String> {
    let escaped = name_of(node)?;
    Ok(escaped.strip_prefix('_').unwrap_or(&escaped).to_owned())
}

/// The scoped name of an annotation, as it stands behind `@`.
fn annotation_name(node: Node<'_, '_>, name: &str) -> Translated<String> {
    type_name(node, name)?;
    Ok(name.to_owned())
}

/// A member with its annotations, without the semicolon.
pub(super) fn member(node: Node<'_, '_>) -> Translated<String> {
    let mut text = applied_annotations(node)?;
    let marks: [(&[&str], &str); 5] = [
        (&["key"], "@key"),
        (&["optional"], "@optional"),
        (&["mustUnderstand", "must_understand"], "@must_understand"),
        (&["external"], "@external"),
        (&["nonSerialized", "non_serialized"], "@non_serialized"),
    ];
    for (names, annotation) in marks {
        if attribute(node, names).is_some_and(is_true) {
            text.push_str(annotation);
            text.push(' ');
        }
    }
    if let Some(id) = attribute(node, &["id"]) {
        text.push_str(&format!("@id({}) ", expression(node, id)?));
    }
    match text_attribute(node, &["hashid", "hashId"]) {
        Some("") => text.push_str("@hashid "),
        Some(hashed) => text.push_str(&format!("@hashid({}) ", quoted(node, hashed)?)),
        None => {}
    }
    text.push_str(try_construct(node)?);
    for (name, annotation) in [("default", "default"), ("min", "min"), ("max", "max")] {
        if let Some(value) = value(node, name)? {
            text.push_str(&format!("@{annotation}({value}) "));
        }
    }
    if let Some(unit) = text_attribute(node, &["unit", "units"]) {
        text.push_str(&format!("@unit({}) ", quoted(node, unit)?));
    }
    let (ty, declarator) = declaration(node)?;
    Ok(format!("{text}{ty} {declarator}"))
}

/// The annotation for a value that the type cannot hold.
pub(super) fn try_construct(node: Node<'_, '_>) -> Translated<&'static str> {
    match attribute(node, &["tryConstruct", "try_construct"]).map(str::to_ascii_lowercase).as_deref() {
        Some("discard") | None => Ok(""),
        Some("use_default") => Ok("@try_construct(USE_DEFAULT) "),
        Some("trim") => Ok("@try_construct(TRIM) "),
        Some(other) => refused(node, format!("`{other}` is not a value of `tryConstruct`")),
    }
}

/// An attribute that is a value of the element's type.
pub(super) fn value(node: Node<'_, '_>, name: &str) -> Translated<Option<String>> {
    let Some(text) = text_attribute(node, &[name]) else { return Ok(None) };
    let ty = attribute(node, &["type"]).unwrap_or_default();
    Ok(Some(match ty {
        // RTI Connext writes a text in quotes.
        "string" => quoted(node, text.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(text))?,
        _ => label(node, text, &base_type(node)?)?,
    }))
}

/// A label or a value of a type without collections.
pub(super) fn label(node: Node<'_, '_>, text: &str, ty: &str) -> Translated<String> {
    // A single space is a character.
    let text = if matches!(ty, "char" | "wchar") && text == " " { text } else { text.trim() };
    match ty {
        "boolean" => match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok("TRUE".to_owned()),
            "false" | "0" => Ok("FALSE".to_owned()),
            _ => refused(node, format!("`{text}` is not a boolean")),
        },
        "char" | "wchar" => {
            let prefix = if ty == "wchar" { "L" } else { "" };
            let inner = text.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\''));
            let letter = inner.filter(|inner| !inner.is_empty()).unwrap_or(text);
            let is_plain = letter.len() == 1 && letter.chars().all(|letter| matches!(letter, ' '..='~'));
            match letter {
                "'" | "\\" => Ok(format!("{prefix}'\\{letter}'")),
                _ if is_plain || is_escape(letter) => Ok(format!("{prefix}'{letter}'")),
                _ => refused(node, format!("`{text}` is not a printable character of ASCII")),
            }
        }
        "wstring" => refused(node, format!("a value of `{ty}` is not supported in XML")),
        // RTI Connext writes enumerators in parentheses.
        _ => expression(node, text),
    }
}

/// Whether a text is an escape of one character (IDL 4.2, 7.2.6.2), such as `\n` or `\x41`.
fn is_escape(text: &str) -> bool {
    let Some(rest) = text.strip_prefix('\\') else { return false };
    matches!(rest, "\\" | "?" | "'" | "\"")
        || (1..=5).contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn quoted(node: Node<'_, '_>, text: &str) -> Translated<String> {
    if text.chars().any(char::is_control) {
        return refused(node, "a text contains a control character".to_owned());
    }
    Ok(format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")))
}
