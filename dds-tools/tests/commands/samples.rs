//! `echo`, `pub`, `hz`, `bw` and `delay`.

use crate::support::{Domain, Ender, LiveOutput, PATIENCE, Pose, pose, pose_reader, pose_writer};
use dds_core::cdr::{Encoded, Encoding, F128};
use dds_core::dynamic::{DynamicData, DynamicType};
use dds_core::qos::{DataReaderQos, DataWriterQos, Durability, Ownership, Preset, SubscriberQos, TopicQos};
use dds_core::rpc::Replier;
use dds_core::{DdsType, InstanceState};
use dds_tools::{Stop, ToolError};
use std::collections::HashSet;
use std::time::{Duration, Instant};

#[test]
fn echo_prints_earlier_samples() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writer = pose_writer(&robot);
    writer.write(&pose(1, 1.5)).unwrap();
    writer.write(&pose(2, 2.5)).unwrap();
    let text = domain.run(&["echo", "robot/pose", "--count", "2"]).unwrap();
    assert_eq!(text, "{robot: 1, x: 1.5, tags: [\"robot 1\"]}\n{robot: 2, x: 2.5, tags: [\"robot 2\"]}\n");

    let text = domain.run(&["echo", "robot/pose", "--count", "1", "--json"]).unwrap();
    assert_eq!(text, "{\"robot\":1,\"x\":1.5,\"tags\":[\"robot 1\"]}\n");

    let text = domain.run(&["echo", "robot/pose", "--count", "2", "--field", "tags[0]"]).unwrap();
    assert_eq!(text, "\"robot 1\"\n\"robot 2\"\n");

    let text = domain.run(&["echo", "robot/pose", "--count", "1", "--json", "--info"]).unwrap();
    let line: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&line["data"]["robot"], &line["sequence_number"]), (&1.into(), &1.into()));
    assert!(line["source_timestamp_ns"].as_i64().unwrap() > 0);
}

/// No single reader matches all of these writers.
#[test]
fn echo_prints_samples_of_writers_with_any_qos() {
    const LINE: [&str; 4] = ["echo", "robot/pose", "--field", "robot"];
    let domain = Domain::new();
    let robot = domain.join("robot");
    let first = pose_writer(&robot);
    let (output, stop) = (LiveOutput::default(), Stop::new());
    std::thread::scope(|scope| {
        let _end = Ender(stop.clone());
        scope.spawn(|| domain.run_into(&LINE, &output, &stop).unwrap());
        first.wait_for_readers(1).block_for(PATIENCE).unwrap();
        // The command begins with a reader for the first writer. The others appear later.
        let others = [
            DataWriterQos::default().best_effort(),
            DataWriterQos::default().reliable().ownership(Ownership::Exclusive),
        ]
        .map(|qos| robot.writer_builder::<Pose>("robot/pose").qos(qos).build().unwrap());
        let start = Instant::now();
        for (number, writer) in (1..).zip([&first, &others[0], &others[1]]) {
            // A sample without reliability may be lost.
            while !output.text().lines().any(|line| line == number.to_string()) {
                assert!(start.elapsed() < PATIENCE, "{number} is missing: {}", output.text());
                writer.write(&pose(number, 0.0)).unwrap();
                std::thread::sleep(Duration::from_millis(100));
            }
        }
    });
}

#[test]
fn echo_prints_disposed_instance_with_its_key() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writer = pose_writer(&robot);
    writer.write(&pose(7, 1.0)).unwrap();
    std::thread::scope(|scope| {
        let stop = Stop::new();
        let echo = scope.spawn({
            let stop = stop.clone();
            let domain = &domain;
            move || domain.run_with(&["echo", "robot/pose", "--json"], "", &stop)
        });
        writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        writer.acknowledged().block_for(Duration::from_secs(30)).unwrap();
        writer.dispose(&7).unwrap();
        writer.acknowledged().block_for(Duration::from_secs(30)).unwrap();
        // The reader has the change now. The command prints it within one step.
        std::thread::sleep(Duration::from_millis(500));
        stop.request();
        let text = echo.join().unwrap().unwrap();
        let last: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!(last["$instance_state"], "disposed");
        assert_eq!(last["key"]["robot"], 7);
    });
}

