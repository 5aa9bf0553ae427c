//! `record`, `info`, `play` and `recover`.

use crate::support::{Domain, Ender, Pose, pose, pose_reader, pose_writer, run_local};
use clap::ValueEnum;
use dds_cdr::cdr::{Encoding, decode_payload, encode_payload};
use dds_core::builtin::PublicationBuiltinTopicData;
use dds_core::cdr::Raw;
use dds_core::dynamic::{DynamicData, DynamicType};
use dds_core::qos::{
    AccessScope, DataReaderQos, DataRepresentation, DataWriterQos, DestinationOrder, LivelinessKind, Ownership,
    Presentation, Preset, PublisherQos, TopicQos,
};
use dds_core::relay::{self, ChangeKind, KeySource, NewChange, Payload};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, InstanceHandle, InstanceState, SampleInfo};
use dds_tools::commands::play::PlayKey;
use dds_tools::commands::recover;
use dds_tools::domain_view::DomainWatch;
use dds_tools::options::{CompressionOption, OutputOptions, RecoverOptions};
use dds_tools::recording::{
    KEY_HASH_KEY, MessageTimes, PARTICIPANT_KEY, RecordedChannel, RecordingWriter, TYPE_NAME_KEY, WRITER_KEY, messages,
};
use dds_tools::topic_reader::TopicChange;
use dds_tools::topic_set::{TopicSelection, TopicSet};
use dds_tools::topic_types::TopicTypes;
use dds_tools::{Stop, ToolError};
use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::time::{Duration, Instant};

/// Records five samples of two robots.
fn record(domain: &Domain, path: &Path, extra: &[&str]) -> String {
    let robot = domain.join("robot");
    let writer = pose_writer(&robot);
    std::thread::scope(|scope| {
        let file = path.to_str().unwrap();
        let arguments = [&["record", "--output", file, "--count", "5"], extra].concat();
        let recorder = scope.spawn(move || domain.run(&arguments));
        writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        for number in 0..5 {
            writer.write(&pose(number % 2, f64::from(number))).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        let printed = recorder.join().unwrap();
        let notes = printed.notes.clone();
        printed.unwrap();
        notes
    })
}

/// Returns the values and the instances of the next samples.
fn next_values(reader: &DataReader<Pose>, count: usize) -> (Vec<f64>, HashSet<InstanceHandle>) {
    let (mut values, mut instances) = (Vec::new(), HashSet::new());
    while values.len() < count {
        let sample = reader.next_sample().block_for(Duration::from_secs(10)).unwrap();
        values.extend(sample.data.map(|pose| pose.x));
        instances.insert(sample.info.instance_handle);
    }
    (values, instances)
}

#[test]
fn recording_plays_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (folder.path().join("first.mcap"), folder.path().join("second.mcap"));
    let notes = record(&Domain::new(), &first, &[]);
    assert!(notes.contains("records robot/pose (Pose)\n"), "{notes}");
    assert!(notes.contains("robot/pose: 5 samples, 0 lost"), "{notes}");

    let text = run_local(&["info", first.to_str().unwrap(), "--json"]).unwrap();
    let topic: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&topic["topic"], &topic["type"]), (&"robot/pose".into(), &"Pose".into()));
    assert_eq!((&topic["samples"], &topic["schema"]), (&5.into(), &"omgidl".into()));
    let text = run_local(&["info", first.to_str().unwrap()]).unwrap();
    assert!(text.contains("5 samples in "), "{text}");

    // A recording of the replay has the same payloads and source timestamps.
    let domain = Domain::new();
    let observer = domain.join("observer");
    let reader = pose_reader(&observer, "replay/pose");
    std::thread::scope(|scope| {
        let recorder = scope.spawn(|| {
            domain.run(&["record", "--output", second.to_str().unwrap(), "--count", "5", "replay/*"]).unwrap()
        });
        let play = ["play", first.to_str().unwrap(), "--remap", "robot/pose=replay/pose", "--source-timestamps"];
        let play = [&play[..], &["--rate", "0.2", "--readers-wait", "10"]].concat();
        domain.run(&play).unwrap();
        recorder.join().unwrap();
    });
    let (values, instances) = next_values(&reader, 5);
    assert_eq!(values, [0.0, 1.0, 2.0, 3.0, 4.0]);
    // The schema gives the keys, so the replay has the instances of the recording.
    assert_eq!(instances.len(), 2);
    let error = domain.run(&["play", first.to_str().unwrap(), "--remap", "pose=replay/pose"]).result.unwrap_err();
    assert!(error.to_string().starts_with("--remap pose=replay/pose: no played topic of "), "{error}");
    let content = |path: &Path| -> Vec<_> {
        let all = messages(path).unwrap().map(Result::unwrap).filter(|message| message.channel.topic.ends_with("pose"));
        all.map(|message| (message.publish_time, message.data.into_owned())).collect()
    };
    assert_eq!(content(&first), content(&second));
}

#[test]
fn writers_of_every_partition_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("partitions.mcap");
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writer_in = |partition: &str| {
        let publisher = robot.publisher(PublisherQos::default().partition([partition])).unwrap();
        publisher.writer_builder::<Pose>("robot/pose").qos(Preset::State).build().unwrap()
    };
    let (first, second) = (writer_in(""), writer_in("left/arm"));
    first.write(&pose(1, 1.0)).unwrap();
    second.write(&pose(2, 2.0)).unwrap();
    let line = ["record", "--output", path.to_str().unwrap(), "--count", "3"];
    std::thread::scope(|scope| {
        let recorder = scope.spawn(|| domain.run(&line).unwrap());
        first.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        // A writer in a new partition, after the recording has begun.
        let late = writer_in("right");
        late.write(&pose(3, 3.0)).unwrap();
        recorder.join().unwrap();
    });
    assert_eq!(messages(&path).unwrap().count(), 3);
}

