//! From XCDR1 to serde's data model. Nothing tells the type but the type: what asks to be told is refused.

use super::Malformed;
use crate::cdr::{Decode, Decoder};
use serde::de::value::U32Deserializer;
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, VariantAccess, Visitor,
};

/// Reads one value.
pub(super) struct CdrDeserializer<'a, 'de> {
    d: &'a mut Decoder<'de>,
    /// The value is a member; only members may be absent.
    is_member: bool,
}

impl<'a, 'de> CdrDeserializer<'a, 'de> {
    pub(super) fn new(d: &'a mut Decoder<'de>) -> Self {
        Self { d, is_member: false }
    }

    fn take<T: Decode<'de>>(&mut self) -> Result<T, Malformed> {
        T::decode(self.d).map_err(Malformed::Input)
    }

    fn bytes(&mut self) -> Result<&'de [u8], Malformed> {
        let len = self.d.length(1)?;
        Ok(self.d.bytes(len)?)
    }
}

/// Several values in a row.
struct Row<'a, 'de> {
    d: &'a mut Decoder<'de>,
    left: usize,
    are_members: bool,
}

impl<'de> SeqAccess<'de> for Row<'_, 'de> {
    type Error = Malformed;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Malformed> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let start = self.d.position();
        let value = seed.deserialize(CdrDeserializer { d: &mut *self.d, is_member: self.are_members })?;
        if self.d.position() == start && !self.are_members {
            self.d.nothing(size_of::<T::Value>())?;
        }
        Ok(Some(value))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left.min(self.d.remaining()))
    }
}

impl<'de> MapAccess<'de> for Row<'_, 'de> {
    type Error = Malformed;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Malformed> {
        self.next_element_seed(seed)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Malformed> {
        seed.deserialize(CdrDeserializer::new(self.d))
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}

/// The content of an enum's variant, behind its number.
struct Variant<'a, 'de> {
    d: &'a mut Decoder<'de>,
}

impl<'a, 'de> EnumAccess<'de> for Variant<'a, 'de> {
    type Error = Malformed;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Malformed> {
        let index = u32::decode(self.d)?;
        let index: U32Deserializer<Malformed> = index.into_deserializer();
        Ok((seed.deserialize(index)?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_, 'de> {
    type Error = Malformed;

    fn unit_variant(self) -> Result<(), Malformed> {
        Ok(())
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Malformed> {
        seed.deserialize(CdrDeserializer::new(self.d))
    }

    fn tuple_variant<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Malformed> {
        visitor.visit_seq(Row { d: self.d, left: len, are_members: true })
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Malformed> {
        self.tuple_variant(fields.len(), visitor)
    }
}

/// Lets `visit` read values that lie deeper than the present one, down to the depth that a peer may ask for.
fn deeper<'de, R>(
    d: &mut Decoder<'de>,
    visit: impl FnOnce(&mut Decoder<'de>) -> Result<R, Malformed>,
) -> Result<R, Malformed> {
    // What the visitor says passes through as a value, for the decoder has an error of its own.
    d.nested(0, |d| Ok(visit(d)))?
}

macro_rules! numbers {
    ($($name:ident $visit:ident $kind:ty,)*) => {$(
        fn $name<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Malformed> {
            visitor.$visit(self.take::<$kind>()?)
        }
    )*};
}

macro_rules! refused {
    ($($name:ident $what:literal,)*) => {$(
        fn $name<V: Visitor<'de>>(self, _visitor: V) -> Result<V::Value, Malformed> {
            Err(Malformed::Type($what))
        }
    )*};
}

impl<'de> Deserializer<'de> for CdrDeserializer<'_, 'de> {
    type Error = Malformed;

    fn is_human_readable(&self) -> bool {
        false
    }

    numbers! {
        deserialize_bool visit_bool bool,
        deserialize_i8 visit_i8 i8,
        deserialize_i16 visit_i16 i16,
        deserialize_i32 visit_i32 i32,
        deserialize_i64 visit_i64 i64,
        deserialize_u8 visit_u8 u8,
        deserialize_u16 visit_u16 u16,
        deserialize_u32 visit_u32 u32,
        deserialize_u64 visit_u64 u64,
        deserialize_f32 visit_f32 f32,
        deserialize_f64 visit_f64 f64,
        deserialize_char visit_char char,
        deserialize_str visit_borrowed_str &'de str,
        deserialize_string visit_borrowed_str &'de str,
    }

    refused! {
        deserialize_i128 "a number of 128 bits",
        deserialize_u128 "a number of 128 bits",
        deserialize_any "a type that wants to be told what comes",
        deserialize_identifier "a type that goes by the names of its fields",
        deserialize_ignored_any "a type that passes over what it does not know",
    }

    fn deserialize_bytes<V: Visitor<'de>>(mut self, visitor: V) -> Result<V::Value, Malformed> {
        visitor.visit_borrowed_bytes(self.bytes()?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        self.deserialize_bytes(visitor)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        if !self.is_member {
            return Err(Malformed::Type("an Option that is no field of a struct"));
        }
        let mut visitor = Some(visitor);
        let found = deeper(self.d, |d| {
            let found =
                d.if_present(|d| Ok(visitor.take().map(|visitor| visitor.visit_some(CdrDeserializer::new(d)))))?;
            found.flatten().transpose()
        })?;
        match (found, visitor) {
            (Some(value), _) => Ok(value),
            (None, Some(visitor)) => visitor.visit_none(),
            (None, None) => Err(Malformed::Type("an Option without a value")),
        }
    }

    fn deserialize_unit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        visitor.visit_unit()
    }

    fn deserialize_unit_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value, Malformed> {
        visitor.visit_unit()
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Malformed> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        deeper(self.d, |d| {
            // Nobody knows of the elements whether they have bytes.
            let left = d.length(0)?;
            visitor.visit_seq(Row { d, left, are_members: false })
        })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, len: usize, visitor: V) -> Result<V::Value, Malformed> {
        visitor.visit_seq(Row { d: self.d, left: len, are_members: false })
    }

    fn deserialize_tuple_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        len: usize,
        visitor: V,
    ) -> Result<V::Value, Malformed> {
        visitor.visit_seq(Row { d: self.d, left: len, are_members: true })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Malformed> {
        deeper(self.d, |d| {
            let left = d.length(1)?;
            visitor.visit_map(Row { d, left, are_members: false })
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Malformed> {
        visitor.visit_seq(Row { d: self.d, left: fields.len(), are_members: true })
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Malformed> {
        deeper(self.d, |d| visitor.visit_enum(Variant { d }))
    }
}
