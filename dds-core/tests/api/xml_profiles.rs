//! QoS from files in the OMG's XML form, as in the standard and as other vendors write it.

use crate::support::World;
use dds_core::error::{CreateErrorKind, ProfileProblem};
use dds_core::qos::{
    AccessScope, DataReaderQos, DataRepresentation, DataWriterQos, DestinationOrder, Durability, DurabilityService,
    EntityFactory, History, Liveliness, LivelinessKind, Ownership, Presentation, PublisherQos, ReaderDataLifecycle,
    Reliability, ResourceLimits, SubscriberQos, TopicQos, TypeConsistency, TypeConsistencyKind, WriterDataLifecycle,
};
use dds_core::{DdsType, DomainParticipant, Duration};
use std::path::{Path, PathBuf};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Scan {
    ranges: Vec<f32>,
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/profiles").join(name)
}

fn with(name: &str) -> DomainParticipant {
    World::new().builder().profiles(file(name)).build().unwrap()
}

fn writer(participant: &DomainParticipant, profile: &str, topic: &str) -> DataWriterQos {
    participant.writer_builder::<Scan>(topic).profile(profile).build().unwrap().qos()
}

fn reader(participant: &DomainParticipant, profile: &str, topic: &str) -> DataReaderQos {
    participant.reader_builder::<Scan>(topic).profile(profile).build().unwrap().qos()
}

