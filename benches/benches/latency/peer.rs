//! The peers beside us, in the same run.

use benches::peer::{dust, rustdds};
use criterion::Criterion;

/// The same work as ours under the ids with the peers' names.
pub(crate) fn best_effort_write_and_receive(c: &mut Criterion) {
    let pair = dust::WriteAndReceive::<dust::Small>::small();
    c.bench_function("best_effort_write_and_receive_dust", |b| b.iter(|| pair.pass()));
    drop(pair);
    let pair = dust::WriteAndReceive::<dust::Large>::large();
    c.bench_function("best_effort_write_and_receive_frag_dust", |b| b.iter(|| pair.pass()));
    drop(pair);
    let pair = rustdds::WriteAndReceive::small();
    c.bench_function("best_effort_write_and_receive_rustdds", |b| b.iter(|| pair.pass()));
    drop(pair);
    let pair = rustdds::WriteAndReceive::large();
    c.bench_function("best_effort_write_and_receive_frag_rustdds", |b| b.iter(|| pair.pass()));
}
