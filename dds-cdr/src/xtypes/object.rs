//! TypeObjects: descriptions of types for the wire (XTYPES 1.3, 7.3.4 and annex B).
//!
//! The standard nests some structs only to share a layout, such as CommonStructMember. They are flat here: they are
//! final, so nesting does not change the bytes.

use super::flags::{MemberFlags, TypeFlags};
use super::form::{Complete, Form, Minimal};
use super::identifier::{ComponentId, EK_COMPLETE, EK_MINIMAL, EquivalenceHash, PrimitiveType, TypeIdentifier};
use super::record::record;
use crate::cdr::{ByteOrder, Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, Encoding};

/// The minimal or the complete description of a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeObject {
    /// The description that assignability checks use.
    Minimal(MinimalTypeObject),
    /// The description with all names and annotations.
    Complete(CompleteTypeObject),
}

/// A description with hashes of member names only.
pub type MinimalTypeObject = TypeDefinition<Minimal>;
/// A description with all names and annotations.
pub type CompleteTypeObject = TypeDefinition<Complete>;

/// The definition of a type. Annotation types are not supported: no definition refers to one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeDefinition<F: Form> {
    /// Another name for a type.
    Alias(AliasType<F>),
    /// An enum.
    Enum(EnumType<F>),
    /// A bitmask.
    Bitmask(BitmaskType<F>),
    /// A struct.
    Struct(StructType<F>),
    /// A union.
    Union(UnionType<F>),
    /// A bitset.
    Bitset(BitsetType<F>),
    /// A sequence whose elements have annotations.
    Sequence(Box<SequenceType<F>>),
    /// An array whose elements have annotations.
    Array(Box<ArrayType<F>>),
    /// A map whose keys or values have annotations.
    Map(Box<MapType<F>>),
}

/// Another name for a type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AliasType<F: Form> {
    /// The standard defines none.
    pub flags: TypeFlags,
    /// The name.
    pub detail: F::Type,
    /// The standard defines none.
    pub related_flags: MemberFlags,
    /// The type that it names.
    pub related_type: TypeIdentifier,
    /// Annotations of the target.
    pub related_detail: F::Element,
}

/// A struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructType<F: Form> {
    /// Extensibility, nesting, and the origin of member ids.
    pub flags: TypeFlags,
    /// The base struct, or `None`.
    pub base: TypeIdentifier,
    /// The name and annotations.
    pub detail: F::Type,
    /// The own members, without inherited ones, in the order of definition.
    pub members: Vec<StructMember<F>>,
}

/// A member of a struct.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructMember<F: Form> {
    /// The member id.
    pub id: u32,
    /// Key, optional, and so on.
    pub flags: MemberFlags,
    /// The type of the member.
    pub ty: TypeIdentifier,
    /// The name and annotations.
    pub detail: F::Member,
}

/// A union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnionType<F: Form> {
    /// The same flags as of a struct.
    pub flags: TypeFlags,
    /// The name and annotations.
    pub detail: F::Type,
    /// Whether the discriminator is a key, and how an invalid one is handled.
    pub discriminator_flags: MemberFlags,
    /// The type of the discriminator.
    pub discriminator: TypeIdentifier,
    /// Annotations of the discriminator.
    pub discriminator_detail: F::Discriminator,
    /// The members, in the order of definition.
    pub members: Vec<UnionMember<F>>,
}

/// A member of a union.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnionMember<F: Form> {
    /// The member id.
    pub id: u32,
    /// Whether the member is the default.
    pub flags: MemberFlags,
    /// The type of the member.
    pub ty: TypeIdentifier,
    /// The discriminator values that select the member.
    pub labels: Vec<i32>,
    /// The name and annotations.
    pub detail: F::Member,
}

/// An enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumType<F: Form> {
    /// Extensibility.
    pub flags: TypeFlags,
    /// Bits of a value, 1 to 32.
    pub bit_bound: u16,
    /// The name and annotations.
    pub detail: F::Type,
    /// The literals in ascending order of value.
    pub literals: Vec<EnumLiteral<F>>,
}

/// A literal of an enum.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EnumLiteral<F: Form> {
    /// The value and flags.
    pub common: CommonLiteral,
    /// The name and annotations.
    pub detail: F::Member,
}

/// A value of an enum, and whether it is the default.
///
/// Unlike other `Common` structs it is appendable in annex B, so it is not flat here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommonLiteral {
    /// The value.
    pub value: i32,
    /// Whether the literal is the default.
    pub flags: MemberFlags,
}

/// A bitmask.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitmaskType<F: Form> {
    /// Extensibility.
    pub flags: TypeFlags,
    /// Bits of a value, 1 to 64.
    pub bit_bound: u16,
    /// The name and annotations.
    pub detail: F::Type,
    /// The flags in ascending order of position.
    pub bitflags: Vec<Bitflag<F>>,
}

