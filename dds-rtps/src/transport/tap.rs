//! Writes the datagrams of a transport into a file that Wireshark and tshark open.
//!
//! The file is a classic pcap of link type RAW (101): each record is an IP packet. UDP sockets do not expose their IP
//! and UDP headers, so this module builds them from the addresses, with correct lengths and checksums.
//!
//! ```text
//! file     24 bytes, little endian: magic a1b2c3d4 | version 2.4 | zone 0 | accuracy 0 | longest record | link type
//! record   16 bytes, little endian: seconds | microseconds | bytes here | bytes of the packet
//!          IPv4 (20) or IPv6 (40) | UDP (8) | datagram
//! ```

use crate::output::Datagram;
use crate::transport::{SendOutcome, Transport, TransportCounters};
use crate::types::{Locator, Time};
use smallvec::SmallVec;
use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A pcap file that grows by one record for each datagram.
///
/// One system call writes each record at once, so the file has the last datagrams before a crash. This costs a few
/// microseconds per datagram; therefore no tap is the default. Nothing is buffered in memory.
#[derive(Debug)]
pub struct Capture {
    clock: fn() -> Time,
    records: Mutex<Records>,
    lost: AtomicU64,
}

#[derive(Debug)]
struct Records {
    /// `None` after the first failed write: a reader cannot continue after a partial record.
    file: Option<File>,
    /// Scratch memory of one record, at most [`RECORD_MAX`] bytes.
    record: Vec<u8>,
}

impl Capture {
    /// Opens `path`; `clock` timestamps the records.
    ///
    /// An existing file must be a capture of this kind and is continued, so several participants and processes may
    /// share one. A path that is not a regular file, such as a named pipe, gets a new header.
    ///
    /// # Errors
    /// The file cannot be created or opened, or it is no capture of this kind ([`io::ErrorKind::InvalidData`]).
    pub fn open(path: &Path, clock: fn() -> Time) -> io::Result<Self> {
        let is_begun = begin(path)?;
        let mut file = OpenOptions::new().append(true).open(path)?;
        if !is_begun {
            file.write_all(&file_header())?;
        }
        let records = Records { file: Some(file), record: Vec::new() };
        Ok(Self { clock, records: Mutex::new(records), lost: AtomicU64::new(0) })
    }

    /// Appends a datagram; `segments` are its bytes in wire order.
    ///
    /// A datagram that cannot be recorded is [counted](Self::lost) and otherwise ignored: a tap must not disturb the
    /// traffic.
    pub fn record<'a>(&self, source: SocketAddr, destination: SocketAddr, segments: impl Iterator<Item = &'a [u8]>) {
        let time = (self.clock)();
        // A panic leaves at most a partial record in memory, which the next call clears.
        let mut records = self.records.lock().unwrap_or_else(PoisonError::into_inner);
        let Records { file, record } = &mut *records;
        let is_complete = lay_out(record, time, source, destination, segments);
        let is_written = is_complete && file.as_mut().is_some_and(|file| file.write_all(record).is_ok());
        // A partial record would make the rest of the file unreadable.
        if is_complete && !is_written {
            *file = None;
        }
        if !is_written {
            self.lost.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Returns how many datagrams the file lacks.
    ///
    /// These are the datagrams that no IP packet can carry, and all datagrams after the first failed write.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost.load(Ordering::Relaxed)
    }
}

/// Wraps a transport and records each destination that it has served.
pub struct Tap<T> {
    inner: T,
    capture: Arc<Capture>,
    sources: SmallVec<[SocketAddr; 2]>,
}

impl<T> Tap<T> {
    /// Creates a tap around `inner`.
    ///
    /// A record's source is the one of `sources` with the destination's version of IP, or loopback if the destination
    /// is loopback. A destination without such a source is not recorded.
    pub fn new(inner: T, capture: Arc<Capture>, sources: impl IntoIterator<Item = SocketAddr>) -> Self {
        Self { inner, capture, sources: sources.into_iter().collect() }
    }