#[test]
fn echo_prints_the_key_of_every_instance_that_ends_at_once() {
    const ENDS: u32 = 40;
    for form in ["--json", "--yaml"] {
        let domain = Domain::new();
        let robot = domain.join("robot");
        let writer = pose_writer(&robot);
        let (stop, output) = (Stop::new(), LiveOutput::default());
        std::thread::scope(|scope| {
            let _ender = Ender(stop.clone());
            let echo = scope.spawn({
                let (domain, output, stop) = (&domain, output.clone(), stop.clone());
                move || domain.run_into(&["echo", "robot/pose", form], &output, &stop)
            });
            writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
            for robot in 1..=ENDS {
                writer.write(&pose(robot, 0.0)).unwrap();
                // The reader removes the instance with the take, because no writer has it any more.
                writer.unregister_instance(&robot).unwrap();
            }
            let start = Instant::now();
            while output.text().matches("$instance_state").count() < ENDS as usize {
                assert!(start.elapsed() < Duration::from_secs(30), "{}", output.text());
                std::thread::sleep(Duration::from_millis(10));
            }
            stop.request();
            echo.join().unwrap().unwrap();
        });
        let text = output.text();
        for robot in 1..=ENDS {
            let key = match form {
                "--json" => format!("{{\"$instance_state\":\"disposed\",\"key\":{{\"robot\":{robot},"),
                _ => format!("\"$instance_state\": \"disposed\"\nkey:\n  robot: {robot}\n"),
            };
            assert!(text.contains(&key), "{key}{text}");
        }
        // `pub` reads what `echo` has printed.
        let reader = pose_reader(&robot, "robot/copy");
        // A line of JSON is a document by itself.
        let mut line = vec!["pub", "robot/copy", "-"];
        line.extend(["--yaml"].into_iter().filter(|option| *option == form));
        domain.run_with(&line, &text, &Stop::new()).unwrap();
        // The state may come with the last sample of an instance, or with a sample of its own.
        let mut ended = HashSet::new();
        while ended.len() < ENDS as usize {
            let info = reader.next_sample().block_for(Duration::from_secs(30)).unwrap().info;
            if info.instance_state == InstanceState::NotAliveDisposed {
                ended.insert(info.instance_handle);
            }
        }
    }
}

#[test]
fn echo_refuses_unknown_field_and_topic() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let _writer = pose_writer(&robot);
    let error = domain.run(&["echo", "robot/pose", "--field", "z"]).result.unwrap_err();
    assert!(matches!(error, ToolError::Value { .. }), "{error}");
    let error = domain.run(&["echo", "no/topic", "--type-wait", "0.5"]).result.unwrap_err();
    assert!(matches!(error, ToolError::NoTopic { .. }), "{error}");
}

#[test]
fn pub_writes_json_samples() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let reader = pose_reader(&robot, "robot/pose");
    let printed = domain.run(&["pub", "robot/pose", r#"{"robot": 3, "x": 0.25, "tags": ["a", "b"]}"#]);
    assert_eq!(printed.notes, "samples published: 1\n");
    printed.unwrap();
    let expected = Pose { robot: 3, x: 0.25, tags: vec!["a".to_owned(), "b".to_owned()] };
    let sample = reader.next_sample().block_for(Duration::from_secs(10)).unwrap();
    assert_eq!(sample.data, Some(expected));
    let text = domain.run(&["pub", "robot/pose", "{}", "--count", "2", "--json"]).unwrap();
    assert_eq!(text, "{\"topic\":\"robot/pose\",\"published\":2}\n");
}

#[test]
fn given_qos_of_pub_win_over_those_for_the_readers() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    // For this reader alone, the writer is volatile and in both partitions. It has no deadline, lifespan or strength.
    let subscriber = robot.subscriber(SubscriberQos::default().partition(["left", "right"])).unwrap();
    let topic = robot.topic::<Pose>("robot/pose", TopicQos::default()).unwrap();
    let qos = DataReaderQos::default().ownership(Ownership::Exclusive);
    let reader = subscriber.reader_builder(&topic).qos(qos).build().unwrap();
    let line = ["pub", "robot/pose", "{robot: 1}", "--readers-wait", "30", "--rate", "10"];
    let given = ["--best-effort", "--durability", "transient-local", "--deadline", "5", "--lifespan", "60"];
    let group = ["--partition", "left", "--ownership-strength", "-7"];
    let stop = Stop::new();
    std::thread::scope(|scope| {
        let _ender = Ender(stop.clone());
        let publisher = scope.spawn(|| domain.run_with(&[&line[..], &given, &group].concat(), "", &stop));
        let info = reader.next_sample().block_for(Duration::from_secs(30)).unwrap().info;
        let writer = reader.matched_publication_data(info.publication_handle).unwrap();
        stop.request();
        publisher.join().unwrap().unwrap();
        assert!(!writer.qos.reliability.is_reliable());
        assert_eq!(writer.qos.durability, Durability::TransientLocal);
        assert_eq!(writer.qos.deadline, Duration::from_secs(5).into());
        assert_eq!(writer.qos.lifespan, Duration::from_secs(60).into());
        assert_eq!((writer.partition, writer.qos.ownership_strength), (vec!["left".to_owned()], -7));
    });
}

