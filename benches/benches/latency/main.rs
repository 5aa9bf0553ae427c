//! Latency of a sample, in one run with the floors and with other implementations.
//!
//! `cargo bench best_effort_write_and_receive` runs the IDs of the main comparison. Compare ratios within one run, both
//! pinned to one core (`taskset -c 0`) and unpinned. Absolute figures of two runs are not comparable. See PROFILING.md.
//! A table of percentiles and ratios to the floors ends the run.

mod codec;
mod dds;
mod floor;
mod histogram;
mod lever;
#[cfg(feature = "peers")]
mod peer;
mod side_by_side;

use criterion::{Criterion, criterion_group};
use std::error::Error;
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

fn main() -> Result<(), Box<dyn Error>> {
    latency();
    #[cfg(feature = "peers")]
    peers();
    Criterion::default().configure_from_args().final_summary();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The other options of criterion list IDs, profile them, or compare them with a saved run.
    let measures =
        arguments.iter().all(|argument| !argument.starts_with('-') || ["--bench", "--test"].contains(&&**argument));
    if measures {
        side_by_side::run(&arguments)?;
        // cargo builds this program in `target/<profile>/deps`.
        if let Some(target) = std::env::current_exe()?.ancestors().nth(3) {
            println!("reports of criterion: {}", target.join("criterion").display());
        }
    }
    Ok(())
}
