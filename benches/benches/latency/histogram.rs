//! The cost of the histograms of latencies: the work of a protocol endpoint with and without them.

use benches::matched::{ManyReaders, ManyWriters};
use criterion::Criterion;

/// A sample that arrives and is taken, and one that is written and acknowledged.
pub(crate) fn all(c: &mut Criterion) {
    for (id, has_histograms) in [("received_without_histogram", false), ("received", true)] {
        let mut pair = ManyWriters::of_latencies(has_histograms);
        c.bench_function(id, |b| b.iter(|| pair.pass()));
    }
    for (id, has_histogram) in [("acknowledged_without_histogram", false), ("acknowledged", true)] {
        let mut pair = ManyReaders::of_latencies(has_histogram);
        c.bench_function(id, |b| b.iter(|| pair.pass_with_sample()));
    }
}
