//! Problems that `dds why` must name, each with its next step.

use crate::serving::{await_that, get, serve};
use crate::support::{Domain, Ender};
use dds_core::qos::{
    AccessScope, DataReaderQos, DataRepresentation, DataWriterQos, DestinationOrder, LivelinessKind, Ownership,
    PublisherQos, SubscriberQos,
};
use dds_core::{DdsType, Duration};
use dds_durability::DurabilityService;
use dds_tools::Stop;

#[derive(DdsType, Debug, Default)]
#[dds(name = "Scan", extensibility = "final")]
struct Scan {
    angle: f64,
}

#[derive(DdsType, Debug, Default)]
#[dds(name = "Scan", extensibility = "final")]
struct OtherScan {
    angle: String,
}

/// A writer and a reader that do not match.
#[derive(Default)]
struct Problem {
    writer: DataWriterQos,
    reader: DataReaderQos,
    publisher: PublisherQos,
    subscriber: SubscriberQos,
}

/// Repeats `dds why` until its first line has an obstacle whose reason and next step are the wanted ones.
///
/// It also looks into the domains of other tests if the topic has one side. The topic needs a name of its own then.
fn await_obstacle(domain: &Domain, topic: &str, is_wanted: impl Fn(&str, &str) -> bool) {
    domain.run_until(&["why", topic, "--json", "--wait", "0.8"], |text| {
        let Some(first) = text.lines().next() else { return false };
        let found: serde_json::Value = serde_json::from_str(first).unwrap();
        assert_eq!(found["topic"], topic);
        let text = |key: &str| found["obstacles"][0][key].as_str().unwrap().to_owned();
        is_wanted(&text("reason"), &text("next_step"))
    });
}

/// Checks that the first line names `expected`, with the next step.
fn assert_named(problem: Problem, expected: &[&str], step: &str) {
    let domain = Domain::new();
    let (robot, planner) = (domain.join("robot"), domain.join("planner"));
    let publisher = robot.publisher(problem.publisher).unwrap();
    let subscriber = planner.subscriber(problem.subscriber).unwrap();
    let _writer = publisher.writer_builder::<Scan>("scan").qos(problem.writer).build().unwrap();
    let _reader = subscriber.reader_builder::<Scan>("scan").qos(problem.reader).build().unwrap();
    await_obstacle(&domain, "scan", |reason, next_step| {
        expected.iter().all(|word| reason.contains(word)) && next_step == step
    });
    // The first line for people has the same.
    let text = domain.run_until(&["why", "scan", "--wait", "0.8"], |text| text.contains(step));
    let first = text.lines().next().unwrap();
    assert!(expected.iter().all(|word| first.contains(word)) && first.contains(step), "{text}");
}

fn with_writer(writer: DataWriterQos) -> Problem {
    Problem { writer, ..Problem::default() }
}

fn with_reader(reader: DataReaderQos) -> Problem {
    Problem { reader, ..Problem::default() }
}

#[test]
fn why_names_each_policy() {
    let reader = DataReaderQos::default;
    let writer = DataWriterQos::default;
    let offer = "let the writer offer more, or the reader request less";
    assert_named(
        Problem { writer: writer().best_effort(), reader: reader().reliable(), ..Problem::default() },
        &["RELIABILITY", "BestEffort", "Reliable"],
        offer,
    );
    assert_named(with_reader(reader().transient_local()), &["DURABILITY", "Volatile", "TransientLocal"], offer);
    assert_named(with_reader(reader().deadline(Duration::from_millis(100))), &["DEADLINE", "100"], offer);
    let mut qos = writer();
    qos.latency_budget = Duration::from_millis(250);
    assert_named(with_writer(qos), &["LATENCY_BUDGET", "250"], offer);
    let mut qos = reader();
    qos.liveliness.kind = LivelinessKind::ManualByTopic;
    assert_named(with_reader(qos), &["LIVELINESS", "ManualByTopic"], offer);
    let mut qos = reader();
    qos.destination_order = DestinationOrder::BySourceTimestamp;
    assert_named(with_reader(qos), &["DESTINATION_ORDER", "BySourceTimestamp"], offer);
    let mut qos = writer();
    qos.ownership = Ownership::Exclusive;
    assert_named(with_writer(qos), &["OWNERSHIP", "Exclusive", "Shared"], "give both sides the same OWNERSHIP");
    let mut qos = writer();
    qos.representation = vec![DataRepresentation::Xcdr2];
    let mut problem = with_writer(qos);
    problem.reader.representation = vec![DataRepresentation::Xcdr1];
    let add = "add the writer's encoding to the reader's list, or change the writer's";
    assert_named(problem, &["DATA_REPRESENTATION", "Xcdr2", "Xcdr1"], add);
    let mut subscriber = SubscriberQos::default();
    subscriber.presentation.access_scope = AccessScope::Topic;
    assert_named(Problem { subscriber, ..Problem::default() }, &["PRESENTATION", "Topic"], offer);
    assert_named(
        Problem { publisher: PublisherQos::default().partition(["left"]), ..Problem::default() },
        &["partition", "left"],
        "give publisher and subscriber a partition in common",
    );
}

