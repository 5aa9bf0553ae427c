//! Shared by the tests: reads the captures in `tests/vectors`.

#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

/// Every capture by its name without `.pcap`. `tests/vectors/README.md` describes them.
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
    /// Number in the capture, from 1, as tshark counts.
    pub(crate) number: usize,
    /// Time of capture in nanoseconds since 1970.
    pub(crate) time_ns: i64,
    /// Source address.
    pub(crate) source: SocketAddr,
    /// Destination address.
    pub(crate) destination: SocketAddr,
    /// The bytes that a socket would have received.
    pub(crate) payload: Vec<u8>,
}

/// Path of `name` in `tests/vectors`.
pub(crate) fn vector_path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name)
}

/// Returns the datagrams of the capture with this name, in order.
pub(crate) fn capture(name: &str) -> Vec<Packet> {
    read_pcap(&vector_path(&format!("{name}.pcap")))
}

/// Returns the datagrams of a capture file, in order.
///
/// It supports only the form of these captures: classic pcap, little endian, microseconds, Ethernet with IPv4 or bare
/// IP, and UDP. IP fragments and extension headers are not supported. It panics on anything else, because then the file
/// is wrong.
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
    let (source, destination, behind) = match ip[0] >> 4 {
        4 => {
            let (header, behind) = ip.split_at(usize::from(ip[0] & 0xf) * 4);
            assert_eq!(header[9], 17, "packet {number}: UDP");
            assert_eq!(u16_be(header, 6) & 0x3fff, 0, "packet {number}: an IP fragment");
            let address = |at: usize| IpAddr::from(<[u8; 4]>::try_from(&header[at..at + 4]).unwrap());
            (address(12), address(16), behind)
        }
        6 => {
            let (header, behind) = ip.split_at(40);
            assert_eq!(header[6], 17, "packet {number}: UDP");
            let address = |at: usize| IpAddr::from(<[u8; 16]>::try_from(&header[at..at + 16]).unwrap());
            (address(8), address(24), behind)
        }
        version => panic!("packet {number}: IP version {version}"),
    };
    let (udp, payload) = behind.split_at(8);
    Packet {
        number,
        time_ns,
        source: SocketAddr::new(source, u16_be(udp, 0)),
        destination: SocketAddr::new(destination, u16_be(udp, 2)),
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
