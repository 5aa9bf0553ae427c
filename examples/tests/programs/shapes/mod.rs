//! Tests with several `shapes` programs: each feature alone here, the cases of the OMG's interoperability suite in
//! `suite.rs`.

mod suite;

use crate::running::{Running, example, text};
use dds_core::qos::{DataWriterQos, Liveliness};
use dds_core::sim::Simulation;
use dds_core::{DdsType, DomainParticipant, Duration, Scope};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering};

/// A domain tag that isolates the programs of one test.
struct Stage {
    tag: String,
}

impl Stage {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let tag = format!("shapes-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self { tag }
    }

    fn command(&self, arguments: &str) -> Command {
        let mut command = example("shapes");
        command.args(arguments.split_whitespace()).env("DDS_DOMAIN_TAG", &self.tag);
        command
    }

    fn start(&self, arguments: &str) -> Running {
        Running::start(&mut self.command(arguments))
    }

    /// Starts a program and waits until it has created its writer or reader.
    fn ready(&self, arguments: &str) -> Running {
        let mut running = self.start(arguments);
        running.wait_for(|line| line.starts_with("Create writer") || line.starts_with("Create reader"));
        running
    }
}

/// A parsed line about a sample.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shape {
    topic: String,
    color: String,
    size: i32,
    last_byte: Option<u8>,
}

impl Shape {
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace();
        let (topic, color) = (words.next()?.to_owned(), words.next()?.to_owned());
        words.next()?.parse::<i32>().ok()?;
        words.next()?.parse::<i32>().ok()?;
        let size = words.next()?.strip_prefix('[')?.strip_suffix(']')?.parse().ok()?;
        let last_byte = words.next().and_then(|word| word.strip_prefix('{')?.strip_suffix('}')?.parse().ok());
        Some(Self { topic, color, size, last_byte })
    }
}

trait Shapes {
    /// Waits for the next line about a sample.
    fn shape(&mut self) -> Shape;

    /// Waits for a line with this beginning.
    fn says(&mut self, beginning: &str) -> String;
}

impl Shapes for Running {
    fn shape(&mut self) -> Shape {
        self.find(Shape::parse)
    }

    fn says(&mut self, beginning: &str) -> String {
        self.wait_for(|line| line.starts_with(beginning))
    }
}

/// The listener of the program.
///
/// With the options of the suite no writer loses its liveliness, so a test calls the listener directly.
#[path = "../../../examples/shapes/statuses.rs"]
#[allow(dead_code, reason = "tests of whole programs cover the rest")]
mod statuses;

static PRINTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Records the lines of the listener, which the program prints.
fn say(line: &str) {
    PRINTED.lock().unwrap().push(line.to_owned());
}

/// Text behind the name of a callback.
const PLACE: &str = "topic: 'Square'  type: 'ShapeType' :";

#[test]
fn output_has_the_lines_that_the_suite_parses() {
    let stage = Stage::new();
    let mut subscriber = stage.start("-S -t Square --read-period 20");
    let mut publisher = stage.start("-P -t Square -w -c RED -z 30");
    publisher.wait_for(|line| line == "Create topic: Square");
    publisher.wait_for(|line| line == "Create writer for topic: Square color: RED");
    subscriber.wait_for(|line| line == "Create topic: Square");
    subscriber.wait_for(|line| line == "Create reader for topic: Square");
    publisher.wait_for(|line| line == format!("on_publication_matched() {PLACE} matched readers 1 (change = 1)"));
    let written = publisher.wait_for(|line| line.starts_with("Square     RED        ") && line.ends_with(" [30]"));
    assert_eq!(written.len(), "Square     RED        012 034 [30]".len());
    subscriber.wait_for(|line| line == format!("on_subscription_matched() {PLACE} matched writers 1 (change = 1)"));
    subscriber.wait_for(|line| line.starts_with("Square     RED        ") && line.ends_with(" [30]"));
    drop(subscriber);
    publisher.wait_for(|line| line == format!("on_publication_matched() {PLACE} matched readers 0 (change = -1)"));
}

