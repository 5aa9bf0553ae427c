//! Types as data: identifiers, TypeObjects and assignability (XTYPES 1.3, 7.2.4, 7.3.4 and annex B).
//!
//! In: descriptions of local types, and untrusted bytes. Out: type identifiers and TypeObjects, and their encodings.
//! Only the `store` owns data beyond a call.
//!
//! | file | in | out |
//! |---|---|---|
//! | `identifier` | | type identifiers: a full description or a hash |
//! | `flags`, `form`, `annotation` | | properties of types and members in both descriptions |
//! | `object` | bytes | TypeObjects, and their bytes |
//! | `information` | bytes | TypeInformation of endpoints, and its bytes |
//! | `graph`, `definition` | descriptions of local types | their TypeObjects and all dependencies |
//! | `graph_builder`, `minimal` | complete TypeObjects without hashes | their hashes, and minimal TypeObjects |
//! | `consistency` | | the reader's policy |
//! | `assignable`, `compatible`, `difference` | types of reader and writer, policy | assignable, or the first difference |
//! | `store` | local types, descriptions by peers | the known types |
//! | `dynamic` | complete TypeObjects | types created at run time (feature `dynamic`) |
//! | `dynamic_graph` | types created at run time | their TypeObjects (feature `dynamic`) |
//! | `record` | | layout of the structs of annex B |

mod annotation;
mod assignable;
mod compatible;
mod consistency;
mod definition;
mod difference;
#[cfg(feature = "dynamic")]
mod dynamic;
#[cfg(feature = "dynamic")]
mod dynamic_graph;
mod flags;
mod form;
mod graph;
mod graph_builder;
mod identifier;
mod information;
mod minimal;
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
pub use dynamic::{dynamic_type_of, dynamic_type_with_defaults};
pub use flags::{MemberFlags, TypeFlags};
pub use form::{
    CollectionDetail, Complete, Detail, DiscriminatorDetail, ElementDetail, Form, MemberDetail, Minimal, NameHash,
    Nothing, TypeDetail,
};
pub use graph::{GraphType, Indescribable, TypeGraph};
pub use graph_builder::TypeGraphBuilder;
pub use identifier::{ComponentId, Equivalence, EquivalenceHash, PlainElement, PrimitiveType, TypeIdentifier};
pub use information::{TypeInformation, TypeWithDependencies, TypeWithSize};
pub use object::{
    AliasType, ArrayType, Bitfield, Bitflag, BitmaskType, BitsetType, CollectionElement, CommonLiteral,
    CompleteTypeObject, EnumLiteral, EnumType, MapType, MinimalTypeObject, SequenceType, StructMember, StructType,
    TypeDefinition, TypeObject, UnionMember, UnionType,
};
pub use store::{OTHERS_BYTES_MAX, PARTICIPANT_BYTES_MAX, SourceId, TypeObjectRefused, TypeStore};

#[cfg(test)]
mod tests;
