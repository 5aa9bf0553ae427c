//! Messages between processes of one host, through shared memory.
//!
//! In: messages of any content and the identities of peers. Out: messages of peers, paths that come up and end, and the
//! reason for each refusal. Owned: sealed memory, sockets and the positions of the rings. This crate knows nothing of
//! DDS.
//!
//! | module | purpose |
//! |---|---|
//! | `config`, `reasons` | limits of a host; why a peer or a message is refused |
//! | `memory` | sealed memory that its owner writes and peers read |
//! | `descriptors` | the share of open files that a process may use |
//! | `ring` | messages, returned blocks, and the flag of a sleeping peer, in that memory |
//! | `pool` | blocks for large messages and for their content; their holders, in private memory |
//! | `handshake` | the messages that open a path, with descriptors |
//! | `host` | the public types: [`ShmHost`], [`ShmPath`], [`ShmReception`] |
//!
//! ```text
//!   process A                                        process B
//!   outbox of A  ──── read-only ────────────────────> reads messages, returned blocks, positions
//!   pool of A    ──── read-only ────────────────────> copies large messages, or keeps them in place
//!   reads      <───── read-only ──────────────────── outbox of B, pool of B
//!              <───── socket ──────────────────────> wakes the peer, only if it sleeps
//!                                                    the kernel reports the end of the peer
//! ```
//!
//! Each side writes only its own memory, and its decisions rest on private copies. Only the content of a message may
//! stay in the memory of a trusted peer ([`ShmMessage::keep`]). A peer that dies or breaks a rule can end its path and
//! hold a bounded number of blocks. It cannot make this process wait.
//!
//! The module `memory::mapping` is the only unsafe code: it maps files, and copies. It shows own bytes, and those of
//! trusted peers, in place.
//!
//! On other systems than Linux, [`ShmHost::new`] fails with [`Refusal::Unsupported`].

// Compiles the example of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ShmReadme;

mod config;
mod reasons;

// The same on every system of this family, so that a program with an event loop compiles.
#[cfg(unix)]
const _: fn(&ShmReception) -> std::os::fd::BorrowedFd<'_> = std::os::fd::AsFd::as_fd;

#[cfg(target_os = "linux")]
mod descriptors;
#[cfg(target_os = "linux")]
mod grain_set;
#[cfg(target_os = "linux")]
mod handshake;
#[cfg(target_os = "linux")]
mod host;
#[cfg(target_os = "linux")]
mod memory;
#[cfg(target_os = "linux")]
mod pool;
#[cfg(target_os = "linux")]
mod ring;
#[cfg(test)]
#[cfg(all(target_os = "linux", not(dds_loom), not(miri)))]
mod skip;

#[cfg(target_os = "linux")]
mod users;

#[cfg(not(target_os = "linux"))]
#[path = "unsupported.rs"]
mod host;

pub use config::{ShmConfig, UserPolicy};
pub use host::{
    Identity, KeptMessage, LentContent, PathId, ShmEvent, ShmHost, ShmMessage, ShmPath, ShmPeer, ShmReception,
    StagedMessage,
};
pub use reasons::{Exhausted, PathEnd, Refusal, SendFailure, Violation};