#[test]
fn killed_publisher_is_not_alive_and_leaves_no_writers() {
    let stage = Stage::new();
    let mut subscriber = stage.ready("-S -t Square --read-period 20");
    let mut publisher = stage.start("-P -t Square --num-instances 2");
    subscriber.wait_for(|line| line == format!("on_liveliness_changed() {PLACE} (alive = 1, not_alive = 0)"));
    while subscriber.shape().color != "BLUE1" {}
    publisher.process.kill().unwrap();
    let gone = format!("on_liveliness_changed() {PLACE} (alive = 0,");
    subscriber.says("Square     BLUE1      NOT_ALIVE_NO_WRITERS_INSTANCE_STATE");
    let is_about_end =
        |line: &String| line.starts_with(&gone) || line.starts_with("Square     BLUE       NOT_ALIVE_NO_WRITERS");
    while subscriber.passed_over.iter().filter(|line| is_about_end(line)).count() < 2 {
        let line = subscriber.wait_for(|line| is_about_end(&line.to_owned()));
        subscriber.passed_over.push(line);
    }
}

#[test]
fn missed_deadline_is_printed_on_both_sides() {
    let stage = Stage::new();
    let mut subscriber = stage.ready("-S -t Square -f 300 --read-period 20");
    let mut publisher = stage.start("-P -t Square -f 200 --write-period 1000");
    publisher.says(&format!("on_offered_deadline_missed() {PLACE} (total = "));
    let missed = subscriber.says(&format!("on_requested_deadline_missed() {PLACE} (total = "));
    assert!(missed.contains("change = "), "{missed}");
}

#[test]
fn weaker_publisher_owns_after_stronger_is_killed() {
    let stage = Stage::new();
    let mut subscriber = stage.ready("-S -t Square -s 0 -r -k 0 --read-period 20");
    let _weak = stage.start("-P -t Square -s 3 -r -k 0 -z 20");
    while subscriber.shape().size != 20 {}
    let mut strong = stage.start("-P -t Square -s 4 -r -k 0 -z 30");
    while subscriber.shape().size != 30 {}
    for _ in 0..30 {
        assert_eq!(subscriber.shape().size, 30, "only the stronger publisher owns the instance");
    }
    strong.process.kill().unwrap();
    while subscriber.shape().size != 20 {}
}

#[test]
fn partition_pattern_selects_the_publisher() {
    let stage = Stage::new();
    let mut subscriber = stage.ready("-S -t Square -p b* --read-period 20");
    let _apart = stage.ready("-P -t Square -p a -c RED");
    let _publisher = stage.start("-P -t Square -p b1 -c BLUE");
    for _ in 0..10 {
        assert_eq!(subscriber.shape().color, "BLUE");
    }
}

#[test]
fn late_subscriber_receives_the_kept_history() {
    let stage = Stage::new();
    let mut all = stage.start("-P -t All -D l -k 0 -z 0 -w --write-period 10");
    let mut three = stage.start("-P -t Three -D l -k 3 -z 0 -w --write-period 10");
    let mut none = stage.start("-P -t None -D v -k 0 -z 0 -w --write-period 10");
    for publisher in [&mut all, &mut three, &mut none] {
        while publisher.shape().size < 20 {}
    }
    assert_eq!(stage.start("-S -t All -D l -k 0").shape().size, 1);
    assert!(stage.start("-S -t Three -D l -k 0").shape().size >= 18);
    assert!(stage.start("-S -t All -D v -k 0").shape().size >= 20);
    assert!(stage.start("-S -t None -D v -k 0").shape().size >= 20);
}

#[test]
fn keep_last_1_keeps_last_sample_of_each_instance() {
    let stage = Stage::new();
    let mut subscriber = stage.start("-S -t Square -k 1 --read-period 300");
    let _publisher = stage.start("-P -t Square -z 0 --write-period 5 --num-instances 2");
    let sizes: Vec<i32> =
        (0..8).map(|_| subscriber.shape()).filter(|shape| shape.color == "BLUE1").map(|shape| shape.size).collect();
    assert!(sizes.len() >= 3 && sizes.windows(2).all(|two| two[1] > two[0] + 1), "{sizes:?}");
}

