//! The sockets of one participant, as its actors see them.

use crate::actor::Poke;
use crate::sync::{Arc, Weak};
use dds_rtps::cdr::append;
use dds_rtps::concurrent::{BorrowedMut, Payload, SlotPool};
use dds_rtps::discovery::HostAddress;
use dds_rtps::reader::{InPlaceFragment, Source};
use dds_rtps::transport::Transport;
use dds_rtps::transport::faults::Faults;
use dds_rtps::types::{EntityId, GuidPrefix, IpFamilies, Locator};
use dds_rtps::wire::{OpenedMessage, RejectedMessage, Transform};
use std::cell::Cell;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

/// How far the traffic of a participant goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// This host only. Sockets are bound to loopback, so they receive nothing from outside either.
    Host,
    /// The networks of this host's interfaces.
    #[default]
    Subnet,
}

/// Resolves the name of a peer. Returns no address if that fails.
pub type Resolve = fn(&str) -> Vec<SocketAddr>;

/// Configuration of a participant's sockets.
#[derive(Debug, Clone)]
pub struct NetworkConfig {
    /// Domain ID, 0 to 232 (RTPS 2.5, 9.6.2.3).
    pub domain_id: u32,
    /// How far traffic goes. Default: the subnet.
    pub reach: Reach,
    /// Whether the participant uses multicast for discovery. Default: yes.
    pub multicast: bool,
    /// Interfaces to use, by name or address. Empty means all. Default: empty.
    pub interfaces: Vec<String>,
    /// IP versions to use. Default: [`IpFamilies::Auto`].
    pub families: IpFamilies,
    /// Number of routers that a multicast datagram may pass, plus one. Default: 1.
    pub multicast_ttl: u32,
    /// Peers for unicast discovery. Default: none.
    ///
    /// An entry names one port of a host. With port 0, it means the well-known ports of the host.
    pub peers: Vec<SocketAddr>,
    /// Peers by name, with their present addresses. Default: none.
    ///
    /// The names are resolved again periodically, because their addresses may change.
    pub peer_names: Vec<(String, Vec<SocketAddr>)>,
    /// Resolves the name of a peer. May block.
    pub resolve: Resolve,
    /// Requested receive buffer of each socket in bytes. Default: `None`.
    ///
    /// A given value exceeds the system's limit if the process has the right to do so. `None` requests
    /// [`RECEIVE_BUFFER`](dds_rtps::transport::RECEIVE_BUFFER) within the limit. The system's default of 212 kB loses
    /// fragments of a large sample.
    pub receive_buffer: Option<usize>,
    /// Requested send buffer of each socket in bytes. Default: 1 MiB.
    pub send_buffer: usize,
    /// Whether threads that wait read the user-data socket, instead of a separate thread. Default: no.
    ///
    /// While no thread waits, the driver's thread reads it. Has no effect outside Linux and in a simulation.
    pub by_caller: bool,
    /// Bound of the memory that is shared with participants of this host, in bytes. Zero turns it off. Default: 64 MiB.
    ///
    /// Only Linux supports it, and only with the feature `shm`.
    pub shared_memory: usize,
    /// How long a thread that receives polls shared memory before it sleeps. Default: zero. At most 100 ms.
    pub busy_poll: Duration,
    /// Path of a pcap file that records sent and received datagrams. Default: none.
    pub tap: Option<PathBuf>,
    /// Faults of sent datagrams, for tests. Default: none. For received ones see `FaultyReceive`.
    pub faults: Option<Faults>,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            domain_id: 0,
            reach: Reach::Subnet,
            multicast: true,
            interfaces: Vec::new(),
            families: IpFamilies::default(),
            multicast_ttl: 1,
            peers: Vec::new(),
            peer_names: Vec::new(),
            resolve: |_| Vec::new(),
            receive_buffer: None,
            send_buffer: 1 << 20,
            by_caller: false,
            shared_memory: SHARED_MEMORY,
            busy_poll: Duration::ZERO,
            tap: None,
            faults: None,
        }
    }
}

/// Default bound of the memory that a participant shares, in bytes.
pub(crate) const SHARED_MEMORY: usize = 64 << 20;

/// How user data reaches another participant of this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Carrier {
    /// Through memory that both processes share.
    SharedMemory,
    /// By UDP.
    Udp {
        /// Why memory is not shared.
        reason: String,
    },
}

