//! Counts heap allocations of a sample, with DHAT as the allocator.
//!
//! Discovery and timers run in the background and may allocate occasionally. So each form is counted over several
//! windows, and the best window must be zero. An allocation on the path of a sample occurs in all windows.

use dhat::HeapStats;

/// After this number of samples each instance and each pool has been used.
pub(crate) const WARM_UP_SAMPLES: usize = 2000;
pub(crate) const WINDOW_SAMPLES: usize = 500;
pub(crate) const WINDOWS: usize = 8;

/// Heap blocks of the best window. `pass` moves one sample from the writer to the reader.
pub(crate) fn fewest_blocks(mut pass: impl FnMut(usize)) -> u64 {
    for number in 0..WARM_UP_SAMPLES {
        pass(number);
    }
    let mut window = |_| {
        let before = HeapStats::get().total_blocks;
        for number in 0..WINDOW_SAMPLES {
            pass(number);
        }
        HeapStats::get().total_blocks - before
    };
    (0..WINDOWS).map(&mut window).min().unwrap_or(0)
}
