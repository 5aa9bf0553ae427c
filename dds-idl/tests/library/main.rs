//! The library and its program with files of every form.

#![allow(clippy::unwrap_used, clippy::panic, reason = "in a test a panic is the report")]

mod description;
mod generated;
mod json_schema;
mod peer_values;
mod print;
#[cfg(feature = "cli")]
mod program;
mod ros_hashes;
mod ros_idl;
mod ros_packages;
mod rust;
mod service;
#[cfg(feature = "xml")]
mod xml;
