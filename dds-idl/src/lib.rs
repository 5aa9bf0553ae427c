//! Types of DDS topics from text: IDL 4.2 and ROS interface files in, resolved types and type hashes out.
//!
//! A front end reads text and creates a [`model::Specification`]. A back end only reads it. Both sides know the model
//! and nothing of each other, except that messages of ROS have code of their own.
//!
//! | room | in | out |
//! |---|---|---|
//! | [`idl`] | IDL 4.2 | a specification |
//! | [`model`] | | resolved types, constants and annotations; sources, spans and diagnostics |
//! | [`mod@print`] | a specification | IDL 4.2, XML types, JSON Schema |
//! | [`ros`] | `.msg`, `.srv`, `.action` | interfaces, type hashes, `.idl` text |
//! | `xml` | XML types (feature `xml`) | a specification |
//! | [`service`] | a specification with services | the same, with their request and reply types |
//! | [`rust`] | a specification, or interfaces of [`ros`] | Rust code |
//! | [`description`] | a specification | TypeObjects with their hashes, and dynamic types; uses [`rust`] |
//!
//! A build script uses [`Builder`].

mod builder;
pub mod description;
pub mod idl;
pub mod model;
pub mod print;
pub mod ros;
pub mod rust;
pub mod service;
#[cfg(feature = "xml")]
pub mod xml;

pub use builder::{BuildError, Builder};
