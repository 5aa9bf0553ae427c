//! Samples of DDS topics as bytes, their types as data, and filters over both. Knows nothing of RTPS.
//!
//! | room | owns |
//! |---|---|
//! | [`cdr`] | cursors and the XCDR1/XCDR2 encodings |
//! | [`xtypes`] | types as data, whether one fits the other |
//! | [`filter`] | content filters: expressions, and programs that run on encoded samples |
//!
//! [`xtypes`] and [`filter`] use [`cdr`], and not each other.
//!
//! Applications depend on `dds-core`, which re-exports what they need of this crate.

pub mod cdr;
pub mod filter;
mod instance_handle;
#[doc(hidden)]
pub mod similar;
pub mod xtypes;

pub use instance_handle::InstanceHandle;

// What the derive writes for the types in tests names this crate.
#[cfg(test)]
extern crate self as dds_cdr;
