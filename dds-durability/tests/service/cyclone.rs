//! Data that outlives its writers: Cyclone DDS on either side of the durability service.

#![allow(dead_code, reason = "the shared files serve other tests too")]
#![allow(clippy::disallowed_methods, reason = "the other side is a process, and a thread reads its output")]

#[path = "../../../dds-core/tests/interoperability/interop_cyclone/cyclone/agreement.rs"]
mod agreement;
#[path = "../../../dds-core/tests/interoperability/interop_cyclone/cyclone/peer.rs"]
mod peer;
#[path = "../../../dds-core/tests/interoperability/interop_cyclone/cyclone/types.rs"]
mod types;

use agreement::{Agreement, SAMPLES, expect_samples};
use dds_core::cdr::TypeInfo;
use dds_core::qos::{DataRepresentation, Durability, DurabilityService as ServiceQos};
use dds_core::{DataReader, DomainParticipant, InstanceState};
use dds_durability::DurabilityService;
use peer::{LIMIT, Peer};
use serde_json::Value;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use types::{Blob, KeyedSubject, Reading, ShapeType, Subject};

fn agreement(topic: &'static str) -> Agreement {
    Agreement { topic, reliable: true, representation: DataRepresentation::Xcdr1, durability: Durability::Transient }
}

/// One test at a time, because Cyclone receives the stored data of every service.
static DOMAIN: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    DOMAIN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn service() -> DurabilityService {
    service_on(DurabilityService::participant(0).build().unwrap())
}

fn service_on(participant: DomainParticipant) -> DurabilityService {
    DurabilityService::builder().key_of::<ShapeType>().key_of::<Reading>().start(participant).unwrap()
}

/// Waits until this many pairs of endpoints of a participant and its peers have matched.
fn matched(participant: &DomainParticipant, topic: &str, pairs: usize) {
    let begun = Instant::now();
    while participant.explain(topic).iter().filter(|report| report.is_match()).count() < pairs {
        assert!(begun.elapsed() < LIMIT, "{:#?}", participant.explain(topic));
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Waits until the service stores this many changes.
fn settled(service: &DurabilityService, changes: usize) {
    let begun = Instant::now();
    while service.status().changes < changes {
        assert!(begun.elapsed() < LIMIT, "{:?}", service.status());
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Our writer has left before Cyclone starts.
fn to_cyclone<T: Subject>(topic: &'static str) {
    let (agreement, service) = (agreement(topic), service());
    let participant = DomainParticipant::new(0).unwrap();
    let history = ServiceQos::default().keep_all();
    let qos = agreement.writer_qos().durability_service(history);
    let writer = participant.writer_builder::<T>(topic).qos(qos).build().unwrap();
    writer.wait_for_readers(1).block_for(LIMIT).unwrap();
    (0..SAMPLES).for_each(|index| writer.write(&T::sample(index)).unwrap());
    settled(&service, SAMPLES as usize);
    drop((writer, participant));
    for _ in 0..2 {
        let mut subscriber = Peer::start("subscriber.py", &agreement.arguments(T::TYPE_NAME));
        expect_samples::<T>(&mut subscriber);
        assert_eq!(subscriber.try_wait_for("sample", Duration::from_millis(500)), None, "it comes once");
    }
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn cyclone_reader_gets_data_of_departed_writer() {
    let _alone = alone();
    to_cyclone::<ShapeType>("left_to_cyclone");
    to_cyclone::<Blob>("left_blob_to_cyclone");
}

/// A present reader gets each sample from the writer and not from the service again.
///
/// Cyclone itself would not detect the repetition.
#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn present_cyclone_reader_gets_each_sample_once() {
    let _alone = alone();
    let of_service = DurabilityService::participant(0).build().unwrap();
    let (agreement, service) = (agreement("once_to_cyclone"), service_on(of_service.clone()));
    let participant = DomainParticipant::new(0).unwrap();
    let mut subscriber = Peer::start("subscriber.py", &agreement.arguments(Reading::TYPE_NAME));
    let writer = agreement.writer::<Reading>(&participant);
    writer.wait_for_readers(2).block_for(LIMIT).unwrap();
    // The writer and the service's writer.
    subscriber.wait_for("matched", |event| event["count"] == 2);
    // The service must know the reader as well. Otherwise the reader counts as a late one, and gets samples again.
    matched(&of_service, "once_to_cyclone", 2);
    (0..SAMPLES).for_each(|index| writer.write(&Reading::sample(index)).unwrap());
    expect_samples::<Reading>(&mut subscriber);
    // The service keeps one sample for each instance.
    settled(&service, 3);
    assert_eq!(subscriber.try_wait_for("sample", Duration::from_secs(1)), None);
}

/// Cyclone's writer has left before our reader starts.
fn from_cyclone<T: Subject>(topic: &'static str) -> (DurabilityService, DataReader<T>, Peer) {
    let (agreement, service) = (agreement(topic), service());
    let mut publisher = Peer::start("publisher.py", &agreement.arguments(T::TYPE_NAME));
    publisher.wait_for("matched", |event| event["count"] == 1);
    publisher.tell(&format!("write 0 {SAMPLES}"));
    publisher.wait_for("written", |_| true);
    settled(&service, SAMPLES as usize);
    let participant = DomainParticipant::new(0).unwrap();
    (service, agreement.reader::<T>(&participant), publisher)
}

fn expect_all<T: Subject>(reader: &DataReader<T>) {
    let mut missing: Vec<Value> = (0..SAMPLES).map(|index| T::sample(index).fields()).collect();
    while !missing.is_empty() {
        let fields = reader.next_sample().block_for(LIMIT).unwrap().data.unwrap().fields();
        let at = missing.iter().position(|known| *known == fields);
        missing.remove(at.unwrap_or_else(|| panic!("{fields} is not one of {missing:?}")));
    }
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn reader_gets_data_of_departed_cyclone_writer() {
    let _alone = alone();
    let (service, reader, publisher) = from_cyclone::<Blob>("left_blob_from_cyclone");
    drop(publisher);
    expect_all(&reader);
    drop((service, reader));
    let (service, reader, mut publisher) = from_cyclone::<ShapeType>("left_from_cyclone");
    assert_eq!((service.status().instances, service.status().of_unknown_instance), (3, 0));
    expect_all(&reader);
    publisher.tell("dispose 0");
    publisher.wait_for("disposed", |_| true);
    let end = reader.next_sample().block_for(LIMIT).unwrap();
    let key = reader.key_value(end.info.instance_handle).unwrap();
    assert_eq!(ShapeType::key_fields(&key), ShapeType::key_fields(&dds_core::cdr::Keyed::key(&ShapeType::sample(0))));
    assert_eq!(end.info.instance_state, InstanceState::NotAliveDisposed);
    // After the writer has left, only the other writers remain.
    drop(publisher);
    let others = (0..SAMPLES).filter(|index| index % 3 != 0).count();
    let begun = Instant::now();
    while service.status().changes > others {
        assert!(begun.elapsed() < LIMIT, "{:?}", service.status());
        std::thread::sleep(Duration::from_millis(10));
    }
}
