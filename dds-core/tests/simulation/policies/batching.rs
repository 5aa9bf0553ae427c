//! LATENCY_BUDGET (DDS 1.4, 2.2.3.8): small samples wait for others.

use super::{Pair, SOON, values};
use dds_core::Duration;
use dds_core::qos::{DataReaderQos, DataWriterQos};

const BUDGET: Duration = Duration::from_millis(500);
const SAMPLES: u32 = 10;

/// Writes [`SAMPLES`] samples of one instance. Returns the datagrams that took, and the samples received by then.
fn write_all(pair: &Pair, writer: DataWriterQos, reader: DataReaderQos) -> (u64, Vec<u32>) {
    let reader = pair.reader(reader);
    let writer = pair.writer(writer);
    pair.settle();
    let before = pair.from.traffic().sent;
    (0..SAMPLES).for_each(|x| writer.write(&super::Pose { robot: 1, x }).unwrap());
    let sent = pair.from.traffic().sent - before;
    pair.simulation.run_for(SOON);
    let at_once = values(&reader);
    pair.simulation.run_for(BUDGET);
    let later = values(&reader);
    assert_eq!([at_once.clone(), later].concat(), (0..SAMPLES).collect::<Vec<_>>());
    (sent, at_once)
}

#[test]
fn batch_leaves_when_latency_budget_ends() {
    let reader = DataReaderQos::default().keep_all().latency_budget(BUDGET);
    Pair::on_every_way(|pair| {
        let (sent, at_once) = write_all(pair, DataWriterQos::default().keep_all(), reader.clone());
        let (batched, waiting) =
            write_all(pair, DataWriterQos::default().keep_all().latency_budget(BUDGET), reader.clone());
        assert_eq!((at_once.len(), batched), (SAMPLES as usize, 0));
        let is_remote = pair.from.guid() != pair.to.guid();
        assert_eq!((sent >= u64::from(SAMPLES), waiting.is_empty()), (is_remote, is_remote), "{sent} {waiting:?}");
    });
}

/// Later samples wait once the budget is set, and stop waiting when it is removed.
///
/// Samples that wait at the removal leave at once.
#[test]
fn changed_latency_budget_applies_at_once() {
    Pair::on_every_way(|pair| {
        let reader = pair.reader(DataReaderQos::default().keep_all().latency_budget(BUDGET));
        let writer = pair.writer(DataWriterQos::default().keep_all());
        pair.settle();
        let is_remote = pair.from.guid() != pair.to.guid();
        let waits = |x| {
            pair.write(&writer, 1, x);
            values(&reader).is_empty()
        };
        assert!(!waits(1));
        writer.set_qos(writer.qos().latency_budget(BUDGET)).unwrap();
        pair.settle();
        assert_eq!(waits(2), is_remote);
        pair.simulation.run_for(BUDGET);
        assert_eq!(values(&reader).len(), usize::from(is_remote), "it comes when the budget is over");
        writer.set_qos(writer.qos().latency_budget(Duration::ZERO)).unwrap();
        pair.settle();
        assert!(!waits(3));
    });
}

#[test]
fn keep_last_one_batch_loses_no_sample() {
    Pair::on_every_way(|pair| {
        let qos = DataWriterQos::default().keep_last(1).latency_budget(BUDGET);
        write_all(pair, qos, DataReaderQos::default().keep_all().latency_budget(BUDGET));
    });
}

#[test]
fn batch_window_is_private_and_ends_on_flush() {
    Pair::on_every_way(|pair| {
        let reader = pair.reader(DataReaderQos::default().keep_all());
        let writer = pair.from.writer_builder("pose").batching(Duration::INFINITE).build().unwrap();
        pair.settle();
        (0..3).for_each(|x| writer.write(&super::Pose { robot: x, x }).unwrap());
        pair.simulation.run_for(BUDGET);
        let before = values(&reader);
        assert_eq!(before.is_empty(), pair.from.guid() != pair.to.guid());
        writer.flush().unwrap();
        pair.simulation.run_for(SOON);
        assert_eq!([before, values(&reader)].concat(), [0, 1, 2]);
    });
}

#[test]
fn acknowledgment_wait_and_close_end_batch() {
    Pair::on_every_way(|pair| {
        for reliable in [true, false] {
            let mut qos = DataWriterQos::default().keep_all();
            if !reliable {
                qos = qos.best_effort();
            }
            let mut reader_qos = DataReaderQos::default().keep_all();
            if !reliable {
                reader_qos = reader_qos.best_effort();
            }
            let reader = pair.reader(reader_qos);
            let writer = pair.from.writer_builder("pose").qos(qos).batching(Duration::INFINITE).build().unwrap();
            pair.settle();
            writer.write(&super::Pose { robot: 1, x: 1 }).unwrap();
            writer.acknowledged().block_for(BUDGET).unwrap();
            pair.simulation.run_for(SOON);
            assert_eq!(values(&reader), [1], "reliable {reliable}");
            writer.write(&super::Pose { robot: 1, x: 2 }).unwrap();
            drop(writer);
            pair.simulation.run_for(SOON);
            assert_eq!(values(&reader), [2], "reliable {reliable}");
        }
    });
}
