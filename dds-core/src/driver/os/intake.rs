//! The path from a socket to the participant: one receive call, and the processing of its datagrams.

use super::landings::{Arrival, Landings};
use super::sharing::{SharedIntake, Sharing};
use super::tap::Recorder;
use crate::driver::{Expected, ExpectedPlace, Packet, Receive, Socket, UNREAD_SENDER};
use crate::sync::{Arc, AtomicBool, Ordering};
use dds_rtps::concurrent::{Payload, SlotMut, SlotPool};
use dds_rtps::transport::udp::{Received, UdpReceiver, peek_sender};
use std::cell::Cell;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Room for any UDP datagram.
pub(super) const SLOT_LEN: usize = 64 << 10;

const PAGE: usize = 4 << 10;

/// Least distance between the start of a page and a received datagram.
///
/// Linux copies the datagram there by `rep movsb`. On AMD this takes 17 times as long if the destination lies 1 to 31
/// bytes behind the source modulo a page (`dds_rtps::cdr::copy`). The source of a large datagram lies at the start of a
/// page. The source of a smaller one lies behind room for its headers: 44 bytes, or 64 with IPv6. (32 000 bytes sent
/// and received take 15.1 us at 16 bytes from the start of a page, and 5.3 us here.)
const BERTH: usize = 128;

/// Number of slots that the pool keeps. Readers that hold more than 4 MiB of large samples use the heap.
const SLOTS_MAX: usize = 64;

/// Number of slots for long messages that the pool keeps, and their bytes if there are more.
const LONG_SLOTS_MAX: usize = 2;
const LONG_SLOTS_BYTES: usize = 8 << 20;

/// Number of slots for small packets that the pool keeps: a full inbox.
const SMALL_SLOTS_MAX: usize = 256;

/// Number of errors in a row that count as temporary. After that the receiver pauses after each error.
pub(super) const ERRORS_IN_A_ROW: u32 = 16;

/// Length of the pause. A failing socket must not occupy a core.
pub(super) const ERROR_PAUSE: Duration = Duration::from_millis(10);

/// A user-data socket with everything that reception needs.
///
/// Its owner receives: the receive thread, or a thread that waits.
pub(super) struct Intake {
    receiver: UdpReceiver,
    inbound: Inbound,
    landings: Landings,
    slot: Option<SlotMut>,
    errors: u32,
}

/// Result of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum IntakeStep {
    /// One datagram or a run of them was processed, or none was and there may be more.
    Taken,
    /// The socket was empty.
    Nothing,
    /// The socket keeps failing: pause before the next call.
    Failing,
}

/// One source of user data.
#[allow(clippy::large_enum_variant, reason = "a participant has three of them at most")]
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "only Linux lets callers receive"))]
pub(super) enum Inlet {
    Socket(Intake),
    Shared(SharedIntake),
}

#[cfg(target_os = "linux")]
impl Inlet {
    /// Makes every read return at once.
    pub(super) fn never_block(&self) -> io::Result<()> {
        match self {
            Self::Socket(intake) => intake.socket().set_nonblocking(true),
            Self::Shared(_) => Ok(()),
        }
    }

    /// Receives once. `is_ready`: the descriptor is readable.
    pub(super) fn step(&mut self, is_ready: bool, stopped: &AtomicBool) -> IntakeStep {
        match self {
            Self::Socket(intake) => intake.step(stopped),
            Self::Shared(intake) => intake.step(is_ready),
        }
    }

    /// Handles data in shared memory, and polls for it until `is_over` returns true, if the participant does that.
    pub(super) fn poll(&mut self, is_over: impl Fn() -> bool) -> IntakeStep {
        match self {
            Self::Socket(_) => IntakeStep::Nothing,
            Self::Shared(intake) => intake.poll(is_over),
        }
    }

    /// Whether the memory is polled before the thread sleeps.
    pub(super) fn is_polled(&self) -> bool {
        matches!(self, Self::Shared(intake) if intake.is_polled())
    }

    /// Whether there may be data although the descriptor is not readable.
    pub(super) fn is_unfinished(&self) -> bool {
        matches!(self, Self::Shared(intake) if intake.is_unfinished())
    }

    /// Makes the descriptor readable if there may be data.
    pub(super) fn rouse(&self) {
        if let Self::Shared(intake) = self {
            intake.rouse();
        }
    }
}

