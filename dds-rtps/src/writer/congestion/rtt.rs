//! RTT estimator of one reader. All times include the reader's own delay.
//!
//! An ACKNACK does not name the HEARTBEAT that it answers. It may cover sequence numbers that the reader learned from a
//! certain HEARTBEAT, or from the sample sent with it. The RTT is then at most the time since that HEARTBEAT. A hole
//! keeps a reader from acknowledging later changes, so some answers seem much too late. The RTT estimate is therefore a
//! windowed minimum.
//!
//! The estimator yields no RTT sample if the writer repeats HEARTBEATs before answers can arrive. The same holds if all
//! HEARTBEATs within a long sample announce the same. So there is an upper bound of the RTT as well. It counts from the
//! first such HEARTBEAT, and a NACK_FRAG also yields one. A reader requests a fragment only after it received data that
//! was sent later. Only long paths are judged by the bound.

use super::StreamPosition;
use crate::types::{Duration, Instant, SequenceNumber, WindowedMin};
use crate::wire::Window;
use std::collections::VecDeque;

/// HEARTBEATs that the writer remembers until an answer covers their sequence numbers.
const HEARTBEATS_MAX: usize = 16;

/// Longest time that a retransmitted fragment is watched before another one takes its place.
const WATCH_TIME_MAX: Duration = Duration::from_millis(500);

/// RTT estimate of a reader, and an upper bound of it.
#[derive(Debug, Default)]
pub(crate) struct RttEstimator {
    /// HEARTBEATs that yield RTT samples: those with new sequence numbers.
    exact: HeartbeatLog,
    estimate: WindowedMin,
    /// HEARTBEATs that yield upper bounds: those with new sequence numbers or fragments.
    bounding: HeartbeatLog,
    upper_bound: WindowedMin,
    watched: Option<WatchedFragment>,
}

/// HEARTBEATs that announced more than those before them. Bound: [`HEARTBEATS_MAX`].
#[derive(Debug, Default)]
struct HeartbeatLog(VecDeque<LoggedHeartbeat>);

#[derive(Debug, Clone, Copy)]
struct LoggedHeartbeat {
    place: StreamPosition,
    /// Time of the first HEARTBEAT with this content.
    at: Instant,
    /// A later HEARTBEAT repeated the announcement, so the answered one is unknown.
    is_repeated: bool,
}

impl HeartbeatLog {
    fn note(&mut self, now: Instant, place: StreamPosition) {
        if let Some(before) = self.0.back_mut() {
            if before.place >= place {
                before.is_repeated = true;
                return;
            }
        }
        // A full log keeps the old HEARTBEATs: their answers come first.
        if self.0.len() < HEARTBEATS_MAX {
            self.0.push_back(LoggedHeartbeat { place, at: now, is_repeated: false });
        }
    }

    /// Removes the HEARTBEATs up to `place`, and returns the last of them. It gives the shortest time.
    fn take_up_to(&mut self, place: StreamPosition) -> Option<LoggedHeartbeat> {
        let mut answered = None;
        while let Some(&heartbeat) = self.0.front() {
            if heartbeat.place > place {
                break;
            }
            self.0.pop_front();
            answered = Some(heartbeat);
        }
        answered
    }
}

/// A retransmitted fragment. An answer that still requests the fragment is older than it.
#[derive(Debug, Clone, Copy)]
struct WatchedFragment {
    number: SequenceNumber,
    fragment: i64,
    at: Instant,
}

impl RttEstimator {
    /// Returns the RTT estimate; zero if unknown.
    #[inline]
    pub(crate) fn estimate(&self) -> Duration {
        self.estimate.get().unwrap_or(Duration::ZERO)
    }

    /// Returns the upper bound of the RTT; zero if unknown.
    #[inline]
    pub(crate) fn upper_bound(&self) -> Duration {
        self.upper_bound.get().unwrap_or(Duration::ZERO)
    }

    /// Notes a HEARTBEAT at this position.
    pub(crate) fn note_heartbeat(&mut self, now: Instant, place: StreamPosition) {
        self.exact.note(now, StreamPosition::after(place.last));
        // A repeated announcement keeps the time of the first one, which makes the result an upper bound.
        self.bounding.note(now, place);
    }

    /// Notes an ACKNACK: the reader knows of all changes up to `number`.
    pub(crate) fn note_ack_nack(&mut self, now: Instant, number: SequenceNumber) {
        if let Some(heartbeat) = self.exact.take_up_to(StreamPosition::after(number)) {
            // The answered HEARTBEAT must be certain, as in Karn's algorithm of TCP.
            if !heartbeat.is_repeated {
                self.estimate.note(now.since(heartbeat.at));
            }
        }
        self.note_known(now, StreamPosition::after(number));
    }

    /// Notes a NACK_FRAG: the reader knows of data up to this position.
    pub(crate) fn note_nack_frag(&mut self, now: Instant, place: StreamPosition) {
        self.note_known(now, place);
    }

    fn note_known(&mut self, now: Instant, place: StreamPosition) {
        if let Some(heartbeat) = self.bounding.take_up_to(place) {
            self.upper_bound.note(now.since(heartbeat.at));
        }
    }