/// A named bit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bitflag<F: Form> {
    /// The position; 0 is the least significant bit.
    pub position: u16,
    /// The standard defines none.
    pub flags: MemberFlags,
    /// The name and annotations.
    pub detail: F::Member,
}

/// A bitset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BitsetType<F: Form> {
    /// The standard defines none.
    pub flags: TypeFlags,
    /// The name and annotations.
    pub detail: F::Type,
    /// The fields in ascending order of position.
    pub fields: Vec<Bitfield<F>>,
}

/// A field of a bitset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bitfield<F: Form> {
    /// The position of its least significant bit.
    pub position: u16,
    /// The standard defines none.
    pub flags: MemberFlags,
    /// The number of bits.
    pub bit_count: u8,
    /// The integer type of its value.
    pub holder: PrimitiveType,
    /// The name and annotations.
    pub detail: F::Member,
}

/// A sequence whose elements have annotations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SequenceType<F: Form> {
    /// The standard defines none.
    pub flags: TypeFlags,
    /// Most elements; 0 or `u32::MAX`: unbounded.
    pub bound: u32,
    /// The name and annotations.
    pub detail: F::Collection,
    /// The elements.
    pub element: CollectionElement<F>,
}

/// An array whose elements have annotations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayType<F: Form> {
    /// The standard defines none.
    pub flags: TypeFlags,
    /// The length in each dimension, the outermost first.
    pub bounds: Vec<u32>,
    /// The name and annotations.
    pub detail: F::Type,
    /// The elements.
    pub element: CollectionElement<F>,
}

/// A map whose keys or values have annotations.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MapType<F: Form> {
    /// The standard defines none.
    pub flags: TypeFlags,
    /// Most entries; 0 or `u32::MAX`: unbounded.
    pub bound: u32,
    /// The name and annotations.
    pub detail: F::Collection,
    /// The keys.
    pub key: CollectionElement<F>,
    /// The values.
    pub element: CollectionElement<F>,
}

/// The elements, keys or values of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionElement<F: Form> {
    /// The flags.
    pub flags: MemberFlags,
    /// The type.
    pub ty: TypeIdentifier,
    /// The annotations.
    pub detail: F::Element,
}

impl TypeObject {
    /// Encodes the bytes that are hashed: XCDR2, little endian, without an encapsulation header.
    ///
    /// # Errors
    /// A string or a list is longer than `u32::MAX`.
    pub fn to_bytes(&self) -> Result<Vec<u8>, EncodeError> {
        let mut bytes = Vec::new();
        // The hash is defined over these bytes: XCDR2, little endian.
        self.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Little))?;
        Ok(bytes)
    }

    /// Decodes the output of [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// The bytes are not a valid TypeObject, or they describe an annotation.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, DecodeError> {
        Self::decode(&mut Decoder::new(bytes, Encoding::Xcdr2, ByteOrder::Little))
    }

    /// The identifier: the hash of the bytes.
    ///
    /// # Errors
    /// As [`to_bytes`](Self::to_bytes).
    pub fn identifier(&self) -> Result<TypeIdentifier, EncodeError> {
        let hash = EquivalenceHash::of(&self.to_bytes()?);
        Ok(match self {
            Self::Minimal(_) => TypeIdentifier::Minimal(hash),
            Self::Complete(_) => TypeIdentifier::Complete(hash),
        })
    }

    /// Calls `visit` with each type that it refers to by a hash.
    pub fn for_each_hash<'a>(&'a self, visit: &mut dyn FnMut(&'a TypeIdentifier)) {
        match self {
            Self::Minimal(definition) => definition.for_each_hash(visit),
            Self::Complete(definition) => definition.for_each_hash(visit),
        }
    }

    /// Whether `wanted` accepts an identifier in this description, or inside of one.
    #[must_use]
    pub fn mentions(&self, wanted: &dyn Fn(&TypeIdentifier) -> bool) -> bool {
        let mut found = false;
        let mut visit = |id: &TypeIdentifier| found |= id.contains(wanted);
        match self {
            Self::Minimal(definition) => definition.for_each_id(&mut visit),
            Self::Complete(definition) => definition.for_each_id(&mut visit),
        }
        found
    }
}

impl TypeObject {
    /// Calls `change` with each component identifier in it.
    pub(super) fn for_each_component_mut(&mut self, change: &mut dyn FnMut(&mut ComponentId)) {
        match self {
            Self::Minimal(definition) => definition.for_each_id_mut(&mut |id| id.for_each_component_mut(change)),
            Self::Complete(definition) => definition.for_each_id_mut(&mut |id| id.for_each_component_mut(change)),
        }
    }
}

