//! All traits of a member in one, for the code that the derive generates.
//!
//! A type without a derive lacks several traits. If generated code used each of them, the compiler would report each
//! one. Generated code uses this trait only, so one missing derive is one error.

use super::{Decode, DecodeError, DecodeErrorKind, Decoder};
use super::{Encode, EncodeError, Encoder, Extensibility, LengthCode, TypeDescription, TypeInfo};

/// A value that can be a member of a DDS type and borrows nothing.
///
/// Every type with [`TypeInfo`], [`Encode`] and [`Decode`] for each lifetime has it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a member of a DDS type",
    label = "this type, or a type inside, needs `#[derive(DdsType)]`",
    note = "derive `DdsType` for it and for the types inside, or use a supported type: bool, integers, f32, f64, char, \
            String, Vec, arrays, maps, Option, Box, Arc, NonZero, Duration, SystemTime, network addresses",
    note = "the key of a map is an integer, bool, char, String, or an enum without data; only strings, Vec and BTreeMap \
            can be trimmed",
    note = "convert a type of another crate with `#[dds(with = module)]` on the member"
)]
#[doc(hidden)]
pub trait MemberValue: Sized {
    const DESCRIPTION: &'static TypeDescription;
    const TYPE_NAME: &'static str;
    const HAS_KEY: bool;
    const LENGTH_CODE: LengthCode;
    const IS_PRIMITIVE: bool;
    const INNERMOST_IS_PRIMITIVE: bool;
    const SIZE_MIN: usize;
    const EXTENSIBILITY: Option<Extensibility>;

    fn write_value(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError>;
    fn write_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError>;
    fn write_optional(value: Option<&Self>, id: u32, e: &mut Encoder<'_>) -> Result<(), EncodeError>;
    fn write_if_present(
        value: Option<&Self>,
        id: u32,
        must_understand: bool,
        e: &mut Encoder<'_>,
    ) -> Result<(), EncodeError>;

    fn read_value(d: &mut Decoder<'_>) -> Result<Self, DecodeError>;
    fn read_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError>;
    fn read_missing(d: &Decoder<'_>) -> Result<Self, DecodeError>;
    fn read_member(d: &mut Decoder<'_>) -> Result<Self, DecodeError>;
    fn read_member_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError>;
    fn read_optional(d: &mut Decoder<'_>) -> Result<Option<Self>, DecodeError>;
    fn read_optional_into(value: &mut Option<Self>, d: &mut Decoder<'_>) -> Result<(), DecodeError>;
    fn read_optional_member(d: &mut Decoder<'_>) -> Result<Option<Self>, DecodeError>;
    fn read_optional_member_into(value: &mut Option<Self>, d: &mut Decoder<'_>) -> Result<(), DecodeError>;
    fn read_present_into(value: &mut Option<Self>, d: &mut Decoder<'_>) -> Result<(), DecodeError>;
}

// The error then names this trait, not the first of the three that are missing.
#[diagnostic::do_not_recommend]
impl<T: TypeInfo + Encode + for<'de> Decode<'de>> MemberValue for T {
    const DESCRIPTION: &'static TypeDescription = <T as TypeInfo>::DESCRIPTION;
    const TYPE_NAME: &'static str = <T as TypeInfo>::TYPE_NAME;
    const HAS_KEY: bool = <T as TypeInfo>::HAS_KEY;
    const LENGTH_CODE: LengthCode = <T as Encode>::LENGTH_CODE;
    const IS_PRIMITIVE: bool = <T as Encode>::IS_PRIMITIVE;
    const INNERMOST_IS_PRIMITIVE: bool = <T as Encode>::INNERMOST_IS_PRIMITIVE;
    const SIZE_MIN: usize = <T as Decode<'static>>::SIZE_MIN;
    const EXTENSIBILITY: Option<Extensibility> = <T as Decode<'static>>::EXTENSIBILITY;

    #[inline]
    fn write_value(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }

    #[inline]
    fn write_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode_key(e)
    }

    #[inline]
    fn write_optional(value: Option<&Self>, id: u32, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.optional(id, value)
    }

    #[inline]
    fn write_if_present(
        value: Option<&Self>,
        id: u32,
        must_understand: bool,
        e: &mut Encoder<'_>,
    ) -> Result<(), EncodeError> {
        e.member_if_present(id, must_understand, value)
    }

    #[inline]
    fn read_value(d: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        T::decode(d)
    }

    #[inline]
    fn read_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        self.decode_into(d)
    }

    #[inline]
    fn read_missing(d: &Decoder<'_>) -> Result<Self, DecodeError> {
        T::missing(d)
    }

    #[inline]
    fn read_member(d: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        d.member()
    }

    #[inline]
    fn read_member_into(&mut self, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        d.member_into(self)
    }

    #[inline]
    fn read_optional(d: &mut Decoder<'_>) -> Result<Option<Self>, DecodeError> {
        d.optional()
    }

    #[inline]
    fn read_optional_into(value: &mut Option<Self>, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        d.optional_into(value)
    }

    #[inline]
    fn read_optional_member(d: &mut Decoder<'_>) -> Result<Option<Self>, DecodeError> {
        d.optional_member()
    }

    #[inline]
    fn read_optional_member_into(value: &mut Option<Self>, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        d.optional_member_into(value)
    }

    #[inline]
    fn read_present_into(value: &mut Option<Self>, d: &mut Decoder<'_>) -> Result<(), DecodeError> {
        d.present_into(value)
    }
}

/// Returns a converted value, or the error for a received value that the program's type does not have.
///
/// # Errors
/// The conversion returned `None`.
#[doc(hidden)]
#[inline]
pub fn converted<T>(d: &Decoder<'_>, value: Option<T>) -> Result<T, DecodeError> {
    match value {
        Some(value) => Ok(value),
        // The bytes are well-formed, so the error concerns the value and not the encoding.
        None => Err(d.error(DecodeErrorKind::InvalidValue)),
    }
}
