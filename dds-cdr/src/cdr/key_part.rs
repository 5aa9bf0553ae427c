//! All traits of a key member, for the code that the derive generates.
//!
//! The impl of `Keyed` has the bound [`KeyMember`] for each key member, so the compiler reports a type without it
//! there. The other impls must not report it again.

use super::{DecodeError, DecodeErrorKind, Decoder, EncodeError, Encoder};
use super::{Extensibility, KeyMember, LengthCode, MemberValue, TypeDescription};
use std::marker::PhantomData;

/// The functions of [`MemberValue`] for a key member of type `T`.
///
/// An inherent function comes before one of a trait. Thus generated code reaches [`NotInKey`] only for a type that is
/// no [`KeyMember`], and such a program does not compile.
#[doc(hidden)]
#[derive(Debug)]
pub struct KeyPart<T>(PhantomData<T>);

impl<T: KeyMember + MemberValue> KeyPart<T> {
    pub const DESCRIPTION: &'static TypeDescription = T::DESCRIPTION;
    pub const LENGTH_CODE: LengthCode = T::LENGTH_CODE;
    pub const SIZE_MIN: usize = T::SIZE_MIN;
}

/// The bounds stand at the functions, because those of the impl select it: a type with one trait of both is an error.
#[allow(clippy::missing_errors_doc, reason = "the errors are those of `MemberValue`")]
impl<T: KeyMember> KeyPart<T> {
    #[inline]
    pub fn write_value(value: &T, e: &mut Encoder<'_>) -> Result<(), EncodeError>
    where
        T: MemberValue,
    {
        value.write_value(e)
    }

    #[inline]
    pub fn write_key(value: &T, e: &mut Encoder<'_>) -> Result<(), EncodeError>
    where
        T: MemberValue,
    {
        value.write_key(e)
    }

    #[inline]
    pub fn read_value(d: &mut Decoder<'_>) -> Result<T, DecodeError>
    where
        T: MemberValue,
    {
        T::read_value(d)
    }

    #[inline]
    pub fn read_into(value: &mut T, d: &mut Decoder<'_>) -> Result<(), DecodeError>
    where
        T: MemberValue,
    {
        value.read_into(d)
    }

    #[inline]
    pub fn read_missing(d: &Decoder<'_>) -> Result<T, DecodeError>
    where
        T: MemberValue,
    {
        T::read_missing(d)
    }

    #[inline]
    pub fn read_member(d: &mut Decoder<'_>) -> Result<T, DecodeError>
    where
        T: MemberValue,
    {
        T::read_member(d)
    }

    #[inline]
    pub fn read_member_into(value: &mut T, d: &mut Decoder<'_>) -> Result<(), DecodeError>
    where
        T: MemberValue,
    {
        value.read_member_into(d)
    }
}

/// Functions with the right signatures only, for a type that cannot be part of a key.
#[doc(hidden)]
#[allow(clippy::missing_errors_doc, reason = "no program that compiles calls these functions")]
pub trait NotInKey {
    /// The type of the member.
    type Value;

    const DESCRIPTION: &'static TypeDescription = &TypeDescription::of_struct("", Extensibility::Final, &[]);
    const LENGTH_CODE: LengthCode = LengthCode::NextInt;
    const SIZE_MIN: usize = 0;

    fn write_value(_: &Self::Value, _: &mut Encoder<'_>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn write_key(_: &Self::Value, _: &mut Encoder<'_>) -> Result<(), EncodeError> {
        Ok(())
    }

    fn read_value(d: &mut Decoder<'_>) -> Result<Self::Value, DecodeError> {
        Self::read_missing(d)
    }

    fn read_into(_: &mut Self::Value, _: &mut Decoder<'_>) -> Result<(), DecodeError> {
        Ok(())
    }

    fn read_missing(d: &Decoder<'_>) -> Result<Self::Value, DecodeError> {
        Err(d.error(DecodeErrorKind::InvalidValue))
    }

    fn read_member(d: &mut Decoder<'_>) -> Result<Self::Value, DecodeError> {
        Self::read_missing(d)
    }

    fn read_member_into(_: &mut Self::Value, _: &mut Decoder<'_>) -> Result<(), DecodeError> {
        Ok(())
    }
}

impl<T> NotInKey for KeyPart<T> {
    type Value = T;
}
