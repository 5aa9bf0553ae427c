//! DEADLINE (DDS 1.4, 2.2.3.7) and its statuses.

use super::*;
use dds_core::InstanceHandle;
use dds_core::condition::Condition;
use dds_core::condition::WaitSet;
use dds_core::listener::{
    AnyEndpoint, DataReaderListener, DataWriterListener, PublisherListener, SubscriberListener, TopicListener,
};
use dds_core::qos::{Ownership, WriterDataLifecycle};
use dds_core::status::{DeadlineMissedStatus, ReaderEvent, StatusMask, WriterEvent};
use std::sync::{Arc, Mutex};

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

fn offer(deadline: u64) -> DataWriterQos {
    DataWriterQos::default().deadline(millis(deadline))
}

fn request(deadline: u64) -> DataReaderQos {
    DataReaderQos::default().reliable().keep_all().deadline(millis(deadline))
}

/// Missed deadlines of writer and reader, each since its last status read.
fn missed(writer: &DataWriter<Pose>, reader: &DataReader<Pose>) -> (u64, u64) {
    let offered = writer.offered_deadline_missed();
    let requested = reader.requested_deadline_missed();
    (offered.total_count_change, requested.total_count_change)
}

#[test]
fn missed_deadlines_count_per_alive_instance() {
    Pair::on_every_way(|pair| {
        let (writer, reader) = (pair.writer(offer(1000)), pair.reader(request(1000)));
        pair.settle();
        // A registered instance without a sample has no deadline.
        writer.register_instance(&9).unwrap();
        pair.run(5_000);
        assert_eq!(missed(&writer, &reader), (0, 0), "there is no sample yet");
        pair.write(&writer, 1, 0);
        pair.write(&writer, 2, 0);
        pair.run(800);
        assert_eq!(missed(&writer, &reader), (0, 0));
        pair.write(&writer, 1, 1);
        pair.run(150);
        // Only robot 2 has missed its deadline, because robot 1 was written after 800 ms.
        assert_eq!(missed(&writer, &reader), (1, 1));
        let handle = writer.lookup_instance(&2).unwrap();
        assert_eq!(writer.offered_deadline_missed().last_instance_handle, handle);
        assert_eq!(reader.requested_deadline_missed().last_instance_handle, handle);
        pair.run(2_000);
        assert_eq!(missed(&writer, &reader), (4, 4));
        writer.dispose(&1).unwrap();
        writer.unregister_instance(&2).unwrap();
        pair.run(5_000);
        assert_eq!(missed(&writer, &reader), (0, 0), "an ended instance has no deadline");
        pair.write(&writer, 1, 2);
        pair.run(1_000);
        assert_eq!(missed(&writer, &reader), (1, 1), "and has one again when it comes back");
        assert_eq!(writer.offered_deadline_missed().total_count, 6);
    });
}

#[test]
fn deleted_writer_leaves_no_deadline() {
    Pair::on_every_way(|pair| {
        let (writer, reader) = (pair.writer(offer(3_000)), pair.reader(request(3_000)));
        pair.settle();
        pair.write(&writer, 1, 0);
        drop(writer);
        pair.run(10_000);
        assert_eq!(reader.requested_deadline_missed().total_count, 0);
    });
}

#[test]
fn best_effort_and_keyless_topics_have_deadlines() {
    #[derive(DdsType)]
    struct Beat {
        x: u32,
    }
    Pair::on_every_way(|pair| {
        let qos = offer(1_000).best_effort();
        let writer = pair.from.writer_builder::<Beat>("beat").qos(qos).build().unwrap();
        let reader = pair.to.reader_builder::<Beat>("beat").qos(request(1_000).best_effort()).build().unwrap();
        pair.settle();
        writer.write(&Beat { x: 1 }).unwrap();
        pair.run(2_500);
        let (offered, requested) = (writer.offered_deadline_missed(), reader.requested_deadline_missed());
        assert_eq!((offered.total_count, requested.total_count), (2, 2));
        // A topic without a key has one instance, with a nil handle.
        assert_eq!(requested.last_instance_handle, InstanceHandle::NIL);
    });
}

#[test]
fn changed_deadline_applies() {
    Pair::on_every_way(|pair| {
        let writer = pair.writer(DataWriterQos::default());
        let reader = pair.reader(DataReaderQos::default());
        pair.settle();
        pair.write(&writer, 1, 0);
        // Without a deadline nothing counts. The new deadline starts at the change.
        pair.run(5_000);
        writer.set_qos(writer.qos().deadline(millis(1_000))).unwrap();
        pair.run(600);
        reader.set_qos(reader.qos().deadline(millis(2_000))).unwrap();
        pair.run(4_500);
        assert_eq!(missed(&writer, &reader), (5, 2));
        reader.set_qos(reader.qos().deadline(Duration::INFINITE)).unwrap();
        writer.set_qos(writer.qos().deadline(Duration::INFINITE)).unwrap();
        pair.run(5_000);
        assert_eq!(missed(&writer, &reader), (0, 0));
    });
}

