//! `Cow`: a decoded value borrows from the sample.

use crate::cdr::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, LengthCode, TypeDescription, TypeInfo};
use std::borrow::Cow;

impl<'a, T: ToOwned + ?Sized> TypeInfo for Cow<'a, T>
where
    &'a T: TypeInfo,
{
    const TYPE_NAME: &'static str = <&'a T as TypeInfo>::TYPE_NAME;
    const HAS_KEY: bool = <&'a T as TypeInfo>::HAS_KEY;
    const DESCRIPTION: &'static TypeDescription = <&'a T as TypeInfo>::DESCRIPTION;
}

impl<T: ToOwned + Encode + ?Sized> Encode for Cow<'_, T> {
    const LENGTH_CODE: LengthCode = T::LENGTH_CODE;

    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        (**self).encode(e)
    }

    #[inline]
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        (**self).encode_key(e)
    }
}

impl<'de, T: ToOwned + ?Sized> Decode<'de> for Cow<'de, T>
where
    &'de T: Decode<'de>,
{
    const SIZE_MIN: usize = <&'de T as Decode<'de>>::SIZE_MIN;

    #[inline]
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        <&'de T>::decode(d).map(Cow::Borrowed)
    }

    #[inline]
    fn missing(d: &Decoder<'de>) -> Result<Self, DecodeError> {
        <&'de T>::missing(d).map(Cow::Borrowed)
    }
}