#[test]
fn pub_reads_one_sample_from_each_line() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let reader = pose_reader(&robot, "robot/pose");
    let input = "{\"robot\": 1}\n\n{\"robot\": 2}\n";
    domain.run_with(&["pub", "robot/pose", "-"], input, &Stop::new()).unwrap();
    let mut robots = Vec::new();
    while robots.len() < 2 {
        let sample = reader.next_sample().block_for(Duration::from_secs(10)).unwrap();
        robots.extend(sample.data.map(|pose| pose.robot));
    }
    assert_eq!(robots, [1, 2]);
}

#[test]
fn pub_refuses_wrong_value_before_it_matches() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let reader = pose_reader(&robot, "robot/pose");
    let error = domain.run(&["pub", "robot/pose", r#"{"robot": -1}"#]).result.unwrap_err();
    assert!(error.to_string().starts_with("robot: "), "{error}");
    assert_eq!(reader.subscription_matched().total_count, 0);
}

#[test]
fn measurements_count_every_sample() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writer = pose_writer(&robot);
    for (command, unit) in [("hz", "interval_ns"), ("bw", "size_bytes"), ("delay", "delay_ns")] {
        let text = std::thread::scope(|scope| {
            let measure = scope.spawn(|| domain.run(&[command, "robot/pose", "--count", "50", "--json"]));
            while !measure.is_finished() {
                writer.write(&pose(1, 1.0)).unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
            measure.join().unwrap().unwrap()
        });
        let total: serde_json::Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        assert_eq!((&total["total"], &total["samples"]), (&true.into(), &50.into()), "{text}");
        assert!(total["rate_hz"].as_f64().unwrap() > 0.0);
        assert!(unit != "interval_ns" || total[unit]["p50"].as_u64().unwrap() >= 1_000_000, "{text}");
        assert!(total[unit]["max"].as_u64().unwrap() >= total[unit]["min"].as_u64().unwrap());
    }
}

#[test]
fn measurement_without_topic_has_lines_for_each() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let left = pose_writer(&robot);
    let right = robot.writer_builder::<Pose>("robot/right").build().unwrap();
    for (command, form, of_left, of_right) in [
        ("hz", &["--json"][..], "\"topic\":\"robot/pose\"", "\"topic\":\"robot/right\""),
        ("bw", &[], "robot/pose: ", "robot/right: "),
        ("delay", &[], "robot/pose: ", "robot/right: "),
    ] {
        let (stop, output) = (Stop::new(), LiveOutput::default());
        let lines_of = |part: &str| {
            let text = output.text();
            // The first periods of a topic may be empty.
            let is_empty = |line: &str| line.contains(": 0 samples") || line.contains("\"samples\":0,");
            text.lines().filter(|line| line.contains(part) && !is_empty(line)).map(str::to_owned).collect::<Vec<_>>()
        };
        std::thread::scope(|scope| {
            let _ender = Ender(stop.clone());
            let line = [&[command, "--every", "0.2"], form].concat();
            let measure = scope.spawn({
                let (domain, output, stop) = (&domain, output.clone(), stop.clone());
                move || domain.run_into(&line, &output, &stop)
            });
            let start = Instant::now();
            while lines_of(of_left).len() < 2 || lines_of(of_right).len() < 2 {
                assert!(start.elapsed() < Duration::from_secs(30), "{}", output.text());
                left.write(&pose(1, 1.0)).unwrap();
                right.write(&pose(2, 1.0)).unwrap();
                std::thread::sleep(Duration::from_millis(2));
            }
            stop.request();
            measure.join().unwrap().unwrap();
        });
        for part in [of_left, of_right] {
            let last = lines_of(part).pop().unwrap();
            let is_total = last.starts_with("total: ") || last.contains("\"total\":true");
            assert!(is_total, "{last}");
        }
    }
}

