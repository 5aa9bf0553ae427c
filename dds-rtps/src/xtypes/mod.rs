//! Types as data: their names, what they are made of, and whether one fits the other (XTYPES 1.3, 7.2.4, 7.3.4 and annex B).
//!
//! In: descriptions of our own types, bytes of strangers. Out: names and TypeObjects, and what they are in bytes. Nothing is
//! owned beyond a call.
//!
//! | file | in | out |
//! |---|---|---|
//! | `identifier` | | names of types: what they are, or a hash of that |
//! | `flags`, `form`, `annotation` | | what is said of types and members, in the minimal and the complete description |
//! | `object` | bytes | TypeObjects, and the way back |
//! | `information` | bytes | what endpoints announce of their types, and the way back |
//! | `graph`, `definition` | descriptions of our own types | their TypeObjects, and those of all that is in them |
//! | `record` | | how structs of annex B lie in the bytes |

mod annotation;
mod definition;
mod flags;
mod form;
mod graph;
mod identifier;
mod information;
mod object;
mod record;

pub use annotation::{
    AnnotationParameter, AnnotationValue, AppliedAnnotation, MemberAnnotations, TypeAnnotations, Verbatim,
};
pub use flags::{MemberFlags, TypeFlags};
pub use form::{
    CollectionDetail, Complete, Detail, DiscriminatorDetail, ElementDetail, Form, MemberDetail, Minimal, NameHash,
    Nothing, TypeDetail,
};
pub use graph::{GraphType, Indescribable, TypeGraph};
pub use identifier::{ComponentId, Equivalence, EquivalenceHash, PlainElement, Primitive, TypeIdentifier};
pub use information::{TypeInformation, TypeWithDependencies, TypeWithSize};
pub use object::{
    AliasType, ArrayType, Bitfield, Bitflag, BitmaskType, BitsetType, CollectionElement, CommonLiteral,
    CompleteTypeObject, EnumLiteral, EnumType, MapType, MinimalTypeObject, SequenceType, StructMember, StructType,
    TypeDefinition, TypeObject, UnionMember, UnionType,
};