#[cfg(target_os = "linux")]
impl std::os::fd::AsFd for Inlet {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        match self {
            Self::Socket(intake) => intake.socket().as_fd(),
            Self::Shared(intake) => intake.as_fd(),
        }
    }
}

impl Intake {
    pub(super) fn new(socket: Arc<UdpSocket>, inbound: Inbound) -> Self {
        let receiver = UdpReceiver::new(socket);
        Self { receiver, inbound, landings: Landings::default(), slot: None, errors: 0 }
    }

    #[cfg(target_os = "linux")]
    pub(super) fn socket(&self) -> &UdpSocket {
        self.receiver.socket()
    }

    /// Receives once and processes the datagrams. Blocks if the socket does.
    pub(super) fn step(&mut self, stopped: &AtomicBool) -> IntakeStep {
        let Self { receiver, inbound, landings, slot, errors } = self;
        // Reuse the slot of a call that received nothing into it.
        let mut free = slot.take().unwrap_or_else(|| inbound.slot());
        // Only the capture needs the sender. All datagrams of a run have the same. This call blocks like the receive
        // call.
        let sender = if inbound.records() { peek_sender(receiver.socket()) } else { None };
        let arrival = match landings.receive(receiver, berth_of(free.buffer()).1) {
            // The empty datagram that `interrupt` sends to end a blocking call.
            Ok(_) if stopped.load(Ordering::Acquire) => return IntakeStep::Nothing,
            Ok(arrival) => arrival,
            Err(error) => {
                *slot = Some(free);
                return self.note(&error);
            }
        };
        *errors = 0;
        match arrival {
            Arrival::Landed(landed) => {
                *slot = Some(free);
                inbound.land(landed, Cell::from_mut(landings.place()));
            }
            Arrival::Datagrams(received) => {
                // A capture needs the whole datagram in one piece.
                let lands = !inbound.records() && landings.are_worth_it();
                let next = if lands { Some(landings.place()) } else { None };
                inbound.take(free, received, sender, next);
            }
        }
        IntakeStep::Taken
    }

    #[cold]
    fn note(&mut self, error: &io::Error) -> IntakeStep {
        match error.kind() {
            ErrorKind::WouldBlock => return IntakeStep::Nothing,
            ErrorKind::Interrupted => return IntakeStep::Taken,
            _ => {}
        }
        // An error may be temporary, such as an ICMP message about an earlier send.
        self.errors += 1;
        report(self.errors, error);
        if self.errors > ERRORS_IN_A_ROW { IntakeStep::Failing } else { IntakeStep::Taken }
    }
}

pub(super) fn report(errors: u32, error: &io::Error) {
    if errors == ERRORS_IN_A_ROW {
        tracing::warn!(%error, "a socket keeps failing to receive");
    }
}

/// Returns the offset in a slot's buffer where datagrams are received, and the buffer from there on.
///
/// The result is always the same for one slot.
pub(super) fn berth_of(buffer: &mut [u8]) -> (usize, &mut [u8]) {
    let start = BERTH.saturating_sub(buffer.as_ptr().addr() % PAGE).min(buffer.len());
    (start, buffer.get_mut(start..).unwrap_or_default())
}

/// The path from a socket to the participant, in slots that readers may keep.
pub(super) struct Inbound {
    pool: SlotPool,
    long: SlotPool,
    /// For small packets that have to wait in a queue.
    small: Arc<SlotPool>,
    socket: Socket,
    receive: Arc<dyn Receive>,
    recorder: Option<Recorder>,
    sharing: Arc<Sharing>,
}

impl Inbound {
    pub(super) fn new(
        socket: Socket,
        receive: &Arc<dyn Receive>,
        recorder: Option<Recorder>,
        sharing: &Arc<Sharing>,
    ) -> Self {
        Self {
            pool: SlotPool::new(SLOTS_MAX),
            long: SlotPool::with_budget(LONG_SLOTS_MAX, LONG_SLOTS_BYTES),
            small: Arc::new(SlotPool::new(SMALL_SLOTS_MAX)),
            socket,
            receive: Arc::clone(receive),
            recorder,
            sharing: Arc::clone(sharing),
        }
    }

    /// Whether a capture records the datagrams.
    pub(super) fn records(&self) -> bool {
        self.recorder.is_some()
    }