#[test]
fn measurement_without_samples_fails() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let _reader = pose_reader(&robot, "robot/pose");
    for topic in [&["robot/pose"][..], &[]] {
        let error = domain.run(&[&["hz", "--for", "0.3"], topic].concat()).result.unwrap_err();
        assert!(matches!(error, ToolError::NothingArrived { .. }), "{error}");
    }
}

#[test]
fn echo_reads_type_from_file() {
    let domain = Domain::new();
    // A raw topic describes no type.
    let robot = domain.join("robot");
    let topic = robot.raw_topic("raw/pose", "Pose", TopicQos::default()).unwrap();
    let writer = robot.writer_builder(&topic).qos(Preset::State).build().unwrap();
    // XCDR1, little endian: the robot 4 at x = 0.5 with one tag.
    let numbers = [[0, 1, 0, 0], [4, 0, 0, 0], [0; 4], [0; 4], [0, 0, 0xe0, 0x3f], [1, 0, 0, 0], [8, 0, 0, 0]];
    let payload = [&numbers.concat()[..], b"robot 4\0"].concat();
    writer.write_encoded(Encoded::new(&payload).unwrap()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pose.idl");
    let echo = ["echo", "raw/pose", "--count", "1", "--type-wait", "1"];
    let error = domain.run(&echo).result.unwrap_err();
    assert!(matches!(error, ToolError::NoType { .. }), "{error}");

    std::fs::write(&file, "@final struct Pose { unsigned long robot; double x; sequence<string> tags; };").unwrap();
    let with_type = [&echo[..], &["--type", file.to_str().unwrap()]].concat();
    assert_eq!(domain.run(&with_type).unwrap(), "{robot: 4, x: 0.5, tags: [\"robot 4\"]}\n");

    for wrong in ["struct Other { long x; };", "struct Pose { lon x; };"] {
        std::fs::write(&file, wrong).unwrap();
        let error = domain.run(&with_type).result.unwrap_err();
        assert!(matches!(error, ToolError::TypeFile { .. }), "{error}");
    }
}

#[test]
fn echo_prints_the_bytes_of_an_unknown_type() {
    let domain = Domain::new();
    // A raw topic describes no type.
    let robot = domain.join("robot");
    let topic = robot.raw_topic("raw/pose", "Pose", TopicQos::default()).unwrap();
    let qos = DataWriterQos::default().keep_all().transient_local();
    let writer = robot.writer_builder(&topic).qos(qos).build().unwrap();
    for last in [0x05, 0xf0] {
        writer.write_encoded(Encoded::new(&[0, 1, 0, 0, 4, 0, 0, last]).unwrap()).unwrap();
    }
    let echo = |options: &[&str]| {
        domain.run(&[&["echo", "raw/pose", "--count", "2", "--for", "30", "--raw"], options].concat()).unwrap()
    };
    assert_eq!(echo(&[]), "0001000004000005\n00010000040000f0\n");
    assert_eq!(echo(&["--json"]), "{\"encoded\":\"0001000004000005\"}\n{\"encoded\":\"00010000040000f0\"}\n");
    let text = echo(&["--json", "--info"]);
    let line: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
    assert_eq!((&line["encoded"], &line["sequence_number"]), (&"00010000040000f0".into(), &2.into()));
    assert!(line.get("data").is_none(), "{line}");
}

#[test]
fn new_topic_needs_the_name_of_its_type() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("pose.idl");
    std::fs::write(&file, "@final struct Other { long a; };\n@final struct Pose { @key unsigned long robot; };\n")
        .unwrap();
    let file = file.to_str().unwrap();
    let domain = Domain::new();
    let publish = |name: &str, readers: &str| {
        let line = ["pub", "new/pose", "{\"robot\": 7}", "--readers", readers, "--type", file, "--type-name", name];
        domain.run(&[&line[..], &["--readers-wait", "30"]].concat())
    };
    std::thread::scope(|scope| {
        let domain = &domain;
        let echo = ["echo", "new/pose", "--count", "1", "--type", file, "--type-name", "Pose", "--for", "60"];
        let echo = scope.spawn(move || domain.run(&echo).unwrap());
        assert_eq!(publish("Pose", "1").notes, "samples published: 1\n");
        // The writer may end the instance before the reader takes the sample.
        let text = echo.join().unwrap();
        assert!(text.starts_with("{robot: 7}\n"), "{text}");
    });
    assert_eq!(publish("Pose", "0").notes, "samples published: 1\n");
    let error = publish("Posse", "0").result.unwrap_err().to_string();
    assert_eq!(error, "there is no definition of the type Posse");
}

