//! Other implementations of DDS, and programs that read our captures. Most tests need such a program: see `.ci/run`.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod fast_dds;
mod interop_cyclone;
#[cfg(feature = "security-pki")]
#[path = "../support/keystore.rs"]
mod keystore;
mod old_cyclone;
#[cfg(feature = "security-pki")]
mod secure_cyclone;
#[cfg(feature = "security-pki")]
mod secure_fast_dds;
#[cfg(feature = "security-pki")]
mod secure_peer;
#[cfg(feature = "security-pki")]
mod secure_zerodds;
#[path = "../support/mod.rs"]
mod support;
mod tap;
