//! Topics of ROS.

#![allow(clippy::disallowed_methods, reason = "readers of bags, and the program with its environment, are processes")]

use crate::recording::record_while;
use crate::serving::await_that;
use crate::support::{Domain, PATIENCE, run_local};
use dds_core::cdr::{Encoded, Raw};
use dds_core::qos::{DataReaderQos, DataWriterQos, TopicQos};
use dds_core::{DataWriter, DdsType, DomainParticipant, Duration};
use dds_tools::options::CompressionOption;
use dds_tools::recording::{
    MessageTimes, PARTICIPANT_KEY, RecordedChannel, RecordedSchema, RecordingWriter, WRITER_KEY, messages,
};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

/// `geometry_msgs/msg/Vector3`, as nodes of ROS send it.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(name = "geometry_msgs::msg::dds_::Vector3_", extensibility = "final")]
struct Vector3 {
    x: f64,
    y: f64,
    z: f64,
}

/// Creates a publisher of `/force` that keeps its vectors for late readers.
fn force_writer(robot: &DomainParticipant, deadline: Duration) -> DataWriter<Raw> {
    // A raw topic announces no type, as the nodes of ROS.
    let topic = robot.raw_topic("rt/force", "geometry_msgs::msg::dds_::Vector3_", TopicQos::default()).unwrap();
    let qos = DataWriterQos::default().reliable().transient_local().keep_last(10).deadline(deadline);
    robot.publisher(None).unwrap().writer_builder(&topic).qos(qos).build().unwrap()
}

/// Writes a vector for each number.
fn write_vectors(writer: &DataWriter<Raw>, numbers: Range<u32>) {
    for number in numbers {
        // CDR_LE, then the members.
        let mut payload = vec![0, 1, 0, 0];
        payload.extend([f64::from(number), 0.5, -1.0].into_iter().flat_map(f64::to_le_bytes));
        writer.write_encoded(Encoded::new(&payload).unwrap()).unwrap();
    }
}

/// Records ten vectors of the topic `rt/force` and returns the notes.
fn record_vectors(path: &Path) -> String {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writer = force_writer(&robot, Duration::from_secs(50));
    write_vectors(&writer, 0..10);
    let text = domain.run(&["echo", "/force", "--count", "2"]).unwrap();
    assert_eq!(text, "{x: 0.0, y: 0.5, z: -1.0}\n{x: 1.0, y: 0.5, z: -1.0}\n");
    let printed = domain.run(&["record", "--output", path.to_str().unwrap(), "--count", "10", "/force"]);
    assert!(printed.result.is_ok(), "{:?}", printed.result);
    printed.notes
}

/// Records a topic of ROS beside one whose type no endpoint describes.
fn record_with_unknown_type(path: &Path) {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let force = force_writer(&robot, Duration::from_secs(50));
    write_vectors(&force, 0..10);
    let topic = robot.raw_topic("status", "fleet::Status", TopicQos::default()).unwrap();
    let status = robot.writer_builder(&topic).reliable().transient_local().build().unwrap();
    status.write_encoded(Encoded::new(&[0, 1, 0, 0, 7, 0, 0, 0]).unwrap()).unwrap();
    let line = ["record", "--output", path.to_str().unwrap(), "--count", "11", "--for", "30", "/force", "status"];
    let printed = domain.run(&line);
    assert!(printed.result.is_ok(), "{:?}", printed.result);
    assert!(printed.notes.contains("status (fleet::Status) without a schema"), "{}", printed.notes);
}

/// Records two publishers of `/force`, and returns their GUIDs.
///
/// The first one writes 0 to 9. The second one appears later, and writes 10 to 12.
fn record_two_publishers(path: &Path) -> [String; 2] {
    let domain = Domain::new();
    let robot = domain.join("robot");
    // A writer that left before its first sample is written has its GUID alone.
    let mut writers = Vec::new();
    record_while(&domain, &["record", "--output", path.to_str().unwrap(), "/force"], || {
        // The recording begins before its topic, as in most launch files.
        await_that(|| path.exists().then_some(()));
        let mut publish = |deadline, numbers| {
            let writer = force_writer(&robot, Duration::from_secs(deadline));
            write_vectors(&writer, numbers);
            writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
            writer.acknowledged().block_for(PATIENCE).unwrap();
            writers.push(writer);
        };
        publish(50, 0..10);
        publish(70, 10..13);
    });
    let guids: Vec<String> = writers.iter().map(|writer| writer.guid().to_string()).collect();
    guids.try_into().unwrap()
}

/// A message that its package has as `.idl` alone.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(name = "fleet::msg::dds_::Track_", extensibility = "final")]
struct Track {
    number: u32,
    x: f64,
}

/// As [`Track`], with a key. No `.msg` file can have one.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(name = "fleet::msg::dds_::Robot_", extensibility = "final")]
struct Robot {
    #[dds(key)]
    number: u32,
    x: f64,
}

