//! The type of a field.

use super::name::shorten;
use super::parse::{InterfaceParser, LinePart};
use super::{InterfaceKind, InterfaceName, InterfaceNameError, RosBaseType, RosDimension, RosType};
use crate::model::Diagnostic;

/// Spellings of other languages, and the type in ROS.
const FOREIGN: [(&str, &str); 16] = [
    ("boolean", "bool"),
    ("double", "float64"),
    ("f32", "float32"),
    ("f64", "float64"),
    ("float", "float32"),
    ("i32", "int32"),
    ("i64", "int64"),
    ("int", "int32"),
    ("long", "int64"),
    ("octet", "byte"),
    ("short", "int16"),
    ("str", "string"),
    ("u16", "uint16"),
    ("u32", "uint32"),
    ("u8", "uint8"),
    ("uint", "uint32"),
];

/// Primitive types of ROS 1, and the messages that replace them.
const ROS1: [(&str, &str); 2] = [("time", "Time"), ("duration", "Duration")];

/// Parses a type. `None` if it has an error.
pub(super) fn parse_type(parser: &mut InterfaceParser<'_, '_>, ty: LinePart<'_>) -> Option<RosType> {
    let Some(inside) = ty.text.strip_suffix(']') else {
        let base = parse_base(parser, ty)?;
        return Some(RosType { base, dimension: RosDimension::One });
    };
    let Some(open) = inside.rfind('[') else {
        parser.error(ty.range(), format!("expected `[` before `]` in `{}`", shorten(ty.text)));
        return None;
    };
    let (base, _) = ty.split(open, 0);
    let (_, size) = LinePart { start: ty.start, text: inside }.split(open, 1);
    if base.text.ends_with(']') {
        let error = Diagnostic::error("an array has one dimension", parser.span(ty.range()));
        parser.push(error.help("put the inner array into a message, or multiply the sizes"));
        return None;
    }
    let dimension = if size.text.is_empty() {
        Some(RosDimension::Sequence)
    } else if let Some(bound) = size.text.strip_prefix("<=") {
        parse_bound(parser, LinePart { start: size.start + 2, text: bound }).map(RosDimension::BoundedSequence)
    } else {
        parse_bound(parser, size).map(RosDimension::Array)
    };
    let base = parse_base(parser, base)?;
    Some(RosType { base, dimension: dimension? })
}

/// A size or a bound: an integer from 1.
fn parse_bound(parser: &mut InterfaceParser<'_, '_>, size: LinePart<'_>) -> Option<u32> {
    let number = size.text.parse().ok().filter(|number| *number > 0);
    if number.is_none() {
        let message = format!("expected a number from 1 to {}, found `{}`", u32::MAX, shorten(size.text));
        parser.error(size.range(), message);
    }
    number
}

fn parse_base(parser: &mut InterfaceParser<'_, '_>, ty: LinePart<'_>) -> Option<RosBaseType> {
    if let Some(base) = RosBaseType::from_keyword(ty.text) {
        return Some(base);
    }
    if let Some((keyword @ ("string" | "wstring"), bound)) = ty.text.split_once("<=") {
        let start = ty.start + keyword.len() + 2;
        let bound = Some(parse_bound(parser, LinePart { start, text: bound })?);
        return Some(if keyword == "string" { RosBaseType::String { bound } } else { RosBaseType::WString { bound } });
    }
    for (old, name) in ROS1 {
        if ty.text == old {
            let message = format!("`{old}` is a type of ROS 1, read as `builtin_interfaces/{name}`");
            let warning = Diagnostic::warning(message, parser.span(ty.range()));
            parser.push(warning.help(format!("write `builtin_interfaces/{name}`")));
            return Some(RosBaseType::Structure(InterfaceName::known(
                "builtin_interfaces",
                InterfaceKind::Message,
                name,
            )));
        }
    }
    parse_structure(parser, ty).map(RosBaseType::Structure)
}

/// `package/Name`, or `Name` of the same package.
fn parse_structure(parser: &mut InterfaceParser<'_, '_>, ty: LinePart<'_>) -> Option<InterfaceName> {
    let parts: Vec<&str> = ty.text.splitn(4, '/').collect();
    let parsed = match parts[..] {
        [name] => InterfaceName::new(parser.package, InterfaceKind::Message, name),
        [package, name] => InterfaceName::new(package, InterfaceKind::Message, name),
        [package, "msg", name] => {
            let warning = Diagnostic::warning("`rosidl` refuses `msg` in a type name", parser.span(ty.range()));
            parser.push(warning.help(format!("write `{}/{}`", shorten(package), shorten(name))));
            InterfaceName::new(package, InterfaceKind::Message, name)
        }
        _ => Err(InterfaceNameError::Parts(shorten(ty.text))),
    };
    let message = match parsed {
        Ok(name) => return Some(name),
        Err(_) if parts.len() == 1 => format!("unknown type `{}`", shorten(ty.text)),
        Err(InterfaceNameError::Parts(text)) => format!("invalid type `{text}`: expected `package/Name`"),
        Err(error) => error.to_string(),
    };
    let mut error = Diagnostic::error(message, parser.span(ty.range()));
    if parts.len() == 1 {
        let foreign = FOREIGN.iter().find(|(name, _)| *name == ty.text);
        error = match foreign {
            Some((_, keyword)) => error.help(format!("did you mean `{keyword}`?")),
            None => error.did_you_mean(ty.text, RosBaseType::PRIMITIVES.iter().map(|(keyword, _)| *keyword)),
        };
    }
    parser.push(error);
    None
}
