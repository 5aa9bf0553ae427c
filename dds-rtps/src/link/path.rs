//! One direction of one link.

use super::{Burst, Conditions, NetworkCounters, Random};
use crate::types::{Duration, Instant};
use smallvec::SmallVec;

/// Times at which copies of one datagram arrive: none, one or two.
pub type Arrivals = SmallVec<[Instant; 2]>;

/// A datagram that enters a path.
#[derive(Debug, Clone, Copy)]
pub struct SentDatagram {
    /// When it is sent.
    pub at: Instant,
    /// Its bytes, without UDP and IP headers.
    pub len: usize,
    /// Whether its destination is a multicast group.
    pub multicast: bool,
}

/// State of one direction of one link.
#[derive(Debug, Default)]
pub struct NetworkPath {
    /// When the last byte in the queue has left.
    free_at: Instant,
    /// When the last datagram that keeps its order arrives.
    last_arrival: Instant,
    in_burst: bool,
    /// When the present good or bad period ends.
    period_ends: Option<Instant>,
}

impl NetworkPath {
    /// Decides when copies of a datagram arrive, under `conditions`; no copy if it is lost.
    pub fn pass(
        &mut self,
        datagram: &SentDatagram,
        conditions: &Conditions,
        random: &mut Random,
        counters: &mut NetworkCounters,
    ) -> Arrivals {
        let mut arrivals = Arrivals::new();
        // Before the queue: a router drops an oversized datagram without using the line.
        match conditions.longest {
            Some(longest) if datagram.len > longest => {
                counters.too_long += 1;
                return arrivals;
            }
            _ => {}
        }
        let Some(left_at) = self.queue(datagram, conditions) else {
            counters.queue_full += 1;
            return arrivals;
        };
        let loss = self.loss(datagram, conditions, random);
        // IP loses a datagram that misses any of its fragments.
        let frames = datagram.len.div_ceil(conditions.mtu.max(1)).max(1);
        if (0..frames).any(|_| random.happens(loss)) {
            counters.lost += 1;
            return arrivals;
        }
        arrivals.push(self.arrival(left_at, conditions, random));
        if random.happens(conditions.duplicated) {
            counters.duplicated += 1;
            arrivals.push(self.arrival(left_at, conditions, random));
        }
        debug_assert!(arrivals.iter().all(|at| *at >= datagram.at), "no datagram arrives before it is sent");
        arrivals
    }

    /// Returns when the last byte of the datagram has left; `None` if the queue is full.
    fn queue(&mut self, datagram: &SentDatagram, conditions: &Conditions) -> Option<Instant> {
        let now = datagram.at;
        let bandwidth = match conditions.bandwidth {
            Some(bandwidth) if bandwidth > 0 => bandwidth,
            _ => return Some(now),
        };
        // The line drains the queue at a constant rate, so its length is a time.
        if self.free_at.since(now) > transmission_time(conditions.queue, bandwidth) {
            return None;
        }
        let transmission = transmission_time(datagram.len, bandwidth);
        self.free_at = self.free_at.max(now).after(transmission).unwrap_or(self.free_at);
        Some(self.free_at)
    }

    fn loss(&mut self, datagram: &SentDatagram, conditions: &Conditions, random: &mut Random) -> f64 {
        let mut loss = conditions.loss;
        if datagram.multicast {
            loss = loss.max(conditions.multicast_loss);
        }
        match conditions.burst {
            Some(burst) if self.is_in_burst(datagram.at, burst, random) => loss.max(burst.loss),
            _ => loss,
        }
    }

    /// Advances the good and bad periods to `now`.
    fn is_in_burst(&mut self, now: Instant, burst: Burst, random: &mut Random) -> bool {
        let mut ends = match self.period_ends {
            Some(ends) => ends,
            // A link is good until its first datagram.
            None => now.after(random.up_to(twice(burst.every))).unwrap_or(now),
        };
        while ends < now {
            self.in_burst = !self.in_burst;
            let mean = if self.in_burst { burst.lasting } else { burst.every };
            // One nanosecond more, so that the loop ends even if both means are zero.
            let lasts = random.up_to(twice(mean)) + Duration::from_nanos(1);
            let Some(next) = ends.after(lasts) else { break };
            ends = next;
        }
        self.period_ends = Some(ends);
        self.in_burst
    }

