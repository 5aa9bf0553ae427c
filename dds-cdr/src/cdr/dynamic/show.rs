//! A value written down for people to read, like a value of Rust: `{robot: 7, names: ["a"], color: RED}`.

use super::graph::Kind;
use super::input::Given;
use super::view::DynamicRef;
use super::{DynamicCase, DynamicData, DynamicMember};
use std::fmt::{self, Write};

impl fmt::Display for DynamicData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(self.as_ref(), f)
    }
}

impl fmt::Display for DynamicRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(*self, f)
    }
}

impl fmt::Debug for DynamicData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {self}", self.ty.name())
    }
}

impl fmt::Debug for DynamicRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {self}", self.view().node().name)
    }
}

impl fmt::Debug for DynamicMember<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:?}", self.name(), self.ty())
    }
}

impl fmt::Debug for DynamicCase<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {}: {:?}", self.labels(), self.name(), self.ty())
    }
}

pub(super) fn show(value: DynamicRef<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value.view().kind() {
        Kind::Primitive(_) => match value.scalar() {
            Some(Given::Bool(value)) => write!(f, "{value}"),
            Some(Given::Int(number)) => write!(f, "{number}"),
            Some(Given::Float(number)) => show_float(value, number, f),
            Some(Given::Float128(number)) => write!(f, "{:#034x}", number.to_bits()),
            Some(Given::Char(letter)) => write!(f, "{letter:?}"),
            _ => Ok(()),
        },
        Kind::String { .. } | Kind::WString { .. } => write!(f, "{:?}", value.value().text()),
        Kind::Enum(_) => f.write_str(value.literal().unwrap_or("?")),
        Kind::Bitmask(_) => {
            let named: u64 = value.ty().flags().fold(0, |bits, (_, position)| bits | 1 << position);
            let rest = value.bits() as u64 & !named;
            let names: Vec<&str> = value.flags().collect();
            match (names.is_empty(), rest) {
                (_, 0) if !names.is_empty() => f.write_str(&names.join(" | ")),
                (true, _) => write!(f, "{rest:#x}"),
                (false, _) => write!(f, "{} | {rest:#x}", names.join(" | ")),
            }
        }
        Kind::Bitset(_) => show_all('{', '}', value.fields(), f, |(name, value), f| {
            write!(f, "{name}: ")?;
            show(value, f)
        }),
        Kind::Sequence { .. } | Kind::Array { .. } => show_all('[', ']', value.elements(), f, show),
        Kind::Map { .. } => show_all('{', '}', value.entries(), f, |(key, value), f| {
            show(key, f)?;
            f.write_str(": ")?;
            show(value, f)
        }),
        Kind::Struct(_) => {
            let present = value.members().filter_map(|(name, value)| Some((name, value?)));
            show_all('{', '}', present, f, |(name, value), f| {
                write!(f, "{name}: ")?;
                show(value, f)
            })
        }
        Kind::Union(_) => match value.selected() {
            Some((name, member)) => {
                write!(f, "{name}(")?;
                show(member, f)?;
                f.write_char(')')
            }
            None => match value.discriminator_value() {
                Some(discriminator) => {
                    f.write_char('(')?;
                    show(discriminator, f)?;
                    f.write_char(')')
                }
                None => Ok(()),
            },
        },
        Kind::Alias { .. } => Ok(()),
    }
}

/// As few digits as tell the number from others of its own type.
fn show_float(value: DynamicRef<'_>, number: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value.view().kind() {
        Kind::Primitive(super::PrimitiveKind::Float32) => write!(f, "{:?}", number as f32),
        _ => write!(f, "{number:?}"),
    }
}

fn show_all<T>(
    open: char,
    close: char,
    parts: impl Iterator<Item = T>,
    f: &mut fmt::Formatter<'_>,
    show: impl Fn(T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    f.write_char(open)?;
    for (index, part) in parts.enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        show(part, f)?;
    }
    f.write_char(close)
}