#[test]
fn selected_topics_are_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("nothing.mcap");
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writer = pose_writer(&robot);
    writer.write(&pose(1, 1.0)).unwrap();
    let line = ["record", "--output", path.to_str().unwrap(), "--exclude", "robot/*", "--for", "1"];
    let error = domain.run(&line).result.unwrap_err();
    assert!(matches!(error, ToolError::NothingArrived { .. }), "{error}");
    assert!(path.exists());
    let error = domain.run(&line).result.unwrap_err();
    assert!(error.to_string().ends_with("the file exists; choose another name, or remove it"), "{error}");
    let folder = folder.path().to_str().unwrap();
    let error = run_local(&["info", folder]).result.unwrap_err();
    assert!(error.to_string().ends_with("it is a folder; pass a file in it"), "{error}");
}

/// Returns the end of each chunk in a file.
fn chunk_ends(bytes: &[u8]) -> Vec<usize> {
    const CHUNK: u8 = 6;
    let (mut ends, mut at) = (Vec::new(), mcap::MAGIC.len());
    // A record has an opcode and its length.
    while let Some((&[opcode, ref length @ ..], _)) = bytes[at..].split_first_chunk::<9>() {
        let length = u64::from_le_bytes(*length);
        // The magic at the end of the file is no record.
        let Some(end) = usize::try_from(length).ok().and_then(|length| at.checked_add(9 + length)) else { break };
        if end > bytes.len() {
            break;
        }
        at = end;
        if opcode == CHUNK {
            ends.push(at);
        }
    }
    ends
}

#[test]
fn every_cut_of_a_recording_recovers_complete_chunks() {
    const CHUNKS: usize = 3;
    let folder = tempfile::tempdir().unwrap();
    let path_of = |form: &CompressionOption| folder.path().join(format!("{form:?}.mcap"));
    let forms = CompressionOption::value_variants();
    let metadata = BTreeMap::from([(TYPE_NAME_KEY.to_owned(), "Pose".to_owned())]);
    let channel = RecordedChannel { name: "robot/pose".to_owned(), schema: None, metadata };
    let mut files: Vec<_> = forms
        .iter()
        .map(|form| {
            let mut file = RecordingWriter::create(&path_of(form), *form, "").unwrap();
            let channel = file.add_channel(&channel).unwrap();
            (file, channel)
        })
        .collect();
    for chunk in 0..CHUNKS {
        for (file, channel) in &mut files {
            for number in [2 * chunk, 2 * chunk + 1] {
                let mut payload = Vec::new();
                encode_payload(&pose(number as u32, 0.5), Encoding::Xcdr1, &mut payload).unwrap();
                let times = MessageTimes { sequence: number as u32, log_time: 1, publish_time: 1 };
                file.write(*channel, times, &payload).unwrap();
            }
        }
        // A chunk ends after a second.
        std::thread::sleep(Duration::from_millis(1010));
        files.iter_mut().for_each(|(file, _)| file.complete_chunk_in_time().unwrap());
    }
    files.into_iter().for_each(|(file, _)| file.finish().unwrap());

    let (cut, recovered) = (folder.path().join("cut.mcap"), folder.path().join("recovered.mcap"));
    let report = OutputOptions::default();
    let options = RecoverOptions { file: cut.clone(), output: recovered.clone(), report };
    for form in forms {
        let bytes = std::fs::read(path_of(form)).unwrap();
        let content = |path: &Path| -> Vec<_> {
            let all = messages(path).unwrap().map(Result::unwrap);
            all.map(|message| (message.sequence, message.data.into_owned())).collect()
        };
        let whole = content(&path_of(form));
        let ends = chunk_ends(&bytes);
        assert_eq!((ends.len(), whole.len()), (CHUNKS, 2 * CHUNKS), "{form:?}");
        for len in 0..=bytes.len() {
            std::fs::write(&cut, &bytes[..len]).unwrap();
            recover::run(&options, &mut Vec::new(), &mut Vec::new()).unwrap();
            let found = content(&recovered);
            // The last chunk may have complete messages before the cut.
            let complete = ends.iter().filter(|end| **end <= len).count();
            assert!((2 * complete..=2 * complete + 2).contains(&found.len()), "{len} bytes of {form:?}: {found:?}");
            assert_eq!(found, whole[..found.len()], "{len} bytes of {form:?}");
            std::fs::remove_file(&recovered).unwrap();
        }
    }
}

#[test]
fn damaged_length_reserves_no_memory() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("length.mcap");
    record(&Domain::new(), &path, &["--compression", "none"]);
    let mut bytes = std::fs::read(&path).unwrap();
    // Behind the magic of 8 bytes, the header has an opcode and a length of 8 bytes, little endian.
    bytes[8 + 8] = 0x7f;
    std::fs::write(&path, &bytes).unwrap();
    let printed = run_local(&["info", path.to_str().unwrap()]);
    assert!(matches!(printed.result, Err(ToolError::Recording { .. })), "{}", printed.output);
}

#[test]
fn damaged_recording_fails_at_its_damaged_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("damaged.mcap");
    record(&Domain::new(), &path, &["--compression", "none"]);
    let mut bytes = std::fs::read(&path).unwrap();
    let text = b"robot 1";
    let at = bytes.windows(text.len()).position(|window| window == text).unwrap();
    bytes[at] ^= 0xff;
    std::fs::write(&path, &bytes).unwrap();
    let printed = run_local(&["info", path.to_str().unwrap()]);
    assert!(matches!(printed.result, Err(ToolError::Recording { .. })), "{}", printed.output);
}

/// Runs `record` until `publish` has returned and its last change has arrived.
pub(crate) fn record_while(domain: &Domain, line: &[&str], publish: impl FnOnce()) -> String {
    std::thread::scope(|scope| {
        let stop = Stop::new();
        let recorder = scope.spawn({
            let stop = stop.clone();
            move || domain.run_with(line, "", &stop)
        });
        publish();
        // The readers have the changes. The command takes them within one step.
        std::thread::sleep(Duration::from_millis(300));
        stop.request();
        let printed = recorder.join().unwrap();
        let notes = printed.notes.clone();
        printed.unwrap();
        notes
    })
}

