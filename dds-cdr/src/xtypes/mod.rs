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
//! | `consistency` | | the reader's policy |
//! | `assignable`, `compatible`, `difference` | the types of a reader and a writer, the reader's policy | whether they fit, and if not, in what they differ |
//! | `store` | our types, descriptions by others | the types that are known |
//! | `dynamic` | complete TypeObjects | types that are made at run time (feature `dynamic`) |
//! | `record` | | how structs of annex B lie in the bytes |

mod annotation;
mod assignable;
mod compatible;
mod consistency;
mod definition;
mod difference;
#[cfg(feature = "dynamic")]
mod dynamic;
mod flags;
mod form;
mod graph;
mod identifier;
mod information;
mod object;
mod record;
mod store;

pub use annotation::{
    AnnotationParameter, AnnotationValue, AppliedAnnotation, MemberAnnotations, TypeAnnotations, Verbatim,
};
pub use assignable::{Mismatch, TypeSource, check_assignable};
pub use consistency::{TypeConsistency, TypeConsistencyKind};
pub use difference::{TypeDifference, TypeDifferenceKind};
#[cfg(feature = "dynamic")]
pub use dynamic::dynamic_type_of;
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
pub use store::{OTHERS_BYTES_MAX, PARTICIPANT_BYTES_MAX, Refused, SourceId, TypeStore};

#[cfg(test)]
mod tests;
