//! Dynamic data for serde (feature `serde`): a line of JSON of any sample.
//!
//! A struct is a map of its members, without the optional ones that are absent; a union a map of one entry, or its
//! discriminator if it has no member; an enum the name of its literal; a bitmask its bits; a map a map, or pairs where its keys are no
//! text to a format that wants text. A `long double` is its bits as text.

use super::graph::Kind;
use super::input::Given;
use super::{DynamicData, DynamicRef};
use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};

impl Serialize for DynamicData {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.as_ref().serialize(serializer)
    }
}

impl Serialize for DynamicRef<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.view().kind() {
            Kind::Primitive(_) => serialize_primitive(*self, serializer),
            Kind::String { .. } | Kind::WString { .. } => serializer.serialize_str(self.value().text()),
            Kind::Enum(_) => match self.literal() {
                Some(name) => serializer.serialize_str(name),
                None => serializer.serialize_i64(self.bits() as u64 as i64),
            },
            Kind::Bitmask(_) => serializer.serialize_u64(self.bits() as u64),
            Kind::Bitset(_) => {
                let mut map = serializer.serialize_map(None)?;
                self.fields().try_for_each(|(name, value)| map.serialize_entry(name, &value))?;
                map.end()
            }
            Kind::Sequence { .. } | Kind::Array { .. } => serializer.collect_seq(self.elements()),
            Kind::Map { .. } => {
                let mut map = serializer.serialize_map(Some(self.len()))?;
                self.entries().try_for_each(|(key, value)| map.serialize_entry(&key, &value))?;
                map.end()
            }
            Kind::Struct(_) => {
                let mut map = serializer.serialize_map(None)?;
                for (name, value) in self.members() {
                    if let Some(value) = value {
                        map.serialize_entry(name, &value)?;
                    }
                }
                map.end()
            }
            Kind::Union(_) => match (self.selected(), self.discriminator_value()) {
                (Some((name, value)), _) => serializer.collect_map([(name, value)]),
                (None, Some(discriminator)) => discriminator.serialize(serializer),
                (None, None) => serializer.serialize_none(),
            },
            Kind::Alias { .. } => serializer.serialize_none(),
        }
    }
}

fn serialize_primitive<S: Serializer>(value: DynamicRef<'_>, serializer: S) -> Result<S::Ok, S::Error> {
    match value.scalar() {
        Some(Given::Bool(value)) => serializer.serialize_bool(value),
        Some(Given::Int(number)) => match (i64::try_from(number), u64::try_from(number)) {
            (Ok(number), _) => serializer.serialize_i64(number),
            (_, Ok(number)) => serializer.serialize_u64(number),
            _ => serializer.serialize_i128(number),
        },
        Some(Given::Float(number)) => match value.view().kind() {
            Kind::Primitive(super::PrimitiveKind::Float32) => serializer.serialize_f32(number as f32),
            _ => serializer.serialize_f64(number),
        },
        Some(Given::Float128(number)) => serializer.collect_str(&format_args!("{:#034x}", number.to_bits())),
        Some(Given::Char(letter)) => serializer.serialize_char(letter),
        _ => {
            // There is no other primitive; a list of nothing rather than a panic.
            serializer.serialize_seq(Some(0)).and_then(SerializeSeq::end)
        }
    }
}