#[test]
fn missed_deadline_moves_ownership() {
    Pair::on_every_way(|pair| {
        let lifecycle = WriterDataLifecycle::KEEP;
        let offer = |strength| {
            let qos = offer(1_000).ownership(Ownership::Exclusive).ownership_strength(strength);
            pair.writer(qos.writer_data_lifecycle(lifecycle))
        };
        let (weak, strong) = (offer(1), offer(2));
        let reader = pair.reader(request(1_000).ownership(Ownership::Exclusive));
        pair.settle();
        pair.write(&strong, 1, 20);
        for x in 10..15 {
            pair.write(&weak, 1, x);
            pair.run(200);
        }
        // The owner's deadline ended between the fourth and the last sample of the other writer.
        assert_eq!(values(&reader), [20, 14]);
        pair.write(&strong, 1, 21);
        pair.write(&weak, 1, 15);
        assert_eq!(values(&reader), [21]);
    });
}

#[derive(Clone, Default)]
struct Told(Arc<Mutex<Vec<(&'static str, DeadlineMissedStatus)>>>);

impl Told {
    fn note(&self, whom: &'static str, status: DeadlineMissedStatus) {
        self.0.lock().unwrap().push((whom, status));
    }

    fn counts(&self, whom: &str) -> Vec<(u64, u64)> {
        let told = self.0.lock().unwrap();
        told.iter().filter(|(who, _)| *who == whom).map(|(_, s)| (s.total_count, s.total_count_change)).collect()
    }
}

impl DataWriterListener<Pose> for Told {
    fn on_offered_deadline_missed(&mut self, _: &DataWriter<Pose>, status: DeadlineMissedStatus) {
        self.note("writer", status);
    }
}

impl DataReaderListener<Pose> for Told {
    fn on_requested_deadline_missed(&mut self, _: &DataReader<Pose>, status: DeadlineMissedStatus) {
        self.note("reader", status);
    }
}

impl PublisherListener for Told {
    fn on_offered_deadline_missed(&mut self, _: &dyn AnyEndpoint, status: DeadlineMissedStatus) {
        self.note("participant of the writer", status);
    }
}

impl SubscriberListener for Told {
    fn on_requested_deadline_missed(&mut self, _: &dyn AnyEndpoint, status: DeadlineMissedStatus) {
        self.note("participant of the reader", status);
    }
}

impl TopicListener for Told {}

#[test]
fn missed_deadline_reaches_listeners_and_streams() {
    Pair::on_every_way(|pair| {
        let (writer, reader) = (pair.writer(offer(1_000)), pair.reader(request(1_000)));
        let told = Told::default();
        pair.from.set_listener(StatusMask::DEADLINE_MISSED, told.clone()).unwrap();
        pair.to.set_listener(StatusMask::DEADLINE_MISSED, told.clone()).unwrap();
        let (offers, requests) = (writer.events(), reader.events());
        let conditions = [writer.status_condition(), reader.status_condition()];
        for condition in &conditions {
            condition.set_enabled_statuses(StatusMask::DEADLINE_MISSED);
        }
        pair.settle();
        pair.write(&writer, 1, 0);
        let waits = WaitSet::new(&pair.from);
        waits.attach(&conditions[0]);
        assert!(waits.wait().block_for(millis(2_000)).is_ok());
        pair.run(100);
        assert_eq!(told.counts("participant of the writer"), [(1, 1)]);
        assert_eq!(told.counts("participant of the reader"), [(1, 1)]);
        // From now on the endpoints' listeners take precedence over the participants'.
        writer.set_listener(StatusMask::DEADLINE_MISSED, told.clone()).unwrap();
        reader.set_listener(StatusMask::DEADLINE_MISSED, told.clone()).unwrap();
        pair.run(1_000);
        assert_eq!((told.counts("writer"), told.counts("reader")), (vec![(2, 1)], vec![(2, 1)]));
        let offered = loop {
            if let WriterEvent::DeadlineMissed(status) = offers.next_event().block().unwrap() {
                break status;
            }
        };
        let requested = loop {
            if let ReaderEvent::DeadlineMissed(status) = requests.next_event().block().unwrap() {
                break status;
            }
        };
        assert_eq!((offered.total_count_change, requested.total_count_change), (2, 2));
        // Without listeners, only the conditions show the status.
        writer.remove_listener();
        reader.remove_listener();
        [&pair.from, &pair.to].into_iter().for_each(DomainParticipant::remove_listener);
        pair.run(1_000);
        assert!(conditions.iter().all(|condition| condition.is_triggered()));
        assert_eq!(missed(&writer, &reader), (1, 1));
        assert!(conditions.iter().all(|condition| !condition.is_triggered()), "reading the status resets it");
    });
}
