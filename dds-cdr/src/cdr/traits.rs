//! Traits of types and values. `#[derive(DdsType)]` implements all of them.

use super::{
    AnyType, DecodeError, DecodeErrorKind, Decoder, EncodeError, Encoder, Extensibility, LengthCode, TypeDescription,
};

/// A type with a known name and structure.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no description as a DDS type",
    note = "derive `DdsType` for it, or use a supported type: bool, i8..i64, u8..u64, f32, f64, char, String, Vec, arrays, maps, Option, Box, Arc"
)]
pub trait TypeInfo {
    /// The name that discovery announces.
    const TYPE_NAME: &'static str;
    /// Whether any member is part of a key.
    const HAS_KEY: bool;
    /// The structure. It refers to nested types by functions, so recursive types can be described.
    const DESCRIPTION: &'static TypeDescription;
}

/// A value that an [`Encoder`] can write.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be encoded",
    note = "derive `DdsType` for it; if it is an alias of `Option`, mark the member `#[dds(optional)]`"
)]
pub trait Encode {
    /// Whether this is a number, a bool or a char. Collections of these have no length in bytes (XTYPES 1.3, 7.4.3).
    #[doc(hidden)]
    const IS_PRIMITIVE: bool = false;
    /// [`Encode::IS_PRIMITIVE`] of the innermost element: arrays of arrays are one array of several dimensions.
    #[doc(hidden)]
    const INNERMOST_IS_PRIMITIVE: bool = Self::IS_PRIMITIVE;
    /// How a member header of a mutable struct encodes the length of the value.
    #[doc(hidden)]
    const LENGTH_CODE: LengthCode = LengthCode::NextInt;

    /// Encodes the value.
    ///
    /// # Errors
    /// The value does not fit its type. The buffer keeps the bytes that were already written.
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Encodes the key members; all members if none is marked.
    ///
    /// # Errors
    /// The value does not fit its type.
    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Returns the framing of the payload, if it depends on the value.
    #[doc(hidden)]
    #[inline]
    fn framing(&self) -> Option<Extensibility> {
        None
    }

    /// Returns whether this is a sample of a topic of this type. The default is for types that are known at compile
    /// time.
    #[doc(hidden)]
    #[inline]
    fn is_of(&self, ty: Option<&AnyType>) -> bool {
        // Only dynamic data needs the type of its topic.
        let _ = ty;
        true
    }

    /// Encodes the elements of a sequence.
    #[doc(hidden)]
    fn encode_elements(elements: &[Self], e: &mut Encoder<'_>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        for element in elements {
            element.encode(e)?;
        }
        Ok(())
    }

    /// Encodes the elements of an array, in all dimensions.
    #[doc(hidden)]
    fn encode_dimensions(elements: &[Self], e: &mut Encoder<'_>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        Self::encode_elements(elements, e)
    }

    /// Encodes the keys of the elements of an array, in all dimensions.
    #[doc(hidden)]
    fn encode_key_dimensions(elements: &[Self], e: &mut Encoder<'_>) -> Result<(), EncodeError>
    where
        Self: Sized,
    {
        for element in elements {
            element.encode_key(e)?;
        }
        Ok(())
    }
}

