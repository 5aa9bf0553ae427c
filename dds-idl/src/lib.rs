//! Types of DDS topics from text: IDL 4.2 and ROS interface files in, resolved types and type hashes out.
//!
//! A front end reads text and creates a [`model::Specification`]. A back end only reads it. Both sides know the model
//! and nothing of each other, except that messages of ROS have code of their own. [`packages`] uses both readers of
//! interfaces of ROS.
//!
//! | room | in | out |
//! |---|---|---|
//! | [`idl`] | IDL 4.2 | a specification |
//! | [`model`] | | resolved types, constants and annotations; sources, spans and diagnostics |
//! | [`mod@print`] | a specification | IDL 4.2, XML types, JSON Schema |
//! | [`ros`] | `.msg`, `.srv`, `.action` | interfaces, type hashes, `.idl` text |
//! | [`packages`] | names of interfaces, folders of packages | interfaces with all that they need |
//! | `xml` | XML types (feature `xml`) | a specification |
//! | [`service`] | a specification with services | the same, with their request and reply types |
//! | [`rust`] | a specification, or interfaces of [`ros`] | Rust code |
//! | [`description`] | a specification | TypeObjects with their hashes, and dynamic types; uses [`rust`] |
//!
//! A build script uses [`Builder`]. A program that reads its types at run time uses the rooms:
//!
//! ```
//! use dds_idl::description::{DescriptionForm, dynamic_type, type_graph};
//! use dds_idl::idl::{Options, parse_text};
//!
//! let text = "module robot { struct Pose { @key long id; double x, y; }; };";
//! let specification = parse_text("robot.idl", text, &Options::default())?;
//! let id = specification.find("robot::Pose").ok_or("no such type")?;
//! // Its values are `DynamicData`, and a topic can have it as its type.
//! let pose = dynamic_type(&specification, id).map_err(|errors| errors.render(&specification.sources, false))?;
//! assert_eq!(pose.name(), "robot::Pose");
//! // The hashes that the program announces to its peers.
//! let graph = type_graph(&specification, id, DescriptionForm::Standard)
//!     .map_err(|errors| errors.render(&specification.sources, false))?;
//! assert_eq!(graph.types()[0].minimal_id.to_string().len(), 28);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! An error names the file, the line and the column, and suggests a correction:
//!
//! ```
//! use dds_idl::idl::{Options, parse_text};
//!
//! let error = parse_text("robot.idl", "struct Pose { duble x; };", &Options::default()).unwrap_err();
//! assert!(error.to_string().contains("help: did you mean `double`?"));
//! ```
//!
//! # Features
//!
#![cfg_attr(feature = "document-features", doc = document_features::document_features!())]
#![cfg_attr(not(feature = "document-features"), doc = "`Cargo.toml` of this crate describes them.")]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod builder;
pub mod description;
pub mod idl;
pub mod model;
pub mod packages;
pub mod print;
pub mod ros;
pub mod rust;
pub mod service;
#[cfg(feature = "xml")]
pub mod xml;

pub use builder::{BuildError, Builder};
