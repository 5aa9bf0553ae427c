//! Content filters that the writer evaluates: which readers get a sample, and how the others learn of it.

use super::script::{Script, best_effort, instance, late_joiner, reliable};
use dds_macros::DdsType;
use dds_rtps::cdr::{Encoding, TypeInfo, encode_key_payload, encode_payload};
use dds_rtps::history::ChangeKind;
use dds_rtps::qos::{DataWriterQos, Liveliness, Presentation};
use dds_rtps::types::{Duration, InstanceHandle, Locator, SequenceNumber};
use dds_rtps::wire::{ContentFilterProperty, DDSSQL};
use dds_rtps::writer::{PresentationClock, ReaderProxyConfig, WriterConfig};

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Pose {
    #[dds(key)]
    robot: u8,
    x: i32,
    image: Vec<u8>,
}

/// Creates a keep-all writer that knows the type.
fn script(qos: &DataWriterQos) -> Script {
    Script::with(false, qos, |config| config.filtered_type = Some(Pose::DESCRIPTION))
}

fn keep_all() -> DataWriterQos {
    DataWriterQos::default().keep_all()
}

fn payload(robot: u8, x: i32, len: usize) -> Vec<u8> {
    let mut payload = Vec::new();
    encode_payload(&Pose { robot, x, image: vec![0; len] }, Encoding::Xcdr1, &mut payload).unwrap();
    payload
}

impl Script {
    fn write_x(&mut self, x: i32) -> i64 {
        self.write_change(ChangeKind::Alive, InstanceHandle::NIL, &payload(1, x, 0)).unwrap()
    }

    fn write_each(&mut self, values: impl IntoIterator<Item = i32>) {
        for x in values {
            self.write_x(x);
        }
    }

    /// As [`Script::match_reader`], with the resulting traffic completed.
    fn welcome(&mut self, reader: ReaderProxyConfig) {
        let (number, reliable) = (reader.guid.entity_id.0[2], reader.reliable);
        self.match_reader(reader);
        self.sent();
        if reliable {
            let next = self.writer.last_sequence_number().0 + 1;
            self.acknack(number, next, &[]);
            self.sent();
        }
    }
}

fn wants(expression: &str, reader: ReaderProxyConfig) -> ReaderProxyConfig {
    let property = ContentFilterProperty {
        filtered_topic: "part".to_owned(),
        related_topic: "pose".to_owned(),
        class: DDSSQL.to_owned(),
        expression: expression.to_owned(),
        parameters: Vec::new(),
    };
    ReaderProxyConfig { content_filter: Some(Box::new(property)), ..reader }
}

fn without_heartbeats(lines: &[String]) -> Vec<String> {
    let words = |line: &String| {
        // The range of "HB" is written in one or two words.
        let cut = line.find(" HB").map_or(line.as_str(), |at| &line[..at]);
        cut.to_owned()
    };
    lines.iter().map(words).filter(|line| line.contains(": ")).collect()
}

#[test]
fn gap_for_filtered_precedes_next_sample() {
    for reader in [reliable(2), best_effort(2)] {
        let mut script = script(&keep_all());
        script.welcome(wants("x < 10", reader));
        script.write_each([1, 10, 11, 2, 12]);
        let lines = script.sent();
        assert_eq!(without_heartbeats(&lines), ["7002: TS D2(1) DST2 GAP2(2..3 filtered 2) DST0 D2(4)"]);
        assert_eq!(script.writer.counters().filtered, 3);
        script.write_x(3);
        let lines = without_heartbeats(&script.sent());
        assert_eq!(lines, ["7002: DST2 GAP2(5..5 filtered 1) DST0 TS D2(6)"]);
    }
}

#[test]
fn request_for_filtered_change_gets_gap() {
    let mut script = script(&keep_all());
    script.welcome(wants("x < 10", reliable(2)));
    script.write_each([10, 11, 12]);
    assert!(script.sent().is_empty());
    // No other cause has made a HEARTBEAT due.
    script.wait(100);
    assert_eq!(script.sent(), ["7002: DST2 HB2(1..3)"]);
    script.acknack(2, 1, &[1, 2, 3]);
    assert_eq!(script.sent(), ["7002: DST2 GAP2(1..3 filtered 3) HB2(1..3)"]);
    script.acknack(2, 4, &[]);
    assert!(script.writer.is_acknowledged(SequenceNumber(3)));
    // Announced changes are not announced again.
    script.write_x(1);
    assert_eq!(without_heartbeats(&script.sent()), ["7002: TS D2(4)"]);
}

