//! The end of a command.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time between two looks at the request to stop.
const STEP: Duration = Duration::from_millis(100);

/// The end of a command: a request such as Ctrl-C, or a deadline.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    requested: Arc<AtomicBool>,
    deadline: Option<Instant>,
}

impl Stop {
    /// Returns a value without a deadline, whose request comes from [`request`](Self::request).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the same request with a deadline after `limit`.
    #[must_use]
    pub fn after(&self, limit: Option<Duration>) -> Self {
        // A limit that the clock cannot represent is no limit.
        let deadline = limit.and_then(|limit| Instant::now().checked_add(limit));
        Self { requested: Arc::clone(&self.requested), deadline }
    }

    /// Requests the end of every command that uses this value or a copy.
    pub fn request(&self) {
        self.requested.store(true, Ordering::Relaxed);
    }

    /// Ends the process at once, for a command that blocks and does not see the request. Restores the terminal before.
    pub fn force() -> ! {
        #[cfg(unix)]
        crate::terminal::restore();
        // As after SIGINT.
        std::process::exit(130)
    }

    /// Returns whether the end was requested.
    #[must_use]
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    /// Returns whether the command should end now.
    #[must_use]
    pub fn is_due(&self) -> bool {
        self.is_requested() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }

    /// Returns the next time to block, which is short enough for an early look at the request.
    #[must_use]
    pub fn step(&self) -> Duration {
        match self.deadline {
            Some(deadline) => deadline.saturating_duration_since(Instant::now()).min(STEP),
            None => STEP,
        }
    }

    /// Sleeps for `duration`, or until the command should end.
    pub fn sleep(&self, duration: Duration) {
        let end = Instant::now() + duration;
        while !self.is_due() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            std::thread::sleep(left.min(self.step()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Stop;
    use std::time::Duration;

    #[test]
    fn request_ends_every_copy() {
        let stop = Stop::new();
        let copy = stop.after(Some(Duration::from_secs(3600)));
        assert!(!copy.is_due());
        stop.request();
        assert!(copy.is_due());
    }

    #[test]
    fn deadline_ends_command() {
        let stop = Stop::new().after(Some(Duration::ZERO));
        assert!(stop.is_due());
        stop.sleep(Duration::from_secs(3600));
    }

    #[test]
    fn limit_beyond_clock_is_no_limit() {
        assert!(!Stop::new().after(Some(Duration::MAX)).is_due());
    }
}
