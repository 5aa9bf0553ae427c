//! From serde's data model to XCDR1.

use super::Refused;
use crate::cdr::{Encode, EncodeError, Encoder};
use serde::ser::{self, Serialize, Serializer};

/// Writes one value.
pub(super) struct CdrSerializer<'a, 'b> {
    e: &'a mut Encoder<'b>,
    /// The id of the member that the value is; only members may be absent.
    member: Option<u32>,
}

impl<'a, 'b> CdrSerializer<'a, 'b> {
    pub(super) fn new(e: &'a mut Encoder<'b>) -> Self {
        Self { e, member: None }
    }

    fn put(self, value: impl Encode) -> Result<(), Refused> {
        value.encode(self.e).map_err(Refused)
    }
}

/// A value that the encoder calls back for.
struct Deferred<'v, T: ?Sized>(&'v T);

impl<T: Serialize + ?Sized> Encode for Deferred<'_, T> {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.0.serialize(CdrSerializer::new(e)).map_err(|Refused(error)| error)
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

/// Several values in a row.
pub(super) struct Row<'a, 'b> {
    e: &'a mut Encoder<'b>,
    /// The id of the next one, where they are members.
    member: Option<u32>,
}

impl Row<'_, '_> {
    fn next<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        let member = self.member;
        self.member = member.map(|id| id + 1);
        value.serialize(CdrSerializer { e: &mut *self.e, member })
    }
}

const STRAY_OPTION: &str = "an Option that is no field of a struct";
const UNKNOWN_LENGTH: &str = "a sequence or map that does not know its length";
const LEFT_OUT: &str = "a struct with a field left out";

impl<'a, 'b> Serializer for CdrSerializer<'a, 'b> {
    type Ok = ();
    type Error = Refused;
    type SerializeSeq = Row<'a, 'b>;
    type SerializeTuple = Row<'a, 'b>;
    type SerializeTupleStruct = Row<'a, 'b>;
    type SerializeTupleVariant = Row<'a, 'b>;
    type SerializeMap = Row<'a, 'b>;
    type SerializeStruct = Row<'a, 'b>;
    type SerializeStructVariant = Row<'a, 'b>;

    fn is_human_readable(&self) -> bool {
        false
    }

    fn serialize_bool(self, value: bool) -> Result<(), Refused> {
        self.put(value)
    }

    fn serialize_i8(self, value: i8) -> Result<(), Refused> {
        self.put(value)
    }

    fn serialize_i16(self, value: i16) -> Result<(), Refused> {
        self.put(value)
    }

    fn serialize_i32(self, value: i32) -> Result<(), Refused> {
        self.put(value)
    }

    fn serialize_i64(self, value: i64) -> Result<(), Refused> {
        self.put(value)
    }

    fn serialize_u8(self, value: u8) -> Result<(), Refused> {
        self.put(value)
    }

    fn serialize_u16(self, value: u16) -> Result<(), Refused> {
        self.put(value)
    }

    fn serialize_u32(self, value: u32) -> Result<(), Refused> {
        self.put(value)
    }

    fn serialize_u64(self, value: u64) -> Result<(), Refused> {
        self.put(value)
    }

    fn serialize_f32(self, value: f32) -> Result<(), Refused> {
        self.put(value)
    }

    fn serialize_f64(self, value: f64) -> Result<(), Refused> {
        self.put(value)
    }

    fn serialize_char(self, value: char) -> Result<(), Refused> {
        self.put(value)
    }

    fn serialize_i128(self, _value: i128) -> Result<(), Refused> {
        Err(Refused::type_cannot("a number of 128 bits"))
    }

    fn serialize_u128(self, _value: u128) -> Result<(), Refused> {
        Err(Refused::type_cannot("a number of 128 bits"))
    }

    fn serialize_str(self, value: &str) -> Result<(), Refused> {
        self.put(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Refused> {
        self.e.length(value.len())?;
        self.e.bytes(value);
        Ok(())
    }

    fn serialize_none(self) -> Result<(), Refused> {
        let id = self.member.ok_or(Refused::type_cannot(STRAY_OPTION))?;
        self.e.optional::<bool>(id, None).map_err(Refused)
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Refused> {
        let id = self.member.ok_or(Refused::type_cannot(STRAY_OPTION))?;
        self.e.optional(id, Some(&Deferred(value))).map_err(Refused)
    }

    fn serialize_unit(self) -> Result<(), Refused> {
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<(), Refused> {
        Ok(())
    }

    fn serialize_unit_variant(self, _name: &'static str, index: u32, _variant: &'static str) -> Result<(), Refused> {
        self.put(index)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _name: &'static str, value: &T) -> Result<(), Refused> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
        value: &T,
    ) -> Result<(), Refused> {
        index.encode(self.e)?;
        value.serialize(Self::new(self.e))
    }

    fn serialize_seq(self, len: Option<usize>) -> Result<Row<'a, 'b>, Refused> {
        self.e.length(len.ok_or(Refused::type_cannot(UNKNOWN_LENGTH))?)?;
        Ok(Row { e: self.e, member: None })
    }

    fn serialize_tuple(self, _len: usize) -> Result<Row<'a, 'b>, Refused> {
        Ok(Row { e: self.e, member: None })
    }

    fn serialize_tuple_struct(self, _name: &'static str, _len: usize) -> Result<Row<'a, 'b>, Refused> {
        Ok(Row { e: self.e, member: Some(0) })
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        index: u32,
        _variant: &'static str,
        _len: usize,
    ) -> Result<Row<'a, 'b>, Refused> {
        index.encode(self.e)?;
        Ok(Row { e: self.e, member: Some(0) })
    }

    fn serialize_map(self, len: Option<usize>) -> Result<Row<'a, 'b>, Refused> {
        self.serialize_seq(len)
    }

    fn serialize_struct(self, _name: &'static str, _len: usize) -> Result<Row<'a, 'b>, Refused> {
        Ok(Row { e: self.e, member: Some(0) })
    }

    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Row<'a, 'b>, Refused> {
        self.serialize_tuple_variant(name, index, variant, len)
    }
}

macro_rules! rows {
    ($($kind:ident::$next:ident),*) => {$(
        impl ser::$kind for Row<'_, '_> {
            type Ok = ();
            type Error = Refused;

            fn $next<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
                self.next(value)
            }

            fn end(self) -> Result<(), Refused> {
                Ok(())
            }
        }
    )*};
}

rows!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! structs {
    ($($kind:ident),*) => {$(
        impl ser::$kind for Row<'_, '_> {
            type Ok = ();
            type Error = Refused;

            fn serialize_field<T: Serialize + ?Sized>(&mut self, _key: &'static str, value: &T) -> Result<(), Refused> {
                self.next(value)
            }

            fn skip_field(&mut self, _key: &'static str) -> Result<(), Refused> {
                Err(Refused::type_cannot(LEFT_OUT))
            }

            fn end(self) -> Result<(), Refused> {
                Ok(())
            }
        }
    )*};
}

structs!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Row<'_, '_> {
    type Ok = ();
    type Error = Refused;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Refused> {
        self.next(key)
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Refused> {
        self.next(value)
    }

    fn end(self) -> Result<(), Refused> {
        Ok(())
    }
}
