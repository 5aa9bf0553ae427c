//! Latency of a sample, in one run with the floors and with other implementations.
//!
//! `cargo bench best_effort_write_and_receive` runs the IDs of the main comparison. Compare ratios within one run, both
//! pinned to one core (`taskset -c 0`) and unpinned. Absolute figures of two runs are not comparable. See PROFILING.md.

mod codec;
mod dds;
mod floor;
mod histogram;
mod lever;
#[cfg(feature = "peers")]
mod peer;

use criterion::{Criterion, criterion_group, criterion_main};
use std::time::Duration;

/// All IDs of the comparison run within two minutes, so the load of the machine changes little.
fn configuration() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_secs(1)).measurement_time(Duration::from_secs(4)).without_plots()
}

criterion_group! {
    name = latency;
    config = configuration();
    targets =
        dds::best_effort_write_and_receive,
        floor::best_effort_write_and_receive,
        dds::among_many,
        dds::reliable,
        dds::parts,
        codec::all,
        histogram::all,
        lever::all
}

#[cfg(feature = "peers")]
criterion_group! {
    name = peers;
    config = configuration();
    targets = peer::best_effort_write_and_receive
}

#[cfg(not(feature = "peers"))]
criterion_main!(latency);
#[cfg(feature = "peers")]
criterion_main!(latency, peers);
