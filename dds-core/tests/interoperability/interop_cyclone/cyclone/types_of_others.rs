//! Types that only one side has: the other side requests their description (XTypes 1.3, 7.6.3.3).

use super::peer::{LIMIT, Peer};
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DdsType, DomainParticipant};
use serde_json::json;

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(name = "Place", nested)]
struct Place {
    x: f64,
    y: f64,
}

/// A type unknown to Cyclone: nested types, an enum, an optional, collections.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(name = "lab::Survey", appendable)]
struct Survey {
    #[dds(key)]
    id: u32,
    name: String,
    place: Place,
    corners: Vec<Place>,
    note: Option<String>,
}

/// Has fewer members than Cyclone's `Wider`, more than its `Narrower`, and differs from `Unfit`.
#[derive(DdsType, Debug, Clone, PartialEq, Default)]
#[dds(appendable)]
struct Middle {
    #[dds(key)]
    id: u32,
    name: String,
}

fn peer(arguments: &[&str]) -> Peer {
    let arguments: Vec<String> = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    Peer::start("types_of_others.py", &arguments)
}

#[test]
#[ignore = "needs Cyclone DDS and multicast: .ci/run cyclone"]
fn cyclone_requests_type_and_reads_samples() {
    let participant = DomainParticipant::new(0).unwrap();
    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = participant.writer_builder::<Survey>("type_asked_of_us").qos(qos).build().unwrap();
    let mut cyclone = peer(&["discover", "type_asked_of_us"]);
    let ty = cyclone.wait_for("type", |_| true);
    assert_eq!(ty["name"], "lab.Survey");
    assert_eq!(ty["members"], json!(["id", "name", "place", "corners", "note"]));
    writer.wait_for_readers(1).block_for(LIMIT).unwrap();
    let place = |x| Place { x, y: 2.0 };
    writer
        .write(&Survey {
            id: 7,
            name: "site".into(),
            place: place(1.0),
            corners: vec![place(3.0), place(4.0)],
            note: Some("wet".into()),
        })
        .unwrap();
    let sample = cyclone.wait_for("sample", |_| true);
    let expected = json!({
        "id": 7, "name": "site", "place": {"x": 1.0, "y": 2.0},
        "corners": [{"x": 3.0, "y": 2.0}, {"x": 4.0, "y": 2.0}], "note": "wet",
    });
    assert_eq!(sample["fields"], expected);
}

/// Cyclone's type has another name and other members. Our type reads its samples.
fn reads_a_type_of_cyclone(topic: &str, kind: &str, expected: impl Fn(u32) -> Middle) {
    let participant = DomainParticipant::new(0).unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = participant.reader_builder::<Middle>(topic).qos(qos).build().unwrap();
    let mut cyclone = peer(&["write", topic, kind]);
    reader.wait_for_writers(1).block_for(LIMIT).unwrap();
    cyclone.wait_for("matched", |event| event["count"] == 1);
    for index in 0..3 {
        cyclone.tell("write");
        let sample = reader.next_sample().block_for(LIMIT).unwrap();
        assert_eq!(sample.data, Some(expected(index)));
    }
}

#[test]
#[ignore = "needs Cyclone DDS and multicast: .ci/run cyclone"]
fn wider_cyclone_type_is_requested_and_read() {
    reads_a_type_of_cyclone("wider", "Wider", |id| Middle { id, name: format!("wider {id}") });
}

#[test]
#[ignore = "needs Cyclone DDS and multicast: .ci/run cyclone"]
fn narrower_cyclone_type_is_requested_and_read() {
    reads_a_type_of_cyclone("narrower", "Narrower", |id| Middle { id, name: String::new() });
}

#[test]
#[cfg(feature = "dynamic")]
#[ignore = "needs Cyclone DDS and multicast: .ci/run cyclone"]
fn cyclone_topic_is_read_without_local_type() {
    let participant = DomainParticipant::new(0).unwrap();
    let mut cyclone = peer(&["write", "unknown", "Wider"]);
    let ty = participant.discover_type("unknown").block_for(LIMIT).unwrap();
    let topic = participant.dynamic_topic("unknown", &ty, dds_core::qos::TopicQos::default()).unwrap();
    let qos = DataReaderQos::default().reliable().keep_all();
    let reader = participant.reader_builder(&topic).qos(qos).build().unwrap();
    reader.wait_for_writers(1).block_for(LIMIT).unwrap();
    cyclone.wait_for("matched", |event| event["count"] == 1);
    for index in 0..3_u32 {
        cyclone.tell("write");
        let data = reader.next_sample().block_for(LIMIT).unwrap().data.unwrap();
        assert_eq!(data.get::<u32>("id"), Ok(index), "{data} of {ty}");
        assert_eq!(data.get::<&str>("name"), Ok(format!("wider {index}").as_str()));
    }
}

#[cfg(feature = "dynamic")]
#[test]
#[ignore = "needs Cyclone DDS and multicast: .ci/run cyclone"]
fn incompatible_cyclone_type_names_member() {
    use dds_core::matching::{Obstacle, TypeDifferenceKind};

    let participant = DomainParticipant::new(0).unwrap();
    let reader = participant.reader::<Middle>("unfit").unwrap();
    let _cyclone = peer(&["write", "unfit", "Unfit"]);
    let found = participant.discover_type_objects("unfit").block_for(LIMIT).unwrap();
    assert_eq!(found.type_name, "Middle", "our own reader describes it, too");
    let until = std::time::Instant::now() + LIMIT;
    let difference = loop {
        let reports = reader.explain_matches();
        let obstacles = reports.iter().find(|report| !report.is_match()).map(|report| &report.obstacles[..]);
        if let Some([Obstacle::Type { difference, .. }]) = obstacles {
            break difference.clone();
        }
        assert!(std::time::Instant::now() < until, "{reports:?}");
        std::thread::sleep(std::time::Duration::from_millis(20));
    };
    assert_eq!(difference.path, "name");
    let kind = TypeDifferenceKind::Kind { writer: "int64".into(), reader: "string".into() };
    assert_eq!(difference.kind, kind);
}

#[cfg(feature = "dynamic")]
#[test]
#[ignore = "needs Cyclone DDS and multicast: .ci/run cyclone"]
fn complete_cyclone_type_is_available() {
    use dds_rtps::xtypes::{TypeDefinition, TypeObject};

    let participant = DomainParticipant::new(0).unwrap();
    let _cyclone = peer(&["write", "told", "Wider"]);
    let found = participant.discover_type_objects("told").block_for(LIMIT).unwrap();
    assert_eq!(found.type_name, "Wider");
    assert_eq!(found.objects.len(), 2, "Wider and Place");
    let TypeObject::Complete(TypeDefinition::Struct(wider)) = &*found.objects[&found.root] else { panic!("{found:?}") };
    let members: Vec<&str> = wider.members.iter().map(|member| member.detail.name.as_str()).collect();
    assert_eq!(members, ["id", "name", "place", "extra"]);
}
