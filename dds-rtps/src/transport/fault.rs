//! A network that misbehaves as it was told to, and each time in the same way.
//!
//! What goes wrong is drawn from a seed, once for every datagram and destination, in the order of the sends. The same sends
//! under the same seed, at the same times, fail alike. It happens to what is sent; [`arrivals`](super::arrivals) has the same for
//! what is received.
//!
//! Faults of time, which are a delay and a narrow line, need somebody who calls [`Fault::handle_timeout`] at
//! [`Fault::deadline`]; there is no thread in here. Buffers that are too small are no fault but a setting of the sockets.

use crate::output::Datagram;
use crate::transport::{SendOutcome, Transport, TransportCounters};
use crate::types::{Duration, Instant, Locator, SplitMix64};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often what goes wrong. All shares are percent of the datagrams, counted for each destination; zero (the default) is
/// a network without faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faults {
    /// Where the draws begin.
    pub seed: u64,
    /// Never arrive.
    pub lost: u8,
    /// How many are lost in a row when one is, whatever their destination. 0, the default, means 1.
    pub lost_in_a_row: u8,
    /// Arrive twice.
    pub repeated: u8,
    /// Overtaken by later ones: held back until so many others have been sent, whatever
    /// their destination. At most [`HELD_MAX`] wait at a time.
    pub late: u8,
    /// How many datagrams overtake one at most; the number is drawn from 1 on. 0 means 1.
    pub late_by: u8,
    /// Arrive without their end.
    pub truncated: u8,
    /// Arrive with some bit the other way round.
    pub damaged: u8,
    /// Find no room: the sender is told that it is [blocked](SendOutcome::Blocked), and tries again.
    pub blocked: u8,
    /// How many tries in a row find no room when one does. 0, the default, means 1.
    pub blocked_in_a_row: u8,
    /// The most bytes of a datagram that arrive at all, as on a path that must not fragment and tells nobody. Default: any.
    pub mtu: Option<usize>,
    /// How long a datagram is under way at least. Default: no time at all.
    pub delay: Duration,
    /// How much longer at most; drawn for each, so that they overtake each other. Default: not at all.
    pub jitter: Duration,
    /// How many bytes of datagrams the line carries in a second; those that wait for it come on top of the delay. Default:
    /// any number.
    pub bytes_per_second: Option<u64>,
    /// For how long a datagram waits for the line at most: one that would wait longer is lost, as in a router whose buffer
    /// is full. Default: 100 ms.
    pub queue: Duration,
}

impl Default for Faults {
    fn default() -> Self {
        Self {
            seed: 0,
            lost: 0,
            lost_in_a_row: 0,
            repeated: 0,
            late: 0,
            late_by: 0,
            truncated: 0,
            damaged: 0,
            blocked: 0,
            blocked_in_a_row: 0,
            mtu: None,
            delay: Duration::ZERO,
            jitter: Duration::ZERO,
            bytes_per_second: None,
            queue: Duration::from_millis(100),
        }
    }
}

/// How many datagrams are held back at most; the memory of a test that reorders everything.
pub const HELD_MAX: usize = 64;

/// How many datagrams are under way at most; what is sent beyond that is lost. 64 MiB, if all are as long as can be.
pub const UNDER_WAY_MAX: usize = 1_024;

/// Sends by another transport what the faults leave of it.
///
/// What the inner transport has no room for is lost, as on a wire; ask for `blocked` to see that handled.
pub struct Fault<T> {
    inner: T,
    faults: Faults,
    clock: Box<dyn Fn() -> Instant + Send + Sync>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    dice: Dice,
    /// How many of the next datagrams are lost, and of the next tries blocked, whatever the dice say.
    still_lost: u8,
    still_blocked: u8,
    /// Copies with one destination each, in the order in which they were sent.
    held: Vec<Held>,
    /// Copies with one destination each, by the time at which they arrive and the order in which they were sent.
    under_way: BTreeMap<(Instant, u64), Datagram>,
    departures: u64,
    /// When the line has carried all that was sent so far.
    line_free: Instant,
    counters: FaultCounters,
}

#[derive(Debug)]
struct Held {
    datagram: Datagram,
    /// How many others still overtake it.
    overtakers: usize,
}

