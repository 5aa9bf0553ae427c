//! Three design decisions, each in its naive and its chosen form.

use benches::LARGE_PAYLOAD_LEN;
use benches::lever::{MailboxCell, MailboxTask, ReceiveBuffer, SendBuffer};
use criterion::Criterion;
use std::hint::black_box;

/// All forms of all decisions.
pub(crate) fn all(c: &mut Criterion) {
    let mut receive = ReceiveBuffer::open().expect("the loopback has sockets");
    c.bench_function("lever_receive_buffer_fresh", |b| b.iter(|| black_box(receive.fresh())));
    c.bench_function("lever_receive_buffer_reused", |b| b.iter(|| black_box(receive.reused()).len()));

    let payload = vec![7; LARGE_PAYLOAD_LEN];
    let mut send = SendBuffer::default();
    c.bench_function("lever_send_zeroed", |b| b.iter(|| send.zeroed(black_box(&payload))));
    c.bench_function("lever_send_cursor", |b| b.iter(|| send.cursor(black_box(&payload))));

    let mailbox = MailboxTask::start().expect("a runtime can be made");
    c.bench_function("lever_mailbox_task", |b| b.iter(|| black_box(mailbox.ask())));
    let cell = MailboxCell::default();
    c.bench_function("lever_mailbox_cell", |b| b.iter(|| black_box(cell.ask())));
}
