//! Models what a network does to datagrams, driven by a seed.
//!
//! In: the length of a datagram and the time at which it is sent. Out: the times at which copies of it arrive, and
//! the damage of each copy. Owned: the state of one direction of one link. No clock, no socket and no bytes.
//!
//! | item | purpose |
//! |---|---|
//! | [`Conditions`] | delay, loss, duplication, reordering, damage and bandwidth of a link |
//! | [`NetworkPath`] | one direction of a link: its queue, its bursts, its last arrival |
//! | [`Damage`] | truncation and bit errors of one copy |
//! | [`Random`] | the only source of randomness |
//!
//! `sim` connects hosts by such paths; [`transport::faults`](crate::transport::faults) puts one before or behind a
//! transport.

mod conditions;
mod damage;
mod path;
mod random;

pub use conditions::{Burst, Conditions};
pub use damage::Damage;
pub use path::{Arrivals, NetworkPath, SentDatagram};
pub use random::Random;

/// Counts of datagrams since the network was created, one for each receiver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct NetworkCounters {
    /// Datagrams that a receiver got.
    pub delivered: u64,
    /// Datagrams lost on their path.
    pub lost: u64,
    /// Datagrams dropped because the queue of a narrow link was full.
    pub queue_full: u64,
    /// Datagrams dropped because the receiver's buffer was full.
    pub buffer_full: u64,
    /// Datagrams dropped by a link that is cut or a host that is down.
    pub cut: u64,
    /// Datagrams that arrived twice.
    pub duplicated: u64,
    /// Datagrams that arrived with one bit flipped.
    pub damaged: u64,
    /// Datagrams that arrived without their end.
    pub truncated: u64,
    /// Datagrams longer than [`Conditions::longest`].
    pub too_long: u64,
    /// Datagrams sent to an address without a receiver.
    pub nowhere: u64,
}