/// Records two samples of each message, by a program that finds the package.
fn record_messages_of_idl(folder: &Path) -> PathBuf {
    let messages = folder.join("share/fleet/msg");
    std::fs::create_dir_all(&messages).unwrap();
    for (name, key) in [("Track", ""), ("Robot", "@key ")] {
        let text =
            format!("module fleet {{ module msg {{ struct {name} {{ {key}uint32 number; double x; }}; }}; }};\n");
        std::fs::write(messages.join(format!("{name}.idl")), text).unwrap();
    }
    let path = folder.join("idl.mcap");
    let domain = Domain::new();
    let robot = domain.join("robot");
    let qos = DataWriterQos::default().reliable().transient_local().keep_last(10);
    let tracks = robot.writer_builder::<Track>("rt/track").qos(qos.clone()).build().unwrap();
    let robots = robot.writer_builder::<Robot>("rt/robot").qos(qos).build().unwrap();
    for number in [1, 2] {
        tracks.write(&Track { number, x: f64::from(number) }).unwrap();
        robots.write(&Robot { number, x: f64::from(10 * number) }).unwrap();
    }
    let line = ["record", "--output", path.to_str().unwrap(), "--count", "4", "/track", "/robot"];
    let line = domain.line(&line);
    let mut program = Command::new(env!("CARGO_BIN_EXE_dds"));
    let output = program.args(&line[1..]).env("AMENT_PREFIX_PATH", folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    path
}

#[test]
fn message_of_idl_is_recorded_with_its_definition_and_played() {
    let folder = tempfile::tempdir().unwrap();
    let path = record_messages_of_idl(folder.path());
    assert_eq!(dds_tools::recording::profile_of(&path).unwrap(), "ros2");
    let text = run_local(&["info", path.to_str().unwrap(), "--json"]).unwrap();
    let topics: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let found: Vec<_> = topics.iter().map(|topic| (&topic["topic"], &topic["schema"], &topic["samples"])).collect();
    let expected =
        [("/robot", "ros2idl"), ("/track", "ros2msg")].map(|(name, schema)| (name.into(), schema.into(), 2.into()));
    assert_eq!(found, expected.iter().map(|(name, schema, count)| (name, schema, count)).collect::<Vec<_>>());

    // The replay has the types, and so the instances of the message with a key.
    let domain = Domain::new();
    let observer = domain.join("observer");
    let tracks = observer.reader_builder::<Track>("rt/track").reliable().keep_all().build().unwrap();
    let robots = observer.reader_builder::<Robot>("rt/robot").reliable().keep_all().build().unwrap();
    let played = domain.run(&["play", path.to_str().unwrap(), "--rate", "1000", "--readers-wait", "30"]);
    assert!(!played.notes.contains("without its type"), "{}", played.notes);
    for number in [1, 2] {
        let sample = tracks.next_sample().block_for(PATIENCE).unwrap();
        assert_eq!(sample.data, Some(Track { number, x: f64::from(number) }));
        let sample = robots.next_sample().block_for(PATIENCE).unwrap();
        assert_eq!(sample.data, Some(Robot { number, x: f64::from(10 * number) }));
        assert_eq!(robots.key_value(sample.info.instance_handle), Some(number));
    }
}

#[test]
fn recording_of_ros_topic_has_names_and_schema_of_ros() {
    let folder = tempfile::tempdir().unwrap();
    let (path, copy) = (folder.path().join("force.mcap"), folder.path().join("copy.mcap"));
    let notes = record_vectors(&path);
    assert!(notes.contains("records rt/force (geometry_msgs::msg::dds_::Vector3_)\n"), "{notes}");
    run_local(&["recover", path.to_str().unwrap(), "--output", copy.to_str().unwrap()]).unwrap();
    for path in [&path, &copy] {
        assert_eq!(dds_tools::recording::profile_of(path).unwrap(), "ros2");
        let text = run_local(&["info", path.to_str().unwrap(), "--json"]).unwrap();
        let topic: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!((&topic["topic"], &topic["schema"]), (&"/force".into(), &"ros2msg".into()));
        assert_eq!(topic["samples"], 10);
    }
}

#[test]
fn recording_of_ros_topic_names_the_writer_of_each_sample() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("force.mcap");
    let guids = record_two_publishers(&path);
    assert_eq!(dds_tools::recording::profile_of(&path).unwrap(), "ros2");
    let (mut counts, mut profiles) = ([0, 0], [0, 0]);
    for message in messages(&path).unwrap() {
        let message = message.unwrap();
        let metadata = &message.channel.metadata;
        let writer = guids.iter().position(|guid| metadata.get(WRITER_KEY) == Some(guid)).expect("a writer");
        assert_eq!((message.channel.topic.as_str(), &metadata[PARTICIPANT_KEY]), ("/force", &"robot".to_owned()));
        let value = f64::from_le_bytes(message.data[4..12].try_into().unwrap());
        assert_eq!(usize::from(value >= 10.0), writer, "{value}");
        counts[writer] += 1;
        profiles[writer] = metadata["offered_qos_profiles"].matches("- history").count();
    }
    // `rosbag2` reads the profiles from any channel of the topic, so a later one has those of all publishers. The
    // earlier one has them too if both are known when its first sample is recorded.
    assert_eq!((counts, profiles[1]), ([10, 3], 2));
    assert!((1..=2).contains(&profiles[0]), "{profiles:?}");
    let text = run_local(&["info", path.to_str().unwrap(), "--json"]).unwrap();
    let topic: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&topic["topic"], &topic["samples"]), (&"/force".into(), &13.into()));
}