/// A repair distinguishes filtered changes from removed ones.
#[test]
fn removed_and_filtered_changes_differ_in_gap() {
    let mut script = script(&DataWriterQos::default().reliable().keep_last(3).transient_local());
    script.welcome(wants("x < 10", reliable(2)));
    script.write_each([1, 2, 10, 11, 3]);
    script.sent();
    script.acknack(2, 1, &[1, 2, 3, 4, 5]);
    let line = script.sent().concat();
    assert!(line.contains("GAP2(1..2)") && line.contains("GAP2(3..4 filtered 2)") && line.contains("D2(5)"), "{line}");
}

/// Sent or removed changes between two filtered ones are not declared filtered.
#[test]
fn only_filtered_changes_are_marked_filtered() {
    let mut script = script(&DataWriterQos::default().best_effort().keep_last(1));
    script.welcome(wants("x < 10", best_effort(2)));
    script.write_x(10);
    assert!(script.sent().is_empty());
    // The second change replaces the first one before that has been sent.
    script.write_each([1, 11]);
    assert!(script.sent().is_empty());
    script.write_x(2);
    assert_eq!(script.sent(), ["7002: DST2 GAP2(3..3 filtered 1) DST0 TS D2(4)"]);
}

#[test]
fn each_reader_gets_its_filtered_samples() {
    let mut script = script(&keep_all());
    script.welcome(wants("x < 10", reliable(2)));
    script.welcome(wants("x > 5", best_effort(3)));
    script.welcome(wants("x = 100", reliable(4)));
    script.write_each([1, 7, 20, 8, 30]);
    let lines = without_heartbeats(&script.sent());
    assert_eq!(
        lines,
        [
            "7002: TS D*(1)",
            "7002,7003: DST3 GAP3(1..1 filtered 1) DST0 TS D*(2)",
            "7003: TS D*(3)",
            "7002,7003: DST2 GAP2(3..3 filtered 1) DST0 TS D*(4)",
            "7003: TS D*(5)"
        ]
    );
    // A reader without a filter.
    script.welcome(reliable(5));
    script.write_x(100);
    let lines = without_heartbeats(&script.sent());
    assert_eq!(lines, ["7003,7004,7005: DST4 GAP4(1..5 filtered 5) DST0 TS D*(6)"]);
}

#[test]
fn shared_address_gets_sample_if_one_reader_does() {
    let shared = |number: u8| {
        let group = Locator::udp_v4([239, 255, 0, 1].into(), 7400);
        let by_group = ReaderProxyConfig { multicast: vec![group], ..reliable(number) };
        let by_port = ReaderProxyConfig { unicast: reliable(2).unicast, ..reliable(number) };
        [by_group, by_port]
    };
    for way in 0..2 {
        let mut script = script(&keep_all());
        script.welcome(wants("x < 10", shared(2)[way].clone()));
        script.welcome(wants("x > 5", shared(3)[way].clone()));
        script.write_each([1, 7, 20]);
        let port = [7400, 7002][way];
        let lines = without_heartbeats(&script.sent());
        assert_eq!(lines.len(), 1, "they share a datagram: {lines:?}");
        assert_eq!(lines[0], format!("{port}: TS D*(1) D*(2) D*(3)"));
        script.welcome(wants("x > 5", shared(3)[way].clone()));
        let mut script = self::script(&keep_all());
        script.welcome(wants("x < 10", shared(2)[way].clone()));
        script.welcome(wants("x < 20", shared(3)[way].clone()));
        script.write_each([100, 7]);
        let lines = without_heartbeats(&script.sent());
        let both = "DST2 GAP2(1..1 filtered 1) DST3 GAP3(1..1 filtered 1) DST0 TS D*(2)";
        assert_eq!(lines, [format!("{port}: {both}")]);
    }
}

#[test]
fn late_joiner_gets_filtered_history() {
    for reader in [late_joiner(2), ReaderProxyConfig { reliable: false, ..late_joiner(2) }] {
        let mut script = script(&keep_all().transient_local());
        script.write_each([1, 10, 11, 2]);
        script.match_reader(wants("x < 10", reader));
        let lines = without_heartbeats(&script.sent());
        assert_eq!(lines, ["7002: DST2 TS D2(1) D2(4) GAP2(2..3 filtered 2)"]);
    }
}

/// The writer visits a long history in steps.
#[test]
fn long_filtered_history_is_skipped_in_steps() {
    let mut script = script(&keep_all().transient_local());
    script.write_each((0..5000).map(|_| 10));
    script.write_x(1);
    script.match_reader(wants("x < 10", late_joiner(2)));
    let line = script.sent().concat();
    assert!(line.contains("GAP2(1..5000 filtered 5000)") && line.contains("D2(5001)"), "{line}");
}

