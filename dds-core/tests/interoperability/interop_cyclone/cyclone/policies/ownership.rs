//! Two writers of one instance, one of Cyclone and one of ours, and a reader of either side.

use super::*;

/// How the stronger writer loses its ownership.
#[derive(Debug, Clone, Copy)]
enum End {
    Deleted,
    Dead,
    Late,
    Weaker,
    Unregisters,
}

impl End {
    /// The deadline that all writers offer and the readers request.
    fn period(self) -> Duration {
        if matches!(self, Self::Late) { ms(500) } else { Duration::INFINITE }
    }

    fn lease(self) -> Liveliness {
        let lease_duration = if matches!(self, Self::Dead) { ms(500) } else { Duration::INFINITE };
        Liveliness::manual_by_topic(lease_duration)
    }

    fn words(self) -> &'static str {
        match self {
            Self::Dead => "liveliness=by-topic lease=500",
            Self::Late => "liveliness=by-topic deadline=500",
            _ => "liveliness=by-topic",
        }
    }
}

fn our_writer(participant: &DomainParticipant, topic: &str, end: End, strength: i32) -> DataWriter<ShapeType> {
    let mut qos = writer_qos().deadline(end.period()).liveliness(end.lease());
    qos.writer_data_lifecycle.autodispose_unregistered_instances = false;
    writer(participant, topic, qos.ownership(Ownership::Exclusive).ownership_strength(strength))
}

fn cyclone_writer(cyclone: &mut Party, name: &str, topic: &str, end: End, strength: i32) {
    let words = end.words();
    cyclone.tell(&format!("writer {name} {topic} ownership={strength} autodispose=no {words}"));
}

/// The weaker writer writes until the reader shows its sample.
fn until_it_is_heard(mut write_and_look: impl FnMut() -> bool) -> bool {
    for _ in 0..300 {
        if write_and_look() {
            return true;
        }
        sleep(100);
    }
    false
}

/// Cyclone reads and writes with the smaller strength, our writer has the greater one.
fn cyclone_reads(end: End) {
    let topic = format!("owner_to_cyclone_{end:?}");
    let participant = participant();
    let strong = our_writer(&participant, &topic, end, 10);
    let mut cyclone = Party::start();
    cyclone.tell(&format!("reader r {topic} ownership=0 {}", end.words()));
    cyclone_writer(&mut cyclone, "weak", &topic, end, 5);
    strong.wait_for_readers(1).block_for(LIMIT).unwrap();
    cyclone.matched("r", 2);
    write(&strong, [0]);
    cyclone.expect_sample("r", 0);
    // Any writer owns another instance. The weaker writer's earlier sample was never delivered.
    cyclone.tell("write weak 3 1");
    write(&strong, [6]);
    let got = [cyclone.data("r"), cyclone.data("r")].map(|event| event["x"].as_u64().unwrap());
    assert!(got == [1, 6] || got == [6, 1], "{got:?}");

    match end {
        End::Deleted => strong.close(),
        End::Unregisters => strong.unregister_instance(&ShapeType::sample(0).color).unwrap(),
        End::Weaker => strong.set_qos(strong.qos().ownership_strength(1)).unwrap(),
        // The owner falls silent. Cyclone counts the refused samples of the weaker writer as timely.
        End::Dead | End::Late => sleep(1200),
    }
    let weak = ShapeType::sample(9).fields();
    let heard = until_it_is_heard(|| {
        if matches!(end, End::Weaker) {
            // Cyclone uses the strength that the owner had at its last write.
            write(&strong, [6]);
        }
        cyclone.peer.tell("write weak 9");
        cyclone.said.extend(cyclone.peer.events.try_iter());
        cyclone.said.iter().any(|event| weak.is_within(event))
    });
    assert!(heard, "the weaker writer has not become the owner; Cyclone has said {}", cyclone.words());
}

/// Our side reads and writes with the smaller strength, Cyclone has the greater one.
fn we_read(end: End) {
    let topic = format!("owner_from_cyclone_{end:?}");
    let participant = participant();
    let qos = reader_qos().ownership(Ownership::Exclusive).deadline(end.period()).liveliness(end.lease());
    let reader = reader(&participant, &topic, qos);
    let weak = our_writer(&participant, &topic, end, 5);
    let mut cyclone = Party::start();
    cyclone_writer(&mut cyclone, "strong", &topic, end, 10);
    reader.wait_for_writers(2).block_for(LIMIT).unwrap();
    cyclone.matched("strong", 1);
    cyclone.tell("write strong 0");
    expect_sample(&reader, 0);
    write(&weak, [3, RED]);
    expect_sample(&reader, RED);
    if !matches!(end, End::Late | End::Dead) {
        cyclone.tell("write strong 6");
        expect_sample(&reader, 6);
    }

    match end {
        End::Deleted => cyclone.tell("close strong"),
        End::Unregisters => cyclone.tell("unregister strong 0"),
        End::Weaker => cyclone.tell("strength strong 1"),
        End::Dead => cyclone.peer.kill(),
        End::Late => {}
    }
    let heard = until_it_is_heard(|| {
        write(&weak, [9]);
        reader.take().unwrap().into_iter().any(|sample| sample.data == Some(ShapeType::sample(9)))
    });
    assert!(heard, "the weaker writer has not become the owner");
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn cyclone_hears_stronger_until_deleted() {
    cyclone_reads(End::Deleted);
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn cyclone_hears_stronger_until_silent() {
    cyclone_reads(End::Dead);
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn cyclone_hears_stronger_until_late() {
    cyclone_reads(End::Late);
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn cyclone_hears_stronger_until_weaker() {
    cyclone_reads(End::Weaker);
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn cyclone_hears_stronger_until_unregistered() {
    cyclone_reads(End::Unregisters);
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn reader_hears_stronger_cyclone_until_deleted() {
    we_read(End::Deleted);
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn reader_hears_stronger_cyclone_until_killed() {
    we_read(End::Dead);
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn reader_hears_stronger_cyclone_until_late() {
    we_read(End::Late);
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn reader_hears_stronger_cyclone_until_weaker() {
    we_read(End::Weaker);
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn reader_hears_stronger_cyclone_till_unregister() {
    we_read(End::Unregisters);
}
