//! Faults of a network, before or behind any transport.
//!
//! In: datagrams on their way to a transport, or from a socket. Out: those that the faults let through, at their
//! time. Owned: the datagrams in flight. [`link`](crate::link) decides what happens to each; the same sends under the
//! same seed, at the same times, fail alike.
//!
//! Delays need a caller that calls `handle_timeout` at `deadline`; there is no thread here. A buffer that is too
//! small is no fault but a setting of the sockets.

use crate::link::{Conditions, Damage, NetworkCounters, NetworkPath, Random, SentDatagram};
use crate::output::Datagram;
use crate::transport::{SendOutcome, Transport, TransportCounters};
use crate::types::{Instant, Locator};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Faults of a transport. The default has none.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Faults {
    /// Seed of the random decisions.
    pub seed: u64,
    /// Faults of the path, for each datagram and destination. Default: [`Conditions::immediate`].
    pub conditions: Conditions,
    /// Share of sends that are [blocked](SendOutcome::Blocked), so that the sender has to try again. Default: 0.
    pub blocked: f64,
    /// How many sends in a row are blocked when one is. 0, the default, means 1.
    pub blocked_in_a_row: u8,
}

impl Default for Faults {
    fn default() -> Self {
        Self { seed: 0, conditions: Conditions::immediate(), blocked: 0.0, blocked_in_a_row: 0 }
    }
}

/// Most datagrams in flight; more are lost. 64 MiB, if all have the longest length.
pub const IN_FLIGHT_MAX: usize = 1_024;

/// A transport that sends datagrams by another one, unless the faults drop them.
///
/// A datagram that the inner transport has no room for is lost, as on a wire. Use [`Faults::blocked`] to test a full
/// socket.
pub struct SendFaults<T> {
    inner: T,
    faults: Faults,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
    state: Mutex<SendState>,
}

#[derive(Debug)]
struct SendState {
    path: FaultyPath<Datagram>,
    /// Source of chance for blocked sends; the path has its own.
    random: Random,
    /// How many of the next sends are blocked in any case.
    still_blocked: u8,
    blocked: u64,
}

impl<T: Transport> SendFaults<T> {
    /// Puts `faults` between the sender and `inner`. `clock` returns the current time.
    pub fn new(inner: T, faults: Faults, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        let mut random = Random::new(faults.seed);
        let path = FaultyPath::new(random.draw(), faults.conditions);
        let state = SendState { path, random, still_blocked: 0, blocked: 0 };
        Self { inner, faults, clock: Box::new(clock), state: Mutex::new(state) }
    }

    /// Returns when the next datagram in flight arrives.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.state().path.deadline()
    }

    /// Sends the datagrams that arrive until `now`.
    pub fn handle_timeout(&self, now: Instant) {
        self.deliver(&mut self.state(), now);
    }

    /// Returns the counters of the path.
    pub fn path_counters(&self) -> NetworkCounters {
        self.state().path.counters
    }

    fn state(&self) -> MutexGuard<'_, SendState> {
        // A panic under this lock loses one datagram at most, as any fault does.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn deliver(&self, state: &mut SendState, now: Instant) {
        while let Some(mut datagram) = state.path.next_arrival(now) {
            // The inner transport counts a datagram that it has no room for.
            let _ = self.inner.send(&mut datagram);
        }
    }
}

impl<T: fmt::Debug> fmt::Debug for SendFaults<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendFaults").field("inner", &self.inner).field("faults", &self.faults).finish_non_exhaustive()
    }
}

impl<T: Transport> Transport for SendFaults<T> {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        let mut state = self.state();
        while let Some(&destination) = datagram.remaining_destinations().first() {
            if state.draw_blocked(&self.faults) {
                return SendOutcome::Blocked;
            }
            // Each destination has its own fate, as in a network.
            let now = (self.clock)();
            let sent = SentDatagram { at: now, len: datagram.len(), multicast: destination.is_multicast() };
            state.path.send(&sent, |damage| damaged_copy(datagram, destination, damage));
            // Without a delay the datagram arrives at once.
            self.deliver(&mut state, now);
            datagram.destination_done();
        }
        SendOutcome::Done
    }

    /// Returns the counters of the inner transport, plus the sends that the faults have blocked.
    fn counters(&self) -> TransportCounters {
        let mut counters = self.inner.counters();
        counters.blocked += self.state().blocked;
        counters
    }
}