#[test]
fn echo_prints_yaml_that_pub_reads() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writer = pose_writer(&robot);
    writer.write(&pose(1, 1.5)).unwrap();
    let text = domain.run(&["echo", "robot/pose", "--count", "1", "--yaml"]).unwrap();
    assert_eq!(text, "robot: 1\nx: 1.5\ntags:\n  - \"robot 1\"\n---\n");
    let reader = pose_reader(&robot, "robot/pose");
    let input = format!("{text}robot: 2\nx: .5\n");
    let line = ["pub", "robot/pose", "-", "--yaml", "--readers-wait", "30"];
    let printed = domain.run_with(&line, &input, &Stop::new());
    assert_eq!(printed.notes, "samples published: 2\n");
    printed.unwrap();
    let mut poses = Vec::new();
    while poses.len() < 2 {
        poses.extend(reader.next_sample().block_for(Duration::from_secs(10)).unwrap().data);
    }
    assert_eq!((&poses[0], poses[1].x), (&pose(1, 1.5), 0.5));
    domain.run(&["pub", "robot/pose", "{robot: 3, tags: [a]}", "--readers-wait", "30"]).unwrap();
}

#[test]
fn pub_ends_instances_by_their_keys() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let reader = pose_reader(&robot, "robot/pose");
    let input = "robot: 1\n---\nrobot: 2\n---\n$instance_state: disposed\nkey:\n  robot: 1\n---\n\
                 $instance_state: \"no writers\"\nkey:\n  robot: 2\n---\nrobot: 3\n";
    let mut ends = Vec::new();
    std::thread::scope(|scope| {
        let line = ["pub", "robot/pose", "-", "--yaml", "--rate", "2", "--readers-wait", "30"];
        let domain = &domain;
        let publisher = scope.spawn(move || domain.run_with(&line, input, &Stop::new()));
        while ends.len() < 2 {
            let sample = reader.next_sample().block_for(Duration::from_secs(30)).unwrap();
            let key = reader.key_value(sample.info.instance_handle);
            if sample.info.instance_state != InstanceState::Alive {
                ends.push((key, sample.info.instance_state, sample.info.sequence_number.0));
            }
        }
        assert_eq!(publisher.join().unwrap().notes, "samples published: 5\n");
    });
    // The end of the writer also leaves instances, but without a sequence number.
    let expected = [(Some(1), InstanceState::NotAliveDisposed, 3), (Some(2), InstanceState::NotAliveNoWriters, 4)];
    assert_eq!(ends, expected);
}