fn acknowledged(writer: &DataWriter<Pose>) {
    writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
    writer.acknowledged().block_for(Duration::from_secs(30)).unwrap();
}

#[test]
fn ends_of_instances_are_recorded_and_played() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ends.mcap");
    let domain = Domain::new();
    let robot = domain.join("robot");
    let mut qos = DataWriterQos::default().reliable().keep_all();
    qos.writer_data_lifecycle.autodispose_unregistered_instances = false;
    let writer = robot.writer_builder::<Pose>("robot/pose").qos(qos).build().unwrap();
    let notes = record_while(&domain, &["record", "--output", path.to_str().unwrap()], || {
        writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        for robot in [1, 2] {
            writer.write(&pose(robot, 0.5)).unwrap();
        }
        acknowledged(&writer);
        std::thread::sleep(Duration::from_millis(50));
        writer.dispose(&1).unwrap();
        writer.unregister_instance(&2).unwrap();
        acknowledged(&writer);
    });
    assert!(notes.contains("robot/pose: 2 samples, 0 lost, 2 ends of instances\n"), "{notes}");
    let channels: Vec<_> = messages(&path).unwrap().map(|message| message.unwrap().channel.topic.clone()).collect();
    assert_eq!(channels, ["robot/pose", "robot/pose", "robot/pose#disposed", "robot/pose#no_writers"]);

    let domain = Domain::new();
    let observer = domain.join("observer");
    let reader = pose_reader(&observer, "robot/pose");
    domain.run(&["play", path.to_str().unwrap(), "--readers-wait", "10"]).unwrap();
    let mut ends = Vec::new();
    while ends.len() < 2 {
        let sample = reader.next_sample().block_for(Duration::from_secs(10)).unwrap();
        if sample.info.instance_state != InstanceState::Alive {
            ends.push((reader.key_value(sample.info.instance_handle), sample.info.instance_state));
        }
    }
    let (disposed, left) = (InstanceState::NotAliveDisposed, InstanceState::NotAliveNoWriters);
    assert_eq!(ends, [(Some(1), disposed), (Some(2), left)]);
}

/// Checks that a replay has the bytes of all `count` samples in a file. A recording of the replay shows them.
pub(crate) fn assert_replay_has_the_same_bytes(path: &Path, count: usize) {
    let folder = tempfile::tempdir().unwrap();
    let again = folder.path().join("again.mcap");
    let domain = Domain::new();
    let count_text = count.to_string();
    let record = ["record", "--output", again.to_str().unwrap(), "--count", &count_text, "--type-wait", "1"];
    std::thread::scope(|scope| {
        let recorder = scope.spawn(|| domain.run(&[&record[..], &["--for", "60"]].concat()).unwrap());
        domain.run(&["play", path.to_str().unwrap(), "--rate", "100", "--readers-wait", "60"]).unwrap();
        recorder.join().unwrap();
    });
    let content = |path: &Path| -> Vec<(String, Vec<u8>)> {
        let all = messages(path).unwrap().map(Result::unwrap).filter(|message| !message.channel.topic.contains('#'));
        let mut all: Vec<_> = all.map(|message| (message.channel.topic.clone(), message.data.into_owned())).collect();
        // Samples of several writers may change their order.
        all.sort_unstable();
        all
    };
    let recorded = content(path);
    assert_eq!((recorded.len(), &recorded), (count, &content(&again)));
}

/// Creates a reader that knows the instances of a topic by the key hashes that arrive.
fn hash_reader(participant: &DomainParticipant, topic: &str, type_name: &str) -> DataReader<Raw> {
    let topic = participant.raw_topic(topic, type_name, TopicQos::default()).unwrap();
    let subscriber = participant.subscriber(None).unwrap();
    let builder = subscriber.reader_builder(&topic).qos(DataReaderQos::default().reliable().keep_all());
    relay::key_source(builder, KeySource::KeyHash).build().unwrap()
}

/// Returns the key hash and the state of the next changes, in their order.
fn next_hashes(reader: &DataReader<Raw>, count: usize) -> Vec<([u8; 16], InstanceState)> {
    let mut found = Vec::new();
    while found.len() < count {
        let info = reader.next_sample().block_for(Duration::from_secs(30)).unwrap().info;
        found.push((*info.instance_handle.as_bytes().expect("a key hash arrived"), info.instance_state));
    }
    found
}

/// No endpoint describes the type, so only the key hash tells the instance of a sample.
#[test]
fn key_hashes_of_an_unknown_type_are_recorded_and_played() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hashes.mcap");
    let domain = Domain::new();
    let robot = domain.join("robot");
    let topic = robot.raw_topic("raw/pose", "Unknown", TopicQos::default()).unwrap();
    let publisher = robot.publisher(None).unwrap();
    let builder = publisher.writer_builder(&topic).qos(DataWriterQos::default().reliable().keep_all());
    let writer = relay::keyed(builder, true).build().unwrap();
    let instance = |number: u8| InstanceHandle::from_key_hash([number; 16]);
    let line = ["record", "--output", path.to_str().unwrap(), "--type-wait", "0"];
    let notes = record_while(&domain, &line, || {
        writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        for number in [1, 2, 1] {
            let payload = Payload::copy_of(&[0, 1, 0, 0, number, 0, 0, 0]);
            relay::publish(&writer, NewChange::alive(instance(number), payload)).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        let end = NewChange::not_alive(ChangeKind::NotAliveDisposed, instance(2), Payload::copy_of(&[]));
        relay::publish(&writer, NewChange { payload: None, ..end }).unwrap();
        writer.acknowledged().block_for(Duration::from_secs(30)).unwrap();
    });
    assert!(notes.contains("raw/pose: 3 samples, 0 lost, 1 ends of instances\n"), "{notes}");
    let channels: HashSet<_> =
        messages(&path).unwrap().map(|message| message.unwrap().channel.metadata.clone()).collect();
    let hashes: HashSet<_> = channels.iter().map(|metadata| metadata[KEY_HASH_KEY].clone()).collect();
    assert_eq!(hashes, HashSet::from(["01".repeat(16), "02".repeat(16)]));

    let domain = Domain::new();
    let reader = hash_reader(&domain.join("observer"), "raw/pose", "Unknown");
    let played = domain.run(&["play", path.to_str().unwrap(), "--readers-wait", "30"]);
    assert!(played.notes.contains("raw/pose: published without its type\n"), "{}", played.notes);
    // The last sample of an instance may also have its end.
    let (mut found, end) = (HashSet::new(), ([2; 16], InstanceState::NotAliveDisposed));
    while found.len() < 2 || !found.contains(&end) {
        found.extend(next_hashes(&reader, 1));
    }
    assert!(found.iter().all(|(hash, _)| [[1; 16], [2; 16]].contains(hash)), "{found:?}");
    assert!(!found.contains(&([1; 16], InstanceState::NotAliveDisposed)), "{found:?}");
}

