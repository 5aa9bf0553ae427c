//! The same work by other systems in Rust: one process, one participant, best effort, keep last 1, a keyed type; from
//! just before `write` until the main thread has been told by whatever the peer calls when data is there, after it has
//! taken the sample.
//!
//! [`dust`] and [`rustdds`] are DDS: they discover themselves by multicast. On a machine without it run them in a network namespace
//! (`.ci/netns`). [`zenoh`] and [`iceoryx2`] are none, and say where they do less.

pub mod dust;
pub mod iceoryx2;
pub mod rustdds;
pub mod zenoh;

use crate::slot::Arrival;
use std::time::Duration;

/// Writes until the first sample has come back: the peers tell of a match in different ways, a sample in one.
///
/// # Panics
///
/// If nothing has come back after 30 s.
fn wait_for_match(arrival: &Arrival, write: &mut impl FnMut()) {
    let matched = (0..300).any(|_| {
        write();
        arrival.wait_for(Duration::from_millis(100))
    });
    assert!(matched, "the peer's reader and writer have not met within 30 s; is there multicast?");
    // What was written before the match may arrive late; it must not be counted as the answer to a later write.
    while arrival.wait_for(Duration::from_millis(500)) {}
}
