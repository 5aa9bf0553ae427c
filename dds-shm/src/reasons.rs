//! Why a path does not open, ends, or takes no message.

use std::fmt;
use std::io;

/// Why two processes do not share memory.
#[derive(Debug)]
#[non_exhaustive]
pub enum Refusal {
    /// This operating system has no sealed memory.
    Unsupported,
    /// The kernel refuses a seal. Linux 5.1 or newer is required.
    Seals(io::Error),
    /// The system refuses memory.
    Memory(io::Error),
    /// The system refuses a descriptor, usually at the limit of open files.
    Descriptors(io::Error),
    /// Shared memory takes as many descriptors as it may: a quarter of the limit of open files of this process.
    DescriptorShare {
        /// The limit of open files, from the system.
        limit: u64,
    },
    /// No process of this network namespace listens under the identity.
    NotFound,
    /// The system refuses the connection, for example by a security module.
    Denied(io::Error),
    /// The policy of this process refuses the user of the peer.
    UserRefused {
        /// User ID of the peer.
        user: u32,
    },
    /// The policy of the peer refuses the user of this process.
    RefusedByPolicyOfPeer,
    /// The two protocol versions have nothing in common.
    Version {
        /// Highest version of the peer.
        peer: u16,
    },
    /// The pool of the peer is longer than this process permits.
    PeerPoolTooLong {
        /// Length of the peer's pool.
        len: usize,
    },
    /// The pool of this process is longer than the peer permits.
    PoolTooLong,
    /// This process has as many paths as it may have.
    Crowded,
    /// The peer has as many paths as it may have.
    PeerCrowded,
    /// A path to the identity exists or is about to open.
    AlreadyConnected,
    /// Another process answers under the identity.
    WrongIdentity,
    /// The peer lacks memory or descriptors.
    PeerLacksResources,
    /// The peer did not complete the handshake in time.
    TimedOut,
    /// The peer closed the connection or ended before the path was open.
    PeerLeft,
    /// The handshake of the peer is malformed.
    Malformed,
    /// The memory of the peer is not sealed, has huge pages, or is shorter than announced.
    BadMemory,
    /// The peer broke a rule of the rings before the path was open.
    Broken(Violation),
}

#[cfg(target_os = "linux")]
impl Refusal {
    pub(crate) fn memory(error: rustix::io::Errno) -> Self {
        Self::Memory(error.into())
    }

    pub(crate) fn descriptors(error: rustix::io::Errno) -> Self {
        Self::Descriptors(error.into())
    }

    pub(crate) fn denied(error: rustix::io::Errno) -> Self {
        Self::Denied(error.into())
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unsupported => f.write_str("this operating system has no sealed memory"),
            Self::Seals(error) => write!(f, "the kernel refuses to seal memory: {error}"),
            Self::Memory(error) => write!(f, "the system refuses memory: {error}"),
            Self::Descriptors(error) => write!(f, "the system refuses a file descriptor: {error}"),
            Self::DescriptorShare { limit } => write!(
                f,
                "shared memory takes a quarter of the {limit} files that this process may open; raise `ulimit -n`"
            ),
            Self::NotFound => f.write_str("no process of this network namespace listens under the identity"),
            Self::Denied(error) => write!(f, "the system refuses the connection: {error}"),
            Self::UserRefused { user } => write!(f, "the policy of this process refuses user {user}"),
            Self::RefusedByPolicyOfPeer => f.write_str("the policy of the peer refuses the user of this process"),
            Self::Version { peer } => {
                write!(f, "protocol version {peer} of the peer is incompatible with this process")
            }
            Self::PeerPoolTooLong { len } => write!(f, "the pool of the peer is too long, with {len} bytes"),
            Self::PoolTooLong => f.write_str("the pool of this process is longer than the peer permits"),
            Self::Crowded => f.write_str("this process has as many paths as it may have"),
            Self::PeerCrowded => f.write_str("the peer has as many paths as it may have"),
            Self::AlreadyConnected => f.write_str("a path to the peer exists or is about to open"),
            Self::WrongIdentity => f.write_str("another process answers under the identity"),
            Self::PeerLacksResources => f.write_str("the peer lacks memory or file descriptors"),
            Self::TimedOut => f.write_str("the peer did not complete the handshake in time"),
            Self::PeerLeft => f.write_str("the peer closed the connection before the path was open"),
            Self::Malformed => f.write_str("the handshake of the peer is malformed"),
            Self::BadMemory => f.write_str("the memory of the peer is not sealed, has huge pages, or is too short"),
            Self::Broken(violation) => write!(f, "the peer broke a rule of the rings: {violation}"),
        }
    }
}