#[test]
fn changed_filter_applies_to_later_samples() {
    let mut script = script(&keep_all());
    script.welcome(wants("x < 10", reliable(2)));
    script.write_each([1, 10]);
    script.sent();
    script.match_reader(wants("x >= 10", reliable(2)));
    script.write_each([2, 11]);
    let lines = without_heartbeats(&script.sent());
    assert_eq!(lines, ["7002: DST2 GAP2(2..3 filtered 2) DST0 TS D2(4)"]);
    // The reader has no filter any more.
    script.match_reader(reliable(2));
    script.write_each([3]);
    assert_eq!(without_heartbeats(&script.sent()), ["7002: TS D2(5)"]);
}

#[test]
fn large_samples_go_only_to_passing_filters() {
    let mut script = script(&keep_all());
    script.welcome(wants("x < 10", reliable(2)));
    script.welcome(wants("x >= 10", reliable(3)));
    for x in [10, 1] {
        let mut image = payload(1, x, 4000 - 12 - 4);
        // The script parses the bytes of fragments, so the bytes before the image stay unchanged.
        for (index, byte) in image.iter_mut().enumerate().skip(16) {
            *byte = (index % 251) as u8;
        }
        script.write_change(ChangeKind::Alive, InstanceHandle::NIL, &image).unwrap();
    }
    let mut lines = Vec::new();
    while script.writer.poll_transmit(script.now(), &mut script.datagram) {
        let ports: Vec<u32> = script.datagram.destinations().iter().map(|locator| locator.port).collect();
        lines.push((ports, script.datagram.len()));
    }
    let to = |port: u32| lines.iter().filter(|(ports, len)| ports[..] == [port] && *len > 1000).count();
    assert_eq!((to(7003), to(7002)), (3, 3), "{lines:?}");
    assert!(lines.iter().all(|(ports, len)| ports.len() == 1 || *len < 1000), "{lines:?}");
}

#[test]
fn dispose_is_filtered_by_key() {
    let mut script = Script::with(true, &keep_all(), |config| config.filtered_type = Some(Pose::DESCRIPTION));
    script.welcome(wants("x < 10", reliable(2)));
    script.welcome(wants("robot = 2", reliable(3)));
    let mut key = Vec::new();
    encode_key_payload::<Pose>(&1, Encoding::Xcdr1, &mut key).unwrap();
    script.write_change(ChangeKind::Alive, instance(1), &payload(1, 10, 0)).unwrap();
    script.write_change(ChangeKind::NotAliveDisposed, instance(1), &key).unwrap();
    let lines = without_heartbeats(&script.sent());
    assert_eq!(lines, ["7002: DST2 GAP2(1..1 filtered 1) DST0 TS D*(2key k1 s1)"]);
}

#[test]
fn writer_without_type_sends_everything() {
    let all = |adjust: fn(&mut WriterConfig), expression: &str, class: &str| {
        let mut script = Script::with(false, &keep_all(), |config| {
            config.filtered_type = Some(Pose::DESCRIPTION);
            adjust(config);
        });
        let mut reader = wants(expression, reliable(2));
        reader.content_filter.as_mut().unwrap().class = class.to_owned();
        script.welcome(reader);
        script.write_each([10, 11]);
        let line = script.sent().concat();
        line.contains("D2(1)") && line.contains("D2(2)")
    };
    fn manual(config: &mut WriterConfig, lease_duration: Duration) {
        config.liveliness = Liveliness::manual_by_topic(lease_duration);
    }
    assert!(!all(|_| {}, "x < 10", DDSSQL), "this one can");
    assert!(all(|config| config.filtered_type = None, "x < 10", DDSSQL));
    assert!(all(|_| {}, "y < 10", DDSSQL), "no such field");
    assert!(all(|_| {}, "x < 10", "STRINGMATCH"));
    assert!(all(|config| manual(config, Duration::from_secs(1)), "x < 10", DDSSQL));
    assert!(!all(|config| manual(config, Duration::INFINITE), "x < 10", DDSSQL));
    let coherent = |config: &mut WriterConfig| {
        let presentation = Presentation::default().coherent_access(true);
        config.presentation = PresentationClock::new(presentation);
    };
    assert!(all(coherent, "x < 10", DDSSQL));
}

#[test]
fn writer_evaluates_bounded_filters() {
    let mut script = script(&keep_all());
    for number in 2..=34 {
        script.welcome(wants("x < 10", reliable(number)));
    }
    script.write_x(10);
    let lines = without_heartbeats(&script.sent());
    // The writer evaluates 32 filters. The last reader filters by itself.
    assert_eq!(lines, ["7034: TS D*(1)"]);
    assert_eq!(script.writer.counters().filtered, 32);
    script.write_x(1);
    let lines = script.sent();
    assert_eq!(lines.concat().matches("filtered 1").count(), 32, "{lines:?}");
    assert!(lines.iter().all(|line| !line.contains("D*(2)") || line.starts_with("7002,7003,")), "{lines:?}");
}
