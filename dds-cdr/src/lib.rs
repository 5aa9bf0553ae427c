//! Serialized samples of DDS topics, type descriptions, and content filters. Independent of RTPS.
//!
//! | room | owns |
//! |---|---|
//! | [`cdr`] | encoders, decoders and the XCDR1/XCDR2 encodings |
//! | [`xtypes`] | types as data, and their assignability |
//! | [`filter`] | content filters: expressions, and programs that run on encoded samples |
//!
//! [`xtypes`] and [`filter`] use [`cdr`], but not each other.
//!
//! Applications depend on `dds-core`, which re-exports the relevant items of this crate.
//!
//! # Features
//!
#![cfg_attr(feature = "document-features", doc = document_features::document_features!())]
#![cfg_attr(not(feature = "document-features"), doc = "`Cargo.toml` of this crate describes them.")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod cdr;
/// The module that the code of `#[derive(DdsType)]` names.
#[doc(hidden)]
pub mod __private {
    pub use crate::cdr;
}
pub mod filter;
mod instance_handle;
#[doc(hidden)]
pub mod similar;
pub mod xtypes;

pub use instance_handle::InstanceHandle;

// The code that `#[derive(DdsType)]` generates for test types names this crate.
#[cfg(test)]
extern crate self as dds_cdr;
