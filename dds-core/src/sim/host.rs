//! A host of a simulation.

use super::world::World;
use dds_rtps::sim::{HostId, VirtualNetwork};
use dds_rtps::types::{Duration, Locator, Time, TrafficClass};
use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

/// A host of a [`Simulation`](super::Simulation): its clocks, its network card, its life.
#[derive(Clone)]
pub struct Host {
    pub(super) world: Arc<World>,
    pub(super) id: HostId,
}

impl Host {
    /// The address of its one interface, for [`peers`](crate::DomainParticipantBuilder::peers).
    #[must_use]
    pub fn address(&self) -> Ipv4Addr {
        VirtualNetwork::address(self.id)
    }

    /// What its real-time clock shows.
    #[must_use]
    pub fn time(&self) -> Time {
        self.world.state().clocks(self.id).time
    }

    /// Sends a datagram that no participant has made, as a stranger in the network could: for tests of what comes from
    /// outside. It goes to a port of a host or of a group, under the conditions of the link. The first participant of a
    /// host listens at 7410 (discovery) and 7411 (data) in domain 0, and 250 ports further for each domain.
    pub fn send(&self, to: impl Into<SocketAddr>, bytes: &[u8]) {
        self.world.state().send(self.id, false, Locator::from(to.into()), TrafficClass::default(), &bytes.into());
    }

    /// Takes the power away: its participants say nothing more and hear nothing more, without farewell. Their handles still
    /// work, for themselves; nothing that they do leaves the host.
    pub fn crash(&self) {
        self.world.state().crash(self.id);
    }

    /// Gives the power back, after a [`crash`](Host::crash). Participants from before stay dead; make new ones.
    pub fn restart(&self) {
        self.world.state().restart(self.id);
    }

    /// Sends it to sleep for so long, as a laptop whose lid is shut: timers, network and the monotonic clock stand, and go on
    /// afterwards; the real-time clock then shows the right time.
    pub fn sleep_for(&self, duration: impl Into<Duration>) {
        self.world.state().sleep(self.id, duration.into());
    }

    /// Stops its programs for so long, as a debugger, SIGSTOP or an overloaded machine does: its clocks go on, and its sockets
    /// fill.
    pub fn freeze_for(&self, duration: impl Into<Duration>) {
        self.world.state().freeze(self.id, duration.into());
    }

    /// Sets its real-time clock forward (or, if negative, back), by nanoseconds.
    pub fn step_clock(&self, nanos: i64) {
        if let Some(host) = self.world.state().host_mut(self.id) {
            host.clock_offset += nanos;
        }
    }

    /// Lets its real-time clock run faster (or, if negative, slower) from now on, by millionths. Default: 0.
    pub fn set_clock_drift(&self, millionths: i32) {
        let mut state = self.world.state();
        let now = state.now();
        if let Some(host) = state.host_mut(self.id) {
            host.set_drift(now, millionths.into());
        }
    }

    /// How many bytes may wait in each of its sockets to be received; what comes on top is lost. Default: what participants
    /// ask for, 4 MiB; an untuned Linux grants 212 992.
    pub fn set_receive_buffer(&self, bytes: usize) {
        self.world.state().network.set_receive_buffer(self.id, bytes);
    }

    /// How long it works on each datagram that it receives. Default: 10 us.
    pub fn set_handling(&self, duration: impl Into<Duration>) {
        self.world.state().network.set_handling(self.id, duration.into());
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.world.state();
        let name = state.host(self.id).map_or("", |host| host.name.as_str());
        write!(f, "Host({name}, {})", VirtualNetwork::address(self.id))
    }
}
