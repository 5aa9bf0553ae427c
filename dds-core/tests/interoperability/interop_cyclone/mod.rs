//! Interoperability with Cyclone DDS.
//!
//! Each side publishes to the other in every combination of reliability and data representation, with small and large
//! samples and ends of instances.
//!
//! These tests need Cyclone DDS for Python and a network with multicast, so they run only on request: `.ci/run
//! cyclone`, or `DDS_TEST_PYTHON=python3 .ci/netns cargo test -p dds-core --test interoperability -- --ignored
//! interop_cyclone::`.

#![allow(clippy::disallowed_methods, reason = "the other side is a process, and a thread reads its output")]

mod cyclone;

use cyclone::agreement::{Agreement, IsWithin, SAMPLES, expect_samples};
use cyclone::peer::{LIMIT, Peer};
use cyclone::types::{Blob, KeyedSubject, Reading, ShapeType, Subject};
use dds_core::cdr::TypeInfo;
use dds_core::config::IpFamilies;
use dds_core::qos::{DataRepresentation, DataWriterQos, Durability};
use dds_core::{DataReader, DataWriter, DomainParticipant, InstanceState};
use std::time::Duration;

/// Cyclone publishes samples, all of which arrive with their content.
fn receive<T: Subject>(agreement: Agreement) -> (DataReader<T>, Peer) {
    let participant = DomainParticipant::new(0).unwrap();
    let reader = agreement.reader::<T>(&participant);
    let mut publisher = Peer::start("publisher.py", &agreement.arguments(T::TYPE_NAME));
    reader.wait_for_writers(1).block_for(LIMIT).unwrap();
    publisher.wait_for("matched", |event| event["count"] == 1);
    publisher.tell(&format!("write 0 {SAMPLES}"));
    for index in 0..SAMPLES {
        let sample = reader.next_sample().block_for(LIMIT).unwrap();
        assert_eq!(sample.data.unwrap().fields(), T::sample(index).fields(), "sample {index}");
        assert_eq!(sample.info.instance_state, InstanceState::Alive);
    }
    assert_eq!(reader.not_decodable(), 0);
    (reader, publisher)
}

/// After [`receive`], Cyclone ends two instances, each in a different way.
fn receive_ends<T: KeyedSubject>((reader, mut publisher): (DataReader<T>, Peer)) {
    for (index, command, state) in
        [(0, "dispose", InstanceState::NotAliveDisposed), (1, "unregister", InstanceState::NotAliveNoWriters)]
    {
        publisher.tell(&format!("{command} {index}"));
        let sample = reader.next_sample().block_for(LIMIT).unwrap();
        assert!(sample.data.is_none(), "{command} comes without data");
        assert_eq!(sample.info.instance_state, state);
        let key = reader.key_value(sample.info.instance_handle).unwrap();
        assert_eq!(T::key_fields(&key), T::key_fields(&T::sample(index).key()), "{command}");
    }
}

/// Our side publishes samples, all of which arrive at Cyclone with their content.
fn publish<T: Subject>(agreement: Agreement) -> (DataWriter<T>, Peer) {
    let participant = DomainParticipant::new(0).unwrap();
    let writer = agreement.writer::<T>(&participant);
    let mut subscriber = Peer::start("subscriber.py", &agreement.arguments(T::TYPE_NAME));
    writer.wait_for_readers(1).block_for(LIMIT).unwrap();
    subscriber.wait_for("matched", |event| event["count"] == 1);
    for index in 0..SAMPLES {
        writer.write(&T::sample(index)).unwrap();
    }
    expect_samples::<T>(&mut subscriber);
    if agreement.reliable {
        writer.acknowledged().block_for(LIMIT).unwrap();
    }
    (writer, subscriber)
}

