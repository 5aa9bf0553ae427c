//! Capture files contain the datagrams that a participant sends and receives.

#[path = "../../../dds-rtps/tests/support/mod.rs"]
mod captures;

use captures::read_pcap;
use dds_core::DdsType;
use dds_core::config::IpFamilies;
use dds_core::error::CreateErrorKind;
use dds_rtps::transport::faults::Faults;
use dds_rtps::types::EntityId;
use dds_rtps::wire::{Message, Submessage};

use crate::support::{PATIENCE, World, has_ipv6, skip};
use dds_core::qos::Preset;
use std::path::{Path, PathBuf};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Note {
    text: String,
}

/// An empty folder that the end of the test removes.
struct Folder(PathBuf);

impl Folder {
    fn new(test: &str) -> Self {
        let path = std::env::temp_dir().join(format!("dds-tap-{}-{test}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Sends one note between two participants, each with its capture.
fn talk(text: &str, taps: [&Path; 2]) {
    talk_by(IpFamilies::V4, text, taps);
}

fn talk_by(families: IpFamilies, text: &str, taps: [&Path; 2]) {
    let world = World::new();
    let [from, to] = taps.map(|tap| world.builder().ip_families(families).udp_only(true).tap(tap).build().unwrap());
    let reader = to.reader_builder::<Note>("note").qos(Preset::Event.reader()).build().unwrap();
    let writer = from.writer_builder("note").qos(Preset::Event.writer()).build().unwrap();
    // Both directions are matched, so nothing needs a retransmission.
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    writer.write(&Note { text: text.to_owned() }).unwrap();
    assert_eq!(reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap().text, text);
    writer.acknowledged().block_for(PATIENCE).unwrap();
}

/// Returns source and destination of the datagrams that contain `text`. Checks that the file contains only RTPS.
fn with_text(file: &Path, text: &str) -> Vec<(std::net::SocketAddr, std::net::SocketAddr)> {
    let packets = read_pcap(file);
    assert!(packets.iter().all(|packet| packet.payload.starts_with(b"RTPS")));
    assert!(packets.iter().all(|packet| packet.source.port() != 0 && packet.time_ns > 0));
    let found = packets.iter().filter(|packet| packet.payload.windows(text.len()).any(|part| part == text.as_bytes()));
    found.map(|packet| (packet.source, packet.destination)).collect()
}

#[test]
fn sample_has_same_addresses_in_both_captures() {
    let folder = Folder::new("both");
    let (sender, receiver) = (folder.file("sender.pcap"), folder.file("receiver.pcap"));
    talk("hello, shark", [&sender, &receiver]);
    let (sent, received) = (with_text(&sender, "hello, shark"), with_text(&receiver, "hello, shark"));
    assert_eq!(sent.len(), 1);
    assert_eq!(sent, received);
    read_with_tshark(&sender, "ip.dst");
    read_with_tshark(&receiver, "ip.dst");
}

#[test]
fn ipv6_traffic_is_captured_as_ipv6() {
    if !has_ipv6() {
        return;
    }
    let folder = Folder::new("v6");
    let (sender, receiver) = (folder.file("sender.pcap"), folder.file("receiver.pcap"));
    talk_by(IpFamilies::V6, "hello, sixth shark", [&sender, &receiver]);
    let sent = with_text(&sender, "hello, sixth shark");
    assert!(sent.iter().all(|(source, destination)| source.ip().is_loopback() && destination.is_ipv6()));
    assert_eq!(sent.len(), 1);
    assert_eq!(sent, with_text(&receiver, "hello, sixth shark"));
    read_with_tshark(&receiver, "ipv6.dst");
}

/// If tshark is installed, it recognizes RTPS and finds no fault in any header.
///
/// `destination` is the field of the IP version.
fn read_with_tshark(file: &Path, destination: &str) {
    #[allow(clippy::disallowed_methods, reason = "the program that captures are made for")]
    let output = std::process::Command::new("tshark")
        // Otherwise tshark decodes a datagram by its random port, which may belong to another protocol.
        .args(["-o", "udp.try_heuristic_first:TRUE"])
        .args(["-o", "udp.check_checksum:TRUE", "-T", "fields", "-e", destination, "-e", "udp.checksum.status"])
        .args(["-e", "rtps.version.major", "-e", "_ws.malformed", "-r"])
        .arg(file)
        .output();
    let Ok(output) = output else { return skip("tshark") };
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(!text.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    for line in text.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        assert!(!fields[0].is_empty(), "no {destination}: {line}");
        // Messages of discovery repeat the version in their data.
        assert!(fields[2].starts_with('2'), "no RTPS: {line}");
        assert_eq!((fields[1], fields[3]), ("1", ""), "a wrong checksum, or malformed: {line}");
    }
}

/// Datagrams that a full socket refuses go out later, but never after samples that were written later.
#[test]
fn wire_order_is_write_order_on_full_socket() {
    const SAMPLES: i64 = 300;
    let folder = Folder::new("order");
    let file = folder.file("sender.pcap");
    let world = World::new();
    let faults = Faults { seed: 3, blocked: 0.3, blocked_in_a_row: 5, ..Faults::default() };
    let from = world.builder().udp_only(true).tap(&file).faults(faults).build().unwrap();
    let to = world.builder().udp_only(true).build().unwrap();
    let reader = to.reader_builder::<Note>("note").qos(Preset::Event.reader().best_effort()).build().unwrap();
    let writer = from.writer_builder("note").qos(Preset::Event.writer().best_effort()).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    reader.wait_for_writers(1).block_for(PATIENCE).unwrap();
    for count in 0..SAMPLES {
        writer.write(&Note { text: count.to_string() }).unwrap();
    }
    for count in 0..SAMPLES {
        assert_eq!(reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap().text, count.to_string());
    }
    assert!(from.traffic().send_blocked > 0);
    let packets = read_pcap(&file);
    let numbers = packets.iter().flat_map(|packet| sequence_numbers(&packet.payload, writer.guid().entity_id));
    assert_eq!(numbers.collect::<Vec<_>>(), (1..=SAMPLES).collect::<Vec<_>>());
}

/// Sequence numbers of one writer's samples in a message.
fn sequence_numbers(message: &[u8], writer: EntityId) -> Vec<i64> {
    let message = Message::parse(message).unwrap();
    let numbers = message.submessages().filter_map(|submessage| match submessage.unwrap() {
        Submessage::Data(data) if data.writer_id == writer => Some(data.writer_sn.0),
        _ => None,
    });
    numbers.collect()
}

#[test]
fn participants_share_and_continue_capture() {
    let folder = Folder::new("shared");
    let file = folder.file("all.pcap");
    talk("first run", [&file, &file]);
    talk("second run", [&file, &file]);
    assert_eq!(with_text(&file, "first run").len(), 2);
    assert_eq!(with_text(&file, "second run").len(), 2);
    // No temporary file of the creation remains.
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), 1);
}

#[test]
fn impossible_capture_error_names_file() {
    let folder = Folder::new("refused");
    let other = folder.file("diary.txt");
    std::fs::write(&other, "dear diary, today I was nearly overwritten").unwrap();
    for path in [folder.file("no/such/folder/t.pcap"), other.clone()] {
        let error = World::new().builder().tap(&path).build().unwrap_err();
        assert!(matches!(error.kind(), CreateErrorKind::Tap { path: named, .. } if *named == path), "{error}");
        assert!(error.to_string().contains(&*path.to_string_lossy()), "{error}");
    }
    assert!(std::fs::read_to_string(other).unwrap().starts_with("dear diary"));
}
