//! The same work with other systems in Rust: one process, one participant, best effort, KEEP_LAST 1, a keyed type.
//!
//! The time starts before `write`. It ends when the receiving side has taken the sample and notified the main thread.
//!
//! [`dust`] and [`rustdds`] are DDS implementations with discovery by multicast. On a machine without multicast run
//! them in a network namespace (`.ci/netns`). [`zenoh`] and [`iceoryx2`] are not DDS; their documentation lists the
//! work that they do not do.

pub mod dust;
pub mod iceoryx2;
pub mod rustdds;
pub mod zenoh;

use crate::slot::Arrival;
use std::time::Duration;

/// Writes until the first sample arrives: the systems report a match in different ways.
///
/// # Panics
///
/// Panics if no sample arrives within 30 s.
fn wait_for_match(arrival: &Arrival, write: &mut impl FnMut()) {
    let matched = (0..300).any(|_| {
        write();
        arrival.wait_for(Duration::from_millis(100))
    });
    assert!(matched, "the peer's reader and writer have not met within 30 s; is there multicast?");
    // Samples from before the match may arrive late. They must not count as arrivals of later writes.
    while arrival.wait_for(Duration::from_millis(500)) {}
}
