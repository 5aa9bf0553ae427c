//! Serializes dynamic data with serde (feature `serde`), for example as JSON.
//!
//! A struct becomes a map of its present members. A union becomes a map with its selected member. The entry
//! `$discriminator` precedes the member if the member alone does not tell it. An enum becomes the name of its literal,
//! a bitmask its bits, and a map a map. A `long double` becomes its bits as text. Text formats have `"NaN"`,
//! `"Infinity"` and `"-Infinity"` in place of numbers that JSON lacks.

use super::graph::{CaseNode, NodeKind};
use super::input::InputValue;
use super::{DynamicData, DynamicRef};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

/// The entry with the discriminator of a union. No member has this name, because it is no identifier of IDL.
const DISCRIMINATOR: &str = "$discriminator";

impl Serialize for DynamicData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ref().serialize(serializer)
    }
}

impl Serialize for DynamicRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.view().kind() {
            NodeKind::Primitive(_) => serialize_primitive(*self, serializer),
            NodeKind::String { .. } | NodeKind::WString { .. } => serializer.serialize_str(self.value().text()),
            NodeKind::Enum(_) => match self.literal() {
                Some(name) => serializer.serialize_str(name),
                // A value without a literal was set by its number.
                None => serializer.serialize_i64(self.bits() as u64 as i64),
            },
            NodeKind::Bitmask(_) => serializer.serialize_u64(self.bits() as u64),
            NodeKind::Bitset(_) => {
                let mut map = serializer.serialize_map(None)?;
                for (name, value) in self.fields() {
                    map.serialize_entry(name, &value)?;
                }
                map.end()
            }
            NodeKind::Sequence { .. } | NodeKind::Array { .. } => serializer.collect_seq(self.elements()),
            NodeKind::Map { .. } => {
                let mut map = serializer.serialize_map(Some(self.len()))?;
                for (key, value) in self.entries() {
                    map.serialize_entry(&key, &value)?;
                }
                map.end()
            }
            NodeKind::Struct(_) => {
                let mut map = serializer.serialize_map(None)?;
                for (name, value) in self.members() {
                    // An absent member is left out, so that absent and null stay different.
                    if let Some(value) = value {
                        map.serialize_entry(name, &value)?;
                    }
                }
                map.end()
            }
            NodeKind::Union(node) => {
                let mut map = serializer.serialize_map(None)?;
                let case = self.discriminator().and_then(|discriminator| node.selected_by(discriminator));
                if !case.is_some_and(CaseNode::has_one_discriminator) {
                    if let Some(discriminator) = self.discriminator_value() {
                        map.serialize_entry(DISCRIMINATOR, &discriminator)?;
                    }
                }
                if let Some((name, value)) = self.selected() {
                    map.serialize_entry(name, &value)?;
                }
                map.end()
            }
            NodeKind::Alias { .. } => {
                debug_assert!(false, "`kind` resolves aliases");
                serializer.serialize_none()
            }
        }
    }
}

fn serialize_primitive<S: Serializer>(value: DynamicRef<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    match value.scalar() {
        Some(InputValue::Bool(value)) => serializer.serialize_bool(value),
        Some(InputValue::Int(number)) => match (i64::try_from(number), u64::try_from(number)) {
            (Ok(number), _) => serializer.serialize_i64(number),
            (_, Ok(number)) => serializer.serialize_u64(number),
            _ => serializer.serialize_i128(number),
        },
        // JSON would write `null`, which does not tell these numbers apart.
        Some(InputValue::Float(number)) if !number.is_finite() && serializer.is_human_readable() => serializer
            .serialize_str(match number {
                f64::INFINITY => "Infinity",
                f64::NEG_INFINITY => "-Infinity",
                _ => "NaN",
            }),
        Some(InputValue::Float(number)) => match value.view().kind() {
            NodeKind::Primitive(super::PrimitiveKind::Float32) => serializer.serialize_f32(number as f32),
            _ => serializer.serialize_f64(number),
        },
        // JSON has no number of that precision, so the bits are text.
        Some(InputValue::Float128(number)) => serializer.collect_str(&format_args!("{:#034x}", number.to_bits())),
        Some(InputValue::Char(letter)) => serializer.serialize_char(letter),
        _ => {
            debug_assert!(false, "no other input is a primitive");
            serializer.serialize_seq(Some(0)).and_then(SerializeSeq::end)
        }
    }
}
