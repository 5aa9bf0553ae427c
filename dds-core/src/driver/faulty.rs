//! A transport with faults, some of which take time.

use super::{Timer, Timers};
use crate::actor::{Effects, Poke, Signals};
use crate::sync::{Arc, Lock, Weak};
use dds_rtps::output::Datagram;
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
