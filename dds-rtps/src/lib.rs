//! The RTPS 2.5 protocol as pure state machines over bytes and time.
//!
//! In: datagrams, the application's changes, the current time, a seed. Out: [`output::Datagram`]s to send, events, and
//! the instant of the next deadline. No socket, thread, clock or global randomness in any room but [`transport`].
//!
//! The rooms, in the order in which one may use the other (a room uses only rooms named before it):
//!
//! | room | owns |
//! |---|---|
//! | [`types`] | identifiers, times, locators |
//! | [`cdr`] | cursors and the XCDR1/XCDR2 encodings |
//! | [`qos`] | policies, QoS structs, requested/offered matching |
//! | [`wire`] | submessages: parse and build |
//! | [`history`] | payload slots, changes, the writer's and the reader's cache |
//! | [`output`] | what can come out: datagrams |
//! | [`writer`], [`reader`] | the RTPS writers and readers |
//! | [`discovery`] | SPDP, SEDP, leases, matching |
//! | [`participant`] | a participant's protocol state as a whole |
//! | [`transport`] | moves datagrams; uses only [`types`] |
//! | `sim` (feature) | a network in memory, for simulations; uses only [`types`] |
//!
//! Applications depend on `dds-core`, which re-exports what they need of this crate.

pub mod cdr;
pub mod discovery;
pub mod history;
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
