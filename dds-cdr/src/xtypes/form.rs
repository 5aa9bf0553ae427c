//! The two descriptions of a type, and what one says that the other does not (XTYPES 1.3, 7.3.4.1).

use super::annotation::{AppliedAnnotation, MemberAnnotations, TypeAnnotations};
use super::identifier::{Equivalence, EquivalenceHash, TypeIdentifier};
use super::object::{TypeDefinition, TypeObject};
use super::record::record;
use crate::cdr::{Decode, DecodeError, Decoder, Encode, EncodeError, Encoder};
use std::fmt::Debug;

/// Which description of a type a [`TypeDefinition`](super::TypeDefinition) is: [`Minimal`] or [`Complete`]. Sealed.
pub trait Form: Copy + Debug + PartialEq + Eq + sealed::Sealed + 'static {
    /// Which it is.
    const EQUIVALENCE: Equivalence;
    /// What is said of a type beside its members.
    type Type: Detail;
    /// What is said of a member beside its type.
    type Member: Detail;
    /// What is said of an element, a key or the target of an alias beside its type.
    type Element: Detail;
    /// What is said of a discriminator beside its type.
    type Discriminator: Detail;
    /// What is said of a sequence or a map beside its elements.
    type Collection: Detail;

    /// The name of a type with this detail.
    fn type_name(detail: &Self::Type) -> Option<&str>;
    /// The name of a member with this detail.
    fn member_name(detail: &Self::Member) -> Option<&str>;
    /// The hash of the name of a member with this detail.
    fn name_hash(detail: &Self::Member) -> NameHash;
    /// What is said of a type called `name`.
    fn of_type(name: &str) -> Self::Type;
    /// What is said of a member called `name`.
    fn of_member(name: &str) -> Self::Member;
    /// The same with annotations.
    fn with_annotations(detail: Self::Member, annotations: Option<Box<MemberAnnotations>>) -> Self::Member;
    /// A type in this description.
    fn object(definition: TypeDefinition<Self>) -> TypeObject;
    /// The type, if that is the description that there is of it.
    fn definition(object: &TypeObject) -> Option<&TypeDefinition<Self>>;
    /// The name of a type that has a hash.
    #[must_use]
    fn identifier(hash: EquivalenceHash) -> TypeIdentifier {
        TypeIdentifier::of_hash(Self::EQUIVALENCE, hash)
    }
}

/// What is said of a part of a type in one of the descriptions.
pub trait Detail: Clone + Debug + PartialEq + Eq + Default + Encode + for<'de> Decode<'de> {}
impl<T: Clone + Debug + PartialEq + Eq + Default + Encode + for<'de> Decode<'de>> Detail for T {}

/// The description that decides whether types fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Minimal;

/// The description with all names and annotations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Complete;

/// The first four bytes of the MD5 of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct NameHash(pub [u8; 4]);

/// Nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Nothing;

/// The name and annotations of a type (CompleteTypeDetail).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypeDetail {
    /// Those that the standard defines.
    pub builtin_annotations: Option<Box<TypeAnnotations>>,
    /// Those of users.
    pub custom_annotations: Option<Vec<AppliedAnnotation>>,
    /// With the modules that it is in: `sensors::Reading`.
    pub name: String,
}

/// The name and annotations of a member or literal (CompleteMemberDetail).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct MemberDetail {
    /// The name.
    pub name: String,
    /// Those that the standard defines.
    pub builtin_annotations: Option<Box<MemberAnnotations>>,
    /// Those of users.
    pub custom_annotations: Option<Vec<AppliedAnnotation>>,
}

/// The annotations of an element, a key or the target of an alias (CompleteElementDetail).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ElementDetail {
    /// Those that the standard defines.
    pub builtin_annotations: Option<Box<MemberAnnotations>>,
    /// Those of users.
    pub custom_annotations: Option<Vec<AppliedAnnotation>>,
}

/// The annotations of a discriminator.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DiscriminatorDetail {
    /// Those that the standard defines.
    pub builtin_annotations: Option<Box<TypeAnnotations>>,
    /// Those of users.
    pub custom_annotations: Option<Vec<AppliedAnnotation>>,
}

/// The name and annotations of a collection, which may be absent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CollectionDetail {
    /// Those.
    pub detail: Option<TypeDetail>,
}

impl NameHash {
    /// That of `name`.
    #[must_use]
    pub fn of(name: &str) -> Self {
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
        Nothing
    }

    fn of_member(name: &str) -> NameHash {
        NameHash::of(name)
    }

    fn with_annotations(detail: NameHash, _: Option<Box<MemberAnnotations>>) -> NameHash {
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
