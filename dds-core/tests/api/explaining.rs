//! Reports on matches and mismatches, with every reason.

use crate::support::{PATIENCE, World};
use dds_core::builtin::Locator;
use dds_core::matching::{EndpointQos, MatchReport, Obstacle};
use dds_core::qos::{
    DataReaderQos, DataRepresentation, DataWriterQos, Durability, Ownership, PolicyId, PublisherQos, SubscriberQos,
};
use dds_core::{DdsType, TopicSpec};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    x: f64,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Twist {
    x: f32,
}

fn obstacles(report: &MatchReport) -> &[Obstacle] {
    &report.obstacles
}

#[test]
fn match_is_reported_on_both_sides() {
    let world = World::new();
    // The carrier may change between two reports; see the tests of shared memory.
    let (from, to) = (world.builder().name("from").build().unwrap(), world.builder().shared_memory(0).build().unwrap());
    let (writer, reader) = (from.writer::<Pose>("t").unwrap(), to.reader::<Pose>("t").unwrap());
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    let reports = to.explain("t");
    assert_eq!(reports, reader.explain_matches());
    let [report] = &reports[..] else { panic!("{reports:?}") };
    assert!(report.is_match());
    assert_eq!((report.local.guid, report.remote.guid), (reader.guid(), writer.guid()));
    assert!(report.local.is_own && !report.remote.is_own && report.remote.is_writer());
    assert_eq!((report.remote.participant_name.as_str(), report.remote.participant()), ("from", from.guid()));
    assert!(!report.remote.locators.is_empty());
    assert!(matches!(report.remote.qos, EndpointQos::Writer(_)));
    assert!(report.to_string().ends_with("match"), "{report}");
    assert!(to.explain("other").is_empty());
}

/// A participant without endpoints explains those of others.
#[test]
fn third_participant_explains_endpoints_of_others() {
    let world = World::new();
    let (from, to) = (world.builder().name("from").build().unwrap(), world.builder().name("to").build().unwrap());
    let writer = from.writer_builder::<Pose>("t").qos(DataWriterQos::default().best_effort()).build().unwrap();
    let reader = to.reader_builder::<Pose>("t").qos(DataReaderQos::default().reliable()).build().unwrap();
    let easy = to.reader::<Pose>("t").unwrap();
    let third = world.participant();
    let end = third.now() + PATIENCE;
    while third.explain("t").len() < 2 {
        assert!(third.now() < end);
    }
    for report in third.explain("t") {
        assert_eq!((report.local.guid, report.local.is_own, report.remote.is_own), (writer.guid(), false, false));
        let policies: Vec<_> = obstacles(&report)
            .iter()
            .map(|obstacle| match obstacle {
                Obstacle::Qos { policy, .. } => *policy,
                other => panic!("{other:?}"),
            })
            .collect();
        if report.remote.guid == reader.guid() {
            assert_eq!(policies, [PolicyId::Reliability]);
        } else {
            assert_eq!((report.remote.guid, policies), (easy.guid(), Vec::new()));
        }
    }
    assert!(third.explain("other").is_empty());
}

#[test]
fn report_names_every_obstacle_and_remedy() {
    let participant = World::new().participant();
    let publisher = participant.publisher(PublisherQos::default().partition(["a"])).unwrap();
    let subscriber = participant.subscriber(SubscriberQos::default().partition(["b", "c"])).unwrap();
    let offer = DataWriterQos::default().best_effort().representation([DataRepresentation::Xcdr2]);
    let request = DataReaderQos::default()
        .reliable()
        .durability(Durability::TransientLocal)
        .ownership(Ownership::Exclusive)
        .representation([DataRepresentation::Xcdr1]);
    let writer = publisher.writer_builder::<Pose>("t").qos(offer).build().unwrap();
    let reader = subscriber.reader_builder::<Pose>("t").qos(request).build().unwrap();
    let reports = writer.explain_matches();
    let [report] = &reports[..] else { panic!("{reports:?}") };
    let policies: Vec<_> = obstacles(report)
        .iter()
        .map(|obstacle| match obstacle {
            Obstacle::Partition { ours, theirs } => format!("{ours:?} {theirs:?}"),
            Obstacle::Qos { policy, offered, requested } => format!("{policy} {offered} {requested}"),
            Obstacle::Representation { offered, accepted } => format!("{offered:?} {accepted:?}"),
            other => format!("{other:?}"),
        })
        .collect();
    assert_eq!(
        policies,
        [
            r#"["a"] ["b", "c"]"#,
            "DURABILITY Volatile TransientLocal",
            "OWNERSHIP Shared Exclusive",
            "RELIABILITY BestEffort Reliable",
            "Xcdr2 [Xcdr1]",
        ]
    );
    let text = report.to_string();
    for obstacle in obstacles(report) {
        assert!(text.contains(obstacle.next_step()) && text.contains(&obstacle.to_string()), "{text}");
    }
    assert_eq!(participant.explain("t").len(), 2, "one report from each side");
    drop(reader);
    assert!(writer.explain_matches().is_empty());
}

