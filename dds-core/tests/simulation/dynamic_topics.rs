//! Topics with a type that is created at run time, between hosts of a simulated network and within a process.

use dds_core::cdr::Extensibility;
use dds_core::dynamic::{DynamicData, DynamicType};
use dds_core::error::WriteErrorKind;
use dds_core::qos::{DataReaderQos, DataRepresentation, DataWriterQos, Preset, TopicQos, TypeConsistency};
use dds_core::sim::Simulation;
use dds_core::{DdsType, DomainParticipant, Duration, InstanceState};

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(appendable)]
struct Track {
    #[dds(key)]
    id: u8,
    // The hash of this key differs between XCDR1 and XCDR2.
    #[dds(key)]
    source: u64,
    names: Vec<String>,
}

fn track(id: u8) -> Track {
    Track { id, source: 5, names: vec!["a".to_owned(), "b".to_owned()] }
}

fn data(ty: &DynamicType, id: u8) -> DynamicData {
    let mut data = DynamicData::new(ty);
    data.set("id", id).unwrap();
    data.set("source", 5).unwrap();
    data.set("names", vec!["a", "b"]).unwrap();
    data
}

/// Exchanges samples and instances in both directions between a derived type and a dynamic one.
fn is_exchanged(one: &DomainParticipant, other: &DomainParticipant, representation: DataRepresentation) {
    let name = format!("track/{representation:?}");
    let ty = DynamicType::of::<Track>().unwrap();
    let topic = one.dynamic_topic(&name, &ty, TopicQos::default()).unwrap();
    let writer_qos = DataWriterQos::from(Preset::Event).representation(vec![representation]);
    let reader_qos = DataReaderQos::from(Preset::Event).representation(vec![representation]);
    let dynamic_writer = one.writer_builder(&topic).qos(writer_qos.clone()).build().unwrap();
    let dynamic_reader = one.reader_builder(&topic).qos(reader_qos.clone()).build().unwrap();
    let reader = other.reader_builder::<Track>(&name).qos(reader_qos).build().unwrap();
    let second = Duration::from_secs(5);
    dynamic_writer.wait_for_readers(2).block_for(second).unwrap();
    dynamic_writer.write(&data(&ty, 7)).unwrap();
    let sample = reader.next_sample().block_for(second).unwrap();
    assert_eq!(sample.data, Some(track(7)));
    assert_eq!(dynamic_reader.next_sample().block_for(second).unwrap().data, Some(data(&ty, 7)));
    // The instance is the same, whichever side names it by its key.
    let instance = sample.info.instance_handle;
    assert_eq!(dynamic_writer.lookup_instance(&data(&ty, 7)), Some(instance));
    assert_eq!(dynamic_reader.lookup_instance(&data(&ty, 7)), Some(instance));
    assert_eq!(reader.lookup_instance(&(7, 5)), Some(instance));
    assert_eq!(reader.key_value(instance), Some((7, 5)));
    let mut key = DynamicData::new(&ty);
    key.set("id", 7).unwrap();
    key.set("source", 5).unwrap();
    assert_eq!(dynamic_writer.key_value(instance), Some(key.clone()));
    assert_eq!(dynamic_reader.key_value(instance), Some(key.clone()));

    let writer = other.writer_builder::<Track>(&name).qos(writer_qos).build().unwrap();
    writer.wait_for_readers(2).block_for(second).unwrap();
    writer.write(&track(7)).unwrap();
    let received = dynamic_reader.next_sample().block_for(second).unwrap();
    assert_eq!((received.data, received.info.instance_handle), (Some(data(&ty, 7)), instance));
    let _own = reader.next_sample().block_for(second).unwrap();

    dynamic_writer.dispose(&key).unwrap();
    let end = reader.next_sample().block_for(second).unwrap();
    assert_eq!((end.data, end.info.instance_handle), (None, instance));
    assert_eq!(end.info.instance_state, InstanceState::NotAliveDisposed);
    let end = dynamic_reader.next_sample().block_for(second).unwrap();
    assert_eq!((end.info.instance_handle, end.info.instance_state), (instance, InstanceState::NotAliveDisposed));
}

#[test]
fn dynamic_and_derived_types_exchange_samples() {
    let world = Simulation::new(7);
    let one = world.participant("one", 0).unwrap();
    let other = world.participant("other", 0).unwrap();
    for representation in [DataRepresentation::Xcdr1, DataRepresentation::Xcdr2] {
        is_exchanged(&one, &other, representation);
    }
    let alone = world.participant("alone", 1).unwrap();
    is_exchanged(&alone, &alone, DataRepresentation::Xcdr2);
}

