//! Percentiles of each form of `best_effort_write_and_receive`, and their ratios to the floors.
//!
//! Arguments without `-` are filters, as in criterion. `--samples N` is the number for each form (default 50 000), and
//! `--test` sets it to one.

#[path = "latency/side_by_side.rs"]
mod side_by_side;

use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    side_by_side::run(&std::env::args().skip(1).collect::<Vec<_>>())
}
