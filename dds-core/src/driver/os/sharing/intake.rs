//! The path from shared memory to the participant.

use super::handover::Handover;
use super::{LENT_MESSAGE_MAX, Sharing, prefix_of};
use crate::driver::os::intake::{Inbound, IntakeStep, SLOT_LEN, berth_of};
use crate::driver::os::landings::Arrival;
use crate::driver::{Expected, Parker};
use crate::sync::{Arc, AtomicBool, Ordering, Process};
use dds_rtps::concurrent::{BorrowedBytes, BorrowedPool, Payload, SlotMut};
use dds_rtps::transport::udp::Received;
use dds_shm::{KeptMessage, ShmEvent, ShmMessage, ShmReception};
use std::cell::Cell;
use std::fmt;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

/// Receives from all peers.
pub(in crate::driver::os) struct SharedIntake {
    reception: ShmReception,
    inbound: Inbound,
    sharing: Arc<Sharing>,
    slot: Option<SlotMut>,
    /// Long messages that stay in the memory of their peers.
    kept: BorrowedPool<PeerBytes>,
    handover: Handover,
    /// The fragment that is likely the next one.
    expected: Option<Expected>,
    /// The last call returned an event, so the descriptor may not be readable although there are more.
    is_unfinished: bool,
    process: Process,
}

/// How long a call may wait for an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WaitForEvent {
    /// Until there is one.
    Forever,
    /// Only look, also at the descriptors.
    Look,
    /// Look at the memory alone, or poll it.
    Memory,
}

impl SharedIntake {
    pub(super) fn new(reception: ShmReception, inbound: Inbound, sharing: Arc<Sharing>, handover: Handover) -> Self {
        let process = Process::current();
        let kept = BorrowedPool::new();
        Self { reception, inbound, sharing, slot: None, kept, handover, expected: None, is_unfinished: false, process }
    }

    /// Receives until the network is stopped. For a thread of its own.
    pub(in crate::driver::os) fn run(mut self, stopped: &AtomicBool) {
        let parker = Parker::new();
        self.handover.set_waker(parker.waker());
        while !stopped.load(Ordering::Acquire) {
            self.receive(WaitForEvent::Forever, || true);
            while let Some(pause) = self.handover.pause() {
                parker.park(Some(pause));
            }
        }
    }

    /// Handles one event. `is_ready`: the descriptor is readable.
    pub(in crate::driver::os) fn step(&mut self, is_ready: bool) -> IntakeStep {
        self.receive(if is_ready { WaitForEvent::Look } else { WaitForEvent::Memory }, || true)
    }

    /// Handles one event in memory, and polls for it until `is_over` returns true.
    pub(in crate::driver::os) fn poll(&mut self, is_over: impl Fn() -> bool) -> IntakeStep {
        self.receive(WaitForEvent::Memory, is_over)
    }

    /// Whether it polls the memory before the thread sleeps.
    pub(in crate::driver::os) fn is_polled(&self) -> bool {
        self.sharing.is_polled()
    }

    /// Whether there may be events although the descriptor is not readable.
    pub(in crate::driver::os) fn is_unfinished(&self) -> bool {
        self.is_unfinished
    }

    /// Makes the descriptor readable if there may be events.
    pub(in crate::driver::os) fn rouse(&self) {
        if self.is_unfinished {
            self.reception.rouse();
        }
    }

