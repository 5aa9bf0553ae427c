//! `check`.

use crate::support::{Domain, PATIENCE, Pose, pose_reader, pose_writer};
use dds_core::Duration;
use dds_core::qos::{AccessScope, DataWriterQos, DestinationOrder, Liveliness, Ownership, PublisherQos};
use dds_tools::ToolError;
use dds_tools::contract::{Contract, Difference};
use std::time::Instant;

/// Writes the contract of a domain with this number of endpoints, and returns the path.
fn written_contract(domain: &Domain, directory: &tempfile::TempDir, endpoints: usize) -> String {
    let path = directory.path().join("robot.toml").display().to_string();
    let start = Instant::now();
    loop {
        domain.run(&["check", "--write", &path, "--wait", "0.8"]).unwrap();
        let contract = Contract::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let found = contract.topics.values().map(|topic| topic.writers.len() + topic.readers.len()).sum::<usize>();
        if found == endpoints && contract.topics.values().all(|topic| topic.type_hash.is_some()) {
            return path;
        }
        assert!(start.elapsed() < PATIENCE, "{contract:?}");
        std::fs::remove_file(&path).unwrap();
    }
}

/// Compares until the system has the expected differences. A busy machine discovers endpoints later.
fn assert_differences(domain: &Domain, arguments: &[&str], expected: &[&str]) {
    let start = Instant::now();
    loop {
        let found: Vec<String> = match domain.run(arguments).result {
            Err(ToolError::Contract { differences, .. }) => differences.iter().map(Difference::to_string).collect(),
            other => panic!("{other:?}"),
        };
        if found == expected {
            return;
        }
        assert!(start.elapsed() < PATIENCE, "{found:#?}");
    }
}

#[test]
fn check_accepts_the_system_of_its_contract() {
    let domain = Domain::new();
    let directory = tempfile::tempdir().unwrap();
    let path = {
        let robot = domain.join("robot");
        let (_writer, _reader) = (pose_writer(&robot), pose_reader(&robot, "robot/pose"));
        written_contract(&domain, &directory, 2)
    };
    let contract = Contract::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let topic = &contract.topics["robot/pose"];
    assert_eq!(topic.type_name.as_deref(), Some("Pose"));
    assert!(topic.type_hash.is_some(), "{contract:?}");
    assert_eq!(topic.writers[0].participant.as_deref(), Some("robot"));

    // The same system after a restart has other GUIDs.
    let robot = domain.join("robot");
    let (_writer, _reader) = (pose_writer(&robot), pose_reader(&robot, "robot/pose"));
    let text = domain.run(&["check", &path, "--within", "90", "--wait", "0.5"]).unwrap();
    assert!(text.contains("the system meets") && text.contains("(topics: 1)"), "{text}");
}

#[test]
fn check_names_each_difference() {
    let domain = Domain::new();
    let directory = tempfile::tempdir().unwrap();
    let robot = domain.join("robot");
    let writer = pose_writer(&robot);
    let reader = pose_reader(&robot, "robot/goal");
    let path = written_contract(&domain, &directory, 2);
    drop((writer, reader));
    let best_effort = DataWriterQos::default().best_effort();
    let _writer = robot.writer_builder::<Pose>("robot/pose").qos(best_effort).build().unwrap();
    let _other = pose_reader(&robot, "robot/other");
    let expected = [
        "topic robot/goal: the system does not have it",
        "topic robot/pose: RELIABILITY of the writer of participant \"robot\" is BestEffort, the contract has Reliable",
        "topic robot/pose: DURABILITY of the writer of participant \"robot\" is Volatile, the contract has TransientLocal",
        "topic robot/other: the contract does not have it",
    ];
    assert_differences(&domain, &["check", &path, "--wait", "0.8"], &expected);
    assert_differences(&domain, &["check", &path, "--wait", "0.8", "--allow-more"], &expected[..3]);
}

