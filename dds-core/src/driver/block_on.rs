//! The blocking form of every wait.

use super::{Driver, Parker};
use dds_rtps::types::Instant;
use std::task::{Context, Poll};

/// Polls until the result is ready or `until` has passed.
///
/// Returns `None` at the deadline. `until` of `None` means no limit, and a past instant means one try.
///
/// The waker in the context unparks the calling thread. The caller must be outside of all cells, on a thread whose
/// [`role`](super::role()) may wait.
pub fn block_on<T>(
    driver: &dyn Driver,
    until: Option<Instant>,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Option<T> {
    // A simulated driver limits every wait, because no other thread could end it.
    let until = until.or_else(|| driver.now().instant.after(driver.wait_limit()?));
    Parker::with_current(|parker| {
        let mut context = Context::from_waker(parker.waker());
        // Discard a late wake of an earlier wait. It would only cause an extra poll.
        parker.take_wake();
        loop {
            if let Poll::Ready(value) = poll(&mut context) {
                return Some(value);
            }
            if let Some(until) = until {
                if driver.now().instant >= until {
                    return None;
                }
            }
            // A wake between the poll and this call stays in the parker, which then returns at once.
            driver.park(parker, until);
        }
    })
}