#[test]
fn read_and_take_return_each_topic_and_instance() {
    for options in ["", "--take-read", "-R", "-R --take-read"] {
        let stage = Stage::new();
        let mut subscriber = stage.ready(&format!("-S -t Square -D l -k 0 --num-topics 2 --read-period 20 {options}"));
        let _publisher =
            stage.start("-P -t Square -D l -k 0 -z 0 -c RED --num-topics 2 --num-instances 3 --write-period 50");
        let mut seen = Vec::new();
        let (mut twice, reads) = (false, options.contains("-R"));
        // A subscriber that starts late finds many samples at its first look.
        while seen.len() < 12 || reads && !twice {
            let shape = subscriber.shape();
            assert!(shape.topic == "Square" || shape.topic == "Square1", "{shape:?}");
            assert!(["RED", "RED1", "RED2"].contains(&&*shape.color), "{shape:?}");
            if seen.contains(&shape) {
                twice = true;
            } else {
                seen.push(shape);
            }
        }
        assert_eq!(twice, reads, "read samples remain, taken samples do not: {options}");
        for topic in ["Square", "Square1"] {
            for color in ["RED", "RED1", "RED2"] {
                assert!(seen.iter().any(|shape| shape.topic == topic && shape.color == color), "{options}: {seen:?}");
            }
        }
    }
}

#[test]
fn sizes_restart_after_the_modulo() {
    let stage = Stage::new();
    let mut publisher = stage.start("-P -t Square -z 0 --size-modulo 3 -w --write-period 5");
    let sizes: Vec<i32> = (0..7).map(|_| publisher.shape().size).collect();
    assert_eq!(sizes, [1, 2, 3, 1, 2, 3, 1]);
}

#[test]
fn instances_end_in_the_requested_state() {
    for (option, state) in [
        ("--final-instance-state d", "NOT_ALIVE_DISPOSED_INSTANCE_STATE"),
        ("--final-instance-state u", "NOT_ALIVE_NO_WRITERS_INSTANCE_STATE"),
        ("", "NOT_ALIVE_NO_WRITERS_INSTANCE_STATE"),
    ] {
        for representation in ["1", "2"] {
            let stage = Stage::new();
            let mut subscriber = stage.ready(&format!("-S -t Square -k 0 -x {representation} --read-period 20"));
            let mut publisher = stage.start(&format!(
                "-P -t Square -k 0 -x {representation} --num-iterations 100 --write-period 10 --num-instances 2 {option}"
            ));
            let mut ended: Vec<String> = Vec::new();
            while ended.len() < 2 {
                ended.push(subscriber.wait_for(|line| line.ends_with("_INSTANCE_STATE")));
            }
            ended.sort();
            assert_eq!(ended, [format!("Square     BLUE       {state}"), format!("Square     BLUE1      {state}")]);
            publisher.wait_for(|line| line == "Done.");
            assert_eq!(publisher.process.wait().unwrap().code(), Some(0));
        }
    }
}

#[test]
fn incompatible_policy_is_printed_with_its_number() {
    for (publisher, subscriber, policy) in [
        ("-b", "-r", "11 (RELIABILITY)"),
        ("-D v", "-D l", "2 (DURABILITY)"),
        ("-f 7000", "-f 5000", "4 (DEADLINE)"),
        ("-s -1", "-s 1", "6 (OWNERSHIP)"),
        ("-x 1", "-x 2", "23 (DATA_REPRESENTATION)"),
    ] {
        let stage = Stage::new();
        let mut subscriber = stage.start(&format!("-S -t Square {subscriber}"));
        let mut publisher = stage.start(&format!("-P -t Square {publisher}"));
        publisher.wait_for(|line| line == format!("on_offered_incompatible_qos() {PLACE} {policy}"));
        subscriber.wait_for(|line| line == format!("on_requested_incompatible_qos() {PLACE} {policy}"));
    }
}

