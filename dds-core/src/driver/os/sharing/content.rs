//! Samples that the application fills in shared memory, so that they are sent without a copy.
//!
//! In: the length of a sample, and later its datagram. Out: memory to fill, and a message for paths. Owned: the layout.
//!
//! The headers of a sample are known when it is written. So its memory begins with a front of fixed length, whose
//! unused part becomes a PAD. The sample itself begins at a multiple of 8 bytes, behind its encapsulation header.

use super::{LENT_MESSAGE_MAX, LENT_SHARE, SharedHost, Sharing};
use dds_rtps::concurrent::{BorrowedBytes, BorrowedMut};
use dds_rtps::output::Datagram;
use dds_rtps::types::Locator;
use dds_rtps::wire::MessageBuilder;
use dds_shm::{LentContent, SendFailure, StagedMessage};

/// Bytes before the encapsulation header of 4 bytes.
const FRONT_LEN: usize = 252;

/// Most bytes behind the sample, such as a HEARTBEAT.
const REST_MAX: usize = 128;

/// Memory for a sample in the pool of this participant.
#[derive(Default)]
pub(super) struct OwnContent(LentContent);

impl AsRef<[u8]> for OwnContent {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl BorrowedBytes for OwnContent {
    fn bytes_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }

    fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }

    fn give_back(&mut self) {
        self.0.give_back();
    }
}

impl Sharing {
    /// Lends memory for an encoded sample of `len` bytes. `None` if there is no room, or if it is too long.
    ///
    /// All `locators` must have a path, because long messages reach no others.
    pub(in crate::driver::os) fn lend(&self, locators: &[Locator], len: usize) -> Option<BorrowedMut> {
        let longest = LENT_MESSAGE_MAX.min(self.limit / LENT_SHARE);
        let is_too_long = len.saturating_add(FRONT_LEN + REST_MAX) > longest;
        if is_too_long || !self.carries_long_messages() || self.process.is_left() {
            return None;
        }
        let state = self.state.lock();
        let host = match &state.host {
            SharedHost::Open(host) if state.shares_all(locators) => host.clone(),
            _ => return None,
        };
        drop(state);
        let lent: Result<BorrowedMut, SendFailure> =
            self.lent.lend(|place| host.lend(&mut place.0, len, FRONT_LEN, REST_MAX));
        lent.ok()
    }
}

/// The message of a datagram whose sample lies in shared memory already.
///
/// `None` if it must be copied. That is also so if the sample was sent with other headers before.
pub(super) fn staged_in_place(datagram: &Datagram) -> Option<StagedMessage> {
    let (start, payload, rest) = datagram.around_payload()?;
    let content: &OwnContent = payload.borrowed_from()?;
    let mut front = [0; FRONT_LEN];
    if MessageBuilder::put_padded(start, &mut front) { content.0.stage(&front, rest) } else { None }
}
