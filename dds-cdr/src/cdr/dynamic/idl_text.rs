//! Names and texts of IDL 4.2, for all printers of types.

use super::graph::NodeKind;
use super::input::InputValue;
use super::{DynamicRef, DynamicType};
use std::collections::HashSet;

/// The keywords of IDL 4.2 (7.2.4).
const KEYWORDS: [&str; 83] = [
    "abstract",
    "any",
    "alias",
    "attribute",
    "bitfield",
    "bitmask",
    "bitset",
    "boolean",
    "case",
    "char",
    "component",
    "connector",
    "const",
    "consumes",
    "context",
    "custom",
    "default",
    "double",
    "emits",
    "enum",
    "eventtype",
    "exception",
    "factory",
    "false",
    "finder",
    "fixed",
    "float",
    "getraises",
    "home",
    "import",
    "in",
    "inout",
    "interface",
    "local",
    "long",
    "manages",
    "map",
    "mirrorport",
    "module",
    "multiple",
    "native",
    "object",
    "octet",
    "oneway",
    "out",
    "port",
    "porttype",
    "primarykey",
    "private",
    "provides",
    "public",
    "publishes",
    "raises",
    "readonly",
    "sequence",
    "setraises",
    "short",
    "string",
    "struct",
    "supports",
    "switch",
    "true",
    "truncatable",
    "typedef",
    "typeid",
    "typename",
    "typeprefix",
    "union",
    "unsigned",
    "uses",
    "valuebase",
    "valuetype",
    "void",
    "wchar",
    "wstring",
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
];

/// A name, with `_` before a keyword. Case does not matter.
#[must_use]
pub fn identifier(name: &str) -> String {
    // IDL 4.2, 7.2.3: keywords collide with names in any case, and an underscore escapes them.
    let is_keyword = KEYWORDS.iter().any(|keyword| keyword.eq_ignore_ascii_case(name));
    if is_keyword || name.starts_with('_') { format!("_{name}") } else { name.to_owned() }
}

/// The content of a string literal.
#[must_use]
pub fn escaped_text(text: &str) -> String {
    text.chars().map(|character| escaped(character, '"')).collect()
}

/// A character of a literal between such quotes.
#[must_use]
pub fn escaped(character: char, quote: char) -> String {
    match character {
        '\n' => "\\n".to_owned(),
        '\t' => "\\t".to_owned(),
        '\r' => "\\r".to_owned(),
        '\\' => "\\\\".to_owned(),
        _ if character == quote => format!("\\{character}"),
        _ if character.is_control() => format!("\\x{:02x}", u32::from(character)),
        _ => character.to_string(),
    }
}

/// Annotations and the type behind them.
#[must_use]
pub fn annotated(annotations: &str, ty: &str) -> String {
    if !ty.starts_with("::") || annotations.is_empty() || annotations.ends_with(") ") {
        return format!("{annotations}{ty}");
    }
    // Otherwise `::` would continue the name of the annotation.
    let annotations = annotations.trim_end();
    let parentheses = match annotations.rsplit('@').next() {
        Some("key" | "optional" | "must_understand" | "external" | "non_serialized" | "nested" | "oneway") => "(TRUE)",
        _ => "()",
    };
    format!("{annotations}{parentheses} {ty}")
}

/// The names that stand inside of modules. They hide equal names outside of all modules.
#[derive(Debug, Clone, Default)]
pub(super) struct ScopedNames {
    inner: HashSet<String>,
}

impl ScopedNames {
    pub(super) fn of(ty: &DynamicType) -> Self {
        let mut inner = HashSet::new();
        for node in &ty.graph.nodes {
            // IDL compares names without regard to case.
            inner.extend(node.name.split("::").skip(1).map(str::to_ascii_lowercase));
        }
        Self { inner }
    }

    /// The name of a type as any scope reads it.
    pub(super) fn path(&self, name: &str) -> String {
        let first = name.split("::").next().unwrap_or_default().to_ascii_lowercase();
        // A name inside of a module hides an outer one of that name, unless the path starts at the root.
        let lead = if self.inner.contains(&first) { "::" } else { "" };
        format!("{lead}{}", scoped(name))
    }
}

/// A scoped name whose parts are no keywords.
pub(super) fn scoped(name: &str) -> String {
    let parts: Vec<String> = name.split("::").map(identifier).collect();
    parts.join("::")
}

/// An enumerator as code inside of the type `user` names it: it stands beside its enum.
pub(super) fn enumerator(literal: &str, of: &str, user: &str) -> String {
    // An enum opens no scope in IDL: its literals stand in the module of the enum.
    let Some((modules, _)) = of.rsplit_once("::") else { return identifier(literal) };
    match user.rsplit_once("::") {
        Some((own, _)) if own == modules => identifier(literal),
        _ => scoped(&format!("{modules}::{literal}")),
    }
}

/// A value as a constant of IDL inside of the type `user`; `None` if IDL has no such constant.
pub(super) fn constant(value: DynamicRef<'_>, user: &str) -> Option<String> {
    let view = value.view();
    Some(match view.kind() {
        NodeKind::Primitive(kind) => match value.scalar()? {
            InputValue::Bool(value) => if value { "TRUE" } else { "FALSE" }.to_owned(),
            InputValue::Int(number) => number.to_string(),
            // IDL has no literal for infinity or NaN.
            InputValue::Float(number) if !number.is_finite() => return None,
            InputValue::Float(number) if *kind == super::PrimitiveKind::Float32 => format!("{:?}", number as f32),
            InputValue::Float(number) => format!("{number:?}"),
            InputValue::Char(letter) if *kind == super::PrimitiveKind::Char16 => {
                format!("L'{}'", escaped(letter, '\''))
            }
            InputValue::Char(letter) => character(letter),
            _ => return None,
        },
        NodeKind::String { .. } => format!("\"{}\"", escaped_text(value.value().text())),
        NodeKind::WString { .. } => format!("L\"{}\"", escaped_text(value.value().text())),
        NodeKind::Enum(_) => {
            let ty = value.ty();
            enumerator(value.literal()?, ty.resolved().name(), user)
        }
        NodeKind::Bitmask(_) => value.bits().to_string(),
        // IDL has no lists. As in the files of ROS, the list is a text.
        NodeKind::Sequence { .. } | NodeKind::Array { .. } => {
            let mut elements = Vec::new();
            for element in value.elements() {
                elements.push(constant(element, user)?);
            }
            format!("\"{}\"", escaped_text(&format!("({})", elements.join(", "))))
        }
        _ => return None,
    })
}

/// A character literal. Bytes beyond ASCII have no character.
pub(super) fn character(letter: char) -> String {
    match letter {
        ' '..='~' => format!("'{}'", escaped(letter, '\'')),
        _ => format!("'\\x{:02x}'", u32::from(letter)),
    }
}