#[derive(DdsType, Debug)]
struct Triangle {
    #[dds(key)]
    color: String,
}

#[test]
fn topic_with_another_type_is_reported() {
    let stage = Stage::new();
    let mut subscriber = stage.ready("-S -t Square");
    let mut publisher = stage.ready("-P -t Square");
    let other = DomainParticipant::builder(0).scope(Scope::Host).domain_tag(&*stage.tag).build().unwrap();
    let _reader = other.reader::<Triangle>("Square").unwrap();
    publisher.wait_for(|line| line == format!("on_inconsistent_topic() {PLACE} (total = 1, change = 1)"));
    let writer = other.writer::<Triangle>("Square").unwrap();
    writer.write(&Triangle { color: "RED".into() }).unwrap();
    subscriber.says(&format!("on_inconsistent_topic() {PLACE} (total = "));
}

#[test]
fn large_sample_arrives_for_each_fragment_size() {
    for size in ["", "--datafrag-size 0", "--datafrag-size 65535 --datafrag-size 1000", "--datafrag-size 65535"] {
        let stage = Stage::new();
        let mut subscriber = stage.ready("-S -t Square --read-period 20");
        let _publisher = stage.start(&format!("-P -t Square -z 0 --additional-payload-size 100000 {size}"));
        assert_eq!(subscriber.shape().last_byte, Some(255));
    }
}

#[test]
fn content_filter_selects_color_or_size() {
    let stage = Stage::new();
    let mut red = stage.start("-S -t Square -r -c RED --read-period 20");
    let mut small = stage.start("-S -t Square -r --cft shapesize<=5 --read-period 20");
    for subscriber in [&mut red, &mut small] {
        subscriber.wait_for(|line| line == "Create reader for topic: Square_filtered");
    }
    let _blue = stage.start("-P -t Square -r -z 9 --write-period 20");
    let _red = stage.start("-P -t Square -r -c RED -z 0 --size-modulo 10 --write-period 20");
    for _ in 0..30 {
        let shape = red.shape();
        assert_eq!((shape.topic.as_str(), shape.color.as_str()), ("Square_filtered", "RED"));
        assert!(small.shape().size <= 5);
    }
    while red.shape().size < 6 {}

    let mut wrong = stage.start("-S -t Square --cft shapesise<=5");
    wrong.wait_for(|line| line == "failed to create content filtered topic");
    assert_eq!(wrong.process.wait().unwrap().code(), Some(2));
}

/// The publisher encloses three rounds in each coherent set.
#[test]
fn coherent_set_encloses_its_rounds() {
    let arguments = "-P -t Square -w -z 0 --coherent --coherent-sample-count 3 --num-iterations 6 --write-period 1";
    let output_text = text(&Stage::new().command(arguments).output().unwrap());
    let lines = output_text.lines().filter_map(|line| match line {
        "Started Coherent Set" => Some("{".to_owned()),
        "Finished Coherent Set" => Some("}".to_owned()),
        _ => Shape::parse(line).map(|shape| shape.size.to_string()),
    });
    assert_eq!(lines.collect::<Vec<_>>().join(" "), "{ 1 2 3 } { 4 5 6 }", "{output_text}");
}

/// A filter passes the first sample of each instance, and the last one when the instance ends.
///
/// Its minimum separation is longer than the test.
#[test]
fn time_filter_passes_one_sample_per_separation() {
    let stage = Stage::new();
    let mut subscriber = stage.ready("-S -t Square -r -k 0 --time-filter 600000 --read-period 10");
    let mut publisher = stage.start(
        "-P -t Square -r -k 0 -z 0 --num-instances 2 --num-iterations 100 --write-period 5 --final-instance-state d",
    );
    publisher.wait_for(|line| line == "Done.");
    subscriber.says("Square     BLUE       NOT_ALIVE_DISPOSED_INSTANCE_STATE");
    for color in ["BLUE", "BLUE1"] {
        let shapes = subscriber.passed_over.iter().filter_map(|line| Shape::parse(line));
        let count = shapes.filter(|shape| shape.color == color).count();
        assert!((1..=2).contains(&count), "{color}: {:#?}", subscriber.passed_over);
    }
}

