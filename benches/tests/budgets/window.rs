//! Counting what a sample takes from the heap, with DHAT as the allocator.
//!
//! Discovery and timers go on in the background and may allocate once in a while, so each form is counted over several
//! windows, and the best one must be zero: what is on the path of a sample is in all of them.

use dhat::HeapStats;

/// So many that every instance and every pool has seen its share.
pub(crate) const WARM_UP_SAMPLES: usize = 2000;
pub(crate) const WINDOW_SAMPLES: usize = 500;
pub(crate) const WINDOWS: usize = 8;

/// Blocks that the best window has taken from the heap; `pass` brings one sample from the writer to the reader.
pub(crate) fn fewest_blocks(mut pass: impl FnMut(usize)) -> u64 {
    (0..WARM_UP_SAMPLES).for_each(&mut pass);
    let mut window = |_| {
        let before = HeapStats::get().total_blocks;
        (0..WINDOW_SAMPLES).for_each(&mut pass);
        HeapStats::get().total_blocks - before
    };
    (0..WINDOWS).map(&mut window).min().unwrap_or(0)
}
