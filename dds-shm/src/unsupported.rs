//! The public types on systems without sealed memory. No value of them exists.

use crate::config::ShmConfig;
use crate::reasons::{PathEnd, Refusal, SendFailure};
use std::convert::Infallible;
use std::io::IoSlice;
use std::marker::PhantomData;
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// Name of a host, unique among all hosts.
pub type Identity = [u8; 16];

/// One participant in shared memory.
#[derive(Debug, Clone)]
pub struct ShmHost(Infallible);

/// Receives the messages of all paths of a host.
#[derive(Debug)]
pub struct ShmReception(Infallible);

/// Sends messages to one peer.
#[derive(Debug, Clone)]
pub struct ShmPath(Infallible);

/// Number of a path, unique within its host and never used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PathId(Infallible);

/// The process at the other end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShmPeer {
    /// Identity that the peer claims, unverified.
    pub identity: Identity,
    /// User ID of the peer's process, from the kernel.
    pub user: u32,
}

/// A message in the pool of its host.
#[derive(Debug)]
pub struct StagedMessage(Infallible);

/// Place for the content of a message. Always empty.
#[derive(Debug, Default)]
pub struct LentContent(());

/// Place for a message in the memory of a peer. Always empty.
#[derive(Debug, Default)]
pub struct KeptMessage(());

/// A message in shared memory.
#[derive(Debug)]
pub struct ShmMessage<'a>(Infallible, PhantomData<&'a ()>);

/// News of a host.
#[derive(Debug)]
#[non_exhaustive]
pub enum ShmEvent<'a> {
    /// A message arrived.
    Message(ShmMessage<'a>),
    /// A path is open.
    Up(ShmPath),
    /// A path that was full has room again.
    Room(PathId),
    /// An open path ended.
    Down {
        /// The path.
        path: PathId,
        /// The peer at its other end.
        peer: ShmPeer,
        /// Why it ended.
        reason: PathEnd,
    },
    /// A path did not open.
    Refused {
        /// The peer. `None` if it did not say.
        peer: Option<Identity>,
        /// Why it did not open.
        reason: Refusal,
    },
}

impl ShmHost {
    /// Fails on this system.
    ///
    /// # Errors
    /// Always [`Refusal::Unsupported`].
    pub fn new(_identity: Identity, _config: ShmConfig) -> Result<(Self, ShmReception), Refusal> {
        Err(Refusal::Unsupported)
    }

    /// Begins to open a path to a peer.
    ///
    /// # Errors
    /// Never returns.
    pub fn connect(&self, _peer: Identity) -> Result<(), Refusal> {
        match self.0 {}
    }

    /// Makes [`ShmReception::next_event`] return.
    pub fn interrupt(&self) {
        match self.0 {}
    }

    /// The own identity.
    #[must_use]
    pub fn identity(&self) -> Identity {
        match self.0 {}
    }

    /// Copies a message into the pool once, for several paths.
    ///
    /// # Errors
    /// Never returns.
    pub fn stage(&self, _parts: &[IoSlice<'_>]) -> Result<StagedMessage, SendFailure> {
        match self.0 {}
    }
}

#[cfg(unix)]
impl AsFd for ShmReception {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self.0 {}
    }
}

impl ShmReception {
    /// Returns the next event.
    pub fn next_event(&mut self, _timeout: Option<Duration>) -> Option<ShmEvent<'_>> {
        match self.0 {}
    }
}

impl ShmReception {
    /// Returns the next event that needs no system call.
    pub fn next_ready(&mut self) -> Option<ShmEvent<'_>> {
        match self.0 {}
    }

    /// Makes the drop leave all paths open.
    pub fn abandon(&mut self) {
        match self.0 {}
    }

    /// Makes the descriptor readable at once.
    pub fn rouse(&self) {
        match self.0 {}
    }
}

impl ShmPath {
    /// Number of this path.
    #[must_use]
    pub fn id(&self) -> PathId {
        match self.0 {}
    }

    /// The process at the other end.
    #[must_use]
    pub fn peer(&self) -> ShmPeer {
        match self.0 {}
    }

    /// Sends one message, gathered from its parts.
    ///
    /// # Errors
    /// Never returns.
    pub fn send(&self, _parts: &[IoSlice<'_>]) -> Result<(), SendFailure> {
        match self.0 {}
    }

    /// Sends a message of the same host's pool.
    ///
    /// # Errors
    /// Never returns.
    pub fn send_staged(&self, _message: &StagedMessage) -> Result<(), SendFailure> {
        match self.0 {}
    }

    /// Bytes of the ring that are free now.
    #[must_use]
    pub fn room(&self) -> usize {
        match self.0 {}
    }

    /// Number of messages of `len` bytes that have room now.
    #[must_use]
    pub fn room_for(&self, _len: usize) -> usize {
        match self.0 {}
    }

    /// A number that changes whenever the peer reads or returns something.
    #[must_use]
    pub fn progress(&self) -> u64 {
        match self.0 {}
    }

    /// Whether the path still takes messages.
    #[must_use]
    pub fn is_open(&self) -> bool {
        match self.0 {}
    }

    /// Ends the path on both sides.
    pub fn close(&self) {
        match self.0 {}
    }
}

impl StagedMessage {
    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.0 {}
    }

    /// Whether the message has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self.0 {}
    }
}

impl ShmHost {
    /// Lends memory for the content of a message.
    ///
    /// # Errors
    /// Never returns.
    pub fn lend(
        &self,
        _place: &mut LentContent,
        _len: usize,
        _front_len: usize,
        _rest_max: usize,
    ) -> Result<(), SendFailure> {
        match self.0 {}
    }
}

impl LentContent {
    /// An empty place.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }

    /// The content, to fill in place.
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut []
    }

    /// Shortens the content.
    pub fn truncate(&mut self, _len: usize) {}

    /// A message with this content.
    #[must_use]
    pub fn stage(&self, _front: &[u8], _rest: &[u8]) -> Option<StagedMessage> {
        None
    }

    /// Gives the memory back.
    pub fn give_back(&mut self) {}
}

impl AsRef<[u8]> for LentContent {
    fn as_ref(&self) -> &[u8] {
        &[]
    }
}

impl KeptMessage {
    /// An empty place.
    #[must_use]
    pub const fn new() -> Self {
        Self(())
    }

    /// Returns the memory to the peer.
    pub fn give_back(&mut self) {}
}

impl AsRef<[u8]> for KeptMessage {
    fn as_ref(&self) -> &[u8] {
        &[]
    }
}

impl ShmMessage<'_> {
    /// The path on which the message arrived.
    #[must_use]
    pub fn path(&self) -> PathId {
        match self.0 {}
    }

    /// Number of bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        match self.0 {}
    }

    /// Whether the message has no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match self.0 {}
    }

    /// Leaves the message unread.
    pub fn leave(self) {
        match self.0 {}
    }

    /// Keeps the message in the memory of the peer.
    ///
    /// # Errors
    /// Never returns.
    pub fn keep(self, _place: &mut KeptMessage) -> Result<(), Self> {
        match self.0 {}
    }

    /// Copies the start of the message into `buffer`, and returns the number of copied bytes.
    pub fn copy_to(&self, _buffer: &mut [u8]) -> usize {
        match self.0 {}
    }

    /// Copies the message from a byte on into `buffer`, and returns the number of copied bytes.
    pub fn copy_part(&self, _from: usize, _buffer: &mut [u8]) -> usize {
        match self.0 {}
    }
}