#[test]
fn batches_views_and_loans_use_dynamic_type() {
    let world = Simulation::new(8);
    let participant = world.participant("one", 0).unwrap();
    let ty = DynamicType::of::<Track>().unwrap();
    let topic = participant.dynamic_topic("track", &ty, TopicQos::default()).unwrap();
    let reader = participant.reader_builder(&topic).qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder(&topic).qos(Preset::Event).build().unwrap();
    for id in 0..3 {
        writer.write(&data(&ty, id)).unwrap();
    }
    let samples = reader.read().unwrap();
    let by_reference: Vec<_> = samples.iter().filter_map(|sample| sample.decode()?.ok()).collect();
    assert_eq!(by_reference, [0, 1, 2].map(|id| data(&ty, id)));
    let mut kept = Vec::new();
    assert_eq!(reader.take_into(&mut kept).unwrap(), 3);
    let values: Vec<_> = samples.into_data().collect();
    assert_eq!(values, by_reference);
    writer.write(&data(&ty, 9)).unwrap();
    assert_eq!(reader.take_into(&mut kept).unwrap(), 1);
    assert_eq!(kept[0].data, Some(data(&ty, 9)));
}

#[test]
fn value_of_different_type_is_rejected() {
    let world = Simulation::new(9);
    let participant = world.participant("one", 0).unwrap();
    let make = |member: &str| {
        let ty = DynamicType::structure("T").extensibility(Extensibility::Final);
        ty.member(member, DynamicType::int32()).key().build().unwrap()
    };
    let (one, other) = (make("x"), make("y"));
    let topic = participant.dynamic_topic("t", &one, TopicQos::default()).unwrap();
    let writer = participant.writer(&topic).unwrap();
    let error = writer.write(&DynamicData::new(&other)).unwrap_err();
    assert!(matches!(error.kind(), WriteErrorKind::Encode(dds_core::error::EncodeError::OtherType)), "{error}");
    assert!(writer.dispose(&DynamicData::new(&other)).is_err());
    assert_eq!(writer.lookup_instance(&DynamicData::new(&other)), None);
    // A separately created type with the same members is the same type.
    writer.write(&DynamicData::new(&make("x"))).unwrap();
}

/// A reader that requires a description, and the same type.
fn strict() -> DataReaderQos {
    DataReaderQos::from(Preset::Event).type_consistency(TypeConsistency::strict().force_type_validation(true))
}

#[test]
fn dynamic_writer_describes_its_type_to_a_strict_reader() {
    let world = Simulation::new(9);
    let one = world.participant("one", 0).unwrap();
    let other = world.participant("other", 0).unwrap();
    let patience = Duration::from_secs(20);
    let ty = DynamicType::structure("Track")
        .extensibility(Extensibility::Appendable)
        .member("id", DynamicType::uint8())
        .key()
        .member("source", DynamicType::uint64())
        .key()
        .member("names", DynamicType::sequence(DynamicType::string()))
        .build()
        .unwrap();
    let topic = one.dynamic_topic("track", &ty, TopicQos::default()).unwrap();
    let writer = one.writer_builder(&topic).qos(Preset::Event).build().unwrap();
    let reader = other.reader_builder::<Track>("track").qos(strict()).build().unwrap();
    writer.wait_for_readers(1).block_for(patience).unwrap();
    writer.write(&data(&ty, 4)).unwrap();
    assert_eq!(reader.next_sample().block_for(patience).unwrap().data, Some(track(4)));
    // A third participant learns the type, and its strict reader has the same description.
    let third = world.participant("third", 0).unwrap();
    let found = third.discover_type("track").block_for(patience).unwrap();
    assert_eq!(found, ty);
    let topic = third.dynamic_topic("track", &found, TopicQos::default()).unwrap();
    let dynamic_reader = third.reader_builder(&topic).qos(strict()).build().unwrap();
    writer.wait_for_readers(2).block_for(patience).unwrap();
    writer.write(&data(&ty, 5)).unwrap();
    assert_eq!(dynamic_reader.next_sample().block_for(patience).unwrap().data, Some(data(&found, 5)));
}

#[test]
fn dynamic_type_that_differs_does_not_match_a_strict_reader() {
    let world = Simulation::new(10);
    let one = world.participant("one", 0).unwrap();
    let other = world.participant("other", 0).unwrap();
    let ty = DynamicType::structure("Track")
        .extensibility(Extensibility::Appendable)
        .member("id", DynamicType::uint8())
        .key()
        .build()
        .unwrap();
    let topic = one.dynamic_topic("track", &ty, TopicQos::default()).unwrap();
    let writer = one.writer_builder(&topic).qos(Preset::Event).build().unwrap();
    let _reader = other.reader_builder::<Track>("track").qos(strict()).build().unwrap();
    assert!(writer.wait_for_readers(1).block_for(Duration::from_secs(10)).is_err());
}
