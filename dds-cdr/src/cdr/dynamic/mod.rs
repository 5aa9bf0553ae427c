//! Types and values that are known at run time alone (XTYPES 1.3, 7.5).
//!
//! In: descriptions of types, written down by a program, derived by it or received of peers; payloads. Out: values that are
//! looked at and changed by the names of their parts; payloads. Owned: a type is a graph that is checked once and shared; a
//! value holds what was put into it or received.
//!
//! - [`DynamicType`], its builders ([`StructBuilder`] and others), and [`TypeError`]: what is no type.
//! - [`DynamicData`], [`DynamicRef`] for a part of it, [`Path`] for the way there, [`Input`] and [`FromDynamic`] for what goes
//!   in and out, [`DataError`].
//! - `encode`, `decode`: XCDR1 and XCDR2 along a type.

mod access;
mod alike;
mod assembler;
mod builder;
mod check;
mod data;
mod decode;
mod describe;
mod dynamic_type;
mod edit;
mod encode;
mod equal;
mod error;
mod give;
mod graph;
mod idl;
mod input;
mod key;
mod output;
mod path;
#[cfg(feature = "serde")]
mod serialize;
mod show;
mod value;
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
pub use path::{MemberId, Path};
pub use view::DynamicRef;

#[cfg(test)]
mod tests;