    fn arrival(&mut self, left_at: Instant, conditions: &Conditions, random: &mut Random) -> Instant {
        let Conditions { delay, jitter, reordered, .. } = *conditions;
        let delay_drawn = delay + random.up_to(jitter);
        if random.happens(reordered) {
            // Do not touch `last_arrival`: later datagrams may arrive before this one.
            let more = random.up_to(jitter + delay);
            return left_at.after(delay_drawn + more).unwrap_or(left_at);
        }
        // Jitter alone reorders nothing: a datagram waits for those before it, as in a queue.
        self.last_arrival = left_at.after(delay_drawn).unwrap_or(left_at).max(self.last_arrival);
        self.last_arrival
    }
}

fn transmission_time(bytes: usize, bandwidth: u64) -> Duration {
    let nanos = bytes as u128 * 1_000_000_000 / u128::from(bandwidth);
    Duration::from_nanos(i64::try_from(nanos).unwrap_or(i64::MAX - 1))
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

    /// Arrivals of datagrams of 1000 bytes that are sent every 10 us.
    fn run(conditions: Conditions, count: u64) -> (Vec<Arrivals>, NetworkCounters) {
        let (mut path, mut random, mut counters) = (NetworkPath::default(), Random::new(1), NetworkCounters::default());
        let datagram = |number: u64| SentDatagram { at: at(10 * number), len: 1000, multicast: false };
        let arrivals =
            (0..count).map(|number| path.pass(&datagram(number), &conditions, &mut random, &mut counters)).collect();
        (arrivals, counters)
    }

    #[test]
    fn perfect_path_delays_every_datagram_alike() {
        let (arrivals, counters) = run(Conditions::perfect(), 100);
        assert!((0..100).all(|number| arrivals[number as usize].as_slice() == [at(10 * number + 10)]));
        assert_eq!(counters, NetworkCounters::default());
    }

    #[test]
    fn jitter_keeps_the_order_and_reordering_breaks_it() {
        let jittery = Conditions::perfect().delayed(Duration::from_micros(100), Duration::from_millis(1));
        let in_order = |arrivals: &[Arrivals]| arrivals.windows(2).all(|pair| pair[0][0] <= pair[1][0]);
        assert!(in_order(&run(jittery, 200).0));
        assert!(!in_order(&run(jittery.reordering(0.2), 200).0));
    }

    #[test]
    fn narrow_path_delays_then_drops() {
        // 100 bytes leave in 10 us while 1000 enter the queue.
        let narrow = Conditions { queue: 10_000, ..Conditions::perfect().limited_to(10_000_000) };
        let (arrivals, counters) = run(narrow, 1000);
        let passed = arrivals.iter().filter(|arrivals| !arrivals.is_empty()).count() as u64;
        assert_eq!(passed + counters.queue_full, 1000);
        assert!((100..=112).contains(&passed), "{passed}");
    }

    #[test]
    fn long_datagram_needs_all_its_frames() {
        let (mut path, mut random, mut counters) = (NetworkPath::default(), Random::new(1), NetworkCounters::default());
        let datagram = SentDatagram { at: at(0), len: 1472 * 10, multicast: false };
        let lossy = Conditions::perfect().lossy(0.1);
        for _ in 0..1000 {
            drop(path.pass(&datagram, &lossy, &mut random, &mut counters));
        }
        // 1 - 0.9^10 = 65 %
        assert!((600..700).contains(&counters.lost), "{}", counters.lost);
    }

    #[test]
    fn bursts_begin_and_end() {
        let burst = Burst { every: Duration::from_millis(10), lasting: Duration::from_millis(10), loss: 1.0 };
        let (arrivals, counters) = run(Conditions { burst: Some(burst), ..Conditions::perfect() }, 100_000);
        assert!((30_000..70_000).contains(&counters.lost), "{}", counters.lost);
        let changes = arrivals.windows(2).filter(|pair| pair[0].is_empty() != pair[1].is_empty()).count();
        assert!((50..200).contains(&changes), "{changes}");
    }

    #[test]
    fn datagram_longer_than_the_limit_vanishes() {
        let limited = Conditions { longest: Some(999), ..Conditions::perfect() };
        let (arrivals, counters) = run(limited, 10);
        assert!(arrivals.iter().all(|arrivals| arrivals.is_empty()));
        assert_eq!(counters.too_long, 10);
        let (arrivals, _) = run(Conditions { longest: Some(1000), ..limited }, 10);
        assert!(arrivals.iter().all(|arrivals| arrivals.len() == 1));
    }
}