#[test]
fn echo_prints_every_value_so_that_pub_reads_it() {
    let choice = DynamicType::union("Choice", DynamicType::int32())
        .case("number", &[1, -1], DynamicType::float32())
        .default_case("text", DynamicType::string());
    let ty = DynamicType::structure("Value")
        .member("choices", DynamicType::sequence(choice))
        .member("limits", DynamicType::map(DynamicType::string(), DynamicType::float64()))
        .member("id", DynamicType::uint64())
        .member("long", DynamicType::float128())
        .build()
        .unwrap();
    let mut value = DynamicData::new(&ty);
    value.resize("choices", 2).unwrap();
    value.select("choices[0]", -1).unwrap();
    value.set("choices[0].number", f32::NEG_INFINITY).unwrap();
    value.select("choices[1]", 3).unwrap();
    value.set(r#"limits["a\"]\\"]"#, f64::INFINITY).unwrap();
    value.set("id", u64::MAX).unwrap();
    value.set("long", F128::from_bits(u128::MAX / 3)).unwrap();
    let domain = Domain::new();
    let robot = domain.join("robot");
    let topic = robot.dynamic_topic("value", &ty, TopicQos::default()).unwrap();
    let writer = robot.writer_builder(&topic).qos(Preset::State).build().unwrap();
    writer.write(&value).unwrap();
    let text = domain
        .run(&["echo", "value", "--count", "1", "--for", "30", "--json", "--field", r#"limits["a\"]\\"]"#])
        .unwrap();
    assert_eq!(text, "\"Infinity\"\n");
    for form in ["--json", "--yaml"] {
        let text = domain.run(&["echo", "value", "--count", "1", "--for", "30", form]).unwrap();
        let other = domain.join("other");
        let topic = other.dynamic_topic("copy", &ty, TopicQos::default()).unwrap();
        let reader = other.reader_builder(&topic).qos(Preset::Event).build().unwrap();
        let line = ["pub", "copy", "-", "--readers-wait", "30"];
        let form = if form == "--yaml" { &[form][..] } else { &[] };
        domain.run_with(&[&line[..], form].concat(), &text, &Stop::new()).unwrap();
        let sample = reader.next_sample().block_for(Duration::from_secs(10)).unwrap();
        assert_eq!(sample.data.as_ref(), Some(&value), "{text}");
    }
}

#[test]
fn echo_names_samples_that_do_not_fit_the_type() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    // The reader describes the type, and the raw writer does not.
    let _reader = pose_reader(&robot, "raw/pose");
    let other = domain.join("other");
    let topic = other.raw_topic("raw/pose", "Pose", TopicQos::default()).unwrap();
    let qos = DataWriterQos::default().keep_all().transient_local();
    let writer = other.writer_builder(&topic).qos(qos).build().unwrap();
    let mut sample = DynamicData::new(&DynamicType::of::<Pose>().unwrap());
    let mut payload = |x: f64| {
        sample.set("x", x).unwrap();
        sample.to_payload(Encoding::Xcdr1).unwrap()
    };
    let (near, far) = (payload(0.0), payload(5.0));
    for bytes in [&near[..], &near[..8], &far, &near] {
        writer.write_encoded(Encoded::new(bytes).unwrap()).unwrap();
    }
    let (near, far) = ("{robot: 0, x: 0.0, tags: []}\n", "{robot: 0, x: 5.0, tags: []}\n");
    for (filter, expected) in [(&[][..], [near, far, near].concat()), (&["--filter", "x < 1"], [near, near].concat())] {
        let count = expected.lines().count().to_string();
        let printed = domain.run(&[&["echo", "raw/pose", "--count", &count, "--for", "30"], filter].concat());
        assert_eq!(printed.output, expected, "{}", printed.notes);
        // The part without `x` passes, because `x` has its default.
        let has_note =
            printed.notes.starts_with("sample 2 of ") && printed.notes.contains(" does not fit the type Pose: ");
        assert!(has_note, "{}", printed.notes);
    }
}

#[test]
fn call_prints_the_reply_to_its_request() {
    #[derive(DdsType, Debug)]
    struct Number {
        value: i64,
    }
    let domain = Domain::new();
    let robot = domain.join("robot");
    let replier = Replier::<Number, Number>::new(&robot, "square").unwrap();
    let server = replier.clone();
    let server = std::thread::spawn(move || server.serve(|number| Number { value: number.value * number.value }));
    let text = domain.run(&["call", "square", "{value: 7}", "--within", "30", "--json"]).unwrap();
    assert_eq!(text, "{\"value\":49}\n");
    let (start, expected) = (Instant::now(), "no server of service \"cube\" was found; known services: square");
    loop {
        let error = domain.run(&["call", "cube", "--type-wait", "0.8"]).result.unwrap_err().to_string();
        if error == expected {
            break;
        }
        assert!(start.elapsed() < PATIENCE, "{error}");
    }
    replier.close();
    // A closed replier ends its loop with an error.
    let _ = server.join().unwrap();
}

#[test]
fn echo_filters_by_sql() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writer = pose_writer(&robot);
    for (number, x) in [(1, 1.5), (2, 2.5), (3, 3.5)] {
        writer.write(&pose(number, x)).unwrap();
    }
    let echo = |filter: &str| {
        let line = ["echo", "robot/pose", "--count", "1", "--for", "30", "--field", "robot", "--filter", filter];
        domain.run(&line)
    };
    assert_eq!(echo("x > 2 AND tags[0] LIKE '%3'").unwrap(), "3\n");
    let error = echo("y > 2").result.unwrap_err().to_string();
    assert!(error.contains("`Pose` has no field `y`"), "{error}");
}
