//! Heap allocations of the loops of `latency`, counted by the DHAT profiler.
//!
//! Prints blocks and bytes per sample after warm-up, and writes `dhat-heap.json` for the viewer (see PROFILING.md).
//! `--samples N` sets the number of samples for each line (default 10 000).

use benches::codec::Codec;
use benches::floor::UdpFloor;
use benches::lever::{MailboxCell, MailboxTask, ReceiveBuffer, SendBuffer};
use benches::pair::{Form, Large, NotifiedBy, Pair, Payload, Small};
use benches::{LARGE_PAYLOAD_LEN, RTPS_OVERHEAD_LEN, SMALL_PAYLOAD_LEN};
use dds_core::listener::Delivery;
use dhat::{HeapStats, Profiler};
use std::hint::black_box;

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// After this number of samples each buffer, pool and history has reached its final size.
const WARM_UP_SAMPLES: u64 = 1000;

fn main() -> std::io::Result<()> {
    let samples = samples().unwrap_or(10_000);
    let _profiler = Profiler::new_heap();
    println!("{:<50} {:>14} {:>14}", format!("over {samples} samples"), "blocks/sample", "bytes/sample");

    passes::<Small>("", samples);
    passes::<Large>("_frag", samples);
    let log = Codec::log().expect("the value fits its type");
    report("decode_owned", samples, || drop(black_box(log.decode_owned())));
    report("decode_borrowed", samples, || drop(black_box(log.decode_borrowed())));
    report("decode_raw", samples, || {
        let _ = black_box(log.decode_raw());
    });

    let floor = UdpFloor::open(RTPS_OVERHEAD_LEN + SMALL_PAYLOAD_LEN)?;
    report("floor_udp", samples, || floor.pass());

    let mut receive = ReceiveBuffer::open()?;
    report("lever_receive_buffer_fresh", samples, || drop(black_box(receive.fresh())));
    report("lever_receive_buffer_reused", samples, || {
        black_box(receive.reused());
    });
    let payload = vec![7; LARGE_PAYLOAD_LEN];
    let mut send = SendBuffer::default();
    report("lever_send_zeroed", samples, || {
        send.zeroed(&payload);
    });
    report("lever_send_cursor", samples, || {
        send.cursor(&payload);
    });
    let mailbox = MailboxTask::start()?;
    report("lever_mailbox_task", samples, || {
        black_box(mailbox.ask());
    });
    let cell = MailboxCell::default();
    report("lever_mailbox_cell", samples, || {
        black_box(cell.ask());
    });
    Ok(())
}

/// The forms of `best_effort_write_and_receive` and `reliable_write_and_receive`.
fn passes<T: Payload>(size: &str, samples: u64) {
    let listener = Form::DEFAULT;
    let view = listener.notified_by(NotifiedBy::ViewingListener(Delivery::Inline));
    let event_thread = listener.notified_by(NotifiedBy::Listener(Delivery::EventThread));
    let wait = listener.notified_by(NotifiedBy::Reader);
    for (name, form) in [("", listener), ("_view", view), ("_event_thread", event_thread), ("_wait", wait)] {
        for (path, form) in [("", form), ("_udp", form.udp())] {
            for (reliability, form) in [("best_effort", form), ("reliable", form.reliable())] {
                let pair = Pair::<T>::new(form).expect("a participant with a writer and a reader");
                report(&format!("{reliability}_write_and_receive{size}{path}{name}"), samples, || pair.pass());
            }
        }
    }
}

/// The value of `--samples`. Other arguments come from cargo and are ignored.
fn samples() -> Option<u64> {
    std::env::args().skip_while(|argument| argument != "--samples").nth(1)?.parse().ok()
}

/// Prints the heap allocations of `pass`, per sample.
fn report(name: &str, samples: u64, mut pass: impl FnMut()) {
    for _ in 0..WARM_UP_SAMPLES {
        pass();
    }
    let before = HeapStats::get();
    for _ in 0..samples {
        pass();
    }
    let after = HeapStats::get();
    let per_sample = |before: u64, after: u64| (after - before) as f64 / samples as f64;
    let blocks = per_sample(before.total_blocks, after.total_blocks);
    let bytes = per_sample(before.total_bytes, after.total_bytes);
    println!("{name:<50} {blocks:>14.3} {bytes:>14.1}");
}
