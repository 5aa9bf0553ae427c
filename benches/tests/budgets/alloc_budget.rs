//! The allocation budget: after warm-up a sample takes nothing from the heap, on either side.
//!
//! Here: every way of learning of a sample, with small and large ones. `alloc_forms.rs` has the ways of writing and reading.

use crate::window::{WINDOW_SAMPLES, WINDOWS};
use benches::pair::{Form, Large, Pair, Payload, Small, ToldBy};
use dds_core::Delivery;
use dhat::Profiler;

/// One test, because the counter is the process'.
#[test]
fn a_sample_allocates_nothing_after_warm_up() {
    let _turn = crate::turn();
    let _profiler = Profiler::builder().testing().build();
    let inline = Form::DEFAULT;
    let viewing = inline.told_by(ToldBy::ViewingListener(Delivery::Inline));
    let event_thread = inline.told_by(ToldBy::Listener(Delivery::EventThread));
    let waiting = inline.told_by(ToldBy::Reader);
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
        // A value of its own for each sample: fixed-size types only.
        let blocks = fewest_blocks::<Small>(form);
        if blocks > 0 {
            over_budget.push(format!("2 bytes, best effort, {path}, waiting: {blocks} blocks"));
        }
    }
    // Proof that something is counted: a vector of its own for each sample.
    assert!(fewest_blocks::<Large>(waiting) >= WINDOW_SAMPLES as u64);
    assert!(over_budget.is_empty(), "in the best of {WINDOWS} windows of {WINDOW_SAMPLES} samples:\n{over_budget:#?}");
}

fn fewest_blocks<T: Payload>(form: Form) -> u64 {
    let pair = Pair::<T>::new(form).expect("a participant with a writer and a reader");
    crate::window::fewest_blocks(|_| pair.pass())
}
