//! `Display` and `Debug` of values, similar to Rust's: `{robot: 7, names: ["a"], color: RED}`.

use super::graph::NodeKind;
use super::input::InputValue;
use super::view::DynamicRef;
use super::{DynamicCase, DynamicData, DynamicMember};
use std::fmt::{self, Write};

impl fmt::Display for DynamicData {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(self.as_ref(), f)
    }
}

impl fmt::Display for DynamicRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_value(*self, f)
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

pub(super) fn write_value(value: DynamicRef<'_>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value.view().kind() {
        NodeKind::Primitive(_) => match value.scalar() {
            Some(InputValue::Bool(value)) => write!(f, "{value}"),
            Some(InputValue::Int(number)) => write!(f, "{number}"),
            Some(InputValue::Float(number)) => write_float(value, number, f),
            Some(InputValue::Float128(number)) => write!(f, "{:#034x}", number.to_bits()),
            Some(InputValue::Char(letter)) => write!(f, "{letter:?}"),
            _ => Ok(()),
        },
        NodeKind::String { .. } | NodeKind::WString { .. } => write!(f, "{:?}", value.value().text()),
        NodeKind::Enum(_) => f.write_str(value.literal().unwrap_or("?")),
        NodeKind::Bitmask(_) => {
            // Bits without a name are printed as a number.
            let mut rest = value.bits() as u64;
            for (_, position) in value.ty().flags() {
                rest &= !(1 << position);
            }
            let names: Vec<&str> = value.flags().collect();
            match (names.is_empty(), rest) {
                (_, 0) if !names.is_empty() => f.write_str(&names.join(" | ")),
                (true, _) => write!(f, "{rest:#x}"),
                (false, _) => write!(f, "{} | {rest:#x}", names.join(" | ")),
            }
        }
        NodeKind::Bitset(_) => write_list('{', '}', value.fields(), f, |(name, value), f| {
            write!(f, "{name}: ")?;
            write_value(value, f)
        }),
        NodeKind::Sequence { .. } | NodeKind::Array { .. } => write_list('[', ']', value.elements(), f, write_value),
        NodeKind::Map { .. } => write_list('{', '}', value.entries(), f, |(key, value), f| {
            write_value(key, f)?;
            f.write_str(": ")?;
            write_value(value, f)
        }),
        NodeKind::Struct(_) => {
            // Absent members are left out, as in the JSON form.
            let present = value.members().filter_map(|(name, value)| Some((name, value?)));
            write_list('{', '}', present, f, |(name, value), f| {
                write!(f, "{name}: ")?;
                write_value(value, f)
            })
        }
        NodeKind::Union(_) => match value.selected() {
            Some((name, member)) => {
                write!(f, "{name}(")?;
                write_value(member, f)?;
                f.write_char(')')
            }
            None => match value.discriminator_value() {
                Some(discriminator) => {
                    f.write_char('(')?;
                    write_value(discriminator, f)?;
                    f.write_char(')')
                }
                None => Ok(()),
            },
        },
        NodeKind::Alias { .. } => {
            debug_assert!(false, "`kind` resolves aliases");
            Ok(())
        }
    }
}

/// Prints the fewest digits that identify the number in its own type.
fn write_float(value: DynamicRef<'_>, number: f64, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match value.view().kind() {
        // As an `f64`, 0.1 of 32 bits would have 17 digits.
        NodeKind::Primitive(super::PrimitiveKind::Float32) => write!(f, "{:?}", number as f32),
        _ => write!(f, "{number:?}"),
    }
}

fn write_list<T>(
    open: char,
    close: char,
    parts: impl Iterator<Item = T>,
    f: &mut fmt::Formatter<'_>,
    write: impl Fn(T, &mut fmt::Formatter<'_>) -> fmt::Result,
) -> fmt::Result {
    f.write_char(open)?;
    for (index, part) in parts.enumerate() {
        if index > 0 {
            f.write_str(", ")?;
        }
        write(part, f)?;
    }
    f.write_char(close)
}