#[test]
fn why_names_difference_of_types_by_member() {
    let domain = Domain::new();
    let (robot, planner) = (domain.join("robot"), domain.join("planner"));
    let _writer = robot.writer::<Scan>("scan").unwrap();
    let _reader = planner.reader::<OtherScan>("scan").unwrap();
    let expected = "member with id 0: the writer has double, the reader string";
    await_obstacle(&domain, "scan", |reason, next_step| {
        reason.contains(expected)
            && next_step.starts_with("make the types agree, or let the reader's TYPE_CONSISTENCY ")
    });
}

#[test]
fn why_names_topic_without_other_side() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let _writer = robot.writer::<Scan>("lonely").unwrap();
    let is_alone = |reason: &str| reason == "no reader was found (writers: 1)";
    let start = "start the reader, or compare its domain, domain tag";
    await_obstacle(&domain, "lonely", |reason, next_step| is_alone(reason) && next_step.starts_with(start));

    // A name of ROS is another topic in DDS.
    let _reader = robot.reader::<Scan>("rt/lonely").unwrap();
    let expected = "topic \"rt/lonely\" has a reader: compare the names";
    await_obstacle(&domain, "lonely", |reason, next_step| is_alone(reason) && next_step == expected);
}

#[test]
fn why_names_other_domain() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let planner = domain.join_domain(3, "planner");
    let (_writer, _reader) = (robot.writer::<Scan>("domains").unwrap(), planner.reader::<Scan>("domains").unwrap());
    let expected = "the topic also exists in domain 3: compare the domains";
    await_obstacle(&domain, "domains", |reason, next_step| {
        reason == "no reader was found (writers: 1)" && next_step == expected
    });
}

/// This domain has no endpoint of the topic, and first not even a participant.
#[test]
fn why_names_other_domain_of_a_missing_topic() {
    let domain = Domain::new();
    let planner = domain.join_domain(3, "planner");
    let _reader = planner.reader::<Scan>("moved").unwrap();
    let is_wanted = |reason: &str, next_step: &str| {
        reason == "no endpoint was found in this domain"
            && next_step == "the topic exists in domain 3: compare the domains"
    };
    await_obstacle(&domain, "moved", is_wanted);
    let robot = domain.join("robot");
    let _writer = robot.writer::<Scan>("other").unwrap();
    domain.run_until(&["ls", "--wait", "0.8"], |text| text.contains("other"));
    await_obstacle(&domain, "moved", is_wanted);
}

/// A missing topic still names the known ones.
#[test]
fn why_names_known_topics_of_a_missing_one() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let _writer = robot.writer::<Scan>("known").unwrap();
    domain.run_until(&["ls", "--wait", "0.8"], |text| text.contains("known"));
    let error = domain.run(&["why", "unknown", "--wait", "1.5"]).result.unwrap_err();
    let expected = "no endpoint of topic \"unknown\" was found; known topics: known";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn why_without_a_topic_names_the_command_that_looks_further() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let _writer = robot.writer::<Scan>("single").unwrap();
    let expected = "; `dds why single` also looks into other domains and domain tags, and for firewalls";
    let text = domain.run_until(&["why", "--wait", "0.8"], |text| text.contains("no reader was found"));
    assert!(text.contains("start the reader, or compare its domain") && text.contains(expected), "{text}");
}