    fn record(&self, datagram: &Datagram, destination: &Locator) {
        let Some(destination) = destination.to_socket_addr() else { return };
        // An IP packet has one version, so source and destination must agree.
        let source = self.sources.iter().find(|source| source.is_ipv4() == destination.is_ipv4());
        let Some(&source) = source else { return };
        let source = as_seen_by(destination, source);
        self.capture.record(source, destination, datagram.segments());
    }
}

impl<T: Transport> Transport for Tap<T> {
    fn send(&self, datagram: &mut Datagram) -> SendOutcome {
        // The inner transport removes the destinations that it serves.
        let destinations: SmallVec<[Locator; 8]> = SmallVec::from_slice(datagram.remaining_destinations());
        let outcome = self.inner.send(datagram);
        let remaining = datagram.remaining_destinations();
        debug_assert!(remaining.len() <= destinations.len(), "a transport adds no destinations");
        // A transport may serve a later destination first.
        for destination in destinations.iter().filter(|destination| !remaining.contains(destination)) {
            self.record(datagram, destination);
        }
        outcome
    }

    fn counters(&self) -> TransportCounters {
        self.inner.counters()
    }
}

impl<T: fmt::Debug> fmt::Debug for Tap<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tap").field("inner", &self.inner).field("sources", &self.sources).finish_non_exhaustive()
    }
}

/// Returns `own` as `peer` sees it: a peer at a loopback address sees a loopback address.
#[must_use]
pub fn as_seen_by(peer: SocketAddr, own: SocketAddr) -> SocketAddr {
    let address = match peer.ip() {
        IpAddr::V4(ip) if ip.is_loopback() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_loopback() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        _ => own.ip(),
    };
    SocketAddr::new(address, own.port())
}

/// Returns true if `path` is a file with our header, new or old; false if it still needs a header.
fn begin(path: &Path) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(found) if found.is_file() => return has_our_header(path).map(|()| true),
        Ok(_) => return Ok(false),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    // Another participant may create the file at the same time. The link makes it appear with its header or not at
    // all.
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{number}", std::process::id()));
    // On the same file system as `path`, as a hard link requires.
    let begun = Path::new(&name);
    fs::write(begun, file_header())?;
    let linked = fs::hard_link(begun, path);
    fs::remove_file(begun)?;
    match linked {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => has_our_header(path).map(|()| true),
    }
}

fn has_our_header(path: &Path) -> io::Result<()> {
    let mut header = [0; FILE_HEADER_LEN];
    let is_ours = match io::Read::read_exact(&mut File::open(path)?, &mut header) {
        Ok(()) => header == file_header(),
        // A shorter file is something else.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
        Err(error) => return Err(error),
    };
    if is_ours {
        return Ok(());
    }
    Err(io::Error::new(io::ErrorKind::InvalidData, "the existing file is no capture of this kind"))
}

fn file_header() -> [u8; FILE_HEADER_LEN] {
    let mut header = [0; FILE_HEADER_LEN];
    header[0..4].copy_from_slice(&0xa1b2_c3d4_u32.to_le_bytes());
    header[4..6].copy_from_slice(&2_u16.to_le_bytes());
    header[6..8].copy_from_slice(&4_u16.to_le_bytes());
    header[16..20].copy_from_slice(&RECORD_MAX.to_le_bytes());
    header[20..24].copy_from_slice(&LINK_TYPE_RAW.to_le_bytes());
    header
}