#[test]
fn check_compares_policies_of_time_order_and_strength() {
    let domain = Domain::new();
    let directory = tempfile::tempdir().unwrap();
    let robot = domain.join("robot");
    let mut qos = DataWriterQos::default().reliable().lifespan(Duration::from_secs(5));
    qos.liveliness = Liveliness::automatic(Duration::from_secs(9));
    qos.latency_budget = Duration::from_millis(50);
    qos.destination_order = DestinationOrder::BySourceTimestamp;
    qos.ownership = Ownership::Exclusive;
    qos.ownership_strength = 7;
    let mut group = PublisherQos::default();
    group.presentation.access_scope = AccessScope::Topic;
    group.presentation.ordered_access = true;
    let publisher = robot.publisher(group).unwrap();
    let writer = publisher.writer_builder::<Pose>("robot/pose").qos(qos).build().unwrap();
    let path = written_contract(&domain, &directory, 1);
    let text = std::fs::read_to_string(&path).unwrap();
    for line in ["liveliness_lease = \"9s\"", "presentation = \"topic ordered\"", "ownership_strength = 7"] {
        assert!(text.contains(line), "{text}");
    }
    drop((writer, publisher));
    let _writer = robot.writer_builder::<Pose>("robot/pose").qos(DataWriterQos::default().reliable()).build().unwrap();
    let difference = |policy: &str, found: &str, expected: &str| {
        format!(
            "topic robot/pose: {policy} of the writer of participant \"robot\" is {found}, the contract has {expected}"
        )
    };
    let presentation = |scope: &str, is_ordered: bool| {
        format!("Presentation {{ access_scope: {scope}, coherent_access: false, ordered_access: {is_ordered} }}")
    };
    let expected = [
        difference("the lease of LIVELINESS", "infinite", "9s"),
        difference("LATENCY_BUDGET", "0ns", "50ms"),
        difference("LIFESPAN", "infinite", "5s"),
        difference("DESTINATION_ORDER", "ByReceptionTimestamp", "BySourceTimestamp"),
        difference("OWNERSHIP", "Shared", "Exclusive"),
        difference("OWNERSHIP_STRENGTH", "0", "7"),
        difference("PRESENTATION", &presentation("Instance", false), &presentation("Topic", true)),
    ];
    let expected: Vec<&str> = expected.iter().map(String::as_str).collect();
    assert_differences(&domain, &["check", &path, "--wait", "0.8"], &expected);
}

#[test]
fn check_refuses_an_invalid_contract_with_its_line() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("robot.toml");
    std::fs::write(&path, "[[topics.pose.writers]]\nreliability = \"sometimes\"\n").unwrap();
    let error = Domain::new().run(&["check", &path.display().to_string()]).result.unwrap_err().to_string();
    assert!(error.contains("line 2") && error.contains("sometimes") && error.contains("best_effort"), "{error}");
}

#[test]
fn entry_with_more_values_takes_its_endpoint_first() {
    let contract = |text: &str| Contract::parse(text).unwrap();
    let expected = contract("[[topics.t.readers]]\n[[topics.t.readers]]\nparticipant = \"a\"\n");
    let system = contract("[[topics.t.readers]]\nparticipant = \"a\"\n[[topics.t.readers]]\nparticipant = \"b\"\n");
    assert_eq!(expected.compare(&system, false), []);
    let lacking = contract("[[topics.t.readers]]\nparticipant = \"b\"\n");
    let found = expected.compare(&lacking, false);
    assert_eq!(found[0].difference, "a reader of participant \"a\" is missing");
    assert_eq!(found.len(), 1);
}

#[test]
fn contract_survives_its_text() {
    let lines = [
        "[topics.t]",
        r#"type = "T""#,
        "[[topics.t.writers]]",
        r#"history = "keep_last 7""#,
        r#"deadline = "50ms""#,
        r#"liveliness = "manual_by_topic""#,
        r#"ownership = "exclusive""#,
        r#"partition = ["a", "b"]"#,
        r#"liveliness_lease = "9s""#,
        r#"latency_budget = "5ms""#,
        r#"lifespan = "infinite""#,
        r#"destination_order = "by_source_timestamp""#,
        "ownership_strength = -7",
        r#"presentation = "group coherent ordered""#,
        "",
    ];
    let text = lines.join("\n");
    let contract = Contract::parse(&text).unwrap();
    let writer = &contract.topics["t"].writers[0];
    assert_eq!((writer.lifespan, writer.ownership_strength), (Some(Duration::INFINITE), Some(-7)));
    assert!(writer.presentation.is_some_and(|it| it.coherent_access && it.ordered_access));
    assert_eq!(Contract::parse(&contract.to_toml().unwrap()).unwrap(), contract);
    let wrong = Contract::parse(&text.replace("group coherent", "group coherently")).unwrap_err().to_string();
    assert!(wrong.contains("invalid PRESENTATION `group coherently ordered`: expected `instance`"), "{wrong}");
}