#[test]
fn why_names_other_domain_tag() {
    let (domain, other) = (Domain::new(), Domain::new());
    let (robot, planner) = (domain.join("robot"), other.join("planner"));
    let (_writer, _reader) = (robot.writer::<Scan>("tagged").unwrap(), planner.reader::<Scan>("tagged").unwrap());
    let expected = "the topic also exists with another domain tag: compare the tags";
    await_obstacle(&domain, "tagged", |reason, next_step| {
        reason == "no reader was found (writers: 1)" && next_step.starts_with(expected)
    });
}

#[test]
fn why_names_participant_without_endpoints() {
    let domain = Domain::new();
    let (robot, _silent) = (domain.join("robot"), domain.join("silent"));
    let _writer = robot.writer::<Scan>("quiet").unwrap();
    let expected = "announcements of silent arrive, but no endpoints: if it has a reader, a firewall";
    await_obstacle(&domain, "quiet", |reason, next_step| {
        reason == "no reader was found (writers: 1)" && next_step.starts_with(expected)
    });
}

/// A program `dds` between which and this one a firewall stands, such as `dds echo` on another host.
#[test]
fn program_dds_without_endpoints_is_silent_unless_it_reads_other_topics() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let _writer = robot.writer::<Scan>("hidden").unwrap();
    let looking = |name: &str, topics: &str| domain.join_with(name, |builder| builder.property("dds.looks", topics));
    let _others = [looking("ls", ""), looking("echo of another", "other\nelse/*")];
    let start = "start the reader, or compare its domain";
    await_obstacle(&domain, "hidden", |_, next_step| next_step.starts_with(start));
    let _echo = looking("echo", "other\nhid*");
    let expected = "announcements of echo arrive, but no endpoints";
    await_obstacle(&domain, "hidden", |_, next_step| next_step.starts_with(expected));
}

/// A program whose readers match no writer has a problem, even if it only looks.
#[test]
fn why_names_looking_reader_without_a_match() {
    let domain = Domain::new();
    let (robot, viewer) = (domain.join("robot"), domain.join_with("viewer", |it| it.property("dds.looks", "*")));
    let _writer = robot.writer::<Scan>("scan").unwrap();
    let mut qos = DataReaderQos::default();
    qos.ownership = Ownership::Exclusive;
    let _strict = viewer.reader_builder::<Scan>("scan").qos(qos).build().unwrap();
    await_obstacle(&domain, "scan", |reason, _| reason.starts_with("OWNERSHIP"));
    let _reader = viewer.reader::<Scan>("scan").unwrap();
    let expected = "every writer matches every reader (topics: 1)\n";
    domain.run_until(&["why", "scan", "--wait", "0.8"], |text| text == expected);
}

/// The recorder has a reader for each kind of writer, and each matches only its kind.
#[test]
fn why_blames_no_reader_of_a_recorder() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("scan.mcap");
    let line = ["record", "scan", "--output", path.to_str().unwrap()];
    let kinds = [DataWriterQos::default().transient_local(), DataWriterQos::default().best_effort()];
    let writers = kinds.map(|qos| robot.writer_builder::<Scan>("scan").qos(qos).build().unwrap());
    let stop = Stop::new();
    std::thread::scope(|scope| {
        let ender = Ender(stop.clone());
        let recorder = scope.spawn(|| domain.run_with(&line, "", &stop));
        for writer in &writers {
            writer.wait_for_readers(1).block_for(std::time::Duration::from_secs(60)).unwrap();
            writer.write(&Scan::default()).unwrap();
        }
        let expected = "every writer matches every reader (topics: 1)\n";
        domain.run_until(&["why", "scan", "--wait", "0.8"], |text| text == expected);
        // The live views see the readers of the recorder as well. This pair shows that they have looked.
        let _strict = robot.reader_builder::<Scan>("arm").reliable().build().unwrap();
        let _weak = robot.writer_builder::<Scan>("arm").best_effort().build().unwrap();
        let text = domain.run_until(&["top", "--json", "--every", "0.2", "--for", "2"], |text| {
            text.lines().last().is_some_and(|line| line.contains("topic \\\"arm\\\""))
        });
        assert!(!text.contains("topic \\\"scan\\\""), "{text}");
        serve(&domain, &[], |address| {
            let state = await_that(|| {
                let state: serde_json::Value = serde_json::from_str(&get(address, "/api/state", "").1).unwrap();
                (!state["pairs"].as_array()?.is_empty()).then_some(state)
            });
            let topics: Vec<_> = state["pairs"].as_array().unwrap().iter().map(|pair| &pair["topic"]).collect();
            assert_eq!(topics, ["arm"], "{state}");
        });
        drop(ender);
        recorder.join().unwrap().unwrap();
    });
}

