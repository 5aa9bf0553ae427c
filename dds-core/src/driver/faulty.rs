//! Faults of a transport and of its sockets, with the timers that delayed datagrams need.

use super::{Driver, ExpectedPlace, Packet, Receive, Socket, Timer, Timers};
use crate::actor::{Effects, Poke};
use crate::sync::{Arc, Lock, Weak};
use dds_rtps::concurrent::{Payload, SlotPool};
use dds_rtps::output::Datagram;
use dds_rtps::transport::faults::{Faults, ReceiveFaults, SendFaults};
use dds_rtps::transport::{SendOutcome, Transport, TransportCounters};
use dds_rtps::types::Instant;
use std::fmt;
use std::net::IpAddr;

type InstantSource = Arc<dyn Fn() -> Instant + Send + Sync>;

/// A transport with faults; a timer of the driver sends delayed datagrams.
pub(crate) struct FaultyTransport {
    faults: SendFaults<Arc<dyn Transport>>,
    clock: InstantSource,
    /// Locked while datagrams are sent, so that the timer is set to the earliest deadline.
    timer: Lock<Option<Timer>>,
}

impl FaultyTransport {
    /// Puts `faults` before `inner`.
    pub(crate) fn new(
        inner: Arc<dyn Transport>,
        faults: Faults,
        timers: &Arc<Timers>,
        clock: impl Fn() -> Instant + Send + Sync + 'static,
    ) -> Arc<Self> {
        let clock: InstantSource = Arc::new(clock);
        let send_clock = Arc::clone(&clock);
        let faults = SendFaults::new(inner, faults, move || send_clock());
        let faulty = Arc::new(Self { faults, clock, timer: Lock::default() });
        let cell: Weak<Self> = Arc::downgrade(&faulty);
        *faulty.timer.lock() = Some(Timer::new(timers, cell));
        faulty
    }

    fn set_timer(&self, timer: &Option<Timer>) {
        if let Some(timer) = timer {
            timer.set(self.faults.deadline());
        }
    }
}

impl Transport for FaultyTransport {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        let timer = self.timer.lock();
        let outcome = self.faults.send(datagram);
        self.set_timer(&timer);
        outcome
    }

    fn counters(&self) -> TransportCounters {
        self.faults.counters()
    }
}

impl Poke for FaultyTransport {
    fn poke(self: Arc<Self>, _: &mut Effects) {
        let timer = self.timer.lock();
        self.faults.handle_timeout((self.clock)());
        self.set_timer(&timer);
    }
}

impl fmt::Debug for FaultyTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.faults, f)
    }
}

/// Receiver behind faults; a timer of the driver delivers delayed datagrams.
///
/// It receives nothing in place: the next datagram need not be the expected one.
pub(crate) struct FaultyReceive {
    inner: Arc<dyn Receive>,
    clock: InstantSource,
    /// Pool of the packets that the receiver keeps.
    small: Arc<SlotPool>,
    state: Lock<FaultyReceiveState>,
}

struct FaultyReceiveState {
    faults: ReceiveFaults<(Socket, Option<IpAddr>)>,
    timer: Option<Timer>,
}

/// How many packets the pool keeps; a test may allocate more.
const SLOTS_MAX: usize = 64;

impl FaultyReceive {
    /// Puts `faults` before `inner`.
    pub(crate) fn new(inner: Arc<dyn Receive>, faults: &Faults, driver: &Arc<dyn Driver>) -> Arc<Self> {
        // Weak, because a receiver must not keep its driver alive.
        let weak_driver = Arc::downgrade(driver);
        let clock: InstantSource = Arc::new(move || match weak_driver.upgrade() {
            Some(driver) => driver.now().instant,
            None => Instant::ZERO,
        });
        let small = Arc::new(SlotPool::new(SLOTS_MAX));
        let state = FaultyReceiveState { faults: ReceiveFaults::new(faults), timer: None };
        let faulty = Arc::new(Self { inner, clock, small, state: Lock::new(state) });
        let cell: Weak<Self> = Arc::downgrade(&faulty);
        faulty.state.lock().timer = Some(Timer::new(driver.timers(), cell));
        faulty
    }

    /// Accepts a new packet, delivers all datagrams that have arrived, and sets the timer to the next arrival.
    fn deliver(&self, packet: Option<&Packet>) {
        let mut arrived = Vec::new();
        {
            let now = (self.clock)();
            let mut state = self.state.lock();
            let FaultyReceiveState { faults, timer } = &mut *state;
            if let Some(packet) = packet {
                // A copy: the slot goes back to its pool when this call returns.
                faults.receive(now, (packet.socket, packet.sender), packet.payload.bytes());
            }
            while let Some(datagram) = faults.next_arrival(now) {
                arrived.push(datagram);
            }
            if let Some(timer) = timer {
                timer.set(faults.deadline());
            }
        }
        // Outside of the lock: the receiver calls listeners.
        for datagram in arrived {
            let payload = Payload::copy_of(&datagram.bytes);
            let (socket, sender) = datagram.socket;
            let mut packet = Packet::new(payload, socket, Arc::clone(&self.small));
            packet.sender = sender;
            self.inner.receive(&packet, None);
        }
    }
}

impl Receive for FaultyReceive {
    fn receive(&self, packet: &Packet, _: Option<&ExpectedPlace>) {
        self.deliver(Some(packet));
    }

    fn locators_changed(&self) {
        self.inner.locators_changed();
    }
}

impl Poke for FaultyReceive {
    fn poke(self: Arc<Self>, _: &mut Effects) {
        self.deliver(None);
    }
}
