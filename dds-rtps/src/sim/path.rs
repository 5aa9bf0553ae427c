//! One direction of one link.

use super::{Burst, Conditions, Dice, NetworkCounters};
use crate::types::{Duration, Instant};
use smallvec::SmallVec;

/// Times at which copies of a datagram arrive: none, one or two.
pub(super) type Arrivals = SmallVec<[Instant; 2]>;

/// A datagram on its way out.
#[derive(Debug, Clone, Copy)]
pub(super) struct Leaving {
    pub(super) at: Instant,
    pub(super) len: usize,
    pub(super) multicast: bool,
}

/// The state of one direction of one link.
#[derive(Debug, Default)]
pub(super) struct Path {
    /// What it does, if that was said of this path.
    pub(super) own: Option<Conditions>,
    pub(super) is_cut: bool,
    /// When the last byte that waits will have left.
    free_at: Instant,
    /// When the last datagram that keeps its place arrives.
    last_arrival: Instant,
    in_burst: bool,
    /// When the present time, good or bad, is over.
    weather_until: Option<Instant>,
}

impl Path {
    /// Decides what becomes of a datagram, on a path that does `conditions`.
    pub(super) fn pass(
        &mut self,
        leaving: &Leaving,
        conditions: &Conditions,
        dice: &mut Dice,
        counters: &mut NetworkCounters,
    ) -> Arrivals {
        if self.is_cut {
            counters.cut += 1;
            return Arrivals::new();
        }
        let Some(left_at) = self.queue(leaving, conditions) else {
            counters.queue_full += 1;
            return Arrivals::new();
        };
        let loss = self.loss(leaving, conditions, dice);
        let frames = leaving.len.div_ceil(conditions.mtu.max(1)).max(1);
        if (0..frames).any(|_| dice.falls(loss)) {
            counters.lost += 1;
            return Arrivals::new();
        }
        let mut arrivals = Arrivals::new();
        arrivals.push(self.arrival(left_at, conditions, dice));
        if dice.falls(conditions.duplicated) {
            counters.duplicated += 1;
            arrivals.push(self.arrival(left_at, conditions, dice));
        }
        arrivals
    }

    /// When the last byte has left; `None` if the queue is full.
    fn queue(&mut self, leaving: &Leaving, conditions: &Conditions) -> Option<Instant> {
        let now = leaving.at;
        let Some(bandwidth) = conditions.bandwidth.filter(|&bandwidth| bandwidth > 0) else { return Some(now) };
        let nanos_of = |bytes: usize| {
            let nanos = bytes as u128 * 1_000_000_000 / u128::from(bandwidth);
            Duration::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX - 1))
        };
        if self.free_at.since(now) > nanos_of(conditions.queue) {
            return None;
        }
        self.free_at = self.free_at.max(now).after(nanos_of(leaving.len)).unwrap_or(self.free_at);
        Some(self.free_at)
    }

    fn loss(&mut self, leaving: &Leaving, conditions: &Conditions, dice: &mut Dice) -> f64 {
        let usual = match leaving.multicast {
            true => conditions.loss.max(conditions.multicast_loss),
            false => conditions.loss,
        };
        match conditions.burst {
            Some(burst) if self.is_bad(leaving.at, burst, dice) => usual.max(burst.loss),
            _ => usual,
        }
    }

    /// Lets the weather change up to now.
    fn is_bad(&mut self, now: Instant, burst: Burst, dice: &mut Dice) -> bool {
        let mut until = match self.weather_until {
            Some(until) => until,
            // The link was good until somebody looked.
            None => now.after(dice.up_to(twice(burst.every))).unwrap_or(now),
        };
        while until < now {
            self.in_burst = !self.in_burst;
            let mean = if self.in_burst { burst.lasting } else { burst.every };
            // A nanosecond more: the weather must change in the end, even if it is told to last no time.
            let lasts = dice.up_to(twice(mean)) + Duration::from_nanos(1);
            let Some(next) = until.after(lasts) else { break };
            until = next;
        }
        self.weather_until = Some(until);
        self.in_burst
    }

    fn arrival(&mut self, left_at: Instant, conditions: &Conditions, dice: &mut Dice) -> Instant {
        let Conditions { delay, jitter, reordered, .. } = *conditions;
        let took = delay + dice.up_to(jitter);
        if dice.falls(reordered) {
            let more = dice.up_to(jitter + delay);
            return left_at.after(took + more).unwrap_or(left_at);
        }
        self.last_arrival = left_at.after(took).unwrap_or(left_at).max(self.last_arrival);
        self.last_arrival
    }
}