/// Builds a record; false if no IP packet can carry the datagram.
fn lay_out<'a>(
    record: &mut Vec<u8>,
    time: Time,
    source: SocketAddr,
    destination: SocketAddr,
    segments: impl Iterator<Item = &'a [u8]>,
) -> bool {
    record.clear();
    let ip_len = if destination.is_ipv4() { 20 } else { 40 };
    let udp_at = RECORD_HEADER_LEN + ip_len;
    record.resize(udp_at + UDP_LEN, 0);
    for segment in segments {
        record.extend_from_slice(segment);
    }
    let packet_len = record.len() - RECORD_HEADER_LEN;
    let Ok(udp_len) = u16::try_from(record.len() - udp_at) else { return false };
    // Both pseudo headers contain the length, the protocol and the addresses.
    let checksum_start = u32::from(udp_len) + u32::from(UDP_PROTOCOL);
    let pseudo = match (source.ip(), destination.ip()) {
        (IpAddr::V4(from), IpAddr::V4(to)) => {
            let Ok(total) = u16::try_from(packet_len) else { return false };
            let header = ipv4_header(total, from, to);
            put(record, RECORD_HEADER_LEN, &header);
            sum(checksum_start, &header[12..20])
        }
        (IpAddr::V6(from), IpAddr::V6(to)) => {
            let header = ipv6_header(udp_len, from, to);
            put(record, RECORD_HEADER_LEN, &header);
            sum(checksum_start, &header[8..40])
        }
        _ => return false,
    };
    put(record, udp_at, &source.port().to_be_bytes());
    put(record, udp_at + 2, &destination.port().to_be_bytes());
    put(record, udp_at + 4, &udp_len.to_be_bytes());
    // In UDP zero means "not computed", so a zero checksum is sent as its other form.
    let checksum = match folded(sum(pseudo, record.get(udp_at..).unwrap_or_default())) {
        0 => u16::MAX,
        checksum => checksum,
    };
    put(record, udp_at + 6, &checksum.to_be_bytes());
    put_record_header(record, time, packet_len)
}

fn put_record_header(record: &mut [u8], time: Time, packet_len: usize) -> bool {
    let micros = time.as_unix_nanos().max(0) / 1_000;
    let (Ok(seconds), Ok(micros), Ok(len)) =
        (u32::try_from(micros / 1_000_000), u32::try_from(micros % 1_000_000), u32::try_from(packet_len))
    else {
        return false;
    };
    for (index, value) in [seconds, micros, len, len].into_iter().enumerate() {
        put(record, index * 4, &value.to_le_bytes());
    }
    true
}

fn ipv4_header(total_len: u16, source: Ipv4Addr, destination: Ipv4Addr) -> [u8; 20] {
    let mut header = [0; 20];
    // Version 4, and a header of five 32-bit words.
    header[0] = 0x45;
    header[2..4].copy_from_slice(&total_len.to_be_bytes());
    header[8] = HOPS;
    header[9] = UDP_PROTOCOL;
    header[12..16].copy_from_slice(&source.octets());
    header[16..20].copy_from_slice(&destination.octets());
    let checksum = folded(sum(0, &header));
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header
}

fn ipv6_header(udp_len: u16, source: Ipv6Addr, destination: Ipv6Addr) -> [u8; 40] {
    let mut header = [0; 40];
    // Version 6.
    header[0] = 0x60;
    header[4..6].copy_from_slice(&udp_len.to_be_bytes());
    header[6] = UDP_PROTOCOL;
    header[7] = HOPS;
    header[8..24].copy_from_slice(&source.octets());
    header[24..40].copy_from_slice(&destination.octets());
    header
}

fn put(record: &mut [u8], at: usize, bytes: &[u8]) {
    debug_assert!(at + bytes.len() <= record.len(), "the record has room for its headers");
    if let Some(place) = record.get_mut(at..at + bytes.len()) {
        place.copy_from_slice(bytes);
    }
}

/// Sums 16-bit words for the Internet checksum (RFC 1071), before folding. The sum of 65 kB does not overflow.
fn sum(start: u32, bytes: &[u8]) -> u32 {
    let mut sum = start;
    for pair in bytes.chunks(2) {
        // An odd last byte is padded with zero.
        let word = [pair.first().copied().unwrap_or(0), pair.get(1).copied().unwrap_or(0)];
        sum += u32::from(u16::from_be_bytes(word));
    }
    sum
}

