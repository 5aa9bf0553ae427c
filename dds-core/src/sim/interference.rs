//! How other threads would interfere with a simulation that runs on one thread.

use dds_rtps::types::Duration;

/// How often the world behaves as if other threads ran at the same time.
///
/// Shares are from 0 to 1. A simulation runs on one thread. Without interference it finds every entity free, every
/// socket writable and every timer on time. Real programs do not, and most bugs are on these paths. The simulation
/// therefore draws interference from its seed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Interference {
    /// Share of visits that find an endpoint occupied. The mail waits in the inbox of the endpoint.
    pub occupied: f64,
    /// Share of visits that serve only one piece of mail and leave the rest for later.
    pub hasty: f64,
    /// Share of sends that find the socket full, for up to half a millisecond.
    pub blocked: f64,
    /// Share of endpoints whose inbox holds two pieces of mail, so that it overflows at times.
    pub small_inbox: f64,
    /// Share of steps in which a timer fires that was not set.
    pub stray_timer: f64,
    /// Longest delay of a timer.
    pub late_timer: Duration,
    /// Longest burst: the packets of discovery in this time are answered together.
    pub burst: Duration,
}

/// How often each kind of interference occurred.
///
/// Returned by [`Simulation::interference_counters`](crate::sim::Simulation::interference_counters).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct InterferenceCounters {
    /// Visits that found an endpoint occupied.
    pub occupied: u64,
    /// Visits that served only one piece of mail.
    pub hasty: u64,
    /// Sends that found a socket full.
    pub blocked: u64,
    /// Endpoints that were created with a small inbox.
    pub small_inboxes: u64,
    /// Timers that fired although they were not set.
    pub stray_timers: u64,
    /// Timers that fired before their time. They fire a second time when they are due.
    pub double_timers: u64,
    /// Timers that fired more than 10 µs after their time.
    pub late_timers: u64,
    /// Bursts of packets that discovery answered together.
    pub bursts: u64,
}

impl Interference {
    /// No interference.
    pub const NONE: Self = Self {
        occupied: 0.0,
        hasty: 0.0,
        blocked: 0.0,
        small_inbox: 0.0,
        stray_timer: 0.0,
        late_timer: Duration::ZERO,
        burst: Duration::ZERO,
    };
}

impl Default for Interference {
    /// More interference than a busy machine shows.
    fn default() -> Self {
        Self {
            occupied: 0.1,
            hasty: 0.1,
            blocked: 0.01,
            small_inbox: 0.1,
            stray_timer: 0.002,
            late_timer: Duration::from_millis(1),
            burst: Duration::from_micros(200),
        }
    }
}