/// What has gone wrong so far, for each destination.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct FaultCounters {
    /// Did not arrive.
    pub lost: u64,
    /// Arrived twice.
    pub repeated: u64,
    /// Were held back.
    pub late: u64,
    /// Arrived without their end.
    pub truncated: u64,
    /// Arrived with some bit the other way round.
    pub damaged: u64,
    /// Found no room.
    pub blocked: u64,
    /// Were longer than the MTU.
    pub too_long: u64,
    /// Did not arrive because too many were under way, or waited for the line.
    pub overflowed: u64,
}

impl<T: Transport> Fault<T> {
    /// Puts `faults` between the sender and `inner`. `clock` is only asked for faults of time.
    pub fn new(inner: T, faults: Faults, clock: impl Fn() -> Instant + Send + Sync + 'static) -> Self {
        let state = State {
            dice: Dice(SplitMix64::new(faults.seed)),
            still_lost: 0,
            still_blocked: 0,
            held: Vec::new(),
            under_way: BTreeMap::new(),
            departures: 0,
            line_free: Instant::ZERO,
            counters: FaultCounters::default(),
        };
        Self { inner, faults, clock: Box::new(clock), state: Mutex::new(state) }
    }

    /// What is left goes there.
    pub(super) fn inner(&self) -> &T {
        &self.inner
    }

    /// Sends what is still held back or under way, as if its time had come. Without this, or another send, the last
    /// datagrams of a conversation may never arrive.
    pub fn release(&self) {
        let mut state = self.state();
        state.held.drain(..).for_each(|mut held| self.pass_on(&mut held.datagram));
        std::mem::take(&mut state.under_way).into_values().for_each(|mut datagram| self.pass_on(&mut datagram));
    }

    /// When the next datagram arrives that is under way.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.state().under_way.keys().next().map(|(arrival, _)| *arrival)
    }

    /// Lets arrive what is due.
    pub fn handle_timeout(&self, now: Instant) {
        let mut state = self.state();
        while state.under_way.first_key_value().is_some_and(|((arrival, _), _)| *arrival <= now) {
            if let Some((_, mut datagram)) = state.under_way.pop_first() {
                self.pass_on(&mut datagram);
            }
        }
    }

    /// What has gone wrong so far.
    pub fn fault_counters(&self) -> FaultCounters {
        self.state().counters
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A panic in here loses one datagram, which is what this is for.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lets one destination have its datagram, or what is left of it.
    fn send_to(&self, destination: Locator, datagram: &Datagram, state: &mut State) {
        if self.faults.mtu.is_some_and(|mtu| datagram.len() > mtu) {
            state.counters.too_long += 1;
        } else if state.dice.falls_in_a_row(self.faults.lost, self.faults.lost_in_a_row, &mut state.still_lost) {
            state.counters.lost += 1;
        } else {
            let mut copy = self.spoiled_copy(destination, datagram, state);
            if state.dice.falls(self.faults.repeated) {
                state.counters.repeated += 1;
                let len = copy.len();
                self.set_out(copy_of(&copy, len, destination), state);
            }
            if state.held.len() < HELD_MAX && state.dice.falls(self.faults.late) {
                state.counters.late += 1;
                // One more, because below it counts as overtaking itself.
                let overtakers = 2 + state.dice.below(usize::from(self.faults.late_by.max(1)));
                state.held.push(Held { datagram: std::mem::take(&mut copy), overtakers });
            } else {
                self.set_out(copy, state);
            }
        }
        state.held.iter_mut().for_each(|held| held.overtakers -= 1);
        let (held, due): (Vec<Held>, Vec<Held>) = state.held.drain(..).partition(|held| held.overtakers > 0);
        state.held = held;
        due.into_iter().for_each(|held| self.set_out(held.datagram, state));
    }

    /// What of the bytes arrives.
    fn spoiled_copy(&self, destination: Locator, datagram: &Datagram, state: &mut State) -> Datagram {
        let State { dice, counters, .. } = state;
        let truncated = dice.falls(self.faults.truncated);
        let len = if truncated { dice.below(datagram.len()) } else { datagram.len() };
        counters.truncated += u64::from(truncated);
        let mut copy = copy_of(datagram, len, destination);
        if dice.falls(self.faults.damaged) {
            let bit = dice.below(len * 8);
            if let Some(byte) = copy.buffer().get_mut(bit / 8) {
                *byte ^= 1 << (bit % 8);
                counters.damaged += 1;
            }
        }
        copy
    }

    /// A datagram takes its way, which takes its time.
    fn set_out(&self, mut datagram: Datagram, state: &mut State) {
        let Faults { delay, jitter, bytes_per_second, queue, .. } = self.faults;
        if delay == Duration::ZERO && jitter == Duration::ZERO && bytes_per_second.is_none() {
            return self.pass_on(&mut datagram);
        }
        let now = (self.clock)();
        let mut departure = now;
        if let Some(rate) = bytes_per_second {
            let begins = state.line_free.max(now);
            if begins.since(now) > queue || state.under_way.len() >= UNDER_WAY_MAX {
                state.counters.overflowed += 1;
                return;
            }
            let nanos = (datagram.len() as u128 * 1_000_000_000 / u128::from(rate.max(1))).min(NANOS_MAX);
            departure = begins.after(Duration::from_nanos(nanos as i64)).unwrap_or(begins);
            state.line_free = departure;
        } else if state.under_way.len() >= UNDER_WAY_MAX {
            state.counters.overflowed += 1;
            return;
        }
        let drawn = match usize::try_from(jitter.as_nanos()) {
            Ok(nanos) if nanos > 0 => state.dice.below(nanos.saturating_add(1)),
            _ => 0,
        };
        let arrival = departure.after(delay).and_then(|arrival| arrival.after(Duration::from_nanos(drawn as i64)));
        state.departures += 1;
        state.under_way.insert((arrival.unwrap_or(departure), state.departures), datagram);
    }

    fn pass_on(&self, datagram: &mut Datagram) {
        // What does not fit is lost, and counted below.
        let _ = self.inner.send(datagram);
    }
}

