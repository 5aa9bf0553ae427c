//! The RTPS 2.5 protocol as pure state machines over bytes and time.
//!
//! In: datagrams, the application's changes, the current time, a seed. Out: [`output::Datagram`]s to send, events, and
//! the instant of the next deadline. No socket, thread, clock or global randomness in any room but [`transport`].
//!
//! The rooms, in the order of their dependencies: a room uses only rooms above it.
//!
//! | room | owns |
//! |---|---|
//! | [`cdr`], [`xtypes`], [`filter`] | the crate `dds-cdr`: encodings, types as data, content filters |
//! | [`types`] | identifiers, times, locators |
//! | [`qos`] | policies, QoS structs, requested/offered matching |
//! | [`wire`] | submessages: parse and build |
//! | [`concurrent`] | objects that several threads use at once: payload slots, links between local endpoints |
//! | [`history`] | changes, the writer's and the reader's cache |
//! | [`output`] | datagrams to send |
//! | [`writer`], [`reader`] | the RTPS writers and readers |
//! | [`discovery`] | SPDP, SEDP, leases, matching |
//! | [`participant`] | discovery of one participant as a whole |
//! | [`link`] | delay, loss and damage of a network path, for tests; uses only [`types`] |
//! | [`transport`] | sends and receives datagrams; uses only [`types`], [`output`] and [`link`] |
//! | `sim` (feature) | a network in memory, for simulations; uses only [`types`] and [`link`] |
//!
//! Applications depend on `dds-core`, which re-exports the parts of this crate that they need. For another use of the
//! protocol (a recorder, a gateway, another runtime), start with [`wire::Message`] for datagrams and with [`cdr`] for
//! payloads:
//!
//! ```
//! use dds_rtps::wire::{Message, Submessage};
//!
//! // A header of RTPS 2.5, and an INFO_TS without a timestamp: its flags are "little endian" and "invalid".
//! let mut datagram = b"RTPS\x02\x05\x01\x10".to_vec();
//! datagram.extend([0; 12]); // the prefix of the sender's GUIDs
//! datagram.extend([0x09, 0b11, 0, 0]);
//! let message = Message::parse(&datagram)?;
//! for submessage in message.submessages() {
//!     assert!(matches!(submessage?, Submessage::InfoTimestamp(_)));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Features
//!
#![cfg_attr(feature = "document-features", doc = document_features::document_features!())]
#![cfg_attr(not(feature = "document-features"), doc = "`Cargo.toml` of this crate describes them.")]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod concurrent;
pub mod discovery;
pub mod history;
pub mod link;
pub mod output;
pub mod participant;
pub mod qos;
pub mod reader;
#[cfg(feature = "sim")]
pub mod sim;
pub mod transport;
pub mod types;
pub mod wire;
pub mod writer;

pub use dds_cdr::{cdr, filter, xtypes};

/// The module that the code of `#[derive(DdsType)]` names.
#[doc(hidden)]
pub mod __private {
    pub use dds_cdr::cdr;
}

// The contract tests of transports are shared with other crates, so they name this crate `dds_rtps`.
#[cfg(test)]
extern crate self as dds_rtps;