/// The type gives the keys. So the replay has the key hashes of each writer that follows the standard.
#[test]
fn replay_has_the_key_hashes_of_the_recorded_writer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hashes.mcap");
    let domain = Domain::new();
    let (robot, observer) = (domain.join("robot"), domain.join("observer"));
    let live = hash_reader(&observer, "robot/pose", "Pose");
    let writer = robot.writer_builder::<Pose>("robot/pose").qos(Preset::Event).build().unwrap();
    record_while(&domain, &["record", "--output", path.to_str().unwrap(), "robot/pose"], || {
        writer.wait_for_readers(2).block_for(Duration::from_secs(60)).unwrap();
        for number in [7, 300] {
            writer.write(&pose(number, 0.5)).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        writer.acknowledged().block_for(Duration::from_secs(30)).unwrap();
    });
    let hashes =
        |reader: &DataReader<Raw>| next_hashes(reader, 2).into_iter().map(|(hash, _)| hash).collect::<HashSet<_>>();
    let expected = hashes(&live);
    assert_eq!(expected.len(), 2);

    let domain = Domain::new();
    let replayed = hash_reader(&domain.join("observer"), "robot/pose", "Pose");
    domain.run(&["play", path.to_str().unwrap(), "--readers-wait", "30"]).unwrap();
    assert_eq!(hashes(&replayed), expected);
}

/// A recording of ten seconds with two topics: each second has one robot.
pub(crate) fn ten_seconds(path: &Path) {
    let mut file = RecordingWriter::create(path, CompressionOption::None, "").unwrap();
    let channels = ["robot/pose", "robot/other"].map(|name| {
        let metadata = BTreeMap::from([(TYPE_NAME_KEY.to_owned(), "Pose".to_owned())]);
        file.add_channel(&RecordedChannel { name: name.to_owned(), schema: None, metadata }).unwrap()
    });
    for second in 0..10 {
        let log_time = 1_000_000_000 * (100 + u64::from(second));
        for channel in channels {
            let mut payload = Vec::new();
            encode_payload(&pose(second, 0.5), Encoding::Xcdr1, &mut payload).unwrap();
            let times = MessageTimes { sequence: second, log_time, publish_time: log_time };
            file.write(channel, times, &payload).unwrap();
        }
    }
    file.finish().unwrap();
}

#[test]
fn reports_of_recordings_are_objects() {
    let object = |text: String| -> serde_json::Value { serde_json::from_str(text.trim()).unwrap() };
    let folder = tempfile::tempdir().unwrap();
    let [first, long, copy] = ["first.mcap", "long.mcap", "copy.mcap"].map(|name| folder.path().join(name));
    let domain = Domain::new();
    let writer = pose_writer(&domain.join("robot"));
    let line = ["record", "--output", first.to_str().unwrap(), "--count", "2", "--json"];
    let report = std::thread::scope(|scope| {
        let recorder = scope.spawn(|| domain.run(&line).unwrap());
        writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        for number in 0..2 {
            writer.write(&pose(number, 0.5)).unwrap();
        }
        object(recorder.join().unwrap())
    });
    assert_eq!((&report["topic"], &report["samples"], &report["lost"]), (&"robot/pose".into(), &2.into(), &0.into()));
    ten_seconds(&long);
    let play = ["play", long.to_str().unwrap(), "--rate", "1000", "--readers-wait", "0", "--json"];
    let played = |more: &[&str]| object(Domain::new().run(&[&play[..], more].concat()).unwrap());
    assert_eq!(played(&["--count", "0"])["published"], 0);
    assert_eq!(played(&["--count", "3"]), serde_json::json!({ "published": 3, "topics": 2 }));
    assert_eq!(played(&["--count", "33", "--loop"])["published"], 33);
    let slow = ["play", long.to_str().unwrap(), "--readers-wait", "0", "--for", "0.3", "--json"];
    let published = object(Domain::new().run(&slow).unwrap())["published"].as_u64().unwrap();
    assert!((1..20).contains(&published), "{published}");
    let recovered = run_local(&["recover", long.to_str().unwrap(), "--output", copy.to_str().unwrap(), "--json"]);
    let report = object(recovered.unwrap());
    assert_eq!((&report["samples"], &report["damage"]), (&20.into(), &serde_json::Value::Null), "{report}");
}

#[test]
fn play_may_begin_and_end_within_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.mcap");
    ten_seconds(&path);
    for (options, expected) in [
        (&["--start", "3", "--until", "6s", "--exclude", "*other"][..], "published 4 samples of 1 topics\n"),
        (&["--start", "8"], "published 4 samples of 2 topics\n"),
        (&["--until", "0"], "published 2 samples of 2 topics\n"),
    ] {
        let play = ["play", path.to_str().unwrap(), "--rate", "1000", "--readers-wait", "0"];
        let played = Domain::new().run(&[&play[..], options].concat());
        assert!(played.notes.ends_with(expected), "{options:?}: {}", played.notes);
        played.unwrap();
    }
}

