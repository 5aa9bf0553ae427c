//! Real-time publish/subscribe (DDS) in pure Rust over the open RTPS wire protocol.

#[doc(hidden)]
pub mod actor;
#[doc(hidden)]
pub mod driver;
mod sync;