fn twice(duration: Duration) -> Duration {
    duration.scale(2, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(micros: u64) -> Instant {
        Instant::from_nanos(micros * 1000)
    }

    /// When what was sent arrives: a datagram of 1000 bytes every 10 us.
    fn run(conditions: Conditions, count: u64) -> (Vec<Arrivals>, NetworkCounters) {
        let (mut path, mut dice, mut counters) = (Path::default(), Dice::new(1), NetworkCounters::default());
        let leaving = |number: u64| Leaving { at: at(10 * number), len: 1000, multicast: false };
        let arrivals =
            (0..count).map(|number| path.pass(&leaving(number), &conditions, &mut dice, &mut counters)).collect();
        (arrivals, counters)
    }

    #[test]
    fn a_perfect_path_delays_everything_alike() {
        let (arrivals, counters) = run(Conditions::perfect(), 100);
        assert!((0..100).all(|number| arrivals[number as usize].as_slice() == [at(10 * number + 10)]));
        assert_eq!(counters, NetworkCounters::default());
    }

    #[test]
    fn jitter_keeps_the_order_and_reordering_does_not() {
        let jittery = Conditions::perfect().delayed(Duration::from_micros(100), Duration::from_millis(1));
        let in_order = |arrivals: &[Arrivals]| arrivals.windows(2).all(|pair| pair[0][0] <= pair[1][0]);
        assert!(in_order(&run(jittery, 200).0));
        assert!(!in_order(&run(jittery.reordering(0.2), 200).0));
    }

    #[test]
    fn a_narrow_path_delays_then_drops() {
        // A hundred bytes in 10 us where a thousand come: nine tenths of the sends find the queue longer by 900 bytes.
        let narrow = Conditions { queue: 10_000, ..Conditions::perfect().limited_to(10_000_000) };
        let (arrivals, counters) = run(narrow, 1000);
        let passed = arrivals.iter().filter(|arrivals| !arrivals.is_empty()).count() as u64;
        assert_eq!(passed + counters.queue_full, 1000);
        assert!((100..=112).contains(&passed), "{passed}");
    }

    #[test]
    fn a_long_datagram_needs_all_its_frames() {
        let (mut path, mut dice, mut counters) = (Path::default(), Dice::new(1), NetworkCounters::default());
        let leaving = Leaving { at: at(0), len: 1472 * 10, multicast: false };
        let lossy = Conditions::perfect().lossy(0.1);
        (0..1000).for_each(|_| drop(path.pass(&leaving, &lossy, &mut dice, &mut counters)));
        // 1 - 0.9^10 = 65 %
        assert!((600..700).contains(&counters.lost), "{}", counters.lost);
    }

    #[test]
    fn bursts_come_and_go() {
        let burst = Burst { every: Duration::from_millis(10), lasting: Duration::from_millis(10), loss: 1.0 };
        let (arrivals, counters) = run(Conditions { burst: Some(burst), ..Conditions::perfect() }, 100_000);
        assert!((30_000..70_000).contains(&counters.lost), "{}", counters.lost);
        let changes = arrivals.windows(2).filter(|pair| pair[0].is_empty() != pair[1].is_empty()).count();
        assert!((50..200).contains(&changes), "{changes}");
    }

    #[test]
    fn a_cut_path_lets_nothing_pass() {
        let mut path = Path { is_cut: true, ..Path::default() };
        let mut counters = NetworkCounters::default();
        let leaving = Leaving { at: at(0), len: 1, multicast: false };
        assert!(path.pass(&leaving, &Conditions::perfect(), &mut Dice::new(0), &mut counters).is_empty());
        assert_eq!(counters.cut, 1);
    }
}