#[test]
fn keys_pause_step_and_end_a_replay() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.mcap");
    ten_seconds(&path);
    let play = |keys: &[PlayKey]| {
        let options = [path.to_str().unwrap(), "--rate", "1000", "--readers-wait", "0"];
        let played = Domain::new().play_with_keys(&options, keys);
        let notes = played.notes.clone();
        played.unwrap();
        notes
    };
    let notes = play(&[PlayKey::Pause, PlayKey::Step, PlayKey::Step, PlayKey::End]);
    assert!(notes.contains("paused after "), "{notes}");
    assert!(notes.ends_with("published 2 samples of 2 topics\n"), "{notes}");
    // A step pauses, and the pause ends by its key.
    let notes = play(&[PlayKey::Step, PlayKey::Pause]);
    assert!(notes.contains("goes on\npublished 20 samples of 2 topics\n"), "{notes}");
}

#[test]
fn play_without_a_sample_for_its_options_fails() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.mcap");
    ten_seconds(&path);
    for options in [["--start", "10"], ["--exclude", "*"]] {
        let played =
            Domain::new().run(&[&["play", path.to_str().unwrap(), "--readers-wait", "0"], &options[..]].concat());
        let error = played.result.unwrap_err().to_string();
        assert!(error.contains("long.mcap has no sample for these options; `dds info "), "{error}");
    }
}

#[test]
fn play_offers_the_given_qos() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("volatile.mcap");
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writer = robot.writer_builder::<Pose>("robot/pose").reliable().keep_all().build().unwrap();
    record_while(&domain, &["record", "--output", path.to_str().unwrap()], || {
        writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        writer.write(&pose(1, 0.5)).unwrap();
        acknowledged(&writer);
    });
    let domain = Domain::new();
    let observer = domain.join("observer");
    // The recorded writer was volatile.
    let qos = DataReaderQos::default().reliable().transient_local();
    let reader = observer.reader_builder::<Pose>("robot/pose").qos(qos).build().unwrap();
    let play = ["play", path.to_str().unwrap(), "--durability", "transient-local", "--readers-wait", "10"];
    domain.run(&play).unwrap();
    assert_eq!(reader.next_sample().block_for(Duration::from_secs(10)).unwrap().data, Some(pose(1, 0.5)));
}

/// The policies of a writer, without those that a replay chooses.
fn policies(writer: &PublicationBuiltinTopicData) -> (DataWriterQos, Vec<String>, Presentation) {
    let mut qos = writer.qos.clone().keep_last(1);
    qos.representation.clear();
    (qos, writer.partition.clone(), writer.presentation)
}

#[test]
fn replay_has_the_qos_of_each_recorded_writer() {
    let within = Duration::from_secs(60);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("qos.mcap");
    let domain = Domain::new();
    let robot = domain.join("robot");
    let mut strict = DataWriterQos::default().transient_local().keep_last(3).user_data(b"lidar".to_vec());
    strict.deadline = Duration::from_secs(50).into();
    strict.lifespan = Duration::from_secs(70).into();
    strict.latency_budget = Duration::from_millis(3).into();
    strict.liveliness.kind = LivelinessKind::ManualByTopic;
    strict.liveliness.lease_duration = Duration::from_secs(80).into();
    strict.destination_order = DestinationOrder::BySourceTimestamp;
    (strict.ownership, strict.ownership_strength) = (Ownership::Exclusive, 7);
    let mut group = PublisherQos::default().partition(["left/arm"]);
    (group.presentation.access_scope, group.presentation.ordered_access) = (AccessScope::Topic, true);
    let publishers = [(group, strict), (PublisherQos::default(), DataWriterQos::default().best_effort())];
    let writers = publishers.map(|(group, qos)| {
        let publisher = robot.publisher(group).unwrap();
        publisher.writer_builder::<Pose>("robot/pose").qos(qos).build().unwrap()
    });
    record_while(&domain, &["record", "--output", path.to_str().unwrap()], || {
        for (number, writer) in (1..).zip(&writers) {
            writer.wait_for_readers(1).block_for(within).unwrap();
            writer.write(&pose(number, 0.5)).unwrap();
            acknowledged(writer);
        }
    });
    // Returns the writers of other participants.
    let observed = |domain: &Domain, wait: &dyn Fn()| {
        let mut watch = DomainWatch::new(&domain.join("observer")).unwrap();
        let start = Instant::now();
        while watch.view().endpoints_of("robot/pose").writers.len() < 2 && start.elapsed() < within {
            wait();
            std::thread::sleep(Duration::from_millis(10));
            watch.update().unwrap();
        }
        let found = watch.view().endpoints_of("robot/pose").writers.into_iter().map(policies);
        found.collect::<Vec<_>>()
    };
    let expected = observed(&domain, &|| {});
    assert_eq!(expected.len(), 2);
    let channels: Vec<_> = messages(&path).unwrap().map(|message| message.unwrap().channel.metadata.clone()).collect();
    for writer in &writers {
        let guid = writer.guid().to_string();
        let channel = channels.iter().find(|metadata| metadata.get(WRITER_KEY) == Some(&guid)).unwrap();
        assert_eq!(channel.get(PARTICIPANT_KEY).map(String::as_str), Some("robot"));
    }

    let domain = Domain::new();
    let stop = Stop::new();
    let line = ["play", path.to_str().unwrap(), "--loop", "--readers-wait", "0"];
    let found = std::thread::scope(|scope| {
        let ender = Ender(stop.clone());
        let player = scope.spawn(|| domain.run_with(&line, "", &stop));
        let found = observed(&domain, &|| assert!(!player.is_finished()));
        drop(ender);
        player.join().unwrap().unwrap();
        found
    });
    assert!(found.len() == 2 && found.iter().all(|writer| expected.contains(writer)), "{found:#?}\n{expected:#?}");
    assert_ne!(found[0], found[1]);
    // The samples of both writers are one topic.
    let text = run_local(&["info", path.to_str().unwrap(), "--json"]).unwrap();
    let topics: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let samples = topics.iter().filter(|topic| topic["topic"] == "robot/pose").map(|topic| &topic["samples"]);
    assert_eq!(samples.collect::<Vec<_>>(), [2]);
}

