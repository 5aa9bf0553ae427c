//! A host of a simulation.

use super::driver::SimDriver;
use super::world::World;
use crate::driver::Driver;
use crate::infrastructure::WakeTimer;
use dds_rtps::sim::{HostId, VirtualNetwork};
use dds_rtps::types::{Duration, Locator, Time, TrafficClass};
use std::fmt;
use std::future::{Future, poll_fn};
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

/// A host of a [`Simulation`](super::Simulation): its clocks, its network interface and its power.
#[derive(Clone)]
pub struct Host {
    pub(super) world: Arc<World>,
    pub(super) id: HostId,
}

impl Host {
    /// Returns the address of its only interface, for [`peers`](crate::DomainParticipantBuilder::peers).
    #[must_use]
    pub fn address(&self) -> Ipv4Addr {
        VirtualNetwork::address(self.id)
    }

    /// Returns the time of its real-time clock.
    #[must_use]
    pub fn time(&self) -> Time {
        self.world.state().clocks(self.id).time
    }

    /// Sends a datagram that no participant created.
    ///
    /// Use it to test how participants handle untrusted bytes. The datagram goes to a port of a host or of a multicast
    /// group. The conditions of the link apply.
    ///
    /// In domain 0, the first participant of a host listens at port 7410 (discovery) and port 7411 (data). Each further
    /// domain adds 250.
    pub fn send(&self, to: impl Into<SocketAddr>, bytes: &[u8]) {
        self.world.state().send(self.id, false, Locator::from(to.into()), TrafficClass::default(), &bytes.into());
    }

    /// Cuts the power of the host.
    ///
    /// Its participants neither send nor receive from now on, and do not announce their end. Their handles still work
    /// locally, but no datagram leaves the host.
    pub fn crash(&self) {
        self.world.state().crash(self.id);
    }

    /// Restores the power after a [`crash`](Host::crash).
    ///
    /// Participants from before the crash stay dead. Create new ones.
    pub fn restart(&self) {
        self.world.state().restart(self.id);
    }

    /// Suspends the host for `duration`, like a laptop with a closed lid.
    ///
    /// Timers, network and the monotonic clock stop, and continue after the sleep. The real-time clock then shows the
    /// correct time.
    pub fn sleep_for(&self, duration: impl Into<Duration>) {
        self.world.state().sleep(self.id, duration.into());
    }

    /// Returns a future that is ready after `duration` of the host's monotonic clock.
    ///
    /// Timers of a runtime, such as `tokio::time::sleep`, follow the real clock and do not advance the world. A future
    /// that needs both takes the timer as an argument. The time begins with the first poll.
    ///
    /// ```
    /// use dds_core::Duration;
    /// use dds_core::sim::Simulation;
    ///
    /// let simulation = Simulation::new(7);
    /// let robot = simulation.host("robot");
    /// let started = robot.time();
    /// let done = simulation.block_on(Duration::from_secs(60), async {
    ///     for _ in 0..3 {
    ///         robot.timer(Duration::from_secs(1)).await;
    ///     }
    /// });
    /// assert!(done.is_some());
    /// assert!(robot.time() - started >= Duration::from_secs(3));
    /// ```
    pub fn timer(&self, duration: impl Into<Duration>) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        let driver = SimDriver::new(Arc::clone(&self.world), self.id);
        let after = duration.into();
        let (mut until, mut timer) = (None, None);
        Box::pin(poll_fn(move |context| {
            let now = driver.now().instant;
            // The time starts with the first poll. An infinite time never ends.
            let until = *until.get_or_insert(now.after(after));
            let Some(until) = until else { return Poll::Pending };
            match &timer {
                Some(timer) => WakeTimer::set_waker(timer, context.waker()),
                None => timer = Some(WakeTimer::new(&*driver, until, context.waker())),
            }
            // Read again after the waker is set: a timer that fired before found no waker or an old one.
            if driver.now().instant >= until { Poll::Ready(()) } else { Poll::Pending }
        }))
    }

    /// Stops the programs of the host for `duration`, as a debugger, SIGSTOP or an overloaded machine does.
    ///
    /// Its clocks continue, and its receive buffers fill.
    pub fn freeze_for(&self, duration: impl Into<Duration>) {
        self.world.state().freeze(self.id, duration.into());
    }

    /// Steps its real-time clock forward by `nanos` nanoseconds. A negative value steps it back.
    pub fn step_clock(&self, nanos: i64) {
        if let Some(host) = self.world.state().host_mut(self.id) {
            // Only the real-time clock jumps. The monotonic one never does.
            host.clock_offset += nanos;
        }
    }

    /// Sets the drift of its real-time clock, in millionths. Default: 0.
    ///
    /// The clock runs faster from now on. If the value is negative, it runs slower.
    pub fn set_clock_drift(&self, millionths: i32) {
        let mut state = self.world.state();
        let now = state.now();
        if let Some(host) = state.host_mut(self.id) {
            host.set_drift(now, millionths.into());
        }
    }

    /// Sets the receive buffer of each of its sockets, in bytes.
    ///
    /// A datagram that does not fit is dropped. Default: the size that participants request, 4 MiB. An untuned Linux
    /// grants 212 992 bytes.
    pub fn set_receive_buffer(&self, bytes: usize) {
        self.world.state().network.set_receive_buffer(self.id, bytes);
    }

    /// Sets the time that the host needs to handle one received datagram. Default: 10 us.
    pub fn set_handling(&self, duration: impl Into<Duration>) {
        self.world.state().network.set_handling(self.id, duration.into());
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.world.state();
        let name = match state.host(self.id) {
            Some(host) => &host.name,
            None => "",
        };
        write!(f, "Host({name}, {})", VirtualNetwork::address(self.id))
    }
}