impl std::error::Error for Refusal {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Seals(error) | Self::Memory(error) | Self::Descriptors(error) | Self::Denied(error) => Some(error),
            _ => None,
        }
    }
}

/// Why an open path ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PathEnd {
    /// The peer closed the path or its process ended.
    PeerLeft,
    /// This process closed the path.
    Closed,
    /// The peer broke a rule of the rings.
    Broken(Violation),
}

impl fmt::Display for PathEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PeerLeft => f.write_str("the peer closed the path or ended"),
            Self::Closed => f.write_str("this process closed the path"),
            Self::Broken(violation) => write!(f, "the peer broke a rule of the rings: {violation}"),
        }
    }
}

/// A rule of the rings that a peer broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// The peer claims more written bytes than its ring has.
    WrittenBeyondRing,
    /// A record is longer than the written bytes, or has a wrong length.
    RecordLength,
    /// A record has an unknown kind.
    RecordKind,
    /// The peer claims to have read more bytes than were written.
    ReadBeyondWritten,
    /// The peer returns a block that it does not hold.
    BlockNotHeld,
    /// A block lies outside of the peer's pool.
    BlockOutside,
    /// A message arrived before the test message came back, or a second test message.
    OutOfTurn,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WrittenBeyondRing => "more bytes written than the ring has",
            Self::RecordLength => "a record with a wrong length",
            Self::RecordKind => "a record of an unknown kind",
            Self::ReadBeyondWritten => "more bytes read than written",
            Self::BlockNotHeld => "a returned block that the peer does not hold",
            Self::BlockOutside => "a block outside of the pool",
            Self::OutOfTurn => "a message before the path was open",
        })
    }
}

/// Why a message was not sent. Nothing of it was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendFailure {
    /// There is no room now.
    Full(Exhausted),
    /// The message can never be sent, because the pool is smaller.
    TooLong {
        /// Most bytes of a message.
        max: usize,
    },
    /// The message was staged by another host than the one of the path.
    OtherHost,
    /// The path has ended.
    Gone,
}

/// The limit that left no room for a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Exhausted {
    /// The peer has not read enough of the ring. `ShmEvent::Room` follows.
    Ring,
    /// The peer holds as many blocks or bytes as it may hold. `ShmEvent::Room` follows.
    HeldByPeer,
    /// All peers together hold the pool, or the system has no memory. Use another transport for this message.
    Pool,
    /// The system has no memory for the ring. Use another transport for this message.
    Memory,
}

impl fmt::Display for SendFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Full(Exhausted::Ring) => f.write_str("the peer has not read enough of the ring"),
            Self::Full(Exhausted::HeldByPeer) => f.write_str("the peer holds as many blocks as it may hold"),
            Self::Full(Exhausted::Pool) => f.write_str("the peers hold the whole pool, or the system has no memory"),
            Self::Full(Exhausted::Memory) => f.write_str("the system has no memory for the ring"),
            Self::TooLong { max } => write!(f, "the message has more than {max} bytes"),
            Self::OtherHost => f.write_str("the message was staged by another host"),
            Self::Gone => f.write_str("the path has ended"),
        }
    }
}

impl std::error::Error for SendFailure {}
