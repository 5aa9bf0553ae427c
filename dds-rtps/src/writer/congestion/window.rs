//! The congestion window of one reliable reader.
//!
//! A large sample is a burst of datagrams. A writer that is faster than its reader sends a burst of small samples too.
//! The reader's system silently drops the datagrams that do not fit into its receive buffer. So the writer keeps at
//! most one window of bytes in flight. By the time the reader answers a later HEARTBEAT, bytes have left its receive
//! buffer, received or lost.
//!
//! - The window starts with a size that fits into every receive buffer. While the window limits the writer and no bytes
//!   are lost, it grows by a quarter of the answered bytes. After the first loss it grows by a much smaller share.
//! - A request for missing data halves the window, at most once per window.
//! - The writer sends a HEARTBEAT after each quarter of the window ([`ProbeSchedule`]).
//! - On a long path, the share of losses controls the window ([`LongPath`]).
//! - The minimum window shrinks if retransmitted data is lost again ([`RetransmissionLoss`]).

use super::StreamPosition;
use super::flight::Flight;
use super::long_path::{HEARTBEATS_PER_WINDOW, LONG_PATH_RTT, LongPath};
use super::probe::ProbeSchedule;
use super::retransmission::RetransmissionLoss;
use crate::types::{Duration, Instant, SequenceNumber};

/// The minimum window: about fifty datagrams of a network. On one host it holds two datagrams, to avoid a round trip
/// for each one.
///
/// A network that loses a tenth of all datagrams at random keeps the window there.
const WINDOW_MIN: u64 = 64 << 10;
const WINDOW_MIN_SAME_HOST: u64 = 96 << 10;

/// An answer from the same host that takes longer is delayed on purpose.
const SLOW_ANSWER: Duration = Duration::from_millis(2);

/// The largest window. No system grants a larger receive buffer by default, and more bytes in flight only cause more
/// repairs.
const WINDOW_MAX: u64 = 8 << 20;

/// Divisor of the answered bytes by which the window grows, in each phase.
///
/// Slow start is slower than TCP's one half to one. Here the writer learns late of a lost window, and the loss costs a
/// repair.
const SLOW_START_DIVISOR: u64 = 4;
const AVOIDANCE_DIVISOR: u64 = 32;

/// Congestion window of one reader.
#[derive(Debug)]
pub(crate) struct CongestionWindow {
    /// Most bytes in flight.
    size: u64,
    /// The minimum window.
    min: u64,
    /// The minimum window while the reader answers slowly.
    slow_answer_min: u64,
    phase: GrowthPhase,
    /// The window was full at some time since the last answer.
    was_full: bool,
    /// The window already reflects losses of the bytes up to this position.
    recovery_point: u64,
    /// The window already reflects losses of whole changes up to this one.
    recovered_through: SequenceNumber,
    same_host: bool,
    /// Upper bound of the RTT; zero if unknown.
    rtt_bound: Duration,
    flight: Flight,
    probes: ProbeSchedule,
    long_path: LongPath,
    retransmissions: RetransmissionLoss,
}

/// Phases of the growth, as in TCP (RFC 5681).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GrowthPhase {
    /// No loss occurred yet.
    SlowStart,
    /// A loss occurred, so the window is close to the right size.
    Avoidance,
}

impl CongestionWindow {
    /// Creates a window of `initial` bytes, for a reader on the same host or elsewhere.
    ///
    /// `is_prompt`: the reader answers each HEARTBEAT at once.
    pub(crate) fn new(initial: usize, same_host: bool, is_prompt: bool) -> Self {
        let min = if same_host { WINDOW_MIN_SAME_HOST } else { WINDOW_MIN };
        let size = (initial as u64).clamp(min, WINDOW_MAX);
        Self {
            size,
            min,
            slow_answer_min: if same_host { size } else { min },
            phase: GrowthPhase::SlowStart,
            was_full: false,
            recovery_point: 0,
            recovered_through: SequenceNumber::ZERO,
            same_host,
            rtt_bound: Duration::ZERO,
            flight: Flight::default(),
            probes: ProbeSchedule::new(is_prompt),
            long_path: LongPath::new(),
            retransmissions: RetransmissionLoss::new(),
        }
    }

