//! Types and values that are known at run time only (XTYPES 1.3, 7.5).
//!
//! In: descriptions of types, from builders, derives or peers; payloads. Out: values with access to their parts by
//! name; payloads. Owned: a type is a graph that is checked once and shared. A value owns its data.
//!
//! - [`DynamicType`] with its builders ([`StructBuilder`] and others), and [`TypeError`] for invalid types.
//! - [`DynamicData`], and [`DynamicRef`] for a part of it. A [`MemberPath`] selects a part.
//!   [`Input`] and [`FromDynamic`] convert values of your program. [`DataError`] reports failed access.
//! - `encode`, `decode`: XCDR1 and XCDR2, driven by a type.

mod access;
mod assembler;
mod builder;
mod check;
mod convert;
mod data;
mod decode;
mod describe;
mod dynamic_type;
mod edit;
mod encode;
mod error;
mod fields;
mod format;
mod graph;
mod idl;
#[doc(hidden)]
pub mod idl_text;
mod input;
mod key;
mod merge;
mod output;
mod path;
#[cfg(feature = "serde")]
mod serialize;
mod type_equality;
mod value;
mod value_equality;
mod view;

pub use builder::{
    BitmaskBuilder, BitsetBuilder, CollectionBuilder, EnumBuilder, StructBuilder, TypeDraft, UnionBuilder,
};
pub use data::DynamicData;
pub use dynamic_type::{DynamicCase, DynamicKind, DynamicMember, DynamicType};
pub use error::{DataError, TypeError};
pub use graph::PrimitiveKind;
pub use input::Input;
pub use output::{FromDynamic, PrimitiveKindOf};
pub use path::{MemberId, MemberPath};
pub use view::DynamicRef;

#[cfg(test)]
mod tests;
