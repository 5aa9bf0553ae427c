//! Sequences and arrays.
//!
//! A sequence is a `u32` count and its elements; an array is its elements. An array of arrays is one array of several
//! dimensions. In XCDR2, a length in bytes (DHEADER) precedes both, unless the elements are primitive. Enums count as
//! not primitive, as in Cyclone DDS; Fast DDS omits the length for enums.

use super::{
    Decode, DecodeError, Decoder, Encode, EncodeError, Encoder, KeyElement, KeyMember, LengthCode, TypeDescription,
    TypeInfo, TypeKind, WholeKey,
};

/// Creates an array from `N` calls of `element`, or returns the first error.
pub(super) fn try_array<T, const N: usize>(
    mut element: impl FnMut() -> Result<T, DecodeError>,
) -> Result<[T; N], DecodeError> {
    // The standard library has no stable fallible constructor of arrays.
    let mut failure = None;
    let elements: [Option<T>; N] = std::array::from_fn(|_| match failure {
        // After a failure the remaining calls must not read on.
        Some(_) => None,
        None => element().map_err(|error| failure = Some(error)).ok(),
    });
    match failure {
        Some(error) => Err(error),
        None => Ok(elements.map(|element| element.expect("every element is created if no call failed"))),
    }
}

impl<T: Encode> Encode for [T] {
    const LENGTH_CODE: LengthCode = T::LENGTH_CODE.of_sequence(T::IS_PRIMITIVE);

    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.collection(T::IS_PRIMITIVE, |e| {
            e.length(self.len())?;
            T::encode_elements(self, e)
        })
    }

    #[inline]
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.collection(T::IS_PRIMITIVE, |e| {
            e.length(self.len())?;
            for element in self {
                element.encode_key(e)?;
            }
            Ok(())
        })
    }
}

impl<T: Encode> Encode for Vec<T> {
    const LENGTH_CODE: LengthCode = <[T]>::LENGTH_CODE;

    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.as_slice().encode(e)
    }

    #[inline]
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.as_slice().encode_key(e)
    }
}

impl<'de, T: Decode<'de>> Decode<'de> for Vec<T> {
    const SIZE_MIN: usize = 4;

    #[inline]
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let mut elements = Self::new();
        elements.decode_into(d)?;
        Ok(elements)
    }

    #[inline]
    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        // Primitives have no DHEADER and cannot nest, so the fast path counts no level.
        if T::IS_PRIMITIVE {
            let count = d.length(T::SIZE_MIN)?;
            return T::decode_elements(self, count, d);
        }
        d.nested(size_of::<T>(), |d| {
            d.collection(false, |d| {
                let count = d.length(T::SIZE_MIN)?;
                T::decode_elements(self, count, d)
            })
        })
    }

    #[inline]
    fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self::new())
    }
}

impl<'de> Decode<'de> for &'de [u8] {
    const SIZE_MIN: usize = 4;

    #[inline]
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let count = d.length(1)?;
        d.bytes(count)
    }

    #[inline]
    fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(&[])
    }
}

impl<T: Encode, const N: usize> Encode for [T; N] {
    const INNERMOST_IS_PRIMITIVE: bool = T::INNERMOST_IS_PRIMITIVE;
    const LENGTH_CODE: LengthCode = LengthCode::of_array(T::INNERMOST_IS_PRIMITIVE);

    #[inline]
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.collection(T::INNERMOST_IS_PRIMITIVE, |e| T::encode_dimensions(self, e))
    }

    #[inline]
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.collection(T::INNERMOST_IS_PRIMITIVE, |e| T::encode_key_dimensions(self, e))
    }

    #[inline]
    fn encode_elements(elements: &[Self], e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        // All dimensions of all elements lie behind each other, so one copy takes them.
        if T::INNERMOST_IS_PRIMITIVE {
            return T::encode_dimensions(elements.as_flattened(), e);
        }
        for element in elements {
            element.encode(e)?;
        }
        Ok(())
    }

    #[inline]
    fn encode_dimensions(elements: &[Self], e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        T::encode_dimensions(elements.as_flattened(), e)
    }

    #[inline]
    fn encode_key_dimensions(elements: &[Self], e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        T::encode_key_dimensions(elements.as_flattened(), e)
    }
}

