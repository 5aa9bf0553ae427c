//! Shared by the tests: reads the captures in `tests/vectors`.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]

use std::net::{Ipv4Addr, SocketAddrV4};
use std::path::{Path, PathBuf};

/// Every capture, by its name without `.pcap`; `tests/vectors/README.md` says what is in them.
pub(crate) const CAPTURES: [&str; 14] = [
    "cyclone_fragments_100k",
    "cyclone_incompatible_qos",
    "cyclone_partition_ownership",
    "cyclone_to_fastdds",
    "cyclone_transient_local_late_joiner",
    "cyclone_xcdr1_unregister",
    "cyclone_xcdr2_reliable_dispose",
    "dust16_to_fastdds",
    "fastdds_fragments_100k",
    "fastdds_xcdr2_reliable_dispose",
    "rustdds_fragments_100k",
    "rustdds_xcdr1_to_cyclone",
    "zzdds_coherent_topic_scope",
    "zzdds_ordered_group_scope",
];

/// A UDP datagram of a capture.
#[derive(Debug, Clone)]
pub(crate) struct Packet {
    /// Its number in the capture, from 1, as tshark counts.
    pub(crate) number: usize,
    /// When it was captured: nanoseconds since 1970.
    pub(crate) time_ns: i64,
    /// From where.
    pub(crate) source: SocketAddrV4,
    /// To where.
    pub(crate) destination: SocketAddrV4,
    /// What the socket would have received.
    pub(crate) payload: Vec<u8>,
}

/// Where `name` lies in `tests/vectors`.
pub(crate) fn vector_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name)
}

/// The datagrams of the capture with this name, in their order.
pub(crate) fn capture(name: &str) -> Vec<Packet> {
    read_pcap(&vector_path(&format!("{name}.pcap")))
}

/// The datagrams of a capture, in their order.
///
/// Knows what the captures are: classic pcap, little endian, microseconds, Ethernet or bare IP, IPv4 without IP fragments,
/// UDP. Anything else is a panic, for then the file is not what it should be.
pub(crate) fn read_pcap(path: &Path) -> Vec<Packet> {
    let name = path.display();
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{name}: {error}"));
    let (header, mut rest) = bytes.split_at(24);
    assert_eq!(u32_le(header, 0), 0xa1b2_c3d4, "{name}: little-endian pcap with microseconds");
    let link_type = u32_le(header, 20);
    assert!([ETHERNET, RAW].contains(&link_type), "{name}: Ethernet or bare IP");
    let mut packets = Vec::new();
    while !rest.is_empty() {
        let (record, behind) = rest.split_at(16);
        let (frame, behind) = behind.split_at(u32_le(record, 8) as usize);
        assert_eq!(u32_le(record, 8), u32_le(record, 12), "{name}: a frame that was cut off");
        let time_ns = i64::from(u32_le(record, 0)) * 1_000_000_000 + i64::from(u32_le(record, 4)) * 1_000;
        let number = packets.len() + 1;
        let ip = if link_type == RAW { frame } else { ethernet_payload(number, frame) };
        packets.push(packet(number, time_ns, ip));
        rest = behind;
    }
    packets
}

fn ethernet_payload(number: usize, frame: &[u8]) -> &[u8] {
    let (ethernet, ip) = frame.split_at(14);
    assert_eq!(ethernet[12..], [0x08, 0x00], "packet {number}: IPv4");
    ip
}

fn packet(number: usize, time_ns: i64, ip: &[u8]) -> Packet {
    let (header, behind) = ip.split_at(usize::from(ip[0] & 0xf) * 4);
    assert_eq!((header[0] >> 4, header[9]), (4, 17), "packet {number}: UDP");
    assert_eq!(u16_be(header, 6) & 0x3fff, 0, "packet {number}: an IP fragment");
    let (udp, payload) = behind.split_at(8);
    let address = |at: usize| Ipv4Addr::new(header[at], header[at + 1], header[at + 2], header[at + 3]);
    Packet {
        number,
        time_ns,
        source: SocketAddrV4::new(address(12), u16_be(udp, 0)),
        destination: SocketAddrV4::new(address(16), u16_be(udp, 2)),
        payload: payload[..usize::from(u16_be(udp, 4)) - 8].to_vec(),
    }
}

fn u32_le(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap())
}

fn u16_be(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// Link types of pcap.
const ETHERNET: u32 = 1;
const RAW: u32 = 101;