/// After [`publish`], our side ends two instances, each in a different way.
fn publish_ends<T: KeyedSubject>((writer, mut subscriber): (DataWriter<T>, Peer)) {
    writer.dispose(&T::sample(0).key()).unwrap();
    let disposed = subscriber.wait_for("instance", |event| event["state"] == "disposed");
    assert!(T::key_fields(&T::sample(0).key()).is_within(&disposed), "{disposed}");
    writer.unregister_instance(&T::sample(1).key()).unwrap();
    let unregistered = subscriber.wait_for("instance", |event| event["state"] == "no_writers");
    assert!(T::key_fields(&T::sample(1).key()).is_within(&unregistered), "{unregistered}");
}

/// Defines one test for each combination, so that a failure names it.
macro_rules! combinations {
    ($($name:ident: $reliable:literal, $representation:ident;)*) => {
        $(mod $name {
            use super::*;

            fn agreement(topic: &'static str) -> Agreement {
                Agreement {
                    topic,
                    reliable: $reliable,
                    representation: DataRepresentation::$representation,
                    durability: Durability::Volatile,
                }
            }

            #[test]
            #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
            fn cyclone_publishes_an_appendable_type() {
                receive_ends(receive::<ShapeType>(agreement(concat!("shape_from_cyclone_", stringify!($name)))));
            }

            #[test]
            #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
            fn cyclone_publishes_a_final_type() {
                receive_ends(receive::<Reading>(agreement(concat!("reading_from_cyclone_", stringify!($name)))));
            }

            #[test]
            #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
            fn cyclone_publishes_100_kb() {
                receive::<Blob>(agreement(concat!("blob_from_cyclone_", stringify!($name))));
            }

            #[test]
            #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
            fn cyclone_receives_an_appendable_type() {
                publish_ends(publish::<ShapeType>(agreement(concat!("shape_to_cyclone_", stringify!($name)))));
            }

            #[test]
            #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
            fn cyclone_receives_a_final_type() {
                publish_ends(publish::<Reading>(agreement(concat!("reading_to_cyclone_", stringify!($name)))));
            }

            #[test]
            #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
            fn cyclone_receives_100_kb() {
                publish::<Blob>(agreement(concat!("blob_to_cyclone_", stringify!($name))));
            }
        })*
    };
}

combinations! {
    reliable_xcdr1: true, Xcdr1;
    reliable_xcdr2: true, Xcdr2;
    best_effort_xcdr1: false, Xcdr1;
    best_effort_xcdr2: false, Xcdr2;
}

mod late_joiners {
    use super::*;

    fn agreement(topic: &'static str) -> Agreement {
        Agreement {
            topic,
            reliable: true,
            representation: DataRepresentation::Xcdr2,
            durability: Durability::TransientLocal,
        }
    }

    #[test]
    #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
    fn late_cyclone_reader_gets_history() {
        let agreement = agreement("history_to_cyclone");
        let participant = DomainParticipant::new(0).unwrap();
        let writer = agreement.writer::<ShapeType>(&participant);
        for index in 0..SAMPLES {
            writer.write(&ShapeType::sample(index)).unwrap();
        }
        let mut subscriber = Peer::start("subscriber.py", &agreement.arguments(ShapeType::TYPE_NAME));
        expect_samples::<ShapeType>(&mut subscriber);
    }

    #[test]
    #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
    fn late_reader_gets_cyclone_history() {
        let agreement = agreement("history_from_cyclone");
        let mut publisher = Peer::start("publisher.py", &agreement.arguments(ShapeType::TYPE_NAME));
        publisher.tell(&format!("write 0 {SAMPLES}"));
        publisher.wait_for("written", |_| true);
        let participant = DomainParticipant::new(0).unwrap();
        let reader = agreement.reader::<ShapeType>(&participant);
        for index in 0..SAMPLES {
            let sample = reader.next_sample().block_for(LIMIT).unwrap();
            assert_eq!(sample.data.unwrap(), ShapeType::sample(index));
        }
    }
}