impl SendState {
    /// Whether this send is blocked, alone or as one of several in a row.
    fn draw_blocked(&mut self, faults: &Faults) -> bool {
        if self.still_blocked > 0 {
            self.still_blocked -= 1;
        } else if self.random.happens(faults.blocked) {
            // This refusal is the first of the row.
            self.still_blocked = faults.blocked_in_a_row.saturating_sub(1);
        } else {
            return false;
        }
        self.blocked += 1;
        true
    }
}

/// Returns a copy for one destination, with its damage.
fn damaged_copy(datagram: &Datagram, destination: Locator, damage: Option<Damage>) -> Datagram {
    let mut copy = Datagram::new();
    datagram.copy_to(copy.buffer());
    if let Some(damage) = damage {
        damage.apply(copy.buffer());
    }
    copy.add_destination(destination);
    copy.set_traffic_class(datagram.traffic_class());
    copy
}

/// Faults of received datagrams, behind sockets of type `S`.
///
/// They test a participant against a network whose senders are other programs. A socket that receives cannot refuse its
/// sender, so [`Faults::blocked`] is ignored.
#[derive(Debug)]
pub struct ReceiveFaults<S> {
    path: FaultyPath<FaultyDatagram<S>>,
}

/// A datagram that the faults have let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultyDatagram<S> {
    /// The socket that received it.
    pub socket: S,
    /// The bytes, perhaps damaged.
    pub bytes: Vec<u8>,
}

impl<S: Copy> ReceiveFaults<S> {
    /// Creates the faults of a participant's sockets.
    #[must_use]
    pub fn new(faults: &Faults) -> Self {
        Self { path: FaultyPath::new(faults.seed, faults.conditions) }
    }

    /// Accepts a datagram that `socket` has received. Then call [`next_arrival`](Self::next_arrival) until it is
    /// `None`.
    pub fn receive(&mut self, now: Instant, socket: S, bytes: &[u8]) {
        // A socket does not tell whether a datagram came by multicast.
        let sent = SentDatagram { at: now, len: bytes.len(), multicast: false };
        self.path.send(&sent, |damage| {
            let mut bytes = bytes.to_vec();
            if let Some(damage) = damage {
                damage.apply(&mut bytes);
            }
            FaultyDatagram { socket, bytes }
        });
    }

    /// Returns the next datagram that arrives until `now`.
    pub fn next_arrival(&mut self, now: Instant) -> Option<FaultyDatagram<S>> {
        self.path.next_arrival(now)
    }

    /// Returns when the next datagram in flight arrives.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.path.deadline()
    }

    /// Returns the counters of the path.
    #[must_use]
    pub fn path_counters(&self) -> NetworkCounters {
        self.path.counters
    }
}

/// One path and its datagrams in flight.
#[derive(Debug)]
struct FaultyPath<D> {
    conditions: Conditions,
    path: NetworkPath,
    random: Random,
    /// By arrival time, then by the order of the sends.
    in_flight: BTreeMap<(Instant, u64), D>,
    sent: u64,
    counters: NetworkCounters,
}

impl<D> FaultyPath<D> {
    fn new(seed: u64, conditions: Conditions) -> Self {
        Self {
            conditions,
            path: NetworkPath::default(),
            random: Random::new(seed),
            in_flight: BTreeMap::new(),
            sent: 0,
            counters: NetworkCounters::default(),
        }
    }

    /// Sends a datagram; `copy` creates each copy of it that arrives.
    fn send(&mut self, datagram: &SentDatagram, copy: impl Fn(Option<Damage>) -> D) {
        for at in self.path.pass(datagram, &self.conditions, &mut self.random, &mut self.counters) {
            if self.in_flight.len() >= IN_FLIGHT_MAX {
                self.counters.queue_full += 1;
                continue;
            }
            let damage = Damage::draw(datagram.len, &self.conditions, &mut self.random, &mut self.counters);
            self.sent += 1;
            self.in_flight.insert((at, self.sent), copy(damage));
        }
    }

    fn next_arrival(&mut self, now: Instant) -> Option<D> {
        if self.deadline()? > now {
            return None;
        }
        self.counters.delivered += 1;
        self.in_flight.pop_first().map(|(_, datagram)| datagram)
    }