impl<'de, T: Decode<'de>, const N: usize> Decode<'de> for [T; N] {
    const INNERMOST_IS_PRIMITIVE: bool = T::INNERMOST_IS_PRIMITIVE;
    const SIZE_MIN: usize =
        if T::INNERMOST_IS_PRIMITIVE { N * T::SIZE_MIN } else { (N > 0 && T::SIZE_MIN > 0) as usize };

    #[inline]
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        // Elements without bytes are counted, because the input does not limit them.
        if <Self as Decode<'de>>::SIZE_MIN == 0 {
            d.nothing(N.max(size_of::<Self>()))?;
        }
        d.collection(T::INNERMOST_IS_PRIMITIVE, T::decode_array)
    }

    #[inline]
    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        if <Self as Decode<'de>>::SIZE_MIN == 0 {
            d.nothing(N.max(size_of::<Self>()))?;
        }
        d.collection(T::INNERMOST_IS_PRIMITIVE, |d| T::decode_dimensions_into(self, d))
    }

    #[inline]
    fn missing(d: &Decoder<'de>) -> Result<Self, DecodeError> {
        try_array(|| T::missing(d))
    }

    #[inline]
    fn decode_array<const M: usize>(d: &mut Decoder<'de>) -> Result<[Self; M], DecodeError> {
        try_array(|| T::decode_array(d))
    }

    #[inline]
    fn decode_dimensions_into(elements: &mut [Self], d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        T::decode_dimensions_into(elements.as_flattened_mut(), d)
    }
}

impl<T: TypeInfo> TypeInfo for [T] {
    const TYPE_NAME: &'static str = "sequence";
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription =
        &TypeDescription::new(Self::TYPE_NAME, TypeKind::Sequence { bound: None, element: || T::DESCRIPTION });
}

impl<T: TypeInfo> TypeInfo for Vec<T> {
    const TYPE_NAME: &'static str = <[T]>::TYPE_NAME;
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription = <[T]>::DESCRIPTION;
}

impl<T: TypeInfo, const N: usize> TypeInfo for [T; N] {
    const TYPE_NAME: &'static str = "array";
    const HAS_KEY: bool = false;
    const DESCRIPTION: &'static TypeDescription = {
        assert!(N <= u32::MAX as usize, "an array has at most 2^32 - 1 elements");
        &TypeDescription::new(Self::TYPE_NAME, TypeKind::Array { length: N as u32, element: || T::DESCRIPTION })
    };
}

impl<'k, T: WholeKey<'k>> WholeKey<'k> for Vec<T> {
    fn copy_key(&self) -> Self {
        self.iter().map(T::copy_key).collect()
    }
}

impl<'k, T: WholeKey<'k>, const N: usize> WholeKey<'k> for [T; N] {
    fn copy_key(&self) -> Self {
        self.each_ref().map(T::copy_key)
    }
}

/// The key of a collection consists of the keys of its elements.
macro_rules! key_of_elements {
    ($($collection:ty),*) => {$(
        impl<T: KeyElement> KeyMember for $collection {
            type Key = Vec<T::Key>;

            fn to_key(&self) -> Self::Key {
                self.iter().map(T::to_key).collect()
            }

            fn encode_key_member(key: &Self::Key, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                e.collection(<T as Encode>::IS_PRIMITIVE, |e| {
                    e.length(key.len())?;
                    for element in key {
                        T::encode_key_member(element, e)?;
                    }
                    Ok(())
                })
            }

            fn decode_key_member(d: &mut Decoder<'_>) -> Result<Self::Key, DecodeError> {
                d.nested(size_of::<T::Key>(), |d| {
                    d.collection(<T as Encode>::IS_PRIMITIVE, |d| {
                        // The key of an element may be shorter than the element, but it is not empty.
                        let count = d.length(usize::from(<T as Decode>::SIZE_MIN > 0))?;
                        let mut key = Vec::new();
                        for _ in 0..count {
                            key.push(T::decode_key_member(d)?);
                        }
                        Ok(key)
                    })
                })
            }
        }
    )*};
}

key_of_elements! { [T], Vec<T> }

impl<T: KeyElement, const N: usize> KeyMember for [T; N] {
    type Key = [T::Key; N];

    fn to_key(&self) -> Self::Key {
        self.each_ref().map(T::to_key)
    }

    fn encode_key_member(key: &Self::Key, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        e.collection(<T as Encode>::INNERMOST_IS_PRIMITIVE, |e| Self::encode_key_element(key, e))
    }

    fn decode_key_member(d: &mut Decoder<'_>) -> Result<Self::Key, DecodeError> {
        // Elements without bytes are counted, because the input does not limit them.
        if <Self as Decode>::SIZE_MIN == 0 {
            d.nothing(N.max(size_of::<Self::Key>()))?;
        }
        d.collection(<T as Encode>::INNERMOST_IS_PRIMITIVE, Self::decode_key_element)
    }

    fn encode_key_element(key: &Self::Key, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        for element in key {
            T::encode_key_element(element, e)?;
        }
        Ok(())
    }

    fn decode_key_element(d: &mut Decoder<'_>) -> Result<Self::Key, DecodeError> {
        try_array(|| T::decode_key_element(d))
    }
}
