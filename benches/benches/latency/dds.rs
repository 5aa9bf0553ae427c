//! This project: the forms of the work, and its parts.

use benches::pair::{Form, Large, NotifiedBy, Pair, Payload, Small};
use criterion::Criterion;
use dds_core::listener::Delivery;
use std::hint::black_box;

/// The ids of the main comparison.
pub(crate) fn best_effort_write_and_receive(c: &mut Criterion) {
    let form = Form::DEFAULT;
    let event_thread = form.notified_by(NotifiedBy::Listener(Delivery::EventThread));
    pass::<Small>(c, "best_effort_write_and_receive", form);
    pass::<Large>(c, "best_effort_write_and_receive_frag", form);
    pass::<Small>(c, "best_effort_write_and_receive_udp", form.udp());
    pass::<Large>(c, "best_effort_write_and_receive_frag_udp", form.udp());
    pass::<Small>(c, "best_effort_write_and_receive_event_thread", event_thread);
    pass::<Small>(c, "best_effort_write_and_receive_event_thread_udp", event_thread.udp());
    pass::<Small>(c, "best_effort_write_and_receive_wait", form.notified_by(NotifiedBy::Reader));
    pass::<Small>(c, "best_effort_write_and_receive_wait_udp", form.notified_by(NotifiedBy::Reader).udp());
}

/// A lookup finds the reader of a datagram: a thousand other readers must not make it slower.
pub(crate) fn among_many(c: &mut Criterion) {
    let mut made = None;
    c.bench_function("best_effort_write_and_receive_udp_among_1000", |b| {
        let pair = made.get_or_insert_with(|| {
            Pair::<Small>::among(Form::DEFAULT.udp(), 1000).expect("a participant with many readers")
        });
        b.iter(|| pair.pass());
    });
}

/// The same work with RELIABLE endpoints.
pub(crate) fn reliable(c: &mut Criterion) {
    pass::<Small>(c, "reliable_write_and_receive", Form::DEFAULT.reliable());
    pass::<Large>(c, "reliable_write_and_receive_frag", Form::DEFAULT.reliable());
    pass::<Small>(c, "reliable_write_and_receive_udp", Form::DEFAULT.reliable().udp());
    pass::<Large>(c, "reliable_write_and_receive_frag_udp", Form::DEFAULT.reliable().udp());
}

/// Half of the work: only write into the reader's cache, or only read from it.
pub(crate) fn parts(c: &mut Criterion) {
    let pair = pair::<Small>(Form::DEFAULT.notified_by(NotifiedBy::Reader));
    c.bench_function("best_effort_write_only", |b| b.iter(|| pair.write()));
    c.bench_function("best_effort_read_only", |b| {
        b.iter(|| black_box(pair.reader().read().expect("the reader is open")).len());
    });
}

fn pass<T: Payload>(c: &mut Criterion, id: &str, form: Form) {
    // The pair is created on first use: an ID that the filter excludes costs nothing.
    let mut made = None;
    c.bench_function(id, |b| {
        let pair = made.get_or_insert_with(|| pair::<T>(form));
        b.iter(|| pair.pass());
    });
}

fn pair<T: Payload>(form: Form) -> Pair<T> {
    Pair::new(form).expect("a participant with a writer and a reader")
}