impl EquivalenceHash {
    /// The hash of the bytes of a TypeObject.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        // The first 14 of 16 bytes: together with the kind, an identifier has 15.
        let [hash @ .., _, _] = md5::compute(bytes).0;
        Self(hash)
    }
}

impl<F: Form> TypeDefinition<F> {
    /// The name of the type, if the description has it.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Alias(ty) => F::type_name(&ty.detail),
            Self::Enum(ty) => F::type_name(&ty.detail),
            Self::Bitmask(ty) => F::type_name(&ty.detail),
            Self::Struct(ty) => F::type_name(&ty.detail),
            Self::Union(ty) => F::type_name(&ty.detail),
            Self::Bitset(ty) => F::type_name(&ty.detail),
            Self::Array(ty) => F::type_name(&ty.detail),
            // Annex B makes the detail of these optional, so a name is not guaranteed.
            Self::Sequence(_) | Self::Map(_) => None,
        }
    }

    /// Calls `change` with each type that it refers to by a hash.
    pub(super) fn replace_hashes(&mut self, change: &mut dyn FnMut(&mut TypeIdentifier)) {
        self.for_each_id_mut(&mut |id| id.replace_hashes(change));
    }

    fn for_each_id_mut(&mut self, change: &mut dyn FnMut(&mut TypeIdentifier)) {
        match self {
            Self::Alias(ty) => change(&mut ty.related_type),
            Self::Struct(ty) => {
                // A struct without a base has `None` here, which is not a hash.
                change(&mut ty.base);
                for member in &mut ty.members {
                    change(&mut member.ty);
                }
            }
            Self::Union(ty) => {
                change(&mut ty.discriminator);
                for member in &mut ty.members {
                    change(&mut member.ty);
                }
            }
            Self::Sequence(ty) => change(&mut ty.element.ty),
            Self::Array(ty) => change(&mut ty.element.ty),
            Self::Map(ty) => {
                change(&mut ty.key.ty);
                change(&mut ty.element.ty);
            }
            // Literals and flags have numbers, and a bitfield holds a primitive: no identifier.
            Self::Enum(_) | Self::Bitmask(_) | Self::Bitset(_) => {}
        }
    }

    /// Calls `visit` with each identifier in the definition.
    fn for_each_id<'a>(&'a self, visit: &mut dyn FnMut(&'a TypeIdentifier)) {
        match self {
            Self::Alias(ty) => visit(&ty.related_type),
            Self::Struct(ty) => {
                visit(&ty.base);
                for member in &ty.members {
                    visit(&member.ty);
                }
            }
            Self::Union(ty) => {
                visit(&ty.discriminator);
                for member in &ty.members {
                    visit(&member.ty);
                }
            }
            Self::Sequence(ty) => visit(&ty.element.ty),
            Self::Array(ty) => visit(&ty.element.ty),
            Self::Map(ty) => {
                visit(&ty.key.ty);
                visit(&ty.element.ty);
            }
            Self::Enum(_) | Self::Bitmask(_) | Self::Bitset(_) => {}
        }
    }

    /// Calls `visit` with each type that it refers to by a hash.
    pub fn for_each_hash<'a>(&'a self, visit: &mut dyn FnMut(&'a TypeIdentifier)) {
        self.for_each_id(&mut |id| id.for_each_hash(visit));
    }
}

record! {
    final_ AliasType<F> { flags [detail] [related_flags related_type related_detail] }
    final_ StructType<F> { flags [base detail] members }
    appendable StructMember<F> { id flags ty detail }
    final_ UnionType<F> { flags [detail] [discriminator_flags discriminator discriminator_detail] members }
    appendable UnionMember<F> { id flags ty labels detail }
    final_ EnumType<F> { flags [bit_bound detail] literals }
    appendable EnumLiteral<F> { common detail }
    appendable CommonLiteral { value flags }
    appendable BitmaskType<F> { flags [bit_bound detail] bitflags }
    appendable Bitflag<F> { position flags detail }
    appendable BitsetType<F> { flags [detail] fields }
    appendable Bitfield<F> { position flags bit_count holder detail }
    final_ SequenceType<F> { flags [bound detail] element }
    final_ MapType<F> { flags [bound detail] key element }
    appendable CollectionElement<F> { flags ty detail }
}

impl<F: Form> ArrayType<F> {
    fn encode_members(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.flags.encode(e)?;
        // The header of an array is appendable in both forms, unlike the array around it.
        e.appendable(|e| {
            self.bounds.encode(e)?;
            self.detail.encode(e)
        })?;
        self.element.encode(e)
    }

    fn decode_members(d: &mut Decoder<'_>) -> Result<Self, DecodeError> {
        let flags = Decode::decode(d)?;
        // A later version may append members to the header. The decoder skips them.
        let (bounds, detail) = d.appendable(|d| Ok((Decode::decode(d)?, Decode::decode(d)?)))?;
        Ok(Self { flags, bounds, detail, element: Decode::decode(d)? })
    }
}

