//! Both sides report incompatible QoS with the policy's number.

use super::*;

/// A policy, an insufficient offer of a writer, and an excessive request of a reader.
///
/// Each is given in Cyclone's form and in ours.
type Case =
    (PolicyId, &'static str, &'static str, fn(DataWriterQos) -> DataWriterQos, fn(DataReaderQos) -> DataReaderQos);

const CASES: [Case; 8] = [
    (PolicyId::Reliability, "reliability=best-effort", "", |qos| qos.best_effort(), |qos| qos),
    (PolicyId::Durability, "", "durability=transient-local", |qos| qos, |qos| qos.transient_local()),
    (PolicyId::Deadline, "deadline=2000", "deadline=1000", |qos| qos.deadline(ms(2000)), |qos| qos.deadline(ms(1000))),
    (
        PolicyId::LatencyBudget,
        "latency=20",
        "latency=10",
        |qos| qos.latency_budget(ms(20)),
        |qos| qos.latency_budget(ms(10)),
    ),
    (PolicyId::Ownership, "ownership=1", "", |qos| qos.ownership(Ownership::Exclusive), |qos| qos),
    (
        PolicyId::Liveliness,
        "liveliness=by-participant lease=5000",
        "liveliness=by-topic lease=5000",
        |qos| qos.liveliness(lease(LivelinessKind::ManualByParticipant)),
        |qos| qos.liveliness(lease(LivelinessKind::ManualByTopic)),
    ),
    (
        PolicyId::DestinationOrder,
        "",
        "order=source",
        |qos| qos,
        |qos| qos.destination_order(DestinationOrder::BySourceTimestamp),
    ),
    (
        PolicyId::DataRepresentation,
        "representation=xcdr1",
        "representation=xcdr2",
        |qos| qos.representation([DataRepresentation::Xcdr1]),
        |qos| qos,
    ),
];

fn lease(kind: LivelinessKind) -> Liveliness {
    Liveliness::new(kind, Duration::from_secs(5))
}

fn expect_incompatible(cyclone: &mut Party, endpoint: &str, policy: PolicyId) {
    let event = cyclone.event(endpoint, "incompatible", |_| true);
    // Cyclone has its own numbers for the policies of DDS-XTypes.
    let number = if policy == PolicyId::DataRepresentation { 25 } else { policy as u8 };
    assert_eq!(event["policy"], number, "{policy}");
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn cyclone_readers_requesting_more_mismatch() {
    let participant = participant();
    let mut cyclone = Party::start();
    let mut writers = Vec::new();
    for (policy, _, theirs, offered, _) in CASES {
        let topic = format!("incompatible_to_cyclone_{}", policy as u8);
        let writer = writer(&participant, &topic, offered(writer_qos()));
        cyclone.tell(&format!("reader {} {topic} {theirs}", policy as u8));
        writers.push((policy, writer));
    }
    cyclone.tell("reader 3 incompatible_to_cyclone_3 scope=topic");
    writers.push((PolicyId::Presentation, writer(&participant, "incompatible_to_cyclone_3", writer_qos())));
    for (policy, writer) in writers {
        expect_incompatible(&mut cyclone, &(policy as u8).to_string(), policy);
        let events = writer.events();
        let WriterEvent::IncompatibleQos(status) = events.next_event().block_for(LIMIT).unwrap() else {
            panic!("{policy}: something else was told first")
        };
        assert_eq!(status.last_policy_id, Some(policy));
        assert_eq!(writer.publication_matched().total_count, 0, "{policy}");
    }
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn cyclone_writers_offering_less_mismatch() {
    let participant = participant();
    let mut cyclone = Party::start();
    let mut readers = Vec::new();
    for (policy, theirs, _, _, requested) in CASES {
        let topic = format!("incompatible_from_cyclone_{}", policy as u8);
        let reader = reader(&participant, &topic, requested(reader_qos()));
        cyclone.tell(&format!("writer {} {topic} {theirs}", policy as u8));
        readers.push((policy, reader));
    }
    let presentation = Presentation::new(AccessScope::Topic);
    let subscriber = participant.subscriber(SubscriberQos::default().presentation(presentation)).unwrap();
    let builder = subscriber.reader_builder("incompatible_from_cyclone_3").qos(reader_qos());
    readers.push((PolicyId::Presentation, builder.build().unwrap()));
    cyclone.tell("writer 3 incompatible_from_cyclone_3");
    for (policy, reader) in readers {
        expect_incompatible(&mut cyclone, &(policy as u8).to_string(), policy);
        let events = reader.events();
        let ReaderEvent::IncompatibleQos(status) = events.next_event().block_for(LIMIT).unwrap() else {
            panic!("{policy}: something else was told first")
        };
        assert_eq!(status.last_policy_id, Some(policy));
        assert_eq!(reader.subscription_matched().total_count, 0, "{policy}");
    }
}
