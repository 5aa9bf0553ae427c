//! Endpoints match by partition, by name and pattern.

use super::*;

/// Pairs of names that do not match, then pairs that do, by a pattern on either side.
const PAIRS: [(&str, &str, bool); 7] = [
    ("left", "right", false),
    ("left", "le*", true),
    ("le*", "left", true),
    ("a,b", "b,c", true),
    // Two patterns never match (DDS 1.4, 2.2.3.13).
    ("le*", "l*t", false),
    ("robot7", "robot?", true),
    ("robot77", "robot?", false),
];

fn names(list: &str) -> impl Iterator<Item = &str> {
    list.split(',')
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn cyclone_readers_match_partitions_by_pattern() {
    let participant = participant();
    let mut cyclone = Party::start();
    for (at, (ours, theirs, meet)) in PAIRS.into_iter().enumerate() {
        let topic = format!("partition_to_cyclone_{at}");
        let publisher = participant.publisher(PublisherQos::default().partition(names(ours))).unwrap();
        let writer = publisher.writer_builder::<ShapeType>(&*topic).qos(writer_qos()).build().unwrap();
        // The endpoint that always matches comes last, after the other one had its chance.
        let always = super::writer(&participant, &format!("{topic}_x"), writer_qos());
        cyclone.tell(&format!("reader r{at} {topic} partition={theirs}"));
        cyclone.tell(&format!("reader x{at} {topic}_x"));
        if meet {
            writer.wait_for_readers(1).block_for(LIMIT).unwrap();
            cyclone.matched(&format!("r{at}"), 1);
            write(&writer, [RED]);
            cyclone.expect_sample(&format!("r{at}"), RED);
        } else {
            always.wait_for_readers(1).block_for(LIMIT).unwrap();
            cyclone.matched(&format!("x{at}"), 1);
            assert_eq!(writer.publication_matched().total_count, 0, "{ours} and {theirs}");
            assert!(!cyclone.said.iter().any(|event| event["of"] == format!("r{at}")), "{ours} and {theirs}");
        }
    }
}

#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn readers_match_cyclone_partitions_by_pattern() {
    let participant = participant();
    let mut cyclone = Party::start();
    for (at, (theirs, ours, meet)) in PAIRS.into_iter().enumerate() {
        let topic = format!("partition_from_cyclone_{at}");
        let subscriber = participant.subscriber(SubscriberQos::default().partition(names(ours))).unwrap();
        let reader = subscriber.reader_builder::<ShapeType>(&*topic).qos(reader_qos()).build().unwrap();
        let always = super::reader(&participant, &format!("{topic}_x"), reader_qos());
        cyclone.tell(&format!("writer w{at} {topic} partition={theirs}"));
        cyclone.tell(&format!("writer x{at} {topic}_x"));
        if meet {
            reader.wait_for_writers(1).block_for(LIMIT).unwrap();
            cyclone.matched(&format!("w{at}"), 1);
            cyclone.tell(&format!("write w{at} 1"));
            expect_sample(&reader, RED);
        } else {
            always.wait_for_writers(1).block_for(LIMIT).unwrap();
            cyclone.matched(&format!("x{at}"), 1);
            assert_eq!(reader.subscription_matched().total_count, 0, "{ours} and {theirs}");
            assert!(!cyclone.said.iter().any(|event| event["of"] == format!("w{at}")), "{ours} and {theirs}");
        }
    }
}

/// Cyclone DDS ignores a changed partition of a known endpoint, so only our side unmatches and rematches.
///
/// Before the rematch a reader of Cyclone gets nothing, and samples of Cyclone's writer are ignored.
#[test]
#[ignore = "needs Cyclone DDS: .ci/run cyclone"]
fn partition_change_unmatches_cyclone_and_back() {
    let participant = participant();
    let publisher = participant.publisher(PublisherQos::default().partition(["here"])).unwrap();
    let writer = publisher.writer_builder::<ShapeType>("partition_changes").qos(writer_qos()).build().unwrap();
    let mut cyclone = Party::start();
    cyclone.tell("reader r partition_changes partition=here");
    writer.wait_for_readers(1).block_for(LIMIT).unwrap();
    cyclone.matched("r", 1);
    write(&writer, [0]);
    cyclone.expect_sample("r", 0);

    publisher.set_qos(publisher.qos().partition(["there"])).unwrap();
    assert_eq!(writer.publication_matched().current_count, 0);
    write(&writer, [3]);
    publisher.set_qos(publisher.qos().partition(["h?re", "there"])).unwrap();
    writer.wait_for_readers(1).block_for(LIMIT).unwrap();
    write(&writer, [6]);
    cyclone.expect_sample("r", 6);
}
