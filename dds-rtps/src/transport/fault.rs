//! A network that misbehaves as it was told to, and each time in the same way.
//!
//! What goes wrong is drawn from a seed, once for every datagram and destination, in the order of the sends. The same sends
//! under the same seed fail alike.

use crate::output::Datagram;
use crate::transport::{SendOutcome, Transport, TransportCounters};
use crate::types::Locator;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often what goes wrong. All shares are percent of the datagrams, counted for each destination; zero (the default) is
/// a network without faults.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Faults {
    /// Where the draws begin.
    pub seed: u64,
    /// Never arrive.
    pub lost: u8,
    /// Arrive twice.
    pub repeated: u8,
    /// Overtaken by later ones: held back until so many others have been sent, whatever
    /// their destination. At most [`HELD_MAX`] wait at a time.
    pub late: u8,
    /// How many datagrams overtake one at most; the number is drawn from 1 on. 0 means 1.
    pub late_by: u8,
    /// Arrive without their end.
    pub truncated: u8,
    /// Find no room: the sender is told that it is [blocked](SendOutcome::Blocked), and tries again.
    pub blocked: u8,
    /// The most bytes of a datagram that arrive at all, as on a path that must not fragment and tells nobody. Default: any.
    pub mtu: Option<usize>,
}

/// How many datagrams are held back at most; the memory of a test that reorders everything.
pub const HELD_MAX: usize = 64;

/// Sends by another transport what the faults leave of it.
///
/// What the inner transport has no room for is lost, as on a wire; ask for `blocked` to see that handled.
#[derive(Debug)]
pub struct Fault<T> {
    inner: T,
    faults: Faults,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    dice: Dice,
    /// Copies with one destination each, in the order in which they were sent.
    held: Vec<Held>,
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
    /// Found no room.
    pub blocked: u64,
    /// Were longer than the MTU.
    pub too_long: u64,
}

impl<T: Transport> Fault<T> {
    /// Puts `faults` between the sender and `inner`.
    pub fn new(inner: T, faults: Faults) -> Self {
        let state = State { dice: Dice(faults.seed), held: Vec::new(), counters: FaultCounters::default() };
        Self { inner, faults, state: Mutex::new(state) }
    }

    /// Sends what is still held back, as if enough others had overtaken it. Without this, or another send, the last
    /// datagrams of a conversation may never arrive.
    pub fn release(&self) {
        self.state().held.drain(..).for_each(|mut held| self.pass_on(&mut held.datagram));
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
        let State { dice, held, counters } = state;
        if self.faults.mtu.is_some_and(|mtu| datagram.len() > mtu) {
            counters.too_long += 1;
        } else if dice.falls(self.faults.lost) {
            counters.lost += 1;
        } else {
            let truncated = dice.falls(self.faults.truncated);
            let len = if truncated { dice.below(datagram.len()) } else { datagram.len() };
            counters.truncated += u64::from(truncated);
            if dice.falls(self.faults.repeated) {
                counters.repeated += 1;
                self.pass_on(&mut copy_of(datagram, len, destination));
            }
            let mut copy = copy_of(datagram, len, destination);
            if held.len() < HELD_MAX && dice.falls(self.faults.late) {
                counters.late += 1;
                // One more, because below it counts as overtaking itself.
                let overtakers = 2 + dice.below(usize::from(self.faults.late_by.max(1)));
                held.push(Held { datagram: copy, overtakers });
            } else {
                self.pass_on(&mut copy);
            }
        }
        held.iter_mut().for_each(|held| held.overtakers -= 1);
        held.retain_mut(|held| {
            let waits = held.overtakers > 0;
            if !waits {
                self.pass_on(&mut held.datagram);
            }
            waits
        });
    }

    fn pass_on(&self, datagram: &mut Datagram) {
        // What does not fit is lost, and counted below.
        let _ = self.inner.send(datagram);
    }
}

impl<T: Transport> Transport for Fault<T> {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        let mut state = self.state();
        while let Some(&destination) = datagram.remaining_destinations().first() {
            if state.dice.falls(self.faults.blocked) {
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
    copy
}

/// Splitmix64: small, and equally good from every seed.
#[derive(Debug)]
struct Dice(u64);

impl Dice {
    fn draw(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// True in so many of a hundred cases. Draws nothing for a fault that is not wanted, so that a seed keeps its meaning
    /// when another fault is left out.
    fn falls(&mut self, percent: u8) -> bool {
        percent > 0 && self.draw() % 100 < u64::from(percent)
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
        let network = Fault::new(Arrivals::default(), faults);
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
        let full = Fault::new(Arrivals::default(), Faults { blocked: 100, ..Faults::default() });
        let mut datagram = datagram(0);
        assert_eq!(full.send(&mut datagram), SendOutcome::Blocked);
        assert_eq!(datagram.remaining_destinations().len(), 1);
        assert_eq!(full.counters().blocked, 1);
    }
}