/// A value that a [`Decoder`] can read. It may borrow from the input.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be decoded",
    note = "derive `DdsType` for it; if it is an alias of `Option`, mark the member `#[dds(optional)]`",
    note = "among references, `&'a str` and `&'a [u8]` can be decoded; for other numbers use `cdr::Run<'a, f32>`"
)]
pub trait Decode<'de>: Sized {
    /// See [`Encode::IS_PRIMITIVE`].
    #[doc(hidden)]
    const IS_PRIMITIVE: bool = false;
    /// See [`Encode::INNERMOST_IS_PRIMITIVE`].
    #[doc(hidden)]
    const INNERMOST_IS_PRIMITIVE: bool = Self::IS_PRIMITIVE;
    /// Minimum size of a value in bytes, which bounds a received length. It is 0 only for types that count their values
    /// without bytes ([`Decoder::nothing`]).
    #[doc(hidden)]
    const SIZE_MIN: usize = 1;
    /// The extensibility that the payload header must match, if it is fixed.
    #[doc(hidden)]
    const EXTENSIBILITY: Option<Extensibility> = None;

    /// Decodes a value.
    ///
    /// # Errors
    /// The input is not a value of this type.
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError>;

    /// Decodes into this value, and keeps its allocations.
    ///
    /// # Errors
    /// The input is not a value of this type. This value is then partly overwritten.
    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        *self = Self::decode(d)?;
        Ok(())
    }

    /// Returns the value of a member that the sender's older type does not have.
    ///
    /// It is zero, empty, or the first literal; a struct has the defaults of its members. `#[dds(default)]` overrides
    /// it (XTYPES 1.3, 7.2.2.4.4.4.7).
    ///
    /// # Errors
    /// [`DecodeErrorKind::MissingMember`], unless the type has a default.
    fn missing(d: &Decoder<'de>) -> Result<Self, DecodeError> {
        // For types without a default. A sender that leaves such a member out sends an incomplete sample.
        Err(d.error(DecodeErrorKind::MissingMember))
    }

    /// Decodes a payload of a topic of this type.
    ///
    /// # Errors
    /// The payload is not a value of the type.
    #[doc(hidden)]
    #[inline]
    fn decode_typed(payload: &'de [u8], ty: Option<&AnyType>) -> Result<Self, DecodeError> {
        let _ = ty;
        super::decode_payload(payload)
    }

    /// Decodes a payload like [`Decode::decode_typed`] into this value, and keeps its allocations.
    ///
    /// # Errors
    /// The payload is not a value of the type.
    #[doc(hidden)]
    #[inline]
    fn decode_typed_into(&mut self, payload: &'de [u8], ty: Option<&AnyType>) -> Result<(), DecodeError> {
        let _ = ty;
        super::decode_payload_into(payload, self)
    }

    /// Decodes the elements of a sequence.
    #[doc(hidden)]
    fn decode_elements(elements: &mut Vec<Self>, count: usize, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        // Elements of the previous sample are decoded in place, and keep their allocations.
        elements.truncate(count);
        for element in elements.iter_mut() {
            element.decode_into(d)?;
        }
        // The count is at most the number of remaining bytes if elements have bytes. But an element may be large in
        // memory and small on the wire, so the allocation is limited to the size of the input.
        debug_assert!(elements.len() <= count, "truncated to the count");
        let affordable = d.remaining() / size_of::<Self>().max(1);
        let missing = count - elements.len();
        elements.reserve(missing.min(affordable + 1));
        for _ in 0..missing {
            elements.push(Self::decode(d)?);
        }
        Ok(())
    }

    /// Decodes an array, in all dimensions.
    #[doc(hidden)]
    fn decode_array<const N: usize>(d: &mut Decoder<'de>) -> Result<[Self; N], DecodeError> {
        super::collection::try_array(|| Self::decode(d))
    }

    /// Decodes the elements of an array in place, in all dimensions.
    #[doc(hidden)]
    fn decode_dimensions_into(elements: &mut [Self], d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        for element in elements {
            element.decode_into(d)?;
        }
        Ok(())
    }
}

/// A value that borrows nothing from its sample.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a DDS type that owns its data",
    label = "this needs a type that owns its data",
    note = "derive `DdsType` for it; if it borrows from the sample, use `view()` on the samples of a batch"
)]
pub trait DecodeOwned: for<'de> Decode<'de> + 'static {}

/// A type whose key distinguishes instances.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no key",
    label = "this needs a type with a key",
    note = "mark the fields that identify an instance with `#[dds(key)]`"
)]
pub trait Keyed {
    /// The key: the owned type of a single key member, or a tuple of several.
    type Key;

    /// See [`Decode::EXTENSIBILITY`].
    #[doc(hidden)]
    const EXTENSIBILITY: Option<Extensibility> = None;

    /// Returns the key of this value.
    fn key(&self) -> Self::Key;

