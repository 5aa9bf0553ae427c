//! Limits and policies of a host.

use std::time::Duration;

/// Users whose processes may share memory with this one.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum UserPolicy {
    /// Processes with the effective user ID of this process.
    ///
    /// In a user namespace, unknown users share one number: the overflow user ID, usually 65534. Under that number no
    /// peer is accepted there, neither by this policy nor by a list.
    #[default]
    SameUser,
    /// Processes of any user.
    Any,
    /// Processes with one of these user IDs, and of the own user.
    List(Vec<u32>),
}

/// Configuration of a host.
///
/// Every value bounds memory or time that a peer can cost.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ShmConfig {
    /// Users that may connect. Default: the same user.
    pub policy: UserPolicy,
    /// Bytes of the ring for small messages, per path. Default: 32 KiB.
    ///
    /// A power of two from 4 KiB to 1 MiB; other values are rounded up.
    pub ring_len: usize,
    /// Address space of the pool for large messages, in bytes. Default: 64 MiB.
    ///
    /// Memory is used only for blocks that once held a message. One message cannot be larger. At most 1 GiB.
    /// Peers refuse a pool that is longer than their `peer_pool_len_max`.
    pub pool_len: usize,
    /// Longest pool of a peer, in bytes. Default: 256 MiB. At most 1 GiB.
    ///
    /// This process maps the pool. A part that the peer never wrote takes memory when this process reads it.
    pub peer_pool_len_max: usize,
    /// Most blocks that one peer may hold. Default: 64. At most 256.
    pub held_blocks_max: usize,
    /// Most bytes of the pool that one peer may hold. Default: 32 MiB.
    pub held_bytes_max: usize,
    /// Most bytes of a peer's pool that this process keeps in place. Default: 2 MiB. Zero copies every message.
    ///
    /// At most an eighth of that pool, so that the peer can go on. See [`ShmMessage::keep`](crate::ShmMessage::keep).
    pub kept_bytes_max: usize,
    /// Most paths and unfinished handshakes. Default: 128.
    ///
    /// Each path takes one file descriptor.
    pub paths_max: usize,
    /// How long a peer may take to open a path. Default: 1 s. At most one hour.
    pub handshake_max: Duration,
    /// How long the thread that receives polls before it sleeps. Default: zero. At most 100 ms.
    ///
    /// A positive value saves the wake of the thread and costs processor time. Use it only on a core of its own.
    pub spin: Duration,
}

impl Default for ShmConfig {
    fn default() -> Self {
        Self {
            policy: UserPolicy::SameUser,
            ring_len: 32 << 10,
            pool_len: 64 << 20,
            peer_pool_len_max: 256 << 20,
            held_blocks_max: 64,
            held_bytes_max: 32 << 20,
            kept_bytes_max: 2 << 20,
            paths_max: 128,
            handshake_max: Duration::from_secs(1),
            spin: Duration::ZERO,
        }
    }
}