/// Each side notices when a writer of the other side falls silent.
mod liveliness {
    use super::*;
    use dds_core::qos::{Liveliness, LivelinessKind};
    use dds_core::status::ReaderEvent;

    const LEASE_MS: u32 = 500;

    fn agreement(topic: &'static str, reliable: bool) -> Agreement {
        let representation = DataRepresentation::Xcdr2;
        Agreement { topic, reliable, representation, durability: Durability::Volatile }
    }

    fn participant() -> DomainParticipant {
        DomainParticipant::new(0).unwrap()
    }

    fn writer(participant: &DomainParticipant, agreement: Agreement, kind: LivelinessKind) -> DataWriter<ShapeType> {
        let lease_duration = dds_core::Duration::from_millis(LEASE_MS.into());
        let qos = DataWriterQos::default().keep_all().representation([agreement.representation]);
        let qos = if agreement.reliable { qos.reliable() } else { qos.best_effort() };
        let qos = qos.liveliness(Liveliness::new(kind, lease_duration));
        participant.writer_builder(agreement.topic).qos(qos).build().unwrap()
    }

    /// Of two writers of ours one is automatic. Cyclone loses the other one and finds it again.
    fn cyclone_notices(topic: &'static str, reliable: bool, kind: LivelinessKind) {
        let (agreement, participant) = (agreement(topic, reliable), participant());
        let automatic = writer(&participant, agreement, LivelinessKind::Automatic);
        let manual = writer(&participant, agreement, kind);
        let mut subscriber = Peer::start("subscriber.py", &agreement.arguments(ShapeType::TYPE_NAME));
        automatic.wait_for_readers(1).block_for(LIMIT).unwrap();
        manual.wait_for_readers(1).block_for(LIMIT).unwrap();
        for _ in 0..2 {
            subscriber.wait_for("liveliness", |event| event["alive"] == 1 && event["not_alive"] == 1);
            // Only data revives a writer that Cyclone considers not alive. An assertion keeps it alive.
            manual.write(&ShapeType::sample(0)).unwrap();
            subscriber.wait_for("liveliness", |event| event["alive"] == 2 && event["not_alive"] == 0);
            for _ in 0..15 {
                manual.assert_liveliness().unwrap();
                std::thread::sleep(Duration::from_millis(u64::from(LEASE_MS) / 5));
            }
            assert_eq!(subscriber.try_wait_for("liveliness", Duration::ZERO), None);
        }
        assert!(manual.liveliness_lost().total_count >= 2);
    }

    #[test]
    #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
    fn cyclone_notices_by_topic() {
        cyclone_notices("alive_by_topic", true, LivelinessKind::ManualByTopic);
    }

    #[test]
    #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
    fn cyclone_notices_by_topic_best_effort() {
        cyclone_notices("alive_by_topic_best_effort", false, LivelinessKind::ManualByTopic);
    }

    #[test]
    #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
    fn cyclone_notices_by_participant() {
        cyclone_notices("alive_by_participant", true, LivelinessKind::ManualByParticipant);
    }

    /// Waits for these numbers of writers that are alive and not alive.
    fn expect(reader: &DataReader<ShapeType>, alive: u32, not_alive: u32) {
        let events = reader.events();
        loop {
            let event = events.next_event().block_for(LIMIT).unwrap();
            let ReaderEvent::LivelinessChanged(status) = event else { continue };
            if (status.alive_count, status.not_alive_count) == (alive, not_alive) {
                return;
            }
        }
    }

