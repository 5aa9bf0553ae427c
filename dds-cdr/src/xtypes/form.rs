//! The minimal and the complete description of a type (XTYPES 1.3, 7.3.4.1).

use super::annotation::{AppliedAnnotation, MemberAnnotations, TypeAnnotations};
use super::identifier::{Equivalence, EquivalenceHash, TypeIdentifier};
use super::object::{TypeDefinition, TypeObject};
use super::record::record;
use crate::cdr::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use std::fmt::Debug;

/// Form of a [`TypeDefinition`](super::TypeDefinition): [`Minimal`] or [`Complete`]. Sealed.
pub trait Form: Copy + Debug + PartialEq + Eq + sealed::Sealed + 'static {
    /// The equivalence kind of this form.
    const EQUIVALENCE: Equivalence;
    /// Details of a type apart from its members.
    type Type: Detail;
    /// Details of a member apart from its type.
    type Member: Detail;
    /// Details of an element, a key or the target of an alias apart from its type.
    type Element: Detail;
    /// Details of a discriminator apart from its type.
    type Discriminator: Detail;
    /// Details of a sequence or a map apart from its elements.
    type Collection: Detail;

    /// The name of a type with this detail.
    fn type_name(detail: &Self::Type) -> Option<&str>;
    /// The name of a member with this detail.
    fn member_name(detail: &Self::Member) -> Option<&str>;
    /// The hash of the name of a member with this detail.
    fn name_hash(detail: &Self::Member) -> NameHash;
    /// The detail of a type called `name`.
    fn of_type(name: &str) -> Self::Type;
    /// The detail of a member called `name`.
    fn of_member(name: &str) -> Self::Member;
    /// The detail of a member with these annotations.
    fn with_annotations(detail: Self::Member, annotations: Option<Box<MemberAnnotations>>) -> Self::Member;
    /// The TypeObject of a definition in this form.
    fn object(definition: TypeDefinition<Self>) -> TypeObject;
    /// The definition, if the TypeObject has this form.
    fn definition(object: &TypeObject) -> Option<&TypeDefinition<Self>>;
    /// The identifier of a type with this hash.
    #[must_use]
    fn identifier(hash: EquivalenceHash) -> TypeIdentifier {
        TypeIdentifier::of_hash(Self::EQUIVALENCE, hash)
    }
}

/// Details of a part of a type in one form.
pub trait Detail: Clone + Debug + PartialEq + Eq + Default + Encode + for<'de> Decode<'de> {}
impl<T: Clone + Debug + PartialEq + Eq + Default + Encode + for<'de> Decode<'de>> Detail for T {}

/// The description that assignability checks use: hashes of names, no annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Minimal;

/// The description with all names and annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Complete;

/// The first four bytes of the MD5 of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct NameHash(pub [u8; 4]);

/// No details.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Nothing;

/// The name and annotations of a type (CompleteTypeDetail).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypeDetail {
    /// Annotations that the standard defines.
    pub builtin_annotations: Option<Box<TypeAnnotations>>,
    /// User-defined annotations.
    pub custom_annotations: Option<Vec<AppliedAnnotation>>,
    /// The qualified name: `sensors::Reading`.
    pub name: String,
}

/// The name and annotations of a member or literal (CompleteMemberDetail).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemberDetail {
    /// The name.
    pub name: String,
    /// Annotations that the standard defines.
    pub builtin_annotations: Option<Box<MemberAnnotations>>,
    /// User-defined annotations.
    pub custom_annotations: Option<Vec<AppliedAnnotation>>,
}

/// The annotations of an element, a key or the target of an alias (CompleteElementDetail).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ElementDetail {
    /// Annotations that the standard defines.
    pub builtin_annotations: Option<Box<MemberAnnotations>>,
    /// User-defined annotations.
    pub custom_annotations: Option<Vec<AppliedAnnotation>>,
}

/// The annotations of a discriminator.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiscriminatorDetail {
    /// Annotations that the standard defines.
    pub builtin_annotations: Option<Box<TypeAnnotations>>,
    /// User-defined annotations.
    pub custom_annotations: Option<Vec<AppliedAnnotation>>,
}

/// The name and annotations of a collection, which may be absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CollectionDetail {
    /// The name and annotations.
    pub detail: Option<TypeDetail>,
}