#[test]
fn ends_are_played_by_the_writers_of_all_encodings() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("encodings.mcap");
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writers = [DataRepresentation::Xcdr1, DataRepresentation::Xcdr2].map(|encoding| {
        let mut qos = DataWriterQos::default().reliable().keep_all();
        qos.representation = vec![encoding];
        robot.writer_builder::<Pose>("robot/pose").qos(qos).build().unwrap()
    });
    record_while(&domain, &["record", "--output", path.to_str().unwrap()], || {
        for (number, writer) in (1..).zip(&writers) {
            writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
            writer.write(&pose(number, 0.5)).unwrap();
            acknowledged(writer);
            std::thread::sleep(Duration::from_millis(50));
            writer.dispose(&number).unwrap();
            acknowledged(writer);
        }
    });
    let domain = Domain::new();
    let observer = domain.join("observer");
    let reader = pose_reader(&observer, "robot/pose");
    domain.run(&["play", path.to_str().unwrap(), "--readers-wait", "10"]).unwrap();
    let mut ended = HashSet::new();
    while ended.len() < 2 {
        let sample = reader.next_sample().block_for(Duration::from_secs(10)).unwrap();
        if sample.info.instance_state == InstanceState::NotAliveDisposed {
            ended.insert(reader.key_value(sample.info.instance_handle));
        }
    }
    assert_eq!(ended, HashSet::from([Some(1), Some(2)]));
}

#[test]
fn writers_of_every_qos_are_recorded_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("classes.mcap");
    let domain = Domain::new();
    let robot = domain.join("robot");
    // The recorder begins with the strongest offers.
    let first = pose_writer(&robot);
    first.write(&pose(1, 1.0)).unwrap();
    let notes = record_while(&domain, &["record", "--output", path.to_str().unwrap()], || {
        acknowledged(&first);
        let weak = DataWriterQos::default().best_effort();
        let weak = robot.writer_builder::<Pose>("robot/pose").qos(weak).build().unwrap();
        weak.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        for number in 2..5 {
            weak.write(&pose(2, f64::from(number))).unwrap();
            first.write(&pose(1, f64::from(10 + number))).unwrap();
        }
        acknowledged(&first);
    });
    let ty = DynamicType::of::<Pose>().unwrap();
    // The weak writer has left, which ends its instance.
    let samples = messages(&path).unwrap().map(Result::unwrap).filter(|message| message.channel.topic == "robot/pose");
    let mut values: Vec<f64> =
        samples.map(|sample| DynamicData::from_payload(&ty, &sample.data).unwrap().get::<f64>("x").unwrap()).collect();
    values.sort_by(f64::total_cmp);
    assert_eq!(values, [1.0, 2.0, 3.0, 4.0, 12.0, 13.0, 14.0], "{notes}");
    assert!(notes.contains("robot/pose: 7 samples, 0 lost"), "{notes}");
}

#[test]
fn recording_splits_into_complete_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("drive.mcap");
    let notes = record(&Domain::new(), &path, &["--split-time", "0.03"]);
    assert!(notes.contains("wrote ") && !path.exists(), "{notes}");
    let mut samples = Vec::new();
    for number in 0.. {
        let part = folder.path().join(format!("drive_{number}.mcap"));
        if !part.exists() {
            break;
        }
        let text = run_local(&["info", part.to_str().unwrap(), "--json"]).unwrap();
        assert!(!text.contains("\"schema\":null"), "each file has its schemas: {text}");
        samples.push(messages(&part).unwrap().map(Result::unwrap).count());
    }
    assert!(samples.len() > 1, "{samples:?}");
    assert_eq!(samples.iter().sum::<usize>(), 5);
}

#[test]
fn writer_that_appears_after_a_weak_one_is_recorded_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("reverse.mcap");
    let domain = Domain::new();
    let robot = domain.join("robot");
    let weak = DataWriterQos::default().best_effort();
    let weak = robot.writer_builder::<Pose>("robot/pose").qos(weak).build().unwrap();
    let notes = record_while(&domain, &["record", "--output", path.to_str().unwrap()], || {
        weak.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        let strong = DataWriterQos::default().reliable().transient_local().keep_last(100);
        let strong = robot.writer_builder::<Pose>("robot/pose").qos(strong).build().unwrap();
        strong.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        // The reader for the weak writer delivers the first samples. The next reader receives them again.
        for number in 0..30 {
            strong.write(&pose(1, f64::from(number))).unwrap();
            std::thread::sleep(Duration::from_millis(10));
        }
        strong.wait_for_readers(2).block_for(Duration::from_secs(30)).unwrap();
        acknowledged(&strong);
    });
    assert!(notes.contains("robot/pose: 30 samples, 0 lost"), "{notes}");
}

#[test]
fn topics_of_one_round_are_written_in_the_order_of_reception() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("order.mcap");
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writer = |topic: &str| robot.writer_builder::<Pose>(topic).qos(Preset::Event).build().unwrap();
    let (first, second) = (writer("z"), writer("a"));
    record_while(&domain, &["record", "--output", path.to_str().unwrap()], || {
        for writer in [&first, &second] {
            writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        }
        for number in 0..10 {
            first.write(&pose(1, f64::from(number))).unwrap();
            second.write(&pose(1, f64::from(number))).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
    });
    let times: Vec<u64> = messages(&path).unwrap().map(|message| message.unwrap().log_time).collect();
    assert!(times.len() == 20 && times.is_sorted(), "{times:?}");
}

#[test]
fn wait_for_a_type_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("raw.mcap");
    let domain = Domain::new();
    let robot = domain.join("robot");
    let topic = robot.raw_topic("raw/data", "Unknown", TopicQos::default()).unwrap();
    let _writer = robot.publisher(None).unwrap().writer_builder(&topic).build().unwrap();
    let line = ["record", "--output", path.to_str().unwrap(), "--type-wait", "0.5", "--for", "1.5"];
    let notes = domain.run(&line).notes;
    let wait = notes.find("raw/data: waits 0.5 s for its type; earlier samples are not recorded\n");
    assert!(wait.is_some() && wait < notes.find("records raw/data (Unknown) without a schema"), "{notes}");
}

