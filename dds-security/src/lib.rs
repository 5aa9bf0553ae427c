//! Plugins of DDS Security as state machines: bytes and keys come in, bytes and decisions go out.
//!
//! The crate has no sockets, threads and clocks. `dds-core` uses it with its feature `security`.
//!
//! - [`crypto`]: the plugin DDS:Crypto:AES-GCM-GMAC, with key material, session keys, and the protection of payloads,
//!   submessages and messages.
//! - [`psk`]: protection of all messages of a domain with a pre-shared key.
//! - `access` (feature `access`): governance and permissions as documents, and the rule that decides.
//! - `authentication` (feature `authentication`): the handshake by which participants prove their identities.
//! - `keystore` (feature `keystore`): the files of a fleet, made and checked.
//! - `pki` (feature `pki`): certificates, and the signatures of these documents.
//!
//! All of it is safe Rust. By default, all cryptography comes from the RustCrypto crates, which need no C compiler.
//! Secrets are overwritten when they are dropped, and no `Debug` shows them.
//!
//! # Features
//!
#![cfg_attr(feature = "document-features", doc = document_features::document_features!())]
#![cfg_attr(not(feature = "document-features"), doc = "`Cargo.toml` of this crate describes them.")]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(all(feature = "graviola", not(any(target_arch = "x86_64", target_arch = "aarch64"))))]
compile_error!("the feature `graviola` supports x86-64 and AArch64: use the feature `ring` for other processors");

#[cfg(feature = "access")]
pub mod access;
#[cfg(feature = "authentication")]
pub mod authentication;
pub mod crypto;
#[cfg(feature = "keystore")]
pub mod keystore;
#[cfg(feature = "pki")]
pub mod pki;
pub mod psk;

/// The README, so that its examples are tested.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
