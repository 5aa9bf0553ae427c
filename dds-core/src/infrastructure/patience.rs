//! Warning of a future that waits for long. A blocked thread warns by itself.

use crate::infrastructure::{Awaited, PATIENCE, WaitSource, WakeTimer};
use dds_rtps::types::Instant;
use std::task::Context;

/// Logs once why a future waits for long.
#[derive(Default)]
pub(crate) struct Patience(PatienceState);

#[derive(Default)]
enum PatienceState {
    #[default]
    NotPolled,
    /// The timer polls the future again when the time is over.
    Until(Instant, WakeTimer),
    /// The warning is written, or the wait may last for any time.
    Over,
}

impl Patience {
    /// Called when a poll of the future finds nothing. The time starts with the first call.
    #[inline]
    pub(crate) fn poll<T>(&mut self, source: &dyn WaitSource<T>, awaited: Awaited, context: &Context<'_>) {
        // A stream polls for each sample. After the warning this check is all that it costs.
        if !matches!(self.0, PatienceState::Over) {
            self.poll_time(source, awaited, context);
        }
    }

    #[cold]
    fn poll_time<T>(&mut self, source: &dyn WaitSource<T>, awaited: Awaited, context: &Context<'_>) {
        let driver = source.driver();
        match &self.0 {
            PatienceState::NotPolled => {
                let until = if source.warns_of(awaited) { driver.now().instant.after(PATIENCE) } else { None };
                self.0 = match until {
                    Some(until) => PatienceState::Until(until, WakeTimer::new(driver, until, context.waker())),
                    None => PatienceState::Over,
                };
            }
            PatienceState::Until(until, timer) => {
                if driver.now().instant < *until {
                    timer.set_waker(context.waker());
                } else {
                    self.0 = PatienceState::Over;
                    // A match since the first poll may have made a long wait normal.
                    if source.warns_of(awaited) {
                        source.complain(awaited);
                    }
                }
            }
            PatienceState::Over => {}
        }
    }
}