    fn we_notice(topic: &'static str, kind: &str) {
        let (agreement, participant) = (agreement(topic, true), participant());
        let reader = agreement.reader::<ShapeType>(&participant);
        let mut arguments = agreement.arguments(ShapeType::TYPE_NAME);
        arguments.extend(["--liveliness", kind, "--lease", "500"].map(str::to_owned));
        let mut publisher = Peer::start("publisher.py", &arguments);
        reader.wait_for_writers(1).block_for(LIMIT).unwrap();
        publisher.wait_for("matched", |event| event["count"] == 1);
        publisher.tell("write 0 1");
        assert_eq!(reader.next_sample().block_for(LIMIT).unwrap().info.instance_state, InstanceState::Alive);
        if kind != "automatic" {
            expect(&reader, 0, 1);
            let silent = reader.next_sample().block_for(LIMIT).unwrap();
            assert_eq!(silent.info.instance_state, InstanceState::NotAliveNoWriters);
            publisher.tell("write 0 1");
            assert_eq!(reader.next_sample().block_for(LIMIT).unwrap().info.instance_state, InstanceState::Alive);
        }
        publisher.kill();
        expect(&reader, 0, 1);
        assert_eq!(reader.subscription_matched().current_count, 1, "its participant's lease is longer");
        assert_eq!(
            reader.next_sample().block_for(LIMIT).unwrap().info.instance_state,
            InstanceState::NotAliveNoWriters
        );
    }

    #[test]
    #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
    fn automatic_cyclone_writer_loss_is_noticed() {
        we_notice("alive_automatic_from_cyclone", "automatic");
    }

    #[test]
    #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
    fn cyclone_writer_loss_is_noticed_by_participant() {
        we_notice("alive_by_participant_from_cyclone", "by-participant");
    }

    #[test]
    #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
    fn cyclone_writer_loss_is_noticed_by_topic() {
        we_notice("alive_by_topic_from_cyclone", "by-topic");
    }
}

/// Both sides use IPv6 alone, in the multicast group that Cyclone DDS uses.
mod ipv6 {
    use super::*;

    const CYCLONE: [(&str, &str); 1] = [(
        "CYCLONEDDS_URI",
        "<CycloneDDS><Domain><General><Transport>udp6</Transport></General></Domain></CycloneDDS>",
    )];

    fn agreement(topic: &'static str) -> Agreement {
        Agreement {
            topic,
            reliable: true,
            representation: DataRepresentation::Xcdr2,
            durability: Durability::TransientLocal,
        }
    }

    fn participant() -> DomainParticipant {
        DomainParticipant::builder(0).ip_families(IpFamilies::V6).build().unwrap()
    }

    fn publish<T: Subject>(topic: &'static str) {
        let (agreement, participant) = (agreement(topic), participant());
        let mut subscriber = Peer::start_with("subscriber.py", &agreement.arguments(T::TYPE_NAME), &CYCLONE);
        let writer = agreement.writer::<T>(&participant);
        (0..SAMPLES).for_each(|index| writer.write(&T::sample(index)).unwrap());
        expect_samples::<T>(&mut subscriber);
    }

    /// Some systems are built or configured without IPv6.
    fn has_ipv6() -> bool {
        std::path::Path::new("/proc/net/if_inet6").exists()
    }

    #[test]
    #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
    fn cyclone_receives() {
        if !has_ipv6() {
            crate::support::skip("IPv6");
            return;
        }
        publish::<ShapeType>("six_to_cyclone");
        publish::<Blob>("six_blob_to_cyclone");
    }

    #[test]
    #[ignore = "needs Cyclone DDS: .ci/run cyclone"]
    fn cyclone_publishes() {
        if !has_ipv6() {
            crate::support::skip("IPv6");
            return;
        }
        let (agreement, participant) = (agreement("six_from_cyclone"), participant());
        let reader = agreement.reader::<Blob>(&participant);
        let mut publisher = Peer::start_with("publisher.py", &agreement.arguments(Blob::TYPE_NAME), &CYCLONE);
        publisher.tell(&format!("write 0 {SAMPLES}"));
        for index in 0..SAMPLES {
            let sample = reader.next_sample().block_for(LIMIT).unwrap();
            assert_eq!(sample.data.unwrap().fields(), Blob::sample(index).fields(), "sample {index}");
        }
    }
}