fn folded(sum: u32) -> u16 {
    // Two folds suffice: the first one leaves a carry of one at most.
    let once = (sum >> 16) + (sum & 0xffff);
    let twice = (once >> 16) + (once & 0xffff);
    !(twice as u16)
}

const FILE_HEADER_LEN: usize = 24;
const RECORD_HEADER_LEN: usize = 16;
const UDP_LEN: usize = 8;
const UDP_PROTOCOL: u8 = 17;

/// Usual value of a host; the real one is unknown here.
const HOPS: u8 = 64;

/// Longest packet: an IPv6 header and the largest value of its length field.
const RECORD_MAX: u32 = 40 + 65_535;

/// Records begin with an IP header whose first four bits name the version.
const LINK_TYPE_RAW: u32 = 101;

#[cfg(test)]
mod tests {
    use super::*;

    fn noon() -> Time {
        Time::from_unix_nanos(1_000_000_000_123_456_789)
    }

    fn address(text: &str) -> SocketAddr {
        text.parse().unwrap()
    }

    fn record(source: &str, destination: &str, payload: &[u8]) -> Vec<u8> {
        let mut record = Vec::new();
        assert!(lay_out(&mut record, noon(), address(source), address(destination), [payload].into_iter()));
        record
    }

    /// Whether a receiver would accept a packet with this sum.
    fn verified(sum: u32) -> bool {
        folded(sum) == 0
    }

    #[test]
    fn headers_have_correct_lengths_and_checksums() {
        for payload in [&b"RTPS"[..], b"odd", b"", &[0xff; 65_507]] {
            let record = record("192.0.2.1:7411", "192.0.2.2:7413", payload);
            assert_eq!(record[0..4], 1_000_000_000_u32.to_le_bytes());
            assert_eq!(record[4..8], 123_456_u32.to_le_bytes());
            assert_eq!(record[8..12], (28 + payload.len() as u32).to_le_bytes());
            assert_eq!(record[8..12], record[12..16]);
            let (ip, udp) = record[16..].split_at(20);
            assert!(verified(sum(0, ip)));
            assert_eq!(ip[2..4], (28 + payload.len() as u16).to_be_bytes());
            assert_eq!(udp[..6], [&7411_u16.to_be_bytes()[..], &7413_u16.to_be_bytes(), &udp[4..6]].concat());
            assert_eq!(udp[4..6], (8 + payload.len() as u16).to_be_bytes());
            assert!(verified(sum(17 + udp.len() as u32, &ip[12..]) + sum(0, udp)));
            assert_eq!(&udp[8..], payload);
        }
    }

    #[test]
    fn ipv6_is_recorded_as_ipv6() {
        let record = record("[::1]:1", "[::1]:2", b"RTPS");
        let (ip, udp) = record[16..].split_at(40);
        assert_eq!((ip[0], ip[6]), (0x60, 17));
        assert_eq!(ip[4..6], 12_u16.to_be_bytes());
        assert!(verified(sum(17 + 12, &ip[8..]) + sum(0, udp)));
    }

    #[test]
    fn datagram_too_long_for_a_packet_is_not_recorded() {
        let (v4, v6) = (address("127.0.0.1:1"), address("[::1]:1"));
        let too_long = [&[0; 65_508][..]];
        assert!(!lay_out(&mut Vec::new(), noon(), v4, v4, too_long.into_iter()));
        assert!(!lay_out(&mut Vec::new(), noon(), v4, v6, [].into_iter()));
    }

    #[test]
    fn loopback_peer_sees_loopback_source() {
        let own = address("192.0.2.1:5");
        assert_eq!(as_seen_by(address("127.0.0.1:7411"), own), address("127.0.0.1:5"));
        assert_eq!(as_seen_by(address("192.0.2.2:7411"), own), own);
    }
}