/// The longest that one datagram occupies the line: an hour.
const NANOS_MAX: u128 = 3_600_000_000_000;

impl<T: fmt::Debug> fmt::Debug for Fault<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fault").field("inner", &self.inner).field("faults", &self.faults).finish_non_exhaustive()
    }
}

impl<T: Transport> Transport for Fault<T> {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        let mut state = self.state();
        while let Some(&destination) = datagram.remaining_destinations().first() {
            let State { dice, still_blocked, .. } = &mut *state;
            if dice.falls_in_a_row(self.faults.blocked, self.faults.blocked_in_a_row, still_blocked) {
                state.counters.blocked += 1;
                return SendOutcome::Blocked;
            }
            self.send_to(destination, datagram, &mut state);
            datagram.destination_done();
        }
        SendOutcome::Done
    }

    /// Those of the inner transport, and how often the faults have refused.
    fn counters(&self) -> TransportCounters {
        let mut counters = self.inner.counters();
        counters.blocked += self.state().counters.blocked;
        counters
    }
}

/// The first `len` bytes for one destination.
fn copy_of(datagram: &Datagram, len: usize, destination: Locator) -> Datagram {
    let mut copy = Datagram::new();
    datagram.copy_to(copy.buffer());
    copy.buffer().truncate(len);
    copy.add_destination(destination);
    copy.set_traffic_class(datagram.traffic_class());
    copy
}

/// What a seed decides.
#[derive(Debug)]
struct Dice(SplitMix64);

impl Dice {
    fn draw(&mut self) -> u64 {
        self.0.draw()
    }

    /// True in so many of a hundred cases. Draws nothing for a fault that is not wanted, so that a seed keeps its meaning
    /// when another fault is left out.
    fn falls(&mut self, percent: u8) -> bool {
        percent > 0 && self.draw() % 100 < u64::from(percent)
    }

    /// As [`falls`](Self::falls); and if it does, so do the next ones, until there were `count` in a row.
    fn falls_in_a_row(&mut self, percent: u8, count: u8, still: &mut u8) -> bool {
        if *still > 0 {
            *still -= 1;
            return true;
        }
        let falls = self.falls(percent);
        if falls {
            *still = count.saturating_sub(1);
        }
        falls
    }

