//! Fields of types of the run time.

use super::resolve::{FieldType, Kind, TypeParts};
use crate::cdr::FieldStep;
use crate::cdr::dynamic::{DynamicKind, DynamicType, PrimitiveKind};

impl FieldType for DynamicType {
    fn type_name(&self) -> &str {
        self.name()
    }

    fn is_keyed(&self) -> bool {
        self.has_key()
    }

    fn parts(&self) -> TypeParts<'_, Self> {
        let unknown = TypeParts::Other("a value of another kind");
        match self.kind() {
            DynamicKind::Struct => {
                let members = self.members();
                let members = members.map(|member| (member.name(), member.is_key(), member.ty().resolved())).collect();
                TypeParts::Struct { members, has_key: self.has_key() }
            }
            DynamicKind::Union => {
                let Some(discriminator) = self.discriminator() else { return unknown };
                let cases = self.cases().map(|case| (case.name(), case.ty().map(|ty| ty.resolved()))).collect();
                TypeParts::Union { cases, discriminator: discriminator.resolved(), has_key: self.has_key() }
            }
            DynamicKind::Bitset => {
                let mut fields = Vec::new();
                for (name, position, bit_count) in self.fields() {
                    let is_signed = self.is_signed_field(name);
                    fields.push((name, FieldStep::Bits { position, bit_count, is_signed }));
                }
                TypeParts::Bitset(fields)
            }
            DynamicKind::Sequence => match self.element() {
                Some(element) => TypeParts::Sequence { bound: self.bound(), element: element.resolved() },
                None => unknown,
            },
            DynamicKind::Array => match (self.bound(), self.element()) {
                (Some(length), Some(element)) => TypeParts::Array { length, element: element.resolved() },
                _ => unknown,
            },
            DynamicKind::Enum => TypeParts::Enum(self.literals().map(|(name, value)| (name, value.into())).collect()),
            DynamicKind::Bitmask => TypeParts::Comparable(Kind::Integer),
            DynamicKind::String | DynamicKind::WString => TypeParts::Comparable(Kind::Text),
            DynamicKind::Map => TypeParts::Other("a map"),
            DynamicKind::Primitive(kind) => match kind {
                PrimitiveKind::Bool => TypeParts::Comparable(Kind::Bool),
                PrimitiveKind::Float32 => TypeParts::Comparable(Kind::Float32),
                PrimitiveKind::Float64 => TypeParts::Comparable(Kind::Float64),
                PrimitiveKind::Float128 => TypeParts::Other("a number of 128 bits"),
                PrimitiveKind::Char8 | PrimitiveKind::Char16 => TypeParts::Comparable(Kind::Character),
                _ => TypeParts::Comparable(Kind::Integer),
            },
            _ => unknown,
        }
    }
}