    /// Remembers a retransmitted fragment to measure the RTT.
    ///
    /// With many losses, acknowledged numbers do not advance, and HEARTBEATs without news yield no RTT sample. A path
    /// that was long once would then stay a long path, and the writer would send little per answer.
    pub(crate) fn watch(&mut self, now: Instant, number: SequenceNumber, fragment: u32) {
        match self.watched {
            Some(watched) if now.since(watched.at) < WATCH_TIME_MAX => {}
            // A fragment that was lost again never arrives, so another one takes its place.
            _ => self.watched = Some(WatchedFragment { number, fragment: fragment.into(), at: now }),
        }
    }

    /// Derives an RTT sample from the watched fragment if it has arrived.
    ///
    /// The reader has all changes up to `number`. Of the next change it misses `missing`; `None` if it named no
    /// fragments.
    pub(crate) fn note_arrived(&mut self, now: Instant, number: SequenceNumber, missing: Option<&Window>) {
        let Some(watched) = self.watched else { return };
        let has_arrived = if watched.number <= number {
            true
        } else if let Some(missing) = missing {
            watched.number == number.next() && is_received(watched.fragment, missing)
        } else {
            false
        };
        if has_arrived {
            self.watched = None;
            let rtt = now.since(watched.at);
            self.upper_bound.note(rtt);
            self.estimate.note(rtt);
        }
    }
}

/// Returns whether a request for `missing` fragments shows that the reader has this one.
fn is_received(fragment: i64, missing: &Window) -> bool {
    fragment < missing.base() || (missing.reaches(fragment) && !missing.contains(fragment))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * 1_000_000)
    }

    fn place(last: i64, fragments: u32) -> StreamPosition {
        StreamPosition { last: SequenceNumber(last), fragments }
    }

    fn exchange(rtt: &mut RttEstimator, last: i64, sent: u64, answered: u64) {
        rtt.note_heartbeat(at(sent), place(last, 0));
        rtt.note_ack_nack(at(answered), SequenceNumber(last));
    }

    fn known(rtt: &RttEstimator) -> [Duration; 2] {
        [rtt.estimate(), rtt.upper_bound()]
    }

    #[test]
    fn rtt_ignores_answers_that_a_hole_delays() {
        let mut rtt = RttEstimator::default();
        exchange(&mut rtt, 1, 0, 60);
        exchange(&mut rtt, 2, 100, 400);
        assert_eq!(known(&rtt), [Duration::from_millis(60); 2]);
        // An answer to an earlier HEARTBEAT changes nothing.
        rtt.note_heartbeat(at(500), place(3, 0));
        rtt.note_ack_nack(at(501), SequenceNumber(2));
        assert_eq!(known(&rtt), [Duration::from_millis(60); 2]);
    }

    /// The writer does not know which of the two the reader answers. If the path is longer than the timeout, it is
    /// always the first.
    #[test]
    fn repeated_heartbeat_gives_upper_bound_without_estimate() {
        let mut rtt = RttEstimator::default();
        rtt.note_heartbeat(at(0), place(1, 0));
        exchange(&mut rtt, 1, 100, 101);
        assert_eq!(known(&rtt), [Duration::ZERO, Duration::from_millis(101)]);
        exchange(&mut rtt, 2, 200, 201);
        assert_eq!(known(&rtt), [Duration::from_millis(1); 2]);
    }

    /// All HEARTBEATs within a long sample announce the same.
    #[test]
    fn requested_fragment_gives_upper_bound() {
        let mut rtt = RttEstimator::default();
        for (ms, fragments) in [(0, 10), (10, 20), (20, 30)] {
            rtt.note_heartbeat(at(ms), place(1, fragments));
        }
        rtt.note_nack_frag(at(45), place(1, 9));
        assert_eq!(rtt.upper_bound(), Duration::ZERO, "no HEARTBEAT precedes data that the reader knows of");
        rtt.note_nack_frag(at(45), place(1, 25));
        assert_eq!(rtt.upper_bound(), Duration::from_millis(35));
        rtt.note_nack_frag(at(50), place(2, 0));
        assert_eq!(rtt.upper_bound(), Duration::from_millis(30));
    }

    #[test]
    fn rtt_remembers_bounded_number_of_heartbeats() {
        let mut rtt = RttEstimator::default();
        for number in 40..1000 {
            rtt.note_heartbeat(at(0), place(number, 0));
        }
        assert_eq!((rtt.exact.0.len(), rtt.bounding.0.len()), (HEARTBEATS_MAX, HEARTBEATS_MAX));
    }

    #[test]
    fn watched_fragment_gives_rtt_once_it_is_not_missing() {
        let mut rtt = RttEstimator::default();
        rtt.watch(at(0), SequenceNumber(5), 3);
        // While a fragment is watched, another one does not replace it.
        rtt.watch(at(1), SequenceNumber(5), 4);
        let mut missing = Window::new(3);
        missing.insert(3);
        missing.insert(9);
        rtt.note_arrived(at(10), SequenceNumber(4), Some(&missing));
        assert_eq!(known(&rtt), [Duration::ZERO; 2]);
        missing.remove(3);
        rtt.note_arrived(at(40), SequenceNumber(4), Some(&missing));
        assert_eq!(known(&rtt), [Duration::from_millis(40); 2]);
    }
}