    /// From 0 to below `end`; 0 if there is nothing below.
    fn below(&mut self, end: usize) -> usize {
        (self.draw() % (end.max(1) as u64)) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Remembers the first byte and the length of what arrives.
    #[derive(Debug, Default)]
    struct Arrivals(Mutex<Vec<(u8, usize)>>);

    impl Transport for Arrivals {
        fn send(&self, datagram: &mut Datagram) -> SendOutcome {
            let mut bytes = Vec::new();
            datagram.copy_to(&mut bytes);
            self.0.lock().unwrap().push((bytes.first().copied().unwrap_or(0), bytes.len()));
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

    /// What arrives of a hundred datagrams, whose sender tries again when it is blocked.
    fn run(faults: Faults) -> (Vec<(u8, usize)>, FaultCounters) {
        let network = Fault::new(Arrivals::default(), faults, || Instant::ZERO);
        for first in 0..100 {
            let mut datagram = datagram(first);
            while network.send(&mut datagram) == SendOutcome::Blocked {}
        }
        network.release();
        let counters = network.fault_counters();
        (network.inner.0.into_inner().unwrap(), counters)
    }

    #[test]
    fn without_faults_everything_arrives_in_order() {
        let (arrived, counters) = run(Faults::default());
        assert_eq!(arrived, (0..100).map(|first| (first, 100)).collect::<Vec<_>>());
        assert_eq!(counters, FaultCounters::default());
    }

    #[test]
    fn the_same_seed_fails_in_the_same_way() {
        let faults =
            Faults { seed: 7, lost: 20, repeated: 20, late: 20, late_by: 5, truncated: 20, ..Faults::default() };
        assert_eq!(run(faults), run(faults));
        assert_ne!(run(faults), run(Faults { seed: 8, ..faults }));
    }

    #[test]
    fn what_is_lost_and_repeated_is_counted() {
        let (arrived, counters) = run(Faults { seed: 1, lost: 30, repeated: 30, ..Faults::default() });
        assert!(counters.lost > 0 && counters.repeated > 0);
        assert_eq!(arrived.len() as u64, 100 - counters.lost + counters.repeated);
    }

    #[test]
    fn what_is_late_is_overtaken_by_a_few_and_arrives_once() {
        let (mut arrived, counters) = run(Faults { seed: 2, late: 30, late_by: 4, ..Faults::default() });
        assert!(counters.late > 0);
        let displaced = arrived.iter().enumerate().filter(|(at, (first, _))| *at != usize::from(*first)).count();
        assert!(displaced > 0);
        for (at, (first, _)) in arrived.iter().enumerate() {
            assert!(at <= usize::from(*first) + 4, "{first} arrived as number {at}");
        }
        arrived.sort_unstable();
        assert_eq!(arrived, (0..100).map(|first| (first, 100)).collect::<Vec<_>>());
    }

    #[test]
    fn what_is_truncated_is_shorter() {
        let (arrived, counters) = run(Faults { seed: 3, truncated: 50, ..Faults::default() });
        assert_eq!(arrived.iter().filter(|(_, len)| *len < 100).count() as u64, counters.truncated);
        assert!(counters.truncated > 0);
    }

    #[test]
    fn what_is_longer_than_the_mtu_does_not_arrive() {
        let (arrived, counters) = run(Faults { mtu: Some(99), ..Faults::default() });
        assert_eq!((arrived.len(), counters.too_long), (0, 100));
        assert_eq!(run(Faults { mtu: Some(100), ..Faults::default() }).0.len(), 100);
    }

    #[test]
    fn a_blocked_datagram_keeps_its_destinations_and_arrives_when_sent_again() {
        let (arrived, counters) = run(Faults { seed: 4, blocked: 50, ..Faults::default() });
        assert!(counters.blocked > 0);
        assert_eq!(arrived, (0..100).map(|first| (first, 100)).collect::<Vec<_>>());
        let full = Fault::new(Arrivals::default(), Faults { blocked: 100, ..Faults::default() }, || Instant::ZERO);
        let mut datagram = datagram(0);
        assert_eq!(full.send(&mut datagram), SendOutcome::Blocked);
        assert_eq!(datagram.remaining_destinations().len(), 1);
        assert_eq!(full.counters().blocked, 1);
    }

    /// Sends a datagram of 100 bytes each millisecond, and notes in which millisecond which one arrives.
    fn run_in_time(faults: Faults) -> (Vec<(u64, u8)>, FaultCounters) {
        static CLOCKS: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());
        let clock = faults.seed;
        let set = |millis: u64| CLOCKS.lock().unwrap().insert(clock, millis * 1_000_000);
        set(0);
        let network =
            Fault::new(Arrivals::default(), faults, move || Instant::from_nanos(CLOCKS.lock().unwrap()[&clock]));
        let mut arrived = Vec::new();
        for millis in 0..1_000 {
            set(millis);
            if let (true, Ok(first)) = (millis < 100, u8::try_from(millis)) {
                assert_eq!(network.send(&mut datagram(first)), SendOutcome::Done);
            }
            network.handle_timeout(Instant::from_nanos(millis * 1_000_000));
            let new = std::mem::take(&mut *network.inner.0.lock().unwrap());
            arrived.extend(new.into_iter().map(|(first, _)| (millis, first)));
        }
        assert_eq!(network.deadline(), None, "something never arrives");
        (arrived, network.fault_counters())
    }

    #[test]
    fn a_delay_is_the_same_for_all() {
        let (arrived, _) = run_in_time(Faults { seed: 101, delay: Duration::from_millis(20), ..Faults::default() });
        assert_eq!(arrived, (0..100).map(|first| (u64::from(first) + 20, first)).collect::<Vec<_>>());
    }

    #[test]
    fn jitter_reorders_within_its_bounds_and_alike_under_one_seed() {
        let faults = Faults {
            seed: 102,
            delay: Duration::from_millis(5),
            jitter: Duration::from_millis(10),
            ..Faults::default()
        };
        let (arrived, _) = run_in_time(faults);
        assert_eq!(arrived, run_in_time(faults).0);
        assert!(arrived.iter().all(|(at, first)| (5..=15).contains(&(at - u64::from(*first)))), "{arrived:?}");
        assert!(!arrived.is_sorted_by_key(|(_, first)| *first));
        assert_eq!(arrived.len(), 100);
    }

    #[test]
    fn a_narrow_line_delays_what_it_can_and_loses_the_rest() {
        // Each datagram takes two milliseconds, and another one comes every millisecond.
        let line = Faults { bytes_per_second: Some(50_000), ..Faults::default() };
        let (arrived, counters) = run_in_time(Faults { seed: 103, queue: Duration::from_secs(1), ..line });
        assert_eq!(arrived, (0..100).map(|first| (2 * u64::from(first) + 2, first)).collect::<Vec<_>>());
        assert_eq!(counters.overflowed, 0);
        let (arrived, counters) = run_in_time(Faults { seed: 104, queue: Duration::from_millis(10), ..line });
        assert!(counters.overflowed > 30, "{counters:?}");
        assert_eq!(arrived.len() as u64, 100 - counters.overflowed);
        assert!(arrived.iter().all(|(at, first)| at - u64::from(*first) <= 12), "{arrived:?}");
    }

    #[test]
    fn what_is_damaged_differs_in_one_bit() {
        #[derive(Debug, Default)]
        struct Bits(Mutex<Vec<u32>>);
        impl Transport for Bits {
            fn send(&self, datagram: &mut Datagram) -> SendOutcome {
                let mut bytes = Vec::new();
                datagram.copy_to(&mut bytes);
                assert_eq!(bytes.len(), 100);
                self.0.lock().unwrap().push(bytes.iter().map(|byte| byte.count_ones()).sum());
                SendOutcome::Done
            }
            fn counters(&self) -> TransportCounters {
                TransportCounters::default()
            }
        }
        let faults = Faults { seed: 9, damaged: 50, ..Faults::default() };
        let network = Fault::new(Bits::default(), faults, || Instant::ZERO);
        (0..100).for_each(|_| assert_eq!(network.send(&mut datagram(0)), SendOutcome::Done));
        let damaged = network.fault_counters().damaged;
        let ones = network.inner.0.into_inner().unwrap();
        assert_eq!(ones.iter().filter(|ones| **ones == 1).count() as u64, damaged);
        assert!(damaged > 0 && ones.iter().all(|ones| *ones <= 1));
    }

    #[test]
    fn losses_and_refusals_come_in_rows() {
        let (arrived, counters) = run(Faults { seed: 10, lost: 5, lost_in_a_row: 10, ..Faults::default() });
        assert_eq!(arrived.len() as u64, 100 - counters.lost);
        let mut row = 0;
        for first in 0..100 {
            let is_lost = !arrived.iter().any(|(known, _)| *known == first);
            assert!(is_lost || row == 0 || row >= 10, "a row of {row} before {first}");
            row = if is_lost { row + 1 } else { 0 };
        }
        let faults = Faults { seed: 12, blocked: 10, blocked_in_a_row: 7, ..Faults::default() };
        let (arrived, counters) = run(faults);
        assert_eq!(arrived, (0..100).map(|first| (first, 100)).collect::<Vec<_>>());
        assert!(counters.blocked > 0 && counters.blocked % 7 == 0, "{counters:?}");
    }
}