    fn deadline(&self) -> Option<Instant> {
        self.in_flight.first_key_value().map(|((at, _), _)| *at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Duration;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Remembers the bytes of each datagram that arrives.
    #[derive(Debug, Default)]
    struct Log(Mutex<Vec<Vec<u8>>>);

    impl Transport for Log {
        fn send(&self, datagram: &mut Datagram) -> SendOutcome {
            let mut bytes = Vec::new();
            datagram.copy_to(&mut bytes);
            self.0.lock().unwrap().push(bytes);
            SendOutcome::Done
        }
        fn counters(&self) -> TransportCounters {
            TransportCounters::default()
        }
    }

    fn datagram(first: u8) -> Datagram {
        let mut datagram = Datagram::new();
        datagram.buffer().extend_from_slice(&[first; 100]);
        datagram.add_destination(Locator::udp_v4([127, 0, 0, 1].into(), 1));
        datagram
    }

    fn under(seed: u64, conditions: Conditions) -> Faults {
        Faults { seed, conditions, ..Faults::default() }
    }

    /// All 100 datagrams, each as its millisecond of arrival and its first byte.
    fn all(delay: u64) -> Vec<(u64, u8)> {
        (0..100).map(|first| (u64::from(first) + delay, first)).collect()
    }

    /// Sends 100 datagrams of 100 bytes, one each millisecond, and again when blocked.
    ///
    /// Returns the millisecond of arrival and the first byte of each datagram that arrives, and the transport.
    fn run(faults: Faults) -> (Vec<(u64, u8)>, SendFaults<Log>) {
        let millis = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&millis);
        let now = move || Instant::from_nanos(clock.load(Ordering::Relaxed) * 1_000_000);
        let network = SendFaults::new(Log::default(), faults, now.clone());
        let mut arrived = Vec::new();
        for milli in 0..1_000 {
            millis.store(milli, Ordering::Relaxed);
            if milli < 100 {
                let mut datagram = datagram(milli as u8);
                while network.send(&mut datagram) == SendOutcome::Blocked {}
            }
            network.handle_timeout(now());
            for bytes in network.inner.0.lock().unwrap().drain(..) {
                arrived.push((milli, bytes.first().copied().unwrap_or(0)));
            }
        }
        assert_eq!(network.deadline(), None, "a datagram never arrives");
        (arrived, network)
    }

    #[test]
    fn without_faults_every_datagram_arrives_in_order() {
        let (arrived, network) = run(Faults::default());
        assert_eq!(arrived, all(0));
        assert_eq!(network.path_counters(), NetworkCounters { delivered: 100, ..NetworkCounters::default() });
    }

    #[test]
    fn same_seed_fails_in_the_same_way() {
        let conditions = Conditions { truncated: 0.2, damaged: 0.2, ..Conditions::immediate() };
        let conditions = conditions.lossy(0.2).duplicating(0.2);
        assert_eq!(run(under(7, conditions)).0, run(under(7, conditions)).0);
        assert_ne!(run(under(7, conditions)).0, run(under(8, conditions)).0);
    }

    #[test]
    fn lost_and_repeated_datagrams_are_counted() {
        let (arrived, network) = run(under(1, Conditions::immediate().lossy(0.3).duplicating(0.3)));
        let counters = network.path_counters();
        assert!(counters.lost > 0 && counters.duplicated > 0);
        assert_eq!(arrived.len() as u64, 100 - counters.lost + counters.duplicated);
    }

    #[test]
    fn blocked_datagram_keeps_its_destinations() {
        let (arrived, network) = run(Faults { seed: 4, blocked: 0.5, ..Faults::default() });
        assert!(network.counters().blocked > 0);
        assert_eq!(arrived, all(0));
        let full = SendFaults::new(Log::default(), Faults { blocked: 1.0, ..Faults::default() }, || Instant::ZERO);
        let mut datagram = datagram(0);
        assert_eq!(full.send(&mut datagram), SendOutcome::Blocked);
        assert_eq!(datagram.remaining_destinations().len(), 1);
        assert_eq!(full.counters().blocked, 1);
    }

    #[test]
    fn blocked_sends_come_in_rows() {
        let (arrived, network) = run(Faults { seed: 12, blocked: 0.1, blocked_in_a_row: 7, ..Faults::default() });
        let blocked = network.counters().blocked;
        assert_eq!(arrived, all(0));
        assert!(blocked > 0 && blocked % 7 == 0, "{blocked}");
    }

    #[test]
    fn delay_is_the_same_for_all_datagrams() {
        let delayed = Conditions::immediate().delayed(Duration::from_millis(20), Duration::ZERO);
        assert_eq!(run(under(101, delayed)).0, all(20));
    }

    #[test]
    fn reordering_stays_within_its_bounds() {
        let jitter = Conditions::immediate().delayed(Duration::from_millis(5), Duration::from_millis(10));
        let (arrived, _) = run(under(102, jitter.reordering(0.5)));
        assert_eq!(arrived, run(under(102, jitter.reordering(0.5))).0);
        assert!(arrived.iter().all(|(at, first)| (5..=31).contains(&(at - u64::from(*first)))), "{arrived:?}");
        assert!(!arrived.is_sorted_by_key(|(_, first)| *first));
        assert_eq!(arrived.len(), 100);
    }

    #[test]
    fn narrow_line_delays_until_its_queue_is_full() {
        // Each datagram takes two milliseconds, and another one comes every millisecond.
        let line = Conditions::immediate().limited_to(50_000);
        let (arrived, network) = run(under(103, line));
        assert_eq!(arrived, (0..100).map(|first| (2 * u64::from(first) + 2, first)).collect::<Vec<_>>());
        assert_eq!(network.path_counters().queue_full, 0);
        let (arrived, network) = run(under(104, Conditions { queue: 500, ..line }));
        let counters = network.path_counters();
        assert!(counters.queue_full > 30, "{counters:?}");
        assert_eq!(arrived.len() as u64, 100 - counters.queue_full);
        assert!(arrived.iter().all(|(at, first)| at - u64::from(*first) <= 12), "{arrived:?}");
    }

    #[test]
    fn datagrams_in_flight_are_bounded() {
        let delayed = Conditions::immediate().delayed(Duration::from_secs(1), Duration::ZERO);
        let network = SendFaults::new(Log::default(), under(1, delayed), || Instant::ZERO);
        for _ in 0..IN_FLIGHT_MAX + 5 {
            assert_eq!(network.send(&mut datagram(1)), SendOutcome::Done);
        }
        assert_eq!(network.path_counters().queue_full, 5);
    }

    /// Receives 200 datagrams by two sockets in turns, each with its number.
    fn receive(faults: &Faults) -> (Vec<FaultyDatagram<u8>>, NetworkCounters) {
        let mut behind = ReceiveFaults::new(faults);
        let mut arrived = Vec::new();
        for number in 0..200 {
            behind.receive(Instant::ZERO, number % 2, &[number; 50]);
            arrived.extend(std::iter::from_fn(|| behind.next_arrival(Instant::ZERO)));
        }
        (arrived, behind.path_counters())
    }

    #[test]
    fn reception_without_faults_is_immediate() {
        // A receiving socket cannot refuse its sender.
        let (arrived, _) = receive(&Faults { blocked: 1.0, ..Faults::default() });
        let all = (0..200).map(|number| FaultyDatagram { socket: number % 2, bytes: vec![number; 50] });
        assert_eq!(arrived, all.collect::<Vec<_>>());
    }

    #[test]
    fn reception_loses_repeats_truncates_and_damages() {
        let conditions = Conditions { truncated: 0.2, damaged: 0.2, ..Conditions::immediate() };
        let faults = under(2, conditions.lossy(0.2).duplicating(0.2));
        let (arrived, counters) = receive(&faults);
        assert_eq!(receive(&faults), (arrived.clone(), counters));
        assert_eq!(arrived.len() as u64, 200 - counters.lost + counters.duplicated);
        assert!(counters.lost > 0 && counters.duplicated > 0);
        let short = arrived.iter().filter(|arrival| arrival.bytes.len() < 50).count();
        let damaged = arrived.iter().filter(|arrival| arrival.bytes.windows(2).any(|pair| pair[0] != pair[1])).count();
        assert_eq!(short as u64, counters.truncated);
        // A damaged datagram may have a single byte.
        assert!(short > 0 && damaged > 0 && damaged as u64 <= counters.damaged);
    }

    #[test]
    fn delayed_reception_arrives_at_its_deadline() {
        let delayed = Conditions::immediate().delayed(Duration::from_millis(10), Duration::ZERO);
        let mut behind = ReceiveFaults::new(&under(1, delayed));
        let at = |millis: u64| Instant::from_nanos(millis * 1_000_000);
        behind.receive(at(0), 7, b"first");
        behind.receive(at(4), 8, b"second");
        assert_eq!((behind.deadline(), behind.next_arrival(at(9))), (Some(at(10)), None));
        assert_eq!(behind.next_arrival(at(10)), Some(FaultyDatagram { socket: 7, bytes: b"first".to_vec() }));
        assert_eq!((behind.deadline(), behind.next_arrival(at(10))), (Some(at(14)), None));
        assert_eq!(behind.next_arrival(at(14)), Some(FaultyDatagram { socket: 8, bytes: b"second".to_vec() }));
        assert_eq!(behind.deadline(), None);
    }
}