#[test]
fn failed_save_does_not_end_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("disk");
    std::fs::create_dir(&place).unwrap();
    let path = place.join("ring.mcap");
    let domain = Domain::new();
    let writer = pose_writer(&domain.join("robot"));
    let line = ["record", "--output", path.to_str().unwrap(), "--last", "60", "--trigger", "robot/pose"];
    let stop = Stop::new();
    let printed = std::thread::scope(|scope| {
        let recorder = scope.spawn(|| domain.run_with(&line, "", &stop));
        writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        std::fs::remove_dir(&place).unwrap();
        writer.write(&pose(1, 1.0)).unwrap();
        acknowledged(&writer);
        std::thread::sleep(Duration::from_millis(300));
        std::fs::create_dir(&place).unwrap();
        stop.request();
        recorder.join().unwrap()
    });
    assert!(printed.notes.contains("cannot write the last seconds, and keeps them: "), "{}", printed.notes);
    assert_eq!(messages(&place.join("ring_0.mcap")).unwrap().count(), 1, "{}", printed.notes);
    assert!(matches!(printed.result, Err(ToolError::Io { .. })));
    std::fs::remove_dir_all(&place).unwrap();
    domain.run(&line).result.unwrap_err();
}

#[test]
fn ring_is_written_at_its_trigger_and_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ring.mcap");
    let part = |number: usize| folder.path().join(format!("ring_{number}.mcap"));
    let domain = Domain::new();
    let robot = domain.join("robot");
    let (writer, trigger) = (pose_writer(&robot), robot.writer_builder::<Pose>("crash").qos(Preset::State));
    let trigger = trigger.build().unwrap();
    // A crash of before is recorded, but triggers nothing. An existing file stays.
    trigger.write(&pose(8, 0.0)).unwrap();
    std::fs::write(part(0), "mine").unwrap();
    let line = ["record", "--output", path.to_str().unwrap(), "--last", "60s", "--trigger", "crash", "robot/*"];
    let line = [&line[..], &["--exclude", "c*"]].concat();
    let notes = record_while(&domain, &line, || {
        trigger.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        writer.write(&pose(1, 1.0)).unwrap();
        acknowledged(&writer);
        std::thread::sleep(Duration::from_millis(100));
        trigger.write(&pose(9, 0.0)).unwrap();
        acknowledged(&trigger);
        for _ in 0..100 {
            // The index at the end makes the file complete.
            if std::fs::read(part(1)).is_ok_and(|bytes| bytes.ends_with(mcap::MAGIC) && bytes.len() > 100) {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        writer.write(&pose(1, 2.0)).unwrap();
        acknowledged(&writer);
    });
    assert_eq!(messages(&part(1)).unwrap().map(Result::unwrap).count(), 3, "{notes}");
    assert_eq!(messages(&part(2)).unwrap().map(Result::unwrap).count(), 4, "{notes}");
    assert!(!path.exists() && !part(3).exists());
    assert_eq!(std::fs::read(part(0)).unwrap(), b"mine");
}

/// Returns a set with a queue, and its view of the domain. A topic has a reader already.
fn queued_set(domain: &Domain, queue_bytes: usize) -> (TopicSet, DomainWatch) {
    let participant = domain.join("recorder");
    let mut watch = DomainWatch::new(&participant).unwrap();
    let types = TopicTypes::new(participant.clone(), Duration::from_secs(30), None).unwrap();
    let mut set = TopicSet::with_queue(participant, TopicSelection::default(), types, queue_bytes);
    while set.topics().count() == 0 {
        watch.update().unwrap();
        set.open_topics(&watch).unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
    (set, watch)
}

#[test]
fn ignored_topic_has_no_reader() {
    let domain = Domain::new();
    let writer = pose_writer(&domain.join("robot"));
    let (mut set, mut watch) = queued_set(&domain, 1 << 20);
    writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
    set.ignore(0);
    let deadline = Instant::now() + Duration::from_secs(30);
    while !writer.matched_subscriptions().is_empty() && Instant::now() < deadline {
        watch.update().unwrap();
        assert!(set.open_topics(&watch).unwrap().opened.is_empty());
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(writer.matched_subscriptions().is_empty());
    assert_eq!(set.topics().count(), 0);
}

#[test]
fn writer_that_left_keeps_its_samples_in_the_queue() {
    let within = Duration::from_secs(30);
    let deadline = Instant::now() + within;
    let domain = Domain::new();
    let robot = domain.join("robot");
    let weak = robot.writer_builder::<Pose>("robot/pose").qos(DataWriterQos::default().best_effort()).build().unwrap();
    let (mut set, mut watch) = queued_set(&domain, 1 << 20);
    weak.wait_for_readers(1).block_for(within).unwrap();
    let qos = DataWriterQos::default().reliable().keep_all().transient_local();
    let strong = domain.join("late").writer_builder::<Pose>("robot/pose").qos(qos).build().unwrap();
    // Usually earlier than the match with the weak reader, which then lacks this sample.
    strong.write(&pose(1, 1.0)).unwrap();
    let mut written = 1;
    strong.wait_for_readers(1).block_for(within).unwrap();
    while set.queued_bytes() == 0 && Instant::now() < deadline {
        strong.write(&pose(1, 2.0)).unwrap();
        written += 1;
        std::thread::sleep(Duration::from_millis(10));
    }
    // The reader for the class of the writer receives all samples, and then the writer leaves.
    while strong.matched_subscriptions().len() < 2 && Instant::now() < deadline {
        watch.update().unwrap();
        set.open_topics(&watch).unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
    strong.acknowledged().block_for(within).unwrap();
    drop(strong);
    while watch.view().endpoints_of("robot/pose").writers.len() > 1 && Instant::now() < deadline {
        watch.update().unwrap();
        std::thread::sleep(Duration::from_millis(10));
    }
    let mut numbers = Vec::new();
    while numbers.len() < written && Instant::now() < deadline {
        let take = |_, info: &SampleInfo, change: TopicChange<'_>| {
            if matches!(change, TopicChange::Sample(_)) {
                numbers.push(info.sequence_number.0);
            }
            Ok(())
        };
        set.deliver(take).unwrap();
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (1..=written as i64).collect::<Vec<_>>());
}

#[test]
fn queue_has_every_sample_that_arrived_while_the_recording_waited() {
    const SAMPLES: u64 = 5000;
    let within = Duration::from_secs(30);
    // The queue has room for all samples, or only for some of them.
    for (queue_bytes, has_room) in [(64 << 20, true), (100_000, false)] {
        let domain = Domain::new();
        let robot = domain.join("robot");
        let qos = DataWriterQos::default().reliable().keep_all();
        // A datagram has samples of both instances.
        let builder = robot.writer_builder::<Pose>("robot/pose").qos(qos).batching(Duration::from_millis(5));
        let writer = builder.build().unwrap();
        let (mut set, _) = queued_set(&domain, queue_bytes);
        writer.wait_for_readers(1).block_for(within).unwrap();
        // More than the 1000 samples that readers of other commands keep.
        for number in 0..SAMPLES {
            writer.write(&pose((number % 2) as u32, 0.0)).unwrap();
        }
        writer.acknowledged().block_for(within).unwrap();
        let deadline = Instant::now() + within;
        while !has_room && set.without_room(0) == 0 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(10));
        }
        let mut numbers = Vec::new();
        while numbers.len() as u64 + set.without_room(0) < SAMPLES && Instant::now() < deadline {
            let take = |_, info: &SampleInfo, _: TopicChange<'_>| {
                numbers.push(info.sequence_number.0);
                Ok(())
            };
            set.deliver(take).unwrap();
        }
        assert_eq!(numbers.len() as u64 + set.without_room(0), SAMPLES);
        assert_eq!(set.without_room(0) == 0, has_room);
        assert!(!numbers.is_empty() && numbers.is_sorted());
    }
}

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Scan {
    #[dds(key)]
    sensor: u32,
    ranges: [f64; 8192],
}

