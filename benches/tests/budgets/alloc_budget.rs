//! The allocation budget: after warm-up a sample causes no heap allocation on either side.
//!
//! This file tests each kind of notification with small and large samples. `alloc_forms.rs` tests writing and reading.

use crate::window::{WINDOW_SAMPLES, WINDOWS};
use benches::pair::{Form, Large, NotifiedBy, Pair, Payload, Small};
use dds_core::listener::Delivery;
use dhat::Profiler;

/// A single test, because the counter belongs to the process.
#[test]
fn sample_after_warm_up_allocates_nothing() {
    let _turn = crate::turn();
    let _profiler = Profiler::builder().testing().build();
    let inline = Form::DEFAULT;
    let viewing = inline.notified_by(NotifiedBy::ViewingListener(Delivery::Inline));
    let event_thread = inline.notified_by(NotifiedBy::Listener(Delivery::EventThread));
    let waiting = inline.notified_by(NotifiedBy::Reader);
    let forms = [("take_into", inline), ("views", viewing), ("take_into on the event thread", event_thread)];
    let mut over_budget = Vec::new();
    for (name, form) in forms {
        for (path, form) in [("in-process", form), ("UDP", form.udp())] {
            for (reliability, form) in [("best effort", form), ("reliable", form.reliable())] {
                let mut count = |size, blocks| {
                    if blocks > 0 {
                        over_budget.push(format!("{size}, {reliability}, {path}, {name}: {blocks} blocks"));
                    }
                };
                count("2 bytes", fewest_blocks::<Small>(form));
                count("32 000 bytes", fewest_blocks::<Large>(form));
            }
        }
    }
    for (path, form) in [("in-process", waiting), ("UDP", waiting.udp())] {
        // `next_sample` returns a new value: only types of fixed size need no allocation.
        let blocks = fewest_blocks::<Small>(form);
        if blocks > 0 {
            over_budget.push(format!("2 bytes, best effort, {path}, waiting: {blocks} blocks"));
        }
    }
    // Proof that the counter works: each large sample allocates a vector.
    assert!(fewest_blocks::<Large>(waiting) >= WINDOW_SAMPLES as u64);
    assert!(over_budget.is_empty(), "in the best of {WINDOWS} windows of {WINDOW_SAMPLES} samples:\n{over_budget:#?}");
}

fn fewest_blocks<T: Payload>(form: Form) -> u64 {
    let pair = Pair::<T>::new(form).expect("a participant with a writer and a reader");
    crate::window::fewest_blocks(|_| pair.pass())
}