/// A program that hangs: its participant still announces itself.
#[test]
fn why_names_writer_without_sign_of_life() {
    let domain = Domain::new();
    let (robot, planner) = (domain.join("robot"), domain.join("planner"));
    let mut qos = DataWriterQos::default();
    qos.liveliness.kind = LivelinessKind::ManualByTopic;
    qos.liveliness.lease_duration = Duration::from_millis(300);
    let writer = robot.writer_builder::<Scan>("scan").qos(qos).build().unwrap();
    let _reader = planner.reader::<Scan>("scan").unwrap();
    let expected = "writer of robot: no sign of life within its lease (LIVELINESS ManualByTopic";
    await_obstacle(&domain, "scan", |reason, next_step| {
        reason.starts_with(expected) && next_step.contains("look whether it hangs")
    });

    // A writer that asserts its liveliness is no problem. Its lease also covers a slow machine.
    let mut qos = DataWriterQos::default();
    qos.liveliness.kind = LivelinessKind::ManualByTopic;
    qos.liveliness.lease_duration = Duration::from_secs(2);
    drop(writer);
    let writer = robot.writer_builder::<Scan>("scan").qos(qos).build().unwrap();
    let stop = Stop::new();
    let _end = Ender(stop.clone());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.is_due() {
                writer.write(&Scan::default()).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
        });
        let expected = "every writer matches every reader (topics: 1)\n";
        let end = Ender(stop.clone());
        domain.run_until(&["why", "scan", "--wait", "0.8"], |text| text == expected);
        drop(end);
    });
}

/// Both leases end in the same moment, so the reader may note both changes at once.
#[test]
fn why_names_each_of_two_writers_that_become_silent_together() {
    let domain = Domain::new();
    let planner = domain.join("planner");
    let mut qos = DataWriterQos::default();
    qos.liveliness.kind = LivelinessKind::ManualByTopic;
    qos.liveliness.lease_duration = Duration::from_millis(300);
    let robots = ["left", "right"].map(|name| domain.join(name));
    let _writers = [0, 1].map(|number| robots[number].writer_builder::<Scan>("scan").qos(qos.clone()).build().unwrap());
    let _reader = planner.reader::<Scan>("scan").unwrap();
    domain.run_until(&["why", "scan", "--wait", "0.8"], |text| {
        let is_named = |name: &str| text.contains(&format!("writer of {name}: no sign of life within its lease"));
        is_named("left") && is_named("right")
    });
}

/// The program of the writer has ended before the look, so only the reader can know it.
#[test]
fn why_names_writer_that_has_gone() {
    let domain = Domain::new();
    let (robot, planner) = (domain.join("robot"), domain.join_with_latencies("planner"));
    let writer = robot.writer_builder::<Scan>("scan").reliable().keep_all().build().unwrap();
    let _reader = planner.reader_builder::<Scan>("scan").reliable().keep_all().build().unwrap();
    writer.wait_for_readers(1).block_for(std::time::Duration::from_secs(30)).unwrap();
    for _ in 0..5 {
        writer.write(&Scan::default()).unwrap();
    }
    writer.acknowledged().block_for(std::time::Duration::from_secs(30)).unwrap();
    drop((writer, robot));
    await_obstacle(&domain, "scan", |reason, next_step| {
        reason == "no writer was found (readers: 1), but a reader has received 5 samples"
            && next_step.contains("crashed: start it again")
    });
}

