//! How long a sample takes, beside the floors and the peers, in one run.
//!
//! `cargo bench best_effort_write_and_receive` runs the ids of the main comparison; compare ratios inside of one run,
//! pinned to one core (`taskset -c 0`) and free, never absolute figures of two runs. PROFILING.md says more.

mod codec;
mod dds;
mod floor;
mod lever;
#[cfg(feature = "peers")]
mod peer;

use criterion::{Criterion, criterion_group, criterion_main};
use std::time::Duration;

/// Short enough that all ids of the comparison run in two minutes, so that the machine is the same for all of them.
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