    /// Encodes a key, with the same bytes as [`Encode::encode_key`] of a whole value.
    ///
    /// # Errors
    /// The key does not fit its type.
    fn encode_key_value(key: &Self::Key, e: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Decodes a key.
    ///
    /// # Errors
    /// The input is not a key of this type.
    fn decode_key_value(d: &mut Decoder<'_>) -> Result<Self::Key, DecodeError>;

    /// Returns the framing of the payload, if it depends on the key.
    #[doc(hidden)]
    #[inline]
    fn framing_of_key(key: &Self::Key) -> Option<Extensibility> {
        let _ = key;
        None
    }

    /// Returns whether this is a key of a topic of this type. The default is for types that are known at compile time.
    #[doc(hidden)]
    #[inline]
    fn is_key_of(key: &Self::Key, ty: Option<&AnyType>) -> bool {
        // As for values: only dynamic data can be of another type.
        let _ = (key, ty);
        true
    }

    /// Decodes a serialized key of a topic of this type.
    ///
    /// # Errors
    /// The payload is not a key of the type.
    #[doc(hidden)]
    #[inline]
    fn decode_typed_key(payload: &[u8], ty: Option<&AnyType>) -> Result<Self::Key, DecodeError>
    where
        Self: Sized,
    {
        let _ = ty;
        super::decode_key_payload::<Self>(payload)
    }
}

/// A type that a topic can have.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a DDS type",
    label = "this needs `#[derive(DdsType)]`",
    note = "a type marked `#[dds(nested)]` can only be a member of others"
)]
pub trait DdsType: TypeInfo + Encode {}

/// A type with the same encoding as `T`, which may borrow data that `T` owns.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a view of `{T}`",
    note = "declare it with `#[dds(view_of = {T})]` beside `#[derive(DdsType)]`; its members must be those of `{T}`"
)]
pub trait ViewOf<T: ?Sized> {}

/// A member that can be part of a key.
///
/// A type with key members contributes only these. Any other type contributes all of its parts, and each of them must
/// be allowed in a key.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a key",
    note = "derive `DdsType` for it and for the types inside, or use a supported type: integers, bool, char, String, \
            Vec, arrays, Box, Arc",
    note = "optional members, structs that borrow and mark no key members, and members with `try_construct` are not \
            allowed in a key"
)]
pub trait KeyMember {
    /// The key part of this member, as an owned value.
    type Key;

    /// Returns an owned copy of the key.
    fn to_key(&self) -> Self::Key;

    /// Encodes a key.
    ///
    /// # Errors
    /// The key does not fit its type.
    fn encode_key_member(key: &Self::Key, e: &mut Encoder<'_>) -> Result<(), EncodeError>;

    /// Decodes a key.
    ///
    /// # Errors
    /// The input is not a key of this type.
    fn decode_key_member(d: &mut Decoder<'_>) -> Result<Self::Key, DecodeError>;

    /// Encodes the key of an element of an array. An array inside of an array has no DHEADER of its own.
    #[doc(hidden)]
    fn encode_key_element(key: &Self::Key, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        Self::encode_key_member(key, e)
    }

    /// Decodes the key of an element of an array.
    #[doc(hidden)]
    fn decode_key_element(d: &mut Decoder<'_>) -> Result<Self::Key, DecodeError> {
        Self::decode_key_member(d)
    }
}

/// An element of a collection in a key.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a key",
    note = "derive `DdsType` for it and for the types inside, or use a supported type: integers, bool, char, String, \
            Vec, arrays, Box, Arc",
    note = "optional members, structs that borrow and mark no key members, and members with `try_construct` are not \
            allowed in a key"
)]
#[doc(hidden)]
pub trait KeyElement: KeyMember + Encode + for<'de> Decode<'de> {}

// An element without a derive lacks three traits. The error names one.
#[diagnostic::do_not_recommend]
impl<T: KeyMember + Encode + for<'de> Decode<'de>> KeyElement for T {}

/// A member that contributes all of itself to a key.
///
/// The lifetime has no meaning. It lets the derive write the condition "if all members do" for a type without generics.
/// Without it, the compiler requires the condition even for types that are never used as a key.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a key as a whole",
    note = "it marks key members of its own, is optional, borrows, has `try_construct`, or contains such a member; \
            mark the key members of the containing struct"
)]
pub trait WholeKey<'k>: Sized {
    /// Returns a copy. Types of topics need not be `Clone`.
    fn copy_key(&self) -> Self;
}