#[test]
fn end_of_an_instance_takes_the_room_of_its_key() {
    const SENSORS: u32 = 8;
    let deadline = Instant::now() + Duration::from_secs(30);
    let domain = Domain::new();
    let qos = DataWriterQos::default().reliable().keep_all();
    let writer = domain.join("robot").writer_builder::<Scan>("scan").qos(qos).build().unwrap();
    // Room for one sample, or for all ends.
    let (mut set, _) = queued_set(&domain, 100_000);
    writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
    let mut arrived = Vec::new();
    let mut take = |set: &mut TopicSet, count: u32| {
        while arrived.len() as u64 + set.without_room(0) < u64::from(count) && Instant::now() < deadline {
            let take = |_, _: &SampleInfo, change: TopicChange<'_>| {
                arrived.push(match change {
                    TopicChange::Sample(_) => None,
                    TopicChange::End(end) => end.key.map(|key| key.get::<u32>("sensor").unwrap()),
                });
                Ok(())
            };
            set.deliver(take).unwrap();
        }
        std::mem::take(&mut arrived)
    };
    for sensor in 0..SENSORS {
        writer.write(&Scan { sensor, ranges: [0.0; 8192] }).unwrap();
        assert_eq!(take(&mut set, 1), [None]);
    }
    for sensor in 0..SENSORS {
        writer.dispose(&sensor).unwrap();
    }
    writer.acknowledged().block_for(Duration::from_secs(30)).unwrap();
    assert_eq!(take(&mut set, SENSORS), (0..SENSORS).map(Some).collect::<Vec<_>>());
    assert_eq!(set.without_room(0), 0);
}

#[test]
#[cfg(unix)]
fn failure_of_the_disk_still_prints_the_figures() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("disk");
    std::fs::create_dir(&place).unwrap();
    let path = place.join("drive.mcap");
    let domain = Domain::new();
    let writer = pose_writer(&domain.join("robot"));
    // The header of a file exceeds the size, so each sample after the first one begins a file.
    let line = ["record", "--output", path.to_str().unwrap(), "--split-bytes", "1", "--for", "30"];
    let printed = std::thread::scope(|scope| {
        let recorder = scope.spawn(|| domain.run(&line));
        writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        std::fs::remove_dir_all(&place).unwrap();
        for x in [1.0, 2.0] {
            writer.write(&pose(1, x)).unwrap();
            acknowledged(&writer);
        }
        recorder.join().unwrap()
    });
    assert!(matches!(printed.result, Err(ToolError::Io { .. })), "{}", printed.notes);
    assert!(printed.notes.contains("robot/pose: 2 samples, 0 lost\n"), "{}", printed.notes);
    assert!(printed.notes.ends_with("recorded 2 samples of 1 topics\n"), "{}", printed.notes);
}

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Cloud {
    points: Vec<f64>,
}

#[test]
fn long_and_short_samples_keep_their_bytes_and_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clouds.mcap");
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writer = robot.writer_builder::<Cloud>("cloud").qos(Preset::Event).build().unwrap();
    // A long sample stays in the memory of its reader, and a short one is copied.
    let clouds: Vec<Cloud> = [1_u32, 20_000, 3, 200_000, 5]
        .iter()
        .map(|&count| Cloud { points: vec![f64::from(count); count as usize] })
        .collect();
    std::thread::scope(|scope| {
        let recorder =
            scope.spawn(|| domain.run(&["record", "--output", path.to_str().unwrap(), "--count", "5"]).unwrap());
        writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        for cloud in &clouds {
            writer.write(cloud).unwrap();
        }
        recorder.join().unwrap();
    });
    let recorded: Vec<Cloud> =
        messages(&path).unwrap().map(|message| decode_payload(&message.unwrap().data).unwrap()).collect();
    assert_eq!(recorded, clouds);
}