#[test]
fn why_names_slow_reader() {
    let domain = Domain::new();
    let (robot, planner) = (domain.join("robot"), domain.join_with_latencies("planner"));
    let writer = robot.writer_builder::<Scan>("scan").reliable().keep_all().build().unwrap();
    let reader = planner.reader_builder::<Scan>("scan").reliable().keep_all().build().unwrap();
    writer.wait_for_readers(1).block_for(std::time::Duration::from_secs(30)).unwrap();
    for _ in 0..200 {
        writer.write(&Scan::default()).unwrap();
    }
    writer.acknowledged().block_for(std::time::Duration::from_secs(30)).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(1200));
    assert_eq!(reader.take().unwrap().len(), 200);
    // The participant publishes its latencies from time to time.
    await_obstacle(&domain, "scan", |reason, next_step| {
        reason.starts_with("reader of planner: takes its samples late") && next_step.contains("take more often")
    });

    // The reader recovers. Fewer samples than the late ones leave the median of all times as it was.
    let stop = Stop::new();
    let _end = Ender(stop.clone());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.is_due() {
                writer.write(&Scan::default()).unwrap();
                reader.readable().block_for(std::time::Duration::from_secs(30)).unwrap();
                reader.take().unwrap();
                std::thread::sleep(std::time::Duration::from_millis(300));
            }
        });
        let ender = Ender(stop.clone());
        domain.run_until(&["why", "scan", "--wait", "0.8"], |text| !text.contains("takes its samples late"));
        drop(ender);
    });
}

#[test]
fn durability_service_of_any_name_is_not_silent() {
    let domain = Domain::new();
    let (robot, keeper) = (domain.join("robot"), domain.join_as_service("keeper"));
    let _writer = robot.writer::<Scan>("kept").unwrap();
    let service = DurabilityService::builder().start(keeper).unwrap();
    // A volatile topic needs no endpoint of the service.
    await_obstacle(&domain, "kept", |_, next_step| next_step.starts_with("start the reader, or compare its domain"));
    domain.run_until(&["ps"], |text| text.contains("keeper"));
    drop(service);
}

/// A program that another one floods: its socket drops the datagrams that have no room.
#[test]
#[cfg(target_os = "linux")]
fn why_names_full_receive_buffer() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let planner = domain.join_with("planner", |builder| builder.receive_buffer(4096));
    let _writer = robot.writer_builder::<Scan>("scan").build().unwrap();
    let reader = planner.reader_builder::<Scan>("scan").build().unwrap();
    reader.wait_for_writers(1).block_for(std::time::Duration::from_secs(30)).unwrap();
    let found = robot.discovered_participants();
    let address = found.iter().flat_map(|it| &it.locators).filter_map(dds_core::builtin::Locator::to_socket_addr);
    let address = address.into_iter().find(std::net::SocketAddr::is_ipv4).unwrap();
    let flood = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    for _ in 0..100_000 {
        // No datagram of RTPS. A full buffer is no error for the sender.
        let _ = flood.send_to(&[0; 1400], address);
    }
    // The small buffers drop announcements too, which come again.
    await_obstacle(&domain, "scan", |reason, next_step| {
        reason.starts_with("participant planner: its full receive buffers dropped ") && next_step.contains("rmem_max")
    });
}

#[test]
fn exit_code_tells_scripts_of_problems() {
    let domain = Domain::new();
    let (robot, planner) = (domain.join("robot"), domain.join("planner"));
    let _writer = robot.writer::<Scan>("scan").unwrap();
    domain.run_until(&["why", "--wait", "0.8"], |text| text.contains("no reader was found"));
    let error = domain.run(&["why", "--exit-code", "--wait", "0.8"]).result.unwrap_err();
    assert_eq!(error.to_string(), "problems: 1");
    // Without the option, problems are a result like others.
    assert!(domain.run(&["why", "--wait", "0.8"]).result.is_ok());

    let _reader = planner.reader::<Scan>("scan").unwrap();
    domain.run_until(&["why", "--wait", "0.8"], |text| text.starts_with("every writer matches"));
    assert!(domain.run(&["why", "--exit-code", "--wait", "0.8"]).result.is_ok());
}