/// Addresses of a participant, and the addresses where it looks for peers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Locators {
    /// For discovery traffic to this participant. Announced.
    pub metatraffic_unicast: Vec<Locator>,
    /// For discovery traffic to all participants. Announced. Empty without multicast.
    pub metatraffic_multicast: Vec<Locator>,
    /// For user data. Announced.
    pub default_unicast: Vec<Locator>,
    /// Destinations of the first announcements: the multicast group, and the well-known ports of peers.
    pub initial_peers: Vec<Locator>,
    /// Addresses of this host. They tell which peers run here, and which addresses of a peer are reachable.
    pub host_addresses: Vec<HostAddress>,
    /// Participant index of the ports (RTPS 2.5, 9.6.2.3). `None` if the ports are ephemeral.
    pub participant_index: Option<u32>,
}

/// Whether the system of this host knows a participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// The participant's process runs on this host.
    Here,
    /// No process on this host has the participant.
    Gone,
    /// The system does not know.
    Unknown,
}

/// Socket that received a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Socket {
    /// Discovery traffic to the multicast group.
    MetatrafficMulticast,
    /// Discovery traffic to this participant.
    MetatrafficUnicast,
    /// User data.
    UserUnicast,
}

/// Sender of packets from a socket for user data, which does not read it. No participant lives at this address.
#[cfg(any(feature = "udp", feature = "sim"))]
pub(crate) const UNREAD_SENDER: IpAddr = IpAddr::V4(std::net::Ipv4Addr::UNSPECIFIED);

/// Datagrams up to this many bytes are copied if a queue keeps them.
///
/// A receive buffer slot has 64 KiB, so that it can hold any datagram. A queue of small datagrams must not hold sixteen
/// times more memory than it counts.
const COPIED_MAX: usize = 4 << 10;

/// A received datagram.
#[derive(Debug)]
pub struct Packet {
    /// The bytes, in a slot with room for any datagram.
    pub payload: Payload,
    /// Socket that received the packet.
    pub socket: Socket,
    /// Address that the packet came from; `None` if the transport has no addresses. Default: none.
    ///
    /// It is unspecified if the packet came from a socket for user data, or from shared memory.
    pub sender: Option<IpAddr>,
    small: Arc<SlotPool>,
}

/// Where a receiver of packets puts the datagram to expect next.
///
/// It travels as a reference, because the value is large and usually absent.
pub type ExpectedPlace = Cell<Option<Expected>>;

/// Most bytes of headers in front of a fragment: 20 for the message, 12 INFO_TS, 16 INFO_DST, 36 DATA_FRAG, some inline
/// QoS.
pub const EXPECTED_HEADER_MAX: usize = 128;

/// A datagram that is likely the next one: a fragment whose position in its sample is known.
#[derive(Debug)]
pub struct Expected {
    headers: Headers,
    /// Destination of the payload.
    pub landing: InPlaceFragment,
}

/// The bytes in front of the payload. They identify its reader and its writer.
#[derive(Debug)]
pub struct Headers {
    bytes: [u8; EXPECTED_HEADER_MAX],
    len: usize,
    /// Offset and byte order of the fragment number.
    number_at: usize,
    little_endian: bool,
    /// The reader that receives the sample.
    pub reader: EntityId,
    /// The writer, and other properties of the fragment.
    pub source: Source,
}

impl Headers {
    /// Creates headers like `header`, which came with another fragment of the sample; only the number at `number_at`
    /// differs.
    ///
    /// Returns `None` if the headers are too long.
    #[must_use]
    pub fn like(
        header: &[u8],
        (number_at, little_endian): (usize, bool),
        reader: EntityId,
        source: Source,
    ) -> Option<Self> {
        let mut bytes = [0; EXPECTED_HEADER_MAX];
        // Longer headers are rare, and then the fragment is received as usual.
        bytes.get_mut(..header.len())?.copy_from_slice(header);
        if number_at.checked_add(size_of::<u32>())? > header.len() {
            return None;
        }
        Some(Self { bytes, len: header.len(), number_at, little_endian, reader, source })
    }

    /// Sets the fragment number of `landing`, and returns the datagram to expect.
    #[must_use]
    pub fn in_front_of(mut self, landing: InPlaceFragment) -> Expected {
        let number = landing.fragment_number();
        let number = if self.little_endian { number.to_le_bytes() } else { number.to_be_bytes() };
        // `like` has checked that the number fits.
        debug_assert!(self.number_at + number.len() <= self.len, "the header contains its fragment number");
        if let Some(place) = self.bytes.get_mut(self.number_at..self.number_at + number.len()) {
            place.copy_from_slice(&number);
        }
        Expected { headers: self, landing }
    }