    /// Returns the size of the window in bytes.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Returns whether the writer may send more. The last datagram may exceed the window.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.flight.bytes() < self.size
    }

    /// Returns the bytes that were counted as in flight since the match.
    pub(crate) fn sent(&self) -> u64 {
        self.flight.sent()
    }

    /// Returns whether the reader is on a long path.
    #[inline]
    pub(crate) fn is_long_path(&self) -> bool {
        self.rtt_bound >= LONG_PATH_RTT && !self.same_host
    }

    /// Returns whether retransmission loss has reduced the minimum window.
    pub(crate) fn is_below_minimum(&self) -> bool {
        self.retransmissions.is_high()
    }

    /// Returns the smoothed RTT; zero if unknown.
    pub(crate) fn smoothed_rtt(&self) -> Duration {
        self.probes.smoothed_rtt()
    }

    /// Sets the upper bound of the RTT; zero if unknown.
    pub(crate) fn set_rtt_bound(&mut self, rtt_bound: Duration) {
        self.rtt_bound = rtt_bound;
    }

    /// Counts `len` bytes as in flight.
    #[inline]
    pub(crate) fn note_sent(&mut self, len: usize) {
        self.flight.note_sent(len);
        // Remembered, because answers open the window before they are judged.
        self.was_full |= !self.is_open();
    }

    /// Marks that all bytes sent so far belong to changes up to `number`.
    pub(crate) fn mark(&mut self, number: SequenceNumber) {
        self.flight.mark(number, self.size);
    }

    /// Notes that the reader has all changes up to `number`.
    pub(crate) fn note_acknowledged(&mut self, number: SequenceNumber) {
        while let Some(position) = self.flight.take_mark(number) {
            self.settle(position);
        }
        // The ACKNACK covers the data of the awaited answer, which is superfluous then.
        self.probes.drop_settled(self.flight.settled());
    }

    /// Notes that the reader has all data ever sent, so no bytes are in flight.
    pub(crate) fn note_all_received(&mut self) {
        self.flight.clear();
        self.probes.clear();
        self.long_path.forget_heartbeats();
    }

    /// Ends the flight of the bytes up to `position`, and adapts the window.
    fn settle(&mut self, position: u64) {
        let answered = self.flight.settle(position);
        // On a long path the share of losses controls the window.
        if self.is_long_path() {
            return self.adapt_to_losses();
        }
        // An idle writer must not grow its window: no receive buffer proved to hold it.
        if std::mem::take(&mut self.was_full) {
            let divisor = match self.phase {
                GrowthPhase::SlowStart => SLOW_START_DIVISOR,
                GrowthPhase::Avoidance => AVOIDANCE_DIVISOR,
            };
            self.size = (self.size + answered / divisor).min(WINDOW_MAX);
        }
    }

    /// Adapts the window to the share of losses, once enough bytes of the present window are settled.
    fn adapt_to_losses(&mut self) {
        let Some(share) = self.long_path.loss_share(self.flight.settled(), self.size) else { return };
        self.size = self.long_path.adapt(share, self.size, self.effective_min(), self.was_full).min(WINDOW_MAX);
        // The next judgment needs a full window again, sent with the new size.
        self.was_full = false;
        self.long_path.restart(self.flight.sent());
    }

    /// Notes that `len` bytes of a first transmission at `place` are lost. Matters only on a long path.
    pub(crate) fn note_lost(&mut self, place: StreamPosition, len: u64) {
        self.long_path.note_lost(place, len);
    }

    /// Notes that the reader misses whole changes up to `last`. The writer has sent all changes up to `sent`.
    ///
    /// A row of losses takes many requests. The later ones are no news, as partial acknowledgments are none in TCP
    /// (RFC 6582).
    pub(crate) fn note_lost_changes(&mut self, last: SequenceNumber, sent: SequenceNumber) {
        if last > self.recovered_through {
            self.recovered_through = sent;
            self.note_loss();
        }
    }

    /// Notes that the reader misses some data. Halves the window at most once per window.
    pub(crate) fn note_loss(&mut self) {
        if self.is_long_path() {
            return;
        }
        // The bytes in flight were sent with the old window. A loss among them is no new information.
        if self.flight.settled() < self.recovery_point || self.flight.sent() == 0 {
            return;
        }
        self.recovery_point = self.flight.sent();
        // The window has found the size of the receive buffer, so it grows slowly from now on.
        self.phase = GrowthPhase::Avoidance;
        self.size = (self.size / 2).max(self.effective_min());
    }

    /// Notes the outcome of `sent` retransmitted fragments: the reader requests `lost` of them again.
    pub(crate) fn note_retransmitted(&mut self, sent: u32, lost: u32) {
        let usual_min = self.usual_min();
        if let Some(reduced) = self.retransmissions.note(sent, lost, self.size, usual_min) {
            self.size = reduced;
        }
    }

    /// Returns whether a HEARTBEAT should follow the data sent so far.
    pub(crate) fn wants_probe(&self) -> bool {
        if self.is_long_path() {
            let asked_up_to = self.probes.last_position().max(self.flight.settled());
            return self.flight.sent() - asked_up_to >= self.size / HEARTBEATS_PER_WINDOW;
        }
        !self.probes.is_waiting() && self.flight.bytes() >= self.size / 4
    }

    /// Returns whether the window is full and no answer is awaited.
    pub(crate) fn is_stuck(&self) -> bool {
        !self.probes.is_waiting() && !self.is_open()
    }

    /// Notes a HEARTBEAT at `place` that the reader must answer.
    pub(crate) fn note_heartbeat(&mut self, now: Instant, place: StreamPosition) {
        let (sent, settled) = (self.flight.sent(), self.flight.settled());
        // Noted on short paths too: a path may become long between two HEARTBEATs.
        self.long_path.note_position(place);
        if self.is_long_path() {
            self.long_path.note_heartbeat(now, sent);
        }
        self.probes.note_heartbeat(now, sent, settled, self.is_open(), self.rtt_bound);
    }

    /// Notes an answer of the reader. `rtt` is the RTT estimate.
    pub(crate) fn note_answer(&mut self, now: Instant, rtt: Duration) {
        if self.is_long_path() {
            return self.note_long_path_answer(now);
        }
        let Some(position) = self.probes.note_answer(now, rtt) else { return };
        self.settle(position);
        self.probes.await_last(self.flight.settled());
        // The minimum window may have grown, because the RTT estimate or the retransmission loss changed.
        self.size = self.size.max(self.effective_min());
    }

    /// Notes an answer of a reader on a long path.
    ///
    /// It answers the last HEARTBEAT that the reader may have received. If it answers an earlier one, the next answer
    /// follows soon.
    fn note_long_path_answer(&mut self, now: Instant) {
        let Some(answered) = self.long_path.take_answered(now, self.rtt_bound) else { return };
        self.probes.note_long_path_answer(now.since(answered.at));
        self.settle(answered.position);
        self.probes.drop_settled(self.flight.settled());
        self.size = self.size.max(self.effective_min());
    }

    /// Returns when to call [`Self::is_overdue`]; `None` if no answer is awaited.
    #[inline]
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.probes.deadline(self.rtt_bound)
    }

    /// Returns `true` if an answer is overdue and the writer must repeat its HEARTBEAT.
    ///
    /// After the last attempt, the writer stops waiting for the reader and opens the window.
    pub(crate) fn is_overdue(&mut self, now: Instant) -> bool {
        if !self.probes.is_due(now, self.rtt_bound) {
            return false;
        }
        if self.probes.try_again() {
            return true;
        }
        // Give up the bytes in flight, or the silent reader would block the writer.
        if !self.is_open() {
            self.flight.settle_all();
            self.size = self.effective_min();
        }
        false
    }

    /// Returns the minimum window, which retransmission loss may have reduced.
    fn effective_min(&self) -> u64 {
        self.usual_min().min(self.retransmissions.limit())
    }

    /// Returns the minimum window without retransmission loss.
    ///
    /// A reader on this host that answers after milliseconds does so on purpose, as Cyclone DDS does while a sample is
    /// incomplete. A small window would then slow the whole transfer.
    fn usual_min(&self) -> u64 {
        if self.probes.smoothed_rtt() >= SLOW_ANSWER { self.slow_answer_min } else { self.min }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::writer::congestion::retransmission::WINDOW_FLOOR;

    const MS: u64 = 1_000_000;
    const KIB: usize = 1 << 10;

    fn at(ms: u64) -> Instant {
        Instant::from_nanos(ms * MS)
    }

    /// Sends datagrams of 10 KiB while the window is open. Returns their number.
    fn fill(window: &mut CongestionWindow) -> usize {
        let mut count = 0;
        while window.is_open() {
            window.note_sent(10 * KIB);
            count += 1;
            if window.wants_probe() {
                window.note_heartbeat(at(0), StreamPosition::START);
            }
        }
        if window.is_stuck() {
            window.note_heartbeat(at(0), StreamPosition::START);
        }
        count
    }

    #[test]
    fn acknowledged_bytes_leave_flight_without_probe_answer() {
        let mut window = CongestionWindow::new(128 * KIB, false, false);
        for number in 1..=16 {
            window.note_sent(8 * KIB);
            window.mark(SequenceNumber(10 * number));
        }
        assert!(!window.is_open());
        window.note_acknowledged(SequenceNumber(9));
        assert_eq!(window.flight.bytes(), 128 << 10);
        window.note_acknowledged(SequenceNumber(45));
        assert_eq!(window.flight.bytes(), 96 << 10);
        assert!(window.is_open());
    }

    #[test]
    fn window_opens_by_answered_bytes() {
        let mut window = CongestionWindow::new(100 * KIB, false, false);
        assert_eq!(fill(&mut window), 10);
        // The HEARTBEAT followed the third datagram, and no datagram was lost.
        window.note_answer(at(0), Duration::ZERO);
        assert_eq!(fill(&mut window), 4);
        // A second answer to the same HEARTBEAT has no effect.
        window.note_answer(at(0), Duration::ZERO);
        window.note_answer(at(0), Duration::ZERO);
        assert_eq!(window.flight.bytes(), 30 << 10);
    }

    #[test]
    fn window_grows_only_while_it_limits_writer() {
        let mut window = CongestionWindow::new(100 * KIB, false, false);
        for _ in 0..100 {
            window.note_sent(50 * KIB);
            window.note_heartbeat(at(0), StreamPosition::START);
            window.note_answer(at(0), Duration::ZERO);
        }
        assert_eq!(window.size, 100 << 10);
        for _ in 0..100 {
            fill(&mut window);
            window.note_answer(at(0), Duration::ZERO);
        }
        assert_eq!(window.size, WINDOW_MAX);
    }

    #[test]
    fn loss_halves_window_once_and_slows_growth() {
        let mut window = CongestionWindow::new(1024 * KIB, false, false);
        fill(&mut window);
        for _ in 0..10 {
            window.note_loss();
        }
        assert_eq!(window.size, 512 << 10);
        window.note_answer(at(0), Duration::ZERO);
        let before = window.size;
        assert!(before < 600 << 10, "{before}");
        fill(&mut window);
        window.note_answer(at(0), Duration::ZERO);
        assert!(window.size < 600 << 10);
        for _ in 0..20 {
            fill(&mut window);
            window.note_loss();
            window.note_answer(at(0), Duration::ZERO);
        }
        assert!(window.size < 80 << 10, "{}", window.size);
    }

    #[test]
    fn retransmission_loss_reduces_minimum_window() {
        let mut window = CongestionWindow::new(WINDOW_MIN as usize, false, false);
        // A loss of one half may be chance, so the minimum window stays as it is.
        for _ in 0..100 {
            window.note_retransmitted(30, 15);
        }
        assert_eq!((window.effective_min(), window.is_below_minimum()), (WINDOW_MIN, false));
        // 11 of 48 datagrams arrive.
        let mut window = CongestionWindow::new(WINDOW_MIN as usize, false, false);
        window.note_retransmitted(48, 37);
        assert_eq!((window.size, window.effective_min()), (WINDOW_MIN / 4, WINDOW_MIN / 4));
        for _ in 0..20 {
            window.note_retransmitted(40, 40);
        }
        assert_eq!((window.size, window.effective_min()), (WINDOW_FLOOR, WINDOW_FLOOR));
        window.note_sent(1300);
        assert!(!window.is_open(), "one datagram at a time");
        // With few bytes in flight, eight fragments suffice for a judgment.
        for _ in 0..80 {
            window.note_retransmitted(8, 2);
        }
        assert_eq!((window.effective_min(), window.is_below_minimum()), (WINDOW_MIN, false));
    }

    #[test]
    fn same_host_window_keeps_two_datagrams() {
        let mut window = CongestionWindow::new(208 * KIB, true, false);
        for _ in 0..20 {
            fill(&mut window);
            window.note_loss();
            window.note_answer(at(0), Duration::ZERO);
        }
        assert!((96 << 10..110 << 10).contains(&window.size), "{}", window.size);
    }

    #[test]
    fn answer_to_earlier_heartbeat_does_not_open_window() {
        let mut window = CongestionWindow::new(100 * KIB, false, false);
        window.note_heartbeat(at(0), StreamPosition::START);
        fill(&mut window);
        window.note_answer(at(0), Duration::ZERO);
        assert!(!window.is_open());
        window.note_answer(at(0), Duration::ZERO);
        assert!(window.is_open());
    }

    #[test]
    fn implausible_rtt_delays_no_answer() {
        let mut window = CongestionWindow::new(100 * KIB, false, false);
        window.note_answer(at(0), Duration::from_secs(4));
        fill(&mut window);
        // With an RTT of 60 ms, an answer after 20 ms belongs to an earlier HEARTBEAT.
        window.note_answer(at(20), Duration::from_millis(60));
        assert!(!window.is_open());
        window.note_answer(at(60), Duration::from_secs(4));
        assert!(window.is_open());
    }

    /// Sends `bytes` to a reader that answers like Cyclone DDS while a sample is incomplete. Returns the milliseconds
    /// it took.
    ///
    /// The reader ignores a HEARTBEAT within 10 ms of its last answer until another HEARTBEAT comes, or for 100 ms.
    fn ms_to_delaying_reader(mut window: CongestionWindow, bytes: u64, begin: u64) -> u64 {
        let end = window.flight.sent() + bytes;
        let (mut answered_at, mut put_off_until) = (at(begin), None);
        let mut ms = begin;
        while window.flight.sent() < end {
            let mut asks = window.is_overdue(at(ms)) || window.is_stuck();
            while window.is_open() && !asks && window.flight.sent() < end {
                window.note_sent(64 * KIB);
                asks = window.wants_probe();
            }
            if asks {
                window.note_heartbeat(at(ms), StreamPosition::START);
                put_off_until = put_off_until.or(at(ms).after(Duration::from_millis(100)));
            }
            let answers_at_once = asks && at(ms).since(answered_at) >= Duration::from_millis(10);
            if answers_at_once || put_off_until.is_some_and(|until| until <= at(ms)) {
                window.note_answer(at(ms), Duration::ZERO);
                (answered_at, put_off_until) = (at(ms), None);
            }
            ms += 1;
        }
        ms - begin
    }

    #[test]
    fn delaying_reader_is_probed_before_it_answers() {
        let mut window = CongestionWindow::new(208 * KIB, false, false);
        // The second answer is late, because the reader was busy. It also reports a loss, so the window stays as it is.
        for (asked, answered) in [(0, 1), (2, 602)] {
            window.note_sent(64 * KIB);
            window.note_heartbeat(at(asked), StreamPosition::START);
            window.note_answer(at(answered), Duration::ZERO);
        }
        window.note_loss();
        let ms = ms_to_delaying_reader(window, 16 << 20, 1_000);
        assert!(ms < 3_000, "{ms} ms");
    }

    #[test]
    fn reader_with_all_data_has_no_bytes_in_flight() {
        let mut window = CongestionWindow::new(100 * KIB, false, false);
        fill(&mut window);
        // The awaited HEARTBEAT followed the third datagram.
        window.note_answer(at(0), Duration::ZERO);
        window.note_all_received();
        assert_eq!(fill(&mut window), 11);
    }

    #[test]
    fn silent_reader_is_probed_five_times() {
        let mut window = CongestionWindow::new(100 * KIB, false, false);
        fill(&mut window);
        for (ms, last) in [(4, false), (12, false), (28, false), (60, false), (124, true)] {
            assert!(!window.is_overdue(at(ms - 1)) && !window.is_open());
            assert_eq!(window.is_overdue(at(ms)), !last);
            window.probes.repeat_at(at(ms));
        }
        assert!(window.is_open());
        assert_eq!(window.size, WINDOW_MIN);
        assert_eq!(window.deadline(), None);
    }

    /// Creates the window of a reader with an RTT of 60 ms.
    fn on_long_path() -> CongestionWindow {
        let mut window = CongestionWindow::new(128 * KIB, false, true);
        window.set_rtt_bound(Duration::from_millis(60));
        window
    }

    /// Judges a full window with this share of losses, in thousandths. Returns the new window in KiB.
    fn judged(window: &mut CongestionWindow, share: u64) -> u64 {
        let (size, min) = (window.size, window.effective_min());
        window.size = window.long_path.adapt(share, size, min, true).min(WINDOW_MAX);
        window.size >> 10
    }

    #[test]
    fn long_path_window_grows_despite_random_loss() {
        for share in [10, 100, 300] {
            let mut window = on_long_path();
            for _ in 0..60 {
                judged(&mut window, share);
            }
            assert_eq!(window.size, WINDOW_MAX, "with {share} of 1000 lost");
        }
    }

    #[test]
    fn long_path_window_is_halved_by_its_own_losses() {
        let mut window = on_long_path();
        let grown: Vec<u64> = (0..4).map(|_| judged(&mut window, 10)).collect();
        assert_eq!(grown, [256, 448, 640, 832]);
        assert_eq!(judged(&mut window, 300), 416);
        assert_eq!(judged(&mut window, 10), 442, "the half does not lose it: it was the window");
        // Half of a window that is much too large is too large as well. The losses do not come from the network.
        let mut window = on_long_path();
        for _ in 0..60 {
            judged(&mut window, 10);
        }
        assert_eq!([(); 4].map(|()| judged(&mut window, 900)), [4096, 2048, 1024, 512]);
    }

    #[test]
    fn long_path_tells_new_network_loss_from_congestion() {
        let mut window = on_long_path();
        for _ in 0..4 {
            judged(&mut window, 0);
        }
        let shares = [150, 150, 150, 150];
        assert_eq!(shares.map(|share| judged(&mut window, share)), [416, 416, 608, 800]);
    }

    #[test]
    fn long_path_answer_settles_bytes_one_rtt_old() {
        let mut window = on_long_path();
        for ms in [0, 10, 20] {
            window.note_sent(10 * KIB);
            window.note_heartbeat(at(ms), StreamPosition::START);
        }
        window.note_answer(at(30), Duration::ZERO);
        assert_eq!(window.flight.bytes(), 30 << 10, "it answers something earlier");
        window.note_answer(at(60), Duration::ZERO);
        assert_eq!(window.flight.bytes(), 20 << 10);
        // The answer to the second HEARTBEAT was lost.
        window.note_answer(at(80), Duration::ZERO);
        assert_eq!(window.flight.bytes(), 0);
    }
}
