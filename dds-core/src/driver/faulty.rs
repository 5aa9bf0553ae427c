//! A transport with faults, and the same for what is received. Some of them take time.

use super::{Driver, Expected, Packet, Receive, Socket, Timer, Timers};
use crate::actor::{Effects, Poke, Signals};
use crate::sync::{Arc, Lock, Weak};
use dds_rtps::concurrent::{Payload, SlotPool};
use dds_rtps::output::Datagram;
use dds_rtps::transport::arrivals::{Arrival, FaultyArrivals};
use dds_rtps::transport::fault::{Fault, Faults};
use dds_rtps::transport::{SendOutcome, Transport, TransportCounters};
use dds_rtps::types::Instant;
use std::fmt;

/// Lets datagrams that are under way arrive when their time has come, by a timer of the driver.
pub(crate) struct FaultyTransport {
    fault: Fault<Arc<dyn Transport>>,
    clock: Arc<dyn Fn() -> Instant + Send + Sync>,
    /// Held while datagrams are sent, so that the earliest deadline is the one that is set.
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
        let clock: Arc<dyn Fn() -> Instant + Send + Sync> = Arc::new(clock);
        let fault = Fault::new(inner, faults, {
            let clock = Arc::clone(&clock);
            move || clock()
        });
        let faulty = Arc::new(Self { fault, clock, timer: Lock::default() });
        let cell: Weak<Self> = Arc::downgrade(&faulty);
        *faulty.timer.lock() = Some(Timer::new(timers, cell));
        faulty
    }

    /// Does something to the datagrams under way, and sets the timer to the next one.
    fn with_timer<R>(&self, act: impl FnOnce() -> R) -> R {
        let timer = self.timer.lock();
        let result = act();
        if let Some(timer) = &*timer {
            timer.set(self.fault.deadline());
        }
        result
    }
}

impl Transport for FaultyTransport {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        self.with_timer(|| self.fault.send(datagram))
    }

    fn counters(&self) -> TransportCounters {
        self.fault.counters()
    }
}

impl Poke for FaultyTransport {
    fn poke(self: Arc<Self>, _: &mut Effects) {
        self.with_timer(|| self.fault.handle_timeout((self.clock)()));
    }

    fn resume(self: Arc<Self>, effects: &mut Effects) {
        self.poke(effects);
    }

    fn signal(&self, _: Signals) {}
}

impl fmt::Debug for FaultyTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.fault, f)
    }
}

/// Hands on of what sockets receive what the faults leave of it; what takes its time comes by a timer of the driver.
///
/// Nothing lands in its place here: what comes next is not what was expected.
pub(crate) struct FaultyReceive {
    inner: Arc<dyn Receive>,
    arrivals: FaultyArrivals,
    clock: Arc<dyn Fn() -> Instant + Send + Sync>,
    /// Where packets lie that are kept.
    small: Arc<SlotPool>,
    timer: Lock<Option<Timer>>,
}

/// As many packets as that are kept without asking for memory; more is no loss in a test.
const SLOTS_MAX: usize = 64;

impl FaultyReceive {
    /// Puts `faults` before `inner`.
    pub(crate) fn new(inner: Arc<dyn Receive>, faults: Faults, driver: &Arc<dyn Driver>) -> Arc<Self> {
        let clock: Arc<dyn Fn() -> Instant + Send + Sync> = Arc::new({
            let driver = Arc::downgrade(driver);
            move || driver.upgrade().map_or(Instant::ZERO, |driver| driver.now().instant)
        });
        let arrivals = FaultyArrivals::new(faults, {
            let clock = Arc::clone(&clock);
            move || clock()
        });
        let small = Arc::new(SlotPool::new(SLOTS_MAX));
        let faulty = Arc::new(Self { inner, arrivals, clock, small, timer: Lock::default() });
        let cell: Weak<Self> = Arc::downgrade(&faulty);
        *faulty.timer.lock() = Some(Timer::new(driver.timers(), cell));
        faulty
    }

    /// Takes of the arrivals what is due, and sets the timer to the next one. Handed on outside of any lock: who receives runs
    /// listeners.
    fn hand_on(&self, due: impl FnOnce() -> Vec<Arrival>) {
        let due = {
            let timer = self.timer.lock();
            let due = due();
            if let Some(timer) = &*timer {
                timer.set(self.arrivals.deadline());
            }
            due
        };
        for Arrival { socket, bytes } in due {
            let packet = Packet::new(Payload::copy_of(&bytes), socket_of(socket), Arc::clone(&self.small));
            self.inner.receive(&packet);
        }
    }
}

const fn number_of(socket: Socket) -> u16 {
    match socket {
        Socket::MetatrafficMulticast => 0,
        Socket::MetatrafficUnicast => 1,
        Socket::UserUnicast => 2,
    }
}

const fn socket_of(number: u16) -> Socket {
    match number {
        0 => Socket::MetatrafficMulticast,
        1 => Socket::MetatrafficUnicast,
        _ => Socket::UserUnicast,
    }
}

impl Receive for FaultyReceive {
    fn receive(&self, packet: &Packet) -> Option<Expected> {
        self.hand_on(|| self.arrivals.receive(number_of(packet.socket), packet.payload.bytes()));
        None
    }

    fn locators_changed(&self) {
        self.inner.locators_changed();
    }
}

impl Poke for FaultyReceive {
    fn poke(self: Arc<Self>, _: &mut Effects) {
        self.hand_on(|| self.arrivals.handle_timeout((self.clock)()));
    }

    fn resume(self: Arc<Self>, effects: &mut Effects) {
        self.poke(effects);
    }

    fn signal(&self, _: Signals) {}
}
