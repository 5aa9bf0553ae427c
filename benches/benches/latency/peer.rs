//! Other implementations in the same run.

use benches::peer::{dust, iceoryx2, rustdds, zenoh};
use criterion::Criterion;

/// The same work, under IDs that end in the name of the implementation.
pub(crate) fn best_effort_write_and_receive(c: &mut Criterion) {
    pass(c, "best_effort_write_and_receive_dust", dust::WriteAndReceive::small, |pair| pair.pass());
    pass(c, "best_effort_write_and_receive_frag_dust", dust::WriteAndReceive::large, |pair| pair.pass());
    pass(c, "best_effort_write_and_receive_rustdds", rustdds::WriteAndReceive::small, |pair| pair.pass());
    pass(c, "best_effort_write_and_receive_frag_rustdds", rustdds::WriteAndReceive::large, |pair| pair.pass());
    pass(c, "best_effort_write_and_receive_zenoh", zenoh::WriteAndReceive::small, |pair| pair.pass());
    pass(c, "best_effort_write_and_receive_frag_zenoh", zenoh::WriteAndReceive::large, |pair| pair.pass());
    pass(c, "best_effort_write_and_receive_iceoryx2", iceoryx2::WriteAndReceive::small, |pair| pair.pass());
    pass(c, "best_effort_write_and_receive_frag_iceoryx2", iceoryx2::WriteAndReceive::large, |pair| pair.pass());
}

/// Creates the pair on first use: an ID that the filter excludes costs nothing.
fn pass<P>(c: &mut Criterion, id: &str, make: fn() -> P, pass: fn(&P)) {
    let mut made = None;
    c.bench_function(id, |b| {
        let pair = made.get_or_insert_with(make);
        b.iter(|| pass(pair));
    });
}