#[test]
fn contradictory_qos_exits_with_2() {
    let output = Stage::new().command("-S -t Square -f 100 --time-filter 200").output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("TIME_BASED_FILTER"), "{}", text(&output));
}

/// The bound of the color is checked when a sample is written.
#[test]
fn write_error_exits_with_3() {
    let output = Stage::new().command(&format!("-P -t Square -c {}", "R".repeat(129))).output().unwrap();
    assert_eq!(output.status.code(), Some(3), "{}", text(&output));
    assert!(text(&output).contains("shapes: ") && !text(&output).contains("Done."), "{}", text(&output));
}

/// Another type with the name that the listener prints.
#[derive(DdsType, Debug)]
#[dds(name = "ShapeType")]
struct Silent {
    #[dds(key)]
    color: u8,
}

#[test]
fn lost_liveliness_is_printed_like_other_statuses() {
    let simulation = Simulation::new(1);
    let participant = simulation.participant("host", 0).unwrap();
    participant.set_listener(statuses::shown(), statuses::Statuses).unwrap();
    let liveliness = Liveliness::manual_by_topic(Duration::from_secs(1));
    let qos = DataWriterQos::default().liveliness(liveliness);
    let writer = participant.writer_builder::<Silent>("Square").qos(qos).build().unwrap();
    for total in 1..=2 {
        writer.assert_liveliness().unwrap();
        simulation.run_for(Duration::from_secs(2));
        let expected = format!("on_liveliness_lost() {PLACE} (total = {total}, change = 1)");
        assert_eq!(std::mem::take(&mut *PRINTED.lock().unwrap()), [expected]);
    }
}

#[test]
fn wrong_arguments_fail_and_useless_ones_warn() {
    let stage = Stage::new();
    for wrong in [
        "",
        "-P",
        "-t Square",
        "-P -S -t Square",
        "-P -t Square -d -1",
        "-P -t Square -x 3",
        "-P -t Square -z -1",
        "-P -t Square -D x",
        "-P -t Square --num-iterations 0",
        "-P -t Square --datafrag-size 65536",
        "-S -t Square -c RED --cft shapesize<=5",
        "-P -t Square --coherent-sample-count 1",
        "-P -t Square --datafrag-size 63",
        "-P -t Square -f soon",
        "-P -t Square --nonsense",
    ] {
        let output = stage.command(wrong).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{wrong}: {}", text(&output));
        assert!(!text(&output).contains("not supported"), "{wrong}: {}", text(&output));
    }
    for help in ["-h", "--help"] {
        let output = stage.command(help).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output).contains("--periodic-announcement"), "{}", text(&output));
    }
    let warned = |arguments: &str| text(&stage.command(arguments).output().unwrap());
    let output_text =
        warned("-P -t Square --num-iterations 1 --time-filter 5 --size-modulo 3 --periodic-announcement 50 -v d");
    for warning in [
        "warning: --time-filter has no effect on a publisher\n",
        "warning: no color was given, so it is BLUE\n",
        "warning: --size-modulo has no effect unless -z is 0\n",
        "Done.\n",
        "round 1: 1 samples",
    ] {
        assert!(output_text.contains(warning), "without {warning}: {output_text}");
    }
    let output_text = warned("-S -t Square --num-iterations 1 --read-period 1 --lifespan 5 -z 3");
    assert!(output_text.contains("warning: --lifespan has no effect on a subscriber\n"), "{output_text}");
    assert!(
        output_text.contains("warning: -z has no effect on a subscriber\n") && output_text.ends_with("Done.\n"),
        "{output_text}"
    );
}