    /// Returns a slot with room for any datagram. Its memory is allocated, and zeroed by the system, once.
    pub(super) fn slot(&self) -> SlotMut {
        let mut slot = self.pool.acquire();
        if slot.buffer().len() < SLOT_LEN + BERTH {
            *slot.buffer() = vec![0; SLOT_LEN + BERTH];
        }
        slot
    }

    /// Returns a slot for a message that is longer than any datagram.
    ///
    /// Its memory is up to an eighth longer, so that slots suit messages of similar lengths.
    #[cfg(all(feature = "shm", target_os = "linux", not(dds_loom)))]
    pub(super) fn long_slot(&self, len: usize) -> SlotMut {
        let mut slot = self.long.acquire();
        if slot.buffer().len() < len + BERTH {
            let step = (len + BERTH).next_power_of_two() / 16;
            *slot.buffer() = vec![0; (len + BERTH).next_multiple_of(step)];
        }
        slot
    }

    /// Ends writing of a slot.
    fn freeze(&self, slot: SlotMut) -> Payload {
        let pool = if slot.bytes().len() > SLOT_LEN + BERTH { &self.long } else { &self.pool };
        pool.freeze(slot)
    }

    /// Processes the datagrams of one call, or one long message.
    ///
    /// `next`: place for the datagram to expect next; `None` if the caller cannot receive it in place.
    pub(super) fn take(
        &self,
        mut slot: SlotMut,
        received: Received,
        sender: Option<SocketAddr>,
        mut next: Option<&mut Option<Expected>>,
    ) {
        // Read the offset before the slot is frozen, which makes the buffer immutable.
        let (start, _) = berth_of(slot.buffer());
        let whole = self.freeze(slot);
        for datagram in received.datagrams() {
            let payload = whole.slice(start + datagram.start..start + datagram.end);
            if self.sharing.is_marker(payload.bytes()) {
                continue;
            }
            if let Some(recorder) = &self.recorder {
                recorder.record(sender, payload.bytes());
            }
            // Drops the expectation of an earlier datagram of the run.
            self.take_one(payload, sender, next.as_deref_mut());
        }
    }

    /// Processes one datagram, or one long message. `next` is as for [`take`](Self::take).
    pub(super) fn take_one(&self, payload: Payload, sender: Option<SocketAddr>, next: Option<&mut Option<Expected>>) {
        let mut packet = Packet::new(payload, self.socket, Arc::clone(&self.small));
        packet.sender = Some(sender.map_or(UNREAD_SENDER, |sender| sender.ip().to_canonical()));
        let mut place = None;
        if let Some(next) = next {
            *next = None;
            place = Some(Cell::from_mut(next));
        }
        self.contained(|| self.receive.receive(&packet, place));
    }

    /// Tells the participant that several packets may follow each other.
    pub(super) fn begin_burst(&self) {
        self.contained(|| self.receive.begin_burst());
    }

    /// Tells the participant that no packet follows at present.
    pub(super) fn end_burst(&self) {
        self.contained(|| self.receive.end_burst());
    }

    /// Processes the expected datagram, whose payload is in place.
    pub(super) fn land(&self, landed: Expected, next: &ExpectedPlace) {
        self.contained(|| self.receive.land(landed, next));
    }

    /// Contains a panic in the code before the cells. It costs one packet, not the thread.
    fn contained(&self, handle: impl FnOnce()) {
        if catch_unwind(AssertUnwindSafe(handle)).is_err() {
            tracing::error!(socket = ?self.socket, "panic while a packet was handled; please report this bug");
        }
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_are_received_away_from_the_beginning_of_a_page() {
        let mut memory = vec![0; SLOT_LEN + BERTH + 2 * PAGE];
        let first = memory.as_ptr().addr().wrapping_neg() % PAGE;
        for (from, start) in [(0, 128), (16, 112), (127, 1), (128, 0), (2_000, 0), (PAGE - 1, 0)] {
            let (at, berth) = berth_of(&mut memory[first + from..][..SLOT_LEN + BERTH]);
            assert!(at == start && berth.len() >= SLOT_LEN, "{from} bytes from the beginning: {at}");
            assert!(berth.as_ptr().addr() % PAGE >= BERTH);
        }
    }
}
