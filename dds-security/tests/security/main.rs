//! Keys, messages, documents, certificates and handshakes, also with files and messages of other vendors.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

#[cfg(feature = "access")]
mod access;
mod allocations;
#[cfg(feature = "authentication")]
mod authentication;
mod captured;
#[cfg(feature = "authentication")]
mod handshake_model;
#[cfg(feature = "keystore")]
mod keystore;
mod message;
#[cfg(all(feature = "keystore", feature = "pkcs11"))]
mod pkcs11;
#[cfg(feature = "pki")]
mod pki;
mod psk;
#[cfg(all(feature = "keystore", feature = "pkcs11"))]
#[path = "../soft_hsm/mod.rs"]
mod soft_hsm;