/// In annex B the complete form is appendable, the minimal form final.
impl<F: Form> Encode for ArrayType<F> {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        match F::EQUIVALENCE {
            // Annex B declares the minimal array final and the complete one appendable.
            super::Equivalence::Minimal => self.encode_members(e),
            _ => e.appendable(|e| self.encode_members(e)),
        }
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de, F: Form> Decode<'de> for ArrayType<F> {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        match F::EQUIVALENCE {
            super::Equivalence::Minimal => Self::decode_members(d),
            _ => d.appendable(|d| Self::decode_members(d)),
        }
    }
}

impl Encode for PrimitiveType {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        (*self as u8).encode(e)
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de> Decode<'de> for PrimitiveType {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let kind = u8::decode(d)?;
        match Self::from_kind(kind) {
            Some(primitive) => Ok(primitive),
            None => Err(d.error(DecodeErrorKind::UnknownDiscriminator { value: kind.into() })),
        }
    }
}

macro_rules! definitions {
    ($($kind:literal $variant:ident)+) => {
        impl<F: Form> Encode for TypeDefinition<F> {
            fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                match self {
                    $(Self::$variant(ty) => {
                        // The kind discriminates a union of the standard, so it precedes the definition.
                        <u8 as Encode>::encode(&$kind, e)?;
                        ty.encode(e)
                    })+
                }
            }

            fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                self.encode(e)
            }
        }

        impl<'de, F: Form> Decode<'de> for TypeDefinition<F> {
            fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
                match u8::decode(d)? {
                    $($kind => Decode::decode(d).map(Self::$variant),)+
                    // Also for annotation types, to which no supported definition refers.
                    other => Err(d.error(DecodeErrorKind::UnknownDiscriminator { value: other.into() })),
                }
            }
        }
    };
}

definitions! {
    0x30 Alias 0x40 Enum 0x41 Bitmask 0x51 Struct 0x52 Union 0x53 Bitset 0x60 Sequence 0x61 Array 0x62 Map
}

impl Encode for TypeObject {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        // The union is appendable, so the hash covers its DHEADER.
        e.appendable(|e| match self {
            Self::Minimal(definition) => {
                EK_MINIMAL.encode(e)?;
                definition.encode(e)
            }
            Self::Complete(definition) => {
                EK_COMPLETE.encode(e)?;
                definition.encode(e)
            }
        })
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de> Decode<'de> for TypeObject {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        d.appendable(|d| match u8::decode(d)? {
            EK_MINIMAL => Decode::decode(d).map(Self::Minimal),
            EK_COMPLETE => Decode::decode(d).map(Self::Complete),
            // A kind of a later version of the standard, whose length is not known here.
            other => Err(d.error(DecodeErrorKind::UnknownDiscriminator { value: other.into() })),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::xtypes::PlainElement;

    /// The expected hash is that of `ShapeType` of the shapes demo, with `sequence<uint8> additional_payload_size` at
    /// its end. Cyclone DDS announces it in `dds-rtps/tests/vectors/cyclone_xcdr2_reliable_dispose.pcap`.
    #[test]
    fn minimal_shape_type_has_hash_of_cyclone() {
        let member = |id, name: &str, ty, flags: MemberFlags| StructMember::<Minimal> {
            id,
            flags: flags.union(MemberFlags(1)),
            ty,
            detail: Minimal::of_member(name),
        };
        let long = || TypeIdentifier::Primitive(PrimitiveType::Int32);
        let element = PlainElement::new(MemberFlags(1), TypeIdentifier::Primitive(PrimitiveType::UInt8));
        let bytes = TypeIdentifier::Sequence { bound: 0, element: Box::new(element) };
        let shape = TypeObject::Minimal(TypeDefinition::Struct(StructType {
            flags: TypeFlags::APPENDABLE,
            base: TypeIdentifier::None,
            detail: Minimal::of_type("ShapeType"),
            members: vec![
                member(0, "color", TypeIdentifier::String8 { bound: 128 }, MemberFlags::KEY),
                member(1, "x", long(), MemberFlags::NONE),
                member(2, "y", long(), MemberFlags::NONE),
                member(3, "shapesize", long(), MemberFlags::NONE),
                member(4, "additional_payload_size", bytes, MemberFlags::NONE),
            ],
        }));
        let expected = [0x1e, 0x42, 0x67, 0x89, 0x95, 0x7c, 0xe8, 0x58, 0xcf, 0xdf, 0x31, 0x91, 0xa5, 0x89];
        assert_eq!(shape.identifier(), Ok(TypeIdentifier::Minimal(EquivalenceHash(expected))));
        assert_eq!(TypeObject::from_bytes(&shape.to_bytes().unwrap()), Ok(shape));
    }
}