#[test]
fn incompatible_type_report_names_member() {
    let world = World::new();
    let (from, to) = (world.participant(), world.participant());
    let _writer = from.writer::<Twist>("t").unwrap();
    let reader = to.reader::<Pose>("t").unwrap();
    let report = loop {
        let reports = reader.explain_matches();
        match reports.into_iter().next() {
            Some(report) if obstacles(&report) != [Obstacle::TypePending] => break report,
            _ => std::thread::yield_now(),
        }
    };
    let [Obstacle::Type { difference, .. }] = obstacles(&report) else { panic!("{report:?}") };
    let text = report.to_string();
    assert!(text.contains("the types do not fit: the writer has the type `Twist`, the reader `Pose`: x: "), "{text}");
    assert_eq!(difference.to_string(), "x: the writer has float, the reader double");
}

#[test]
fn peer_with_loopback_addresses_only_had_no_network() {
    let own = Locator::udp_v4([127, 0, 0, 1].into(), 7411);
    let text = Obstacle::Unreachable { locators: vec![own] }.to_string();
    assert!(text.contains("announces only loopback addresses: it had no network when it started"), "{text}");
    let text = Obstacle::Unreachable { locators: vec![own, Locator::udp_v4([10, 0, 0, 1].into(), 7411)] }.to_string();
    assert!(text.contains("none of its addresses can be reached from here: udp/127.0.0.1:7411 udp/10.0.0.1"), "{text}");
}

#[test]
fn undescribed_type_of_other_name_is_obstacle() {
    let world = World::new();
    let (from, to) = (world.participant(), world.participant());
    let raw = from.raw_topic("t", "Twist", Default::default()).unwrap();
    let _writer = from.writer(&raw).unwrap();
    let reader = to.reader::<Pose>("t").unwrap();
    // The match of a second writer shows that the first one has been discovered.
    let _second = from.writer::<Pose>("there").unwrap();
    to.reader::<Pose>("there").unwrap().wait_for_writers(1).block_for(PATIENCE).unwrap();
    let reports = reader.explain_matches();
    let [Obstacle::TypeName { ours, theirs }] = obstacles(&reports[0]) else { panic!("{reports:?}") };
    assert_eq!((ours.as_str(), theirs.as_str()), ("Pose", "Twist"));
}

#[test]
fn similar_topic_name_is_reported() {
    const ROS: TopicSpec<Pose> = TopicSpec::new("rt/robot/pose", dds_core::qos::Preset::Default);
    let participant = World::new().participant();
    let reader = participant.reader::<Pose>("robot/pose").unwrap();
    assert!(reader.explain_matches().is_empty());
    let _writers = (participant.writer(&ROS).unwrap(), participant.writer::<Pose>("robot/twist").unwrap());
    let reports = reader.explain_matches();
    let [report] = &reports[..] else { panic!("{reports:?}") };
    assert_eq!(obstacles(report), [Obstacle::TopicNameOnly { similar: "rt/robot/pose".to_owned() }]);
    let _writer = participant.writer::<Pose>("robot/pose").unwrap();
    assert!(reader.explain_matches()[0].is_match());
    assert_eq!(reader.explain_matches().len(), 1);
}

#[test]
fn ignored_peer_is_reported() {
    let world = World::new();
    let (from, to) = (world.participant(), world.participant());
    let reader = to.reader::<Pose>("t").unwrap();
    let writer = from.writer::<Pose>("t").unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    assert!(to.ignore_publication(writer.instance_handle()));
    let reports = reader.explain_matches();
    assert_eq!((reports[0].remote.guid, obstacles(&reports[0])), (writer.guid(), &[Obstacle::Ignored][..]));
}

#[test]
fn report_names_differing_part_of_policy() {
    let participant = World::new().participant();
    let reader = participant.reader_builder::<Pose>("t").qos(DataReaderQos::default().reliable()).build().unwrap();
    let _writer = participant.writer_builder::<Pose>("t").qos(DataWriterQos::default().best_effort()).build().unwrap();
    let reports = reader.explain_matches();
    assert!(matches!(obstacles(&reports[0]), [Obstacle::Qos { policy: PolicyId::Reliability, .. }]));
    participant.close();
    assert!(reader.explain_matches().is_empty());
}