fn seconds(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

#[test]
fn xml_profiles_inherit_by_element() {
    let participant = with("robots.xml");
    let reliable = DataWriterQos::default().keep_last(10);
    assert_eq!(writer(&participant, "robots::reliable", "scan"), reliable);
    let state = reliable.transient_local();
    assert_eq!(writer(&participant, "robots::state", "scan"), state);
    assert_eq!(writer(&participant, "state", "scan"), state, "the library may be left out");
    let pose = state.clone().deadline(Duration::from_millis(100));
    assert_eq!(writer(&participant, "robots::state", "arm/pose"), pose);
    assert_eq!(writer(&participant, "robots::state", "odometry"), pose);
    assert_eq!(writer(&participant, "robots::state", "poses"), state);
    assert_eq!(
        reader(&participant, "state", "scan"),
        DataReaderQos::default().reliable().keep_last(10).transient_local()
    );
    assert_eq!(
        participant.publisher_profile("state").unwrap(),
        PublisherQos::default().partition(["hall 1", "hall 2"])
    );
    let error = participant.publisher_profile("reliable").unwrap_err();
    assert!(matches!(error.kind(), CreateErrorKind::UnknownProfile { .. }), "{error}");
}

#[test]
fn code_overrides_named_xml_profile() {
    let builder = || World::new().builder().profiles(file("robots.xml"));
    assert_eq!(builder().build().unwrap().qos().user_data, [0; 0]);
    assert_eq!(builder().profile("robots::state").build().unwrap().qos().user_data, [1, 2, 3]);
    let from_code = dds_core::qos::DomainParticipantQos::default().user_data([9]);
    assert_eq!(builder().profile("state").qos(from_code).build().unwrap().qos().user_data, [9]);
    let error = builder().profile("stat").build().unwrap_err();
    let unknown = CreateErrorKind::UnknownProfile { name: "stat".into(), nearest: Some("state".into()) };
    assert_eq!(error.kind(), &unknown);
}

#[test]
fn every_xml_policy_is_read() {
    let participant = with("every_policy.xml");
    let nanos = |nanos| Duration::from(std::time::Duration::from_nanos(nanos));
    let blocking = Reliability::Reliable { max_blocking_time: nanos(7000) };
    let limits = |max_samples, max_instances| {
        let mut limits = ResourceLimits::NONE;
        (limits.max_samples, limits.max_instances) = (max_samples, max_instances);
        limits
    };
    let lease = |kind, lease_duration| Liveliness::new(kind, lease_duration);
    let service = DurabilityService::default().history(History::KeepLast { depth: 4 });
    let expected = DataWriterQos::default()
        .transient_local()
        .durability_service(service)
        .deadline(seconds(1))
        .latency_budget(nanos(5000))
        .liveliness(lease(LivelinessKind::ManualByParticipant, seconds(2)))
        .reliability(blocking)
        .destination_order(DestinationOrder::BySourceTimestamp)
        .keep_last(6)
        .resource_limits(limits(Some(200), None))
        .transport_priority(3)
        .lifespan(seconds(9))
        .user_data([8, 9])
        .ownership(Ownership::Exclusive)
        .ownership_strength(11)
        .writer_data_lifecycle(WriterDataLifecycle::KEEP)
        .representation([DataRepresentation::Xcdr2, DataRepresentation::Xcdr1]);
    assert_eq!(writer(&participant, "all", "scan"), expected);

    let purge = ReaderDataLifecycle::default()
        .autopurge_nowriter_samples_delay(seconds(4))
        .autopurge_disposed_samples_delay(seconds(5));
    let strict = TypeConsistency::default()
        .kind(TypeConsistencyKind::DisallowTypeCoercion)
        .ignore_sequence_bounds(false)
        .ignore_string_bounds(false)
        .ignore_member_names(true)
        .prevent_type_widening(true)
        .force_type_validation(true);
    let expected = DataReaderQos::default()
        .durability(Durability::Persistent)
        .deadline(seconds(1))
        .latency_budget(nanos(5000))
        .reliable()
        .keep_last(6)
        .resource_limits(limits(None, Some(20)))
        .user_data([255])
        .ownership(Ownership::Exclusive)
        .time_based_filter(Duration::from_millis(500))
        .reader_data_lifecycle(purge)
        .representation([DataRepresentation::Xcdr1])
        .type_consistency(strict);
    assert_eq!(reader(&participant, "all", "scan"), expected);

    let kept = DurabilityService::default()
        .cleanup_delay(seconds(3))
        .history(History::KeepAll)
        .resource_limits(limits(Some(100), None).max_samples_per_instance(10));
    let expected = TopicQos::default()
        .topic_data([5])
        .durability(Durability::Transient)
        .durability_service(kept)
        .deadline(seconds(1))
        .latency_budget(nanos(5000))
        .liveliness(lease(LivelinessKind::ManualByTopic, seconds(2)))
        .reliability(blocking)
        .destination_order(DestinationOrder::BySourceTimestamp)
        .keep_all()
        .resource_limits(limits(Some(200), Some(20)))
        .transport_priority(-4)
        .lifespan(seconds(9))
        .ownership(Ownership::Exclusive)
        .representation([DataRepresentation::Xcdr2]);
    assert_eq!(participant.topic_profile("all", "scan").unwrap(), expected);

    let factory = EntityFactory::MANUAL;
    let presentation = Presentation::new(AccessScope::Topic).ordered_access(true);
    let expected = SubscriberQos::default()
        .presentation(presentation)
        .partition(["a", "b*"])
        .group_data([1, 2])
        .entity_factory(factory);
    assert_eq!(participant.subscriber_profile("all").unwrap(), expected);
    let named = World::new().builder().profiles(file("every_policy.xml")).profile("all").build().unwrap().qos();
    assert_eq!((named.user_data, named.entity_factory), (vec![7], factory));
}

#[test]
fn connext_files_are_read_and_extras_ignored() {
    let participant = with("connext.xml");
    let reliability = Reliability::Reliable { max_blocking_time: seconds(5) };
    let telemetry = DataWriterQos::default().reliability(reliability).keep_all();
    assert_eq!(writer(&participant, "Base::Telemetry", "scan"), telemetry);
    let slow = telemetry.latency_budget(seconds(1));
    assert_eq!(writer(&participant, "Base::Slow", "scan"), slow);
    assert_eq!(writer(&participant, "Derived::Telemetry", "scan"), slow.ownership(Ownership::Exclusive));
    assert_eq!(reader(&participant, "Derived::Telemetry", "scan"), DataReaderQos::default());
    // Two libraries have a profile of this name.
    assert!(participant.writer_builder::<Scan>("scan").profile("Telemetry").build().is_err());
}

#[test]
fn fast_dds_files_are_read() {
    let participant = with("fast_dds.xml");
    let reliability = Reliability::Reliable { max_blocking_time: seconds(1) };
    let limits = ResourceLimits::NONE.max_samples(50);
    let expected = DataWriterQos::default()
        .reliability(reliability)
        .transient_local()
        .keep_last(20)
        .resource_limits(limits)
        .latency_budget(Duration::from_millis(1))
        .ownership_strength(50);
    assert_eq!(writer(&participant, "map", "scan"), expected);
    assert_eq!(reader(&participant, "map", "scan"), DataReaderQos::default().reliable().keep_all());
}

/// Returns the error for `content` in the `qos_profile` named `p` of library `l`, from line 3 on.
fn problem(name: &str, content: &str) -> ProfileProblem {
    whole_problem(
        name,
        &format!(
            "<dds><qos_library name=\"l\">\n<qos_profile name=\"p\">\n{content}\n</qos_profile></qos_library></dds>"
        ),
    )
}

fn whole_problem(name: &str, content: &str) -> ProfileProblem {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{}-{name}.xml", std::process::id()));
    std::fs::write(&path, content).unwrap();
    let error = World::new().builder().profiles(path).build().unwrap_err();
    let CreateErrorKind::Profile(problem) = error.kind() else { panic!("{error}") };
    let line = problem.line.map(|line| format!("{name}.xml, line {line}"));
    assert!(line.is_none_or(|line| error.to_string().contains(&line)), "{error}");
    (**problem).clone()
}

#[test]
fn xml_error_names_line_and_allowed_elements() {
    let p = problem("policy", "<datawriter_qos>\n<histroy><depth>3</depth></histroy></datawriter_qos>");
    assert_eq!((p.line, p.nearest.as_deref()), (Some(4), Some("history")));
    assert_eq!(p.key, "dds/qos_library[l]/qos_profile[p]/datawriter_qos/histroy");
    assert!(p.expected.contains("reliability") && !p.expected.contains("time_based_filter"), "{p}");
    let p = problem("leaf", "<datareader_qos><history><dept>3</dept></history></datareader_qos>");
    assert_eq!((p.line, p.nearest.as_deref()), (Some(3), Some("depth")));
    let p = problem("kind", "<datareader_qos><history><kind>KEEP_LST</kind></history></datareader_qos>");
    assert_eq!((p.value.as_str(), p.nearest.as_deref()), ("\"KEEP_LST\"", Some("KEEP_LAST")));
    assert!(p.expected.contains("KEEP_LAST, KEEP_ALL"), "{p}");
    for (name, wrong, expected) in [
        ("depth", "<history><depth>-3</depth></history>", "whole number"),
        ("limit", "<resource_limits><max_samples>many</max_samples></resource_limits>", "LENGTH_UNLIMITED"),
        ("seconds", "<deadline><period><sec>1.5</sec></period></deadline>", "whole number"),
        ("nanos", "<deadline><period><nanosec>1000000000</nanosec></period></deadline>", "fewer than"),
        ("time", "<deadline><period>soon</period></deadline>", "sec and nanosec"),
        ("period", "<deadline><duration><sec>1</sec></duration></deadline>", "period"),
        ("octet", "<user_data><value>256</value></user_data>", "0 to 255"),
        ("strength", "<ownership_strength><value>strong</value></ownership_strength>", "32 bits"),
        (
            "flag",
            "<writer_data_lifecycle><autodispose_unregistered_instances>yes</autodispose_unregistered_instances></writer_data_lifecycle>",
            "true or false",
        ),
        ("entity", "</datawriter_qos><datawritr_qos/><datawriter_qos>", "datawriter_qos"),
    ] {
        let p = problem(name, &format!("<datawriter_qos>{wrong}</datawriter_qos>"));
        assert!(p.expected.contains(expected) && p.line == Some(3), "{name}: {p}");
    }
}

#[test]
fn missing_duplicate_or_cyclic_profile_fails() {
    let p = whole_problem(
        "base",
        "<dds><qos_library name=\"l\"><qos_profile name=\"p\"/><qos_profile name=\"q\" base_name=\"pp\"/></qos_library></dds>",
    );
    assert!(p.expected.contains("no profile pp"), "{p}");
    let p = whole_problem(
        "twice",
        "<dds><qos_library name=\"l\"><qos_profile name=\"p\"/>\n<qos_profile name=\"p\"/></qos_library></dds>",
    );
    assert_eq!(p.line, Some(2));
    let circle = "<qos_profile name=\"a\" base_name=\"b\"/><qos_profile name=\"b\" base_name=\"a\"/>";
    let p = whole_problem("circle", &format!("<dds><qos_library name=\"l\">{circle}</qos_library></dds>"));
    assert!(p.expected.contains("inherits from itself"), "{p}");
    let p = whole_problem("nameless", "<dds>\n<qos_library><qos_profile name=\"p\"/></qos_library></dds>");
    assert_eq!((p.line, p.expected.as_str()), (Some(2), "needs a name"));
    let p = whole_problem("section", "<dds><qos_librery name=\"l\"/></dds>");
    assert_eq!(p.nearest.as_deref(), Some("qos_library"));
    let p = whole_problem("root", "<qos_library name=\"l\"/>");
    assert!(p.expected.contains("dds"), "{p}");
    let p = whole_problem("syntax", "<dds>\n<qos_library></dds>");
    assert_eq!(p.line, Some(2));
    // Entities that double ten times in succession.
    let p = whole_problem("bomb", "<!DOCTYPE dds [<!ENTITY a \"aa\">]>\n<dds>&a;</dds>");
    assert!(p.key.is_empty(), "{p}");
}

#[test]
fn qos_from_code_replaces_profile() {
    let participant = with("robots.xml");
    let all = DataWriterQos::default().keep_all();
    let builder = participant.writer_builder::<Scan>("scan").profile("state").qos(all.clone());
    assert_eq!(builder.build().unwrap().qos(), all);
}
