//! The floors of `best_effort_write_and_receive`.

use benches::floor::{UdpFloor, WakeFloor};
use benches::{LARGE_PAYLOAD_LEN, RTPS_OVERHEAD_LEN, SMALL_PAYLOAD_LEN};
use criterion::Criterion;
use std::time::Instant;

/// The same work without DDS: raw sockets, and a switch of threads.
pub(crate) fn best_effort_write_and_receive(c: &mut Criterion) {
    udp(c, "best_effort_write_and_receive_floor_udp", SMALL_PAYLOAD_LEN);
    udp(c, "best_effort_write_and_receive_frag_floor_udp", LARGE_PAYLOAD_LEN);
    let wake = WakeFloor::start().expect("a thread can be started");
    c.bench_function("best_effort_write_and_receive_floor_wake", |b| {
        b.iter_custom(|passes| {
            let started = Instant::now();
            for _ in 0..passes {
                wake.pass();
            }
            // A pass has two switches.
            started.elapsed() / 2
        });
    });
}

fn udp(c: &mut Criterion, id: &str, payload_len: usize) {
    let floor = UdpFloor::open(RTPS_OVERHEAD_LEN + payload_len).expect("the loopback has sockets");
    c.bench_function(id, |b| b.iter(|| floor.pass()));
}
