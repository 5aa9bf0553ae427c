//! What other threads would do, if there were any.

use dds_rtps::types::Duration;

/// How often the world behaves as if others were at work at the same time. Shares are from 0 to 1.
///
/// A simulation runs on one thread, which finds every entity free, every socket with room and every timer on time. Real
/// programs do not, and most mistakes are on those ways; hence they are drawn from the seed as well.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interference {
    /// Somebody is inside the endpoint that something has come for: it waits in the endpoint's queue.
    pub occupied: f64,
    /// A visitor serves only one piece of what waits, and leaves the rest for later.
    pub hasty: f64,
    /// A socket has no room, for up to half a millisecond.
    pub blocked: f64,
    /// An endpoint is made with room for so few waiting pieces that it overflows now and then.
    pub small_inbox: f64,
    /// A timer fires that nobody has set.
    pub stray_timer: f64,
    /// The most that a timer is late.
    pub late_timer: Duration,
}

/// How often that has happened; from [`Simulation::interference_counters`](crate::sim::Simulation::interference_counters).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct InterferenceCounters {
    /// An endpoint was taken for occupied.
    pub occupied: u64,
    /// A visitor has served only one piece.
    pub hasty: u64,
    /// A socket was taken for full.
    pub blocked: u64,
    /// Endpoints that were made with little room.
    pub small_inboxes: u64,
    /// Timers that have fired though they were not set.
    pub stray_timers: u64,
    /// Timers that have fired though their moment had not come: they fire twice.
    pub double_timers: u64,
    /// Timers that have fired more than 10 µs after their moment.
    pub late_timers: u64,
}

impl Interference {
    /// Nobody else is there.
    pub const NONE: Self = Self {
        occupied: 0.0,
        hasty: 0.0,
        blocked: 0.0,
        small_inbox: 0.0,
        stray_timer: 0.0,
        late_timer: Duration::ZERO,
    };
}

impl Default for Interference {
    /// More than a busy machine shows.
    fn default() -> Self {
        Self {
            occupied: 0.1,
            hasty: 0.1,
            blocked: 0.01,
            small_inbox: 0.1,
            stray_timer: 0.002,
            late_timer: Duration::from_millis(1),
        }
    }
}