#[test]
fn recording_of_ros_topic_plays_as_dds_topic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("force.mcap");
    record_vectors(&path);
    let domain = Domain::new();
    // The replay offers the recorded deadline, or else they do not match.
    let qos = DataReaderQos::default().reliable().keep_all().deadline(Duration::from_secs(50));
    let reader = domain.join("observer").reader_builder::<Vector3>("rt/force").qos(qos).build().unwrap();
    domain.run(&["play", path.to_str().unwrap(), "--rate", "1000", "--readers-wait", "30"]).unwrap();
    for number in 0..10 {
        let sample = reader.next_sample().block_for(Duration::from_secs(30)).unwrap();
        assert_eq!(sample.data.unwrap().x, f64::from(number));
    }
}

/// The readers and writers of bags that users of ROS have.
#[test]
#[ignore = "needs Python with rosbags and mcap-ros2-support: .ci/run cyclone"]
fn rosbags_and_mcap_ros2_read_our_recordings_and_we_play_theirs() {
    let python = std::env::var_os("DDS_TEST_PYTHON").expect("DDS_TEST_PYTHON names Python");
    let folder = tempfile::tempdir().unwrap();
    let [ours, two, theirs, mixed] =
        ["ours.mcap", "two.mcap", "theirs", "mixed.mcap"].map(|name| folder.path().join(name));
    record_vectors(&ours);
    let guids = record_two_publishers(&two);
    let of_idl = record_messages_of_idl(folder.path());
    record_with_unknown_type(&mixed);
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/commands/ros_readers.py");
    let output = Command::new(&python).arg(&script).args([&ours, &two, &theirs, &of_idl, &mixed]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    let expected = [
        "mcap_ros2 10",
        "rosbags /force geometry_msgs/msg/Vector3 10 RELIABLE TRANSIENT_LOCAL",
        &format!("mcap_ros2 {} 10", guids[0]),
        &format!("mcap_ros2 {} 3", guids[1]),
        "rosbags 13 of 2 connections, converted 13",
        "mcap_ros2 /track [1.0, 2.0]",
        "rosbags /robot fleet/msg/Robot [10.0, 20.0]",
        "rosbags /track fleet/msg/Track [1.0, 2.0]",
        "rosbags /force geometry_msgs/msg/Vector3 10",
        "rosbags status fleet::Status 1",
    ];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);

    let domain = Domain::new();
    let reader = domain.join("observer").reader_builder::<Vector3>("rt/bag").keep_all().reliable().build().unwrap();
    let bag = theirs.join("theirs.mcap");
    domain.run(&["play", bag.to_str().unwrap(), "--rate", "1000", "--readers-wait", "30"]).unwrap();
    for number in 0..3 {
        let sample = reader.next_sample().block_for(Duration::from_secs(30)).unwrap();
        assert_eq!(sample.data.unwrap(), Vector3 { x: f64::from(number), y: 1.0, z: 2.0 });
    }
}

/// `rosbag2` writes a type whose `.msg` file it does not find with a schema without encoding.
#[test]
fn message_of_an_unknown_ros_type_plays_on_its_topic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("unknown.mcap");
    let schema = RecordedSchema { name: "my_pkg/msg/Thing".to_owned(), encoding: "", text: String::new() };
    let channel = RecordedChannel { name: "/thing".to_owned(), schema: Some(schema.into()), metadata: BTreeMap::new() };
    let mut file = RecordingWriter::create(&path, CompressionOption::None, "ros2").unwrap();
    let channel = file.add_channel(&channel).unwrap();
    let payload = [0, 1, 0, 0, 7, 0, 0, 0];
    file.write(channel, MessageTimes { sequence: 1, log_time: 1, publish_time: 1 }, &payload).unwrap();
    file.finish().unwrap();
    let domain = Domain::new();
    let robot = domain.join("robot");
    let topic = robot.raw_topic("rt/thing", "my_pkg::msg::dds_::Thing_", TopicQos::default()).unwrap();
    let reader = robot.subscriber(None).unwrap().reader_builder(&topic).qos(DataReaderQos::default().reliable());
    let reader = reader.build().unwrap();
    let played = domain.run(&["play", path.to_str().unwrap(), "--readers-wait", "30"]);
    assert!(played.result.is_ok(), "{:?}", played.result);
    assert!(played.notes.contains("rt/thing: published without its type"), "{}", played.notes);
    let sample = reader.next_sample().block_for(PATIENCE).unwrap();
    assert_eq!(sample.data.unwrap().bytes, payload);
}