    fn bytes(&self) -> &[u8] {
        debug_assert!(self.len <= EXPECTED_HEADER_MAX, "`like` refuses longer headers");
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl Expected {
    /// Splits into the destination of the payload and the headers.
    #[must_use]
    pub fn into_parts(self) -> (InPlaceFragment, Headers) {
        (self.landing, self.headers)
    }

    /// Whether the received datagram is the expected one, so that its payload is in place.
    #[must_use]
    pub fn has_come(&self, received_len: usize, header: &[u8]) -> bool {
        // The length too: a datagram with a submessage behind the fragment begins in the same way.
        received_len == header.len() + self.landing.len() && header == self.headers.bytes()
    }

    /// Whether a datagram starts with the expected fragment.
    ///
    /// It usually has more submessages after it, such as a HEARTBEAT now and then.
    #[must_use]
    pub fn begins(&self, header: &[u8]) -> bool {
        header == self.headers.bytes()
    }

    /// The bytes in front of the payload.
    #[must_use]
    pub fn headers(&self) -> &Headers {
        &self.headers
    }

    /// Number of bytes in front of the payload.
    #[must_use]
    pub fn header_len(&self) -> usize {
        self.headers.len
    }
}

impl Packet {
    /// Creates a packet. If a queue has to keep it, a small copy comes from `small`.
    #[must_use]
    pub fn new(payload: Payload, socket: Socket, small: Arc<SlotPool>) -> Self {
        Self { payload, socket, sender: None, small }
    }

    /// Returns this packet with the bytes that a transform opened. `None` if it leaves them as they are.
    ///
    /// They are opened into a slot, without a further copy.
    pub(crate) fn opened_by(&self, transform: &Transform) -> Result<Option<Self>, RejectedMessage> {
        let mut slot = self.small.acquire();
        slot.buffer().clear();
        match transform.open(self.payload.bytes(), slot.buffer()) {
            Ok(OpenedMessage::Scratch { start }) => {
                let (opened, small) = (self.small.freeze(slot), Arc::clone(&self.small));
                let payload = opened.slice(start..opened.len());
                Ok(Some(Self { payload, socket: self.socket, sender: self.sender, small }))
            }
            Ok(OpenedMessage::Datagram) => {
                self.small.give_back(slot);
                Ok(None)
            }
            Err(rejected) => {
                // Reused, because a flood of invalid datagrams must not cost an allocation each.
                self.small.give_back(slot);
                Err(rejected)
            }
        }
    }

    /// Returns the bytes to keep in a queue: the packet's own slot if they are many, else a copy of their size.
    #[must_use]
    pub fn to_keep(&self) -> Payload {
        // Its own slot is used well enough, and a copy would cost more.
        if self.payload.len() > COPIED_MAX {
            return self.payload.clone();
        }
        // A small slot, so that the queue holds about as much memory as it counts.
        let mut slot = self.small.acquire();
        let buffer = slot.buffer();
        buffer.clear();
        append(buffer, self.payload.bytes());
        self.small.freeze(slot)
    }
}

/// Accepts the packets that the sockets of a participant receive.
///
/// The receive thread and the driver's thread call this, at the same time. With [`NetworkConfig::by_caller`], a thread
/// that waits calls it instead of the receive thread.
pub trait Receive: Send + Sync + 'static {
    /// Processes one packet and runs its effects. Must not block.
    ///
    /// `next`: an empty place for the datagram to expect next; `None` if it could not be received in place.
    fn receive(&self, packet: &Packet, next: Option<&ExpectedPlace>);

    /// Processes the expected datagram, whose payload is in place. Otherwise like [`Receive::receive`].
    fn land(&self, landed: Expected, next: &ExpectedPlace) {
        let _ = (landed, next);
    }

    /// Reports that several packets may follow each other until [`Receive::end_burst`].
    ///
    /// Discovery then answers all of them together.
    fn begin_burst(&self) {}

    /// Ends the packets of [`Receive::begin_burst`].
    fn end_burst(&self) {}

    /// Reports that [`Network::locators`] has changed, because an interface or an address came or went.
    ///
    /// The driver's thread calls this.
    fn locators_changed(&self) {}
}

/// Property of a participant with the version of this crate.
pub const VERSION_PROPERTY: &str = "dds.product_version";

/// The sockets of one participant. Dropping the last handle after [`Network::stop`] closes them.
pub trait Network: Send + Sync {
    /// Current addresses of this participant.
    fn locators(&self) -> Arc<Locators>;

    /// Returns the names of peers that have no address at present.
    fn unresolved_peers(&self) -> Vec<String> {
        Vec::new()
    }

    /// Names and values about the process, which a participant announces. A simulated process has none.
    fn process_properties(&self) -> Vec<(String, String)> {
        Vec::new()
    }

    /// Sends. Never blocks.
    fn transport(&self) -> &Arc<dyn Transport>;

    /// Size of the receive buffer that the system has granted on the user-data socket, in bytes.
    ///
    /// If it is less than requested, the caller should log a warning.
    fn receive_buffer_granted(&self) -> usize;

