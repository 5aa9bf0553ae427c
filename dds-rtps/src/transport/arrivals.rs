//! A network that misbehaves on the last step: what has been received is lost, repeated, late, cut short or damaged before
//! anybody looks at it.
//!
//! In: datagrams as sockets hand them out. Out: what is left of them, when its time has come. Owned: what is held back and
//! under way, within the bounds of [`Fault`], which does the work: to it, handing on is sending. So a side can be tested against a network
//! whose senders are no programs of ours.

use crate::output::Datagram;
use crate::transport::fault::{Fault, FaultCounters, Faults};
use crate::transport::{SendOutcome, Transport, TransportCounters};
use crate::types::{Instant, Locator};
use std::net::Ipv4Addr;
use std::sync::{Mutex, PoisonError};

/// Leaves of what arrives what the faults leave of it.
///
/// A socket that receives has nobody to refuse: `blocked` means nothing here.
#[derive(Debug)]
pub struct FaultyArrivals {
    fault: Fault<Arrived>,
}

/// A datagram that has arrived after all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// The socket that it was received by, as it was called when it came.
    pub socket: u16,
    /// Its bytes, as they are now.
    pub bytes: Vec<u8>,
}

impl FaultyArrivals {
    /// Puts `faults` behind sockets. `clock` is only asked for faults of time.
    pub fn new(faults: Faults, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        let faults = Faults { blocked: 0, blocked_in_a_row: 0, ..faults };
        Self { fault: Fault::new(Arrived::default(), faults, clock) }
    }

    /// A datagram was received by `socket`, a number that means something to the caller. What is to be handled now, in its
    /// order: nothing, this one, or others as well.
    pub fn receive(&self, socket: u16, bytes: &[u8]) -> Vec<Arrival> {
        let mut datagram = Datagram::new();
        datagram.buffer().extend_from_slice(bytes);
        datagram.add_destination(Locator::udp_v4(Ipv4Addr::UNSPECIFIED, socket));
        // Nothing is ever blocked.
        let _ = self.fault.send(&mut datagram);
        self.fault.inner().take()
    }

    /// When the next datagram arrives that is under way.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.fault.deadline()
    }

    /// What arrives by now of what was under way.
    pub fn handle_timeout(&self, now: Instant) -> Vec<Arrival> {
        self.fault.handle_timeout(now);
        self.fault.inner().take()
    }

    /// What has gone wrong so far.
    pub fn fault_counters(&self) -> FaultCounters {
        self.fault.fault_counters()
    }
}

/// Where that which has arrived lies until it is taken, at once.
#[derive(Debug, Default)]
struct Arrived(Mutex<Vec<Arrival>>);

impl Arrived {
    fn take(&self) -> Vec<Arrival> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Transport for Arrived {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        let mut arrived = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(destination) = datagram.remaining_destinations().first() {
            let socket = u16::try_from(destination.port).unwrap_or_default();
            let mut bytes = Vec::new();
            datagram.copy_to(&mut bytes);
            arrived.push(Arrival { socket, bytes });
            datagram.destination_done();
        }
        SendOutcome::Done
    }

    fn counters(&self) -> TransportCounters {
        TransportCounters::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Duration;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// What arrives of 200 datagrams, each with its number, by two sockets in turns.
    fn run(faults: Faults) -> (Vec<Arrival>, FaultCounters) {
        let arrivals = FaultyArrivals::new(faults, || Instant::ZERO);
        let arrived = (0..200).flat_map(|number| arrivals.receive(u16::from(number) % 2, &[number; 50])).collect();
        (arrived, arrivals.fault_counters())
    }

    fn all() -> Vec<Arrival> {
        (0..200).map(|number| Arrival { socket: u16::from(number) % 2, bytes: vec![number; 50] }).collect()
    }

    #[test]
    fn without_faults_everything_is_handed_on_at_once_with_its_socket() {
        assert_eq!(run(Faults { blocked: 100, ..Faults::default() }), (all(), FaultCounters::default()));
    }

    #[test]
    fn what_arrives_is_lost_repeated_and_overtaken_in_the_same_way_under_one_seed() {
        let faults = Faults { seed: 1, lost: 20, repeated: 20, late: 20, late_by: 3, ..Faults::default() };
        let (arrived, counters) = run(faults);
        assert_eq!(run(faults), (arrived.clone(), counters));
        assert!(counters.lost > 0 && counters.repeated > 0 && counters.late > 0);
        let held = 200 - counters.lost + counters.repeated - arrived.len() as u64;
        assert!(held <= 3, "{held} never came");
        assert!(!arrived.is_sorted_by_key(|arrival| arrival.bytes[0]));
        assert!(arrived.iter().all(|arrival| arrival.socket == u16::from(arrival.bytes[0]) % 2));
    }

    #[test]
    fn what_arrives_is_cut_short_and_damaged() {
        let (arrived, counters) = run(Faults { seed: 2, truncated: 20, damaged: 20, ..Faults::default() });
        let short = arrived.iter().filter(|arrival| arrival.bytes.len() < 50).count();
        let damaged = arrived.iter().filter(|arrival| arrival.bytes.windows(2).any(|pair| pair[0] != pair[1])).count();
        assert_eq!((arrived.len(), short as u64), (200, counters.truncated));
        // One that was damaged may be of a single byte.
        assert!(short > 0 && damaged > 0 && damaged as u64 <= counters.damaged);
    }

    #[test]
    fn what_takes_its_time_comes_when_that_is_over() {
        let nanos = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&nanos);
        let faults = Faults { delay: Duration::from_millis(10), ..Faults::default() };
        let arrivals = FaultyArrivals::new(faults, move || Instant::from_nanos(clock.load(Ordering::Relaxed)));
        assert_eq!(arrivals.receive(7, b"first"), []);
        nanos.store(4_000_000, Ordering::Relaxed);
        assert_eq!(arrivals.receive(8, b"second"), []);
        let due = [10_000_000, 14_000_000].map(Instant::from_nanos);
        assert_eq!(
            (arrivals.deadline(), arrivals.handle_timeout(Instant::from_nanos(9_999_999))),
            (Some(due[0]), vec![])
        );
        let first = Arrival { socket: 7, bytes: b"first".to_vec() };
        assert_eq!(arrivals.handle_timeout(due[0]), [first]);
        assert_eq!(arrivals.deadline(), Some(due[1]));
        assert_eq!(arrivals.handle_timeout(due[1]), [Arrival { socket: 8, bytes: b"second".to_vec() }]);
        assert_eq!(arrivals.deadline(), None);
    }
}
