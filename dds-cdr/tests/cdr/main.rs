//! Bytes of types and samples against what other implementations write.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod type_objects;