    /// Number of datagrams that the user-data sockets dropped since they were opened, because their buffers were full.
    ///
    /// `None` if the system does not report it. Costs a system call per socket.
    fn dropped(&self) -> Option<u64> {
        None
    }

    /// Free bytes of the receive buffer at a locator of this host. `None` if the system does not report it.
    ///
    /// Costs two system calls.
    fn room_at(&self, locator: &Locator) -> Option<usize> {
        let _ = locator;
        None
    }

    /// Longest message that reaches all `locators`, if it is longer than those of UDP. Otherwise zero.
    fn long_message_max(&self, locators: &[Locator]) -> usize {
        let _ = locators;
        0
    }

    /// Lends memory for an encoded sample of `len` bytes, which the readers at `locators` get without a copy.
    ///
    /// `None` if such memory does not reach all of them, or if there is no room in it.
    fn lend(&self, locators: &[Locator], len: usize) -> Option<BorrowedMut> {
        let _ = (locators, len);
        None
    }

    /// Starts to receive.
    ///
    /// # Errors
    /// Fails if the system refuses a thread, or if the network was started or stopped before.
    fn start(&self, receive: Arc<dyn Receive>) -> io::Result<()>;

    /// Signals [`Signals::WRITABLE`](crate::actor::Signals::WRITABLE) to `cell` and pokes it when the sockets are
    /// writable again. Datagrams for shared memory wait for room at their peer, or for a short time.
    ///
    /// Does so once. Allowed inside a cell.
    fn when_writable(&self, cell: Weak<dyn Poke>);

    /// Shows other processes of this host that a participant of this process is alive.
    ///
    /// Lasts until the network is dropped or the process ends, in whichever way.
    fn show_presence(&self, prefix: GuidPrefix) {
        let _ = prefix;
    }

    /// Whether a participant that shows its presence lives on this host. Costs a system call and never blocks.
    fn presence(&self, prefix: GuidPrefix) -> Presence {
        let _ = prefix;
        Presence::Unknown
    }

    /// Shares memory with a participant of this host, if possible. `locators` are those of its user data.
    ///
    /// May be called again when the locators change.
    fn share_memory(&self, peer: GuidPrefix, locators: &[Locator]) {
        let _ = (peer, locators);
    }

    /// Ends the path to a participant that is lost.
    fn end_sharing(&self, peer: GuidPrefix) {
        let _ = peer;
    }

    /// Returns how datagrams reach a participant of this host. `None` if this network shares no memory.
    fn carrier(&self, peer: GuidPrefix) -> Option<Carrier> {
        let _ = peer;
        None
    }

    /// Stops reception. The receiver gets no packet after the threads have ended. Does not wait.
    fn stop(&self);
}

/// Error of opening the sockets of a participant.
#[derive(Debug)]
pub enum NetworkError {
    /// The domain ID is above 232: its ports would be above 65535.
    Domain(u32),
    /// No interface fits the configuration.
    NoInterface,
    /// The system refused an operation.
    Io {
        /// The operation.
        what: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The capture file cannot be written.
    Tap {
        /// Path of the file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A simulated network does not support a setting.
    NotSimulated {
        /// Name of the participant's setting.
        setting: &'static str,
    },
    /// This build has no UDP (feature `udp`).
    Unsupported,
}

impl fmt::Display for NetworkError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Domain(domain) => write!(f, "domain {domain} is above 232, the last one that has ports"),
            Self::NoInterface => f.write_str("no network interface has an address that fits the configuration"),
            Self::Io { what, source } => write!(f, "{what}: {source}"),
            Self::Tap { path, source } => write!(f, "{}: {source}", path.display()),
            Self::NotSimulated { setting } => write!(f, "a simulated network has no {setting}"),
            Self::Unsupported => f.write_str("this build has no UDP"),
        }
    }
}

impl std::error::Error for NetworkError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } | Self::Tap { source, .. } => Some(source),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(len: usize) -> Packet {
        let payload = Payload::copy_of(&vec![7; len]);
        Packet::new(payload, Socket::UserUnicast, Arc::new(SlotPool::new(4)))
    }

    #[test]
    fn a_small_packet_is_kept_in_a_slot_of_its_size() {
        let packet = packet(COPIED_MAX);
        let kept = packet.to_keep();
        assert_eq!(kept.bytes(), packet.payload.bytes());
        assert_ne!(kept.bytes().as_ptr(), packet.payload.bytes().as_ptr());
        let memory = kept.bytes().as_ptr();
        drop(kept);
        assert_eq!(packet.to_keep().bytes().as_ptr(), memory);
    }

    #[test]
    fn a_large_packet_is_kept_where_it_is() {
        let packet = packet(COPIED_MAX + 1);
        assert_eq!(packet.to_keep().bytes().as_ptr(), packet.payload.bytes().as_ptr());
    }
}