    fn receive(&mut self, wait: WaitForEvent, is_over: impl Fn() -> bool) -> IntakeStep {
        let Self { reception, inbound, sharing, slot, kept, handover, expected, is_unfinished, .. } = self;
        let event = match wait {
            WaitForEvent::Forever => reception.next_event(None),
            WaitForEvent::Look => reception.next_event(Some(Duration::ZERO)),
            WaitForEvent::Memory => reception.next_polled(is_over),
        };
        *is_unfinished = event.is_some();
        match event {
            None => return IntakeStep::Nothing,
            Some(ShmEvent::Message(message)) if handover.must_wait(message.path()) => {
                message.leave();
                return IntakeStep::Nothing;
            }
            // No honest peer sends it.
            Some(ShmEvent::Message(message)) if message.len() > LENT_MESSAGE_MAX => {
                tracing::debug!(len = message.len(), "a message in shared memory is too long");
            }
            Some(ShmEvent::Message(message)) => {
                // An expected fragment is copied to its place instead.
                let copied_max = if expected.is_some() { SLOT_LEN } else { COPIED_MAX };
                let message = match keep(message, copied_max, inbound, kept) {
                    Ok(payload) => {
                        inbound.take_one(payload, None, Some(expected));
                        return IntakeStep::Taken;
                    }
                    Err(message) => message,
                };
                let mut free = if message.len() > SLOT_LEN {
                    inbound.long_slot(message.len())
                } else {
                    slot.take().unwrap_or_else(|| inbound.slot())
                };
                match copy(&message, expected.take(), berth_of(free.buffer()).1) {
                    Arrival::Landed(landed) => {
                        drop(message);
                        // An expected fragment is no long message.
                        *slot = Some(free);
                        inbound.land(landed, Cell::from_mut(expected));
                    }
                    Arrival::Datagrams(received) => {
                        let path = message.path();
                        // The peer gets its memory back before the message is processed.
                        drop(message);
                        // A capture needs the whole datagram in one piece.
                        let records = inbound.records();
                        let sender = if records { sharing.address_of(path) } else { None };
                        inbound.take(free, received, sender, (!records).then_some(expected));
                    }
                }
            }
            Some(ShmEvent::Up(path)) => {
                handover.opened(path.id());
                sharing.up(path);
            }
            Some(ShmEvent::Down { path, peer, reason }) => {
                // The fragment may never come.
                *expected = None;
                handover.ended(path);
                sharing.down(path, peer.identity, reason);
            }
            Some(ShmEvent::Refused { peer, reason }) => {
                if let Some(peer) = peer.and_then(prefix_of) {
                    sharing.refused(peer, &reason);
                }
            }
            Some(ShmEvent::Room(_)) => sharing.room.wake(),
            Some(_) => {}
        }
        IntakeStep::Taken
    }
}

/// Messages up to this length are copied.
pub(super) const COPIED_MAX: usize = 8 << 10;

/// A message in the memory of a peer.
#[derive(Default)]
struct PeerBytes(KeptMessage);

impl AsRef<[u8]> for PeerBytes {
    fn as_ref(&self) -> &[u8] {
        self.0.as_ref()
    }
}

impl BorrowedBytes for PeerBytes {
    fn give_back(&mut self) {
        self.0.give_back();
    }
}

/// Keeps a long message in the memory of its peer. Returns it if it must be copied.
///
/// The copy of a message of up to `copied_max` bytes costs less than the hold. A capture records a copy.
fn keep<'a>(
    message: ShmMessage<'a>,
    copied_max: usize,
    inbound: &Inbound,
    kept: &BorrowedPool<PeerBytes>,
) -> Result<Payload, ShmMessage<'a>> {
    if message.len() <= copied_max || inbound.records() {
        return Err(message);
    }
    kept.fill(|place| message.keep(&mut place.0))
}

/// Copies a message: an expected fragment to its place, any other message into `buffer`.
///
/// Each byte is read once, because the peer may change it between two reads. The headers are checked in the copy.
fn copy(message: &ShmMessage<'_>, expected: Option<Expected>, buffer: &mut [u8]) -> Arrival {
    let Some(mut expected) = expected else { return Arrival::Datagrams(Received::one(message.copy_to(buffer))) };
    let header_len = expected.header_len();
    let (header, rest) = buffer.split_at_mut(header_len.min(buffer.len()));
    let copied = message.copy_to(header);
    if copied == header_len && expected.has_come(message.len(), header) {
        message.copy_part(header_len, expected.landing.buffer());
        return Arrival::Landed(expected);
    }
    Arrival::Datagrams(Received::one(copied + message.copy_part(copied, rest)))
}

impl AsFd for SharedIntake {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.reception.as_fd()
    }
}

impl Drop for SharedIntake {
    fn drop(&mut self) {
        if self.process.is_left() {
            // The end of the reception hangs up. A forked child would do that for its parent.
            self.reception.abandon();
        }
    }
}

impl fmt::Debug for SharedIntake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedIntake").field("reception", &self.reception).finish_non_exhaustive()
    }
}
