//! From a socket to the participant: one call that receives, and what becomes of what it has received.

use super::landings::{Arrival, Landings};
use super::tap::Recorder;
use crate::driver::{Expected, Packet, Receive, Socket};
use crate::sync::{Arc, AtomicBool, Ordering};
use dds_rtps::concurrent::{SlotMut, SlotPool};
use dds_rtps::transport::udp::{Received, UdpReceiver, peek_sender};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, UdpSocket};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// Room for any UDP datagram.
const SLOT_LEN: usize = 64 << 10;

const PAGE: usize = 4 << 10;

/// So far from the beginning of a page a datagram is received at least. Linux copies it there by `rep movsb`, which on AMD is a
/// seventeenth as fast as usual if the copy lies 1 to 31 bytes behind the original modulo a page (`dds_rtps::cdr::copy`). The
/// original of a large datagram lies at the beginning of a page, that of a smaller one behind room for its headers: 44 bytes, 64
/// by IPv6. (32 000 bytes sent and received: 15.1 us at 16 bytes from the beginning, 5.3 here.)
const BERTH: usize = 128;

/// How many slots a receiver remembers: what readers hold beyond 4 MiB of large samples lives on the heap.
const SLOTS_MAX: usize = 64;

/// How many slots of small packets a receiver remembers: an inbox full.
const SMALL_SLOTS_MAX: usize = 256;

/// How many errors in a row a receiver takes for passing ones, before it begins to pause after each.
pub(super) const ERRORS_IN_A_ROW: u32 = 16;

/// The pause, so that a socket in trouble does not take a core.
pub(super) const ERROR_PAUSE: Duration = Duration::from_millis(10);

/// A user-data socket and all that receiving from it needs. Whoever has it receives: the receive thread, or who waits.
pub(super) struct Intake {
    receiver: UdpReceiver,
    inbound: Inbound,
    landings: Landings,
    slot: Option<SlotMut>,
    errors: u32,
}

/// What came of one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// A datagram, or a run of them, has been handed on; or nothing has been, and there may be something.
    Taken,
    /// There was nothing.
    Nothing,
    /// The socket is in trouble: pause before the next call.
    Failing,
}

impl Intake {
    pub(super) fn new(socket: Arc<UdpSocket>, inbound: Inbound) -> Self {
        let receiver = UdpReceiver::new(socket);
        Self { receiver, inbound, landings: Landings::default(), slot: None, errors: 0 }
    }

    pub(super) fn socket(&self) -> &UdpSocket {
        self.receiver.socket()
    }

    /// Receives once, waiting if the socket blocks, and hands on what has come.
    pub(super) fn step(&mut self, stopped: &AtomicBool) -> Step {
        let Self { receiver, inbound, landings, slot, errors } = self;
        let mut free = slot.take().unwrap_or_else(|| inbound.slot());
        // Only a tap wants to know the sender, who is the same of a whole run. This waits as the receive does.
        let sender = inbound.recorder.as_ref().and_then(|_| peek_sender(receiver.socket()));
        let arrival = match landings.receive(receiver, berth_of(free.buffer()).1) {
            // An empty datagram that says only this.
            Ok(_) if stopped.load(Ordering::Acquire) => return Step::Nothing,
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
                inbound.contained(|| landings.expected = inbound.receive.land(landed));
            }
            Arrival::Datagrams(received) => {
                let lands = inbound.recorder.is_none() && landings.are_worth_it();
                inbound.take(free, received, sender, lands.then_some(&mut landings.expected));
            }
        }
        Step::Taken
    }

    #[cold]
    fn note(&mut self, error: &io::Error) -> Step {
        match error.kind() {
            ErrorKind::WouldBlock => return Step::Nothing,
            ErrorKind::Interrupted => return Step::Taken,
            _ => {}
        }
        self.errors += 1;
        report(self.errors, error);
        if self.errors > ERRORS_IN_A_ROW { Step::Failing } else { Step::Taken }
    }
}

pub(super) fn report(errors: u32, error: &io::Error) {
    if errors == ERRORS_IN_A_ROW {
        tracing::warn!(%error, "a socket keeps failing to receive");
    }
}

/// Where in a slot's buffer datagrams are received, and from which of its bytes on that is. The same for the same slot.
pub(super) fn berth_of(buffer: &mut [u8]) -> (usize, &mut [u8]) {
    let start = BERTH.saturating_sub(buffer.as_ptr().addr() % PAGE).min(buffer.len());
    (start, buffer.get_mut(start..).unwrap_or_default())
}

/// From a socket to the participant, by slots that may be kept.
pub(super) struct Inbound {
    pool: SlotPool,
    /// For small packets that have to wait in a queue.
    small: Arc<SlotPool>,
    socket: Socket,
    receive: Arc<dyn Receive>,
    recorder: Option<Recorder>,
}

impl Inbound {
    pub(super) fn new(socket: Socket, receive: &Arc<dyn Receive>, recorder: Option<Recorder>) -> Self {
        Self {
            pool: SlotPool::new(SLOTS_MAX),
            small: Arc::new(SlotPool::new(SMALL_SLOTS_MAX)),
            socket,
            receive: Arc::clone(receive),
            recorder,
        }
    }

    /// A slot whose buffer has room for any datagram. Its memory is made, and zeroed by the system, once.
    pub(super) fn slot(&self) -> SlotMut {
        let mut slot = self.pool.acquire();
        if slot.buffer().len() < SLOT_LEN + BERTH {
            *slot.buffer() = vec![0; SLOT_LEN + BERTH];
        }
        slot
    }

    /// Takes what one call has received; at most 64 KiB, however many datagrams they are. `expected` becomes what is expected
    /// next, if the next one can land: in its place, for it is large, and there mostly is none.
    pub(super) fn take(
        &self,
        mut slot: SlotMut,
        received: Received,
        sender: Option<SocketAddr>,
        expected: Option<&mut Option<Expected>>,
    ) {
        let (start, _) = berth_of(slot.buffer());
        let whole = self.pool.freeze(slot);
        let lands = expected.is_some();
        let mut none = None;
        let expected = expected.unwrap_or(&mut none);
        for datagram in received.datagrams() {
            let payload = whole.slice(start + datagram.start..start + datagram.end);
            if let Some(recorder) = &self.recorder {
                recorder.record(sender, payload.bytes());
            }
            let mut packet = Packet::new(payload, self.socket, Arc::clone(&self.small));
            packet.lands = lands;
            self.contained(|| *expected = self.receive.receive(&packet));
        }
    }

    /// Cells stop their own panics; this is for what lies before them. One packet is lost, not the thread.
    fn contained(&self, handle: impl FnOnce()) {
        if catch_unwind(AssertUnwindSafe(handle)).is_err() {
            tracing::error!(socket = ?self.socket, "panic while a packet was handled; please report this bug");
        }
    }
}

#[cfg(test)]
#[cfg(not(dds_loom))]
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