impl NameHash {
    /// The hash of `name`.
    #[must_use]
    pub fn of(name: &str) -> Self {
        // Four bytes are enough to tell the members of one type apart.
        let [a, b, c, d, ..] = md5::compute(name).0;
        Self([a, b, c, d])
    }
}

impl Form for Minimal {
    const EQUIVALENCE: Equivalence = Equivalence::Minimal;
    type Type = Nothing;
    type Member = NameHash;
    type Element = Nothing;
    type Discriminator = Nothing;
    type Collection = Nothing;

    fn type_name(_: &Nothing) -> Option<&str> {
        None
    }

    fn member_name(_: &NameHash) -> Option<&str> {
        None
    }

    fn name_hash(detail: &NameHash) -> NameHash {
        *detail
    }

    fn of_type(_: &str) -> Nothing {
        // Names of types do not affect assignability, so the minimal form has none.
        Nothing
    }

    fn of_member(name: &str) -> NameHash {
        NameHash::of(name)
    }

    fn with_annotations(detail: NameHash, _: Option<Box<MemberAnnotations>>) -> NameHash {
        // Units, ranges and other annotations do not affect assignability.
        detail
    }

    fn object(definition: TypeDefinition<Self>) -> TypeObject {
        TypeObject::Minimal(definition)
    }

    fn definition(object: &TypeObject) -> Option<&TypeDefinition<Self>> {
        match object {
            TypeObject::Minimal(definition) => Some(definition),
            TypeObject::Complete(_) => None,
        }
    }
}

impl Form for Complete {
    const EQUIVALENCE: Equivalence = Equivalence::Complete;
    type Type = TypeDetail;
    type Member = MemberDetail;
    type Element = ElementDetail;
    type Discriminator = DiscriminatorDetail;
    type Collection = CollectionDetail;

    fn type_name(detail: &TypeDetail) -> Option<&str> {
        Some(&detail.name)
    }

    fn member_name(detail: &MemberDetail) -> Option<&str> {
        Some(&detail.name)
    }

    fn name_hash(detail: &MemberDetail) -> NameHash {
        // Computed at each call, because only checks of assignability need the hash.
        NameHash::of(&detail.name)
    }

    fn of_type(name: &str) -> TypeDetail {
        TypeDetail { name: name.to_owned(), ..TypeDetail::default() }
    }

    fn of_member(name: &str) -> MemberDetail {
        MemberDetail { name: name.to_owned(), ..MemberDetail::default() }
    }

    fn with_annotations(detail: MemberDetail, builtin_annotations: Option<Box<MemberAnnotations>>) -> MemberDetail {
        MemberDetail { builtin_annotations, ..detail }
    }

    fn object(definition: TypeDefinition<Self>) -> TypeObject {
        TypeObject::Complete(definition)
    }

    fn definition(object: &TypeObject) -> Option<&TypeDefinition<Self>> {
        match object {
            TypeObject::Complete(definition) => Some(definition),
            TypeObject::Minimal(_) => None,
        }
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Minimal {}
    impl Sealed for super::Complete {}
}

record! {
    final_ TypeDetail { ?builtin_annotations ?custom_annotations name }
    final_ MemberDetail { name ?builtin_annotations ?custom_annotations }
    final_ ElementDetail { ?builtin_annotations ?custom_annotations }
    final_ DiscriminatorDetail { ?builtin_annotations ?custom_annotations }
    final_ CollectionDetail { ?detail }
}

impl Encode for Nothing {
    fn encode(&self, _: &mut Encoder<'_>) -> Result<(), EncodeError> {
        // The standard keeps these details as empty final structs, which have no bytes.
        Ok(())
    }

    fn encode_key(&self, _: &mut Encoder<'_>) -> Result<(), EncodeError> {
        Ok(())
    }
}

impl<'de> Decode<'de> for Nothing {
    fn decode(_: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self)
    }
}

impl Encode for NameHash {
    fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        // The hash is an array of octets, so no length precedes it.
        e.bytes(&self.0);
        Ok(())
    }

    fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
        self.encode(e)
    }
}

impl<'de> Decode<'de> for NameHash {
    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        <[u8; 4]>::decode(d).map(Self)
    }
}
