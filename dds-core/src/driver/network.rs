//! The sockets of one participant as its actors see them.

use crate::actor::Poke;
use crate::sync::{Arc, Weak};
use dds_rtps::cdr::append;
use dds_rtps::concurrent::{Payload, SlotPool};
use dds_rtps::discovery::HostAddress;
use dds_rtps::reader::{InPlaceFragment, Source};
use dds_rtps::transport::Transport;
use dds_rtps::transport::faults::Faults;
use dds_rtps::types::{EntityId, GuidPrefix, IpFamilies, Locator};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

/// How far the traffic of a participant goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Reach {
    /// This host: sockets are bound to loopback, so that nothing from outside comes in either.
    Host,
    /// The networks that this host's interfaces are in.
    #[default]
    Subnet,
}

/// Looks up the addresses of a peer's name, none if that is not possible.
pub type Resolve = fn(&str) -> Vec<SocketAddr>;

/// Which sockets a participant wants.
#[derive(Debug, Clone)]
pub struct NetworkConfig {
    /// 0 to 232 (RTPS 2.5, 9.6.2.3).
    pub domain_id: u32,
    /// How far traffic goes. Default: the subnet.
    pub reach: Reach,
    /// Whether participants are looked for by multicast. Default: yes.
    pub multicast: bool,
    /// The interfaces to be used, by name or address; empty (the default) for all.
    pub interfaces: Vec<String>,
    /// Which versions of IP are spoken. Default: [`IpFamilies::Auto`].
    pub families: IpFamilies,
    /// How many routers a multicast datagram may pass plus one. Default: 1.
    pub multicast_ttl: u32,
    /// Where participants are looked for by unicast: at one port of a host, or, with port 0, at its well-known ones.
    /// Default: nowhere.
    pub peers: Vec<SocketAddr>,
    /// Peers whose names may stand for other addresses later, with what they stand for now: they are looked up again and again.
    /// Default: none.
    pub peer_names: Vec<(String, Vec<SocketAddr>)>,
    /// Looks a name of a peer up; may block.
    pub resolve: Resolve,
    /// Receive buffer asked of the system for each socket, in bytes, past its limit where the process may. Default: `None`,
    /// which is [`RECEIVE_BUFFER`](dds_rtps::transport::RECEIVE_BUFFER) within the limit; the system's default of 212 kB
    /// loses fragments of a large sample.
    pub receive_buffer: Option<usize>,
    /// Send buffer asked of the system for each socket, in bytes. Default: 1 MiB.
    pub send_buffer: usize,
    /// Whether the user-data socket is read by who waits, and by the driver's thread while nobody does, instead of a thread of its
    /// own. On Linux; elsewhere, and in a simulated world, it means nothing. Default: no.
    pub by_caller: bool,
    /// The pcap file that sent and received datagrams are written to. Default: none.
    pub tap: Option<PathBuf>,
    /// What goes wrong with sent datagrams, for tests. Default: nothing. With received ones:
    /// `FaultyReceive`.
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
            tap: None,
            faults: None,
        }
    }
}

/// Where a participant can be reached, and where it looks for others.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Locators {
    /// For discovery traffic to this participant; to be announced.
    pub metatraffic_unicast: Vec<Locator>,
    /// For discovery traffic to everybody; to be announced. Empty without multicast.
    pub metatraffic_multicast: Vec<Locator>,
    /// For user data; to be announced.
    pub default_unicast: Vec<Locator>,
    /// Where the first announcements go: the multicast group, and the well-known ports of peers.
    pub initial_peers: Vec<Locator>,
    /// This host's own addresses: they tell which peers run here, and which of a peer's addresses is in reach.
    pub host_addresses: Vec<HostAddress>,
    /// The participant index of the ports (RTPS 2.5, 9.6.2.3); `None` if they are ephemeral.
    pub participant_index: Option<u32>,
}

/// What the system of this host knows of a participant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// Its process runs here.
    Here,
    /// No process here has it.
    Gone,
    /// The system does not say.
    Unknown,
}

/// Which socket a packet came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Socket {
    /// Discovery traffic to the multicast group.
    MetatrafficMulticast,
    /// Discovery traffic to this participant.
    MetatrafficUnicast,
    /// User data.
    UserUnicast,
}

/// Datagrams up to this many bytes are copied to be kept. A slot that holds any datagram has 64 KiB, and a queue of small
/// ones must not hold sixteen times more memory than it counts.
const COPIED_MAX: usize = 4 << 10;

/// A datagram that has been received.
#[derive(Debug)]
pub struct Packet {
    /// The bytes, in a slot with room for any datagram.
    pub payload: Payload,
    /// Where it came in.
    pub socket: Socket,
    /// Whether the next datagram can be received in its place, if there is one for it ([`Expected`]). Default: no.
    pub lands: bool,
    small: Arc<SlotPool>,
}

/// The headers of a fragment, in front of its bytes, are no longer: 20 bytes of message, INFO_TS 12, INFO_DST 16, DATA_FRAG 36,
/// and some inline QoS.
pub const EXPECTED_HEADER_MAX: usize = 128;

/// A datagram that is likely to be the next one: a fragment whose place in its sample is known.
#[derive(Debug)]
pub struct Expected {
    headers: Headers,
    /// The place of its payload.
    pub landing: InPlaceFragment,
}

/// What stands in front of the payload, and says whose it is.
#[derive(Debug)]
pub struct Headers {
    bytes: [u8; EXPECTED_HEADER_MAX],
    len: usize,
    /// Where the fragment's number stands, and in which byte order.
    number_at: usize,
    little_endian: bool,
    /// The reader whose sample it is.
    pub reader: EntityId,
    /// The writer, and what else holds for the fragment.
    pub source: Source,
}

impl Headers {
    /// Like those of another fragment of the sample, but for the number at `number_at`. `None`: they are too long.
    #[must_use]
    pub fn like(
        header: &[u8],
        (number_at, little_endian): (usize, bool),
        reader: EntityId,
        source: Source,
    ) -> Option<Self> {
        let mut bytes = [0; EXPECTED_HEADER_MAX];
        bytes.get_mut(..header.len())?.copy_from_slice(header);
        let fits = number_at.checked_add(size_of::<u32>())? <= header.len();
        fits.then_some(Self { bytes, len: header.len(), number_at, little_endian, reader, source })
    }

    /// In front of the fragment that belongs there.
    #[must_use]
    pub fn in_front_of(mut self, landing: InPlaceFragment) -> Expected {
        let number = landing.fragment_number();
        let number = if self.little_endian { number.to_le_bytes() } else { number.to_be_bytes() };
        if let Some(place) = self.bytes.get_mut(self.number_at..self.number_at + number.len()) {
            place.copy_from_slice(&number);
        }
        Expected { headers: self, landing }
    }

    fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl Expected {
    /// The place, and what is left of it.
    #[must_use]
    pub fn into_parts(self) -> (InPlaceFragment, Headers) {
        (self.landing, self.headers)
    }

    /// Whether the payload was received in its place: what came with it is what was expected.
    #[must_use]
    pub fn has_come(&self, received_len: usize, header: &[u8]) -> bool {
        received_len == header.len() + self.landing.len() && header == self.headers.bytes()
    }

    /// Whether it was what is expected, as a rule with more behind it: a HEARTBEAT, now and then.
    #[must_use]
    pub fn begins(&self, header: &[u8]) -> bool {
        header == self.headers.bytes()
    }

    /// What stands in front of the payload.
    #[must_use]
    pub fn headers(&self) -> &Headers {
        &self.headers
    }

    /// How many bytes stand in front of the payload.
    #[must_use]
    pub fn header_len(&self) -> usize {
        self.headers.len
    }
}

impl Packet {
    /// A packet whose small form, if it has to be kept, comes from `small`.
    #[must_use]
    pub fn new(payload: Payload, socket: Socket, small: Arc<SlotPool>) -> Self {
        Self { payload, socket, lands: false, small }
    }

    /// Returns this packet with other bytes, which a transform opened. They cannot be received in place.
    #[must_use]
    pub fn opened(&self, message: &[u8]) -> Self {
        let mut slot = self.small.acquire();
        let buffer = slot.buffer();
        buffer.clear();
        append(buffer, message);
        Self { payload: self.small.freeze(slot), socket: self.socket, lands: false, small: Arc::clone(&self.small) }
    }

    /// The bytes to be kept in a queue: in the packet's own slot if there are many, else in one of their size.
    #[must_use]
    pub fn to_keep(&self) -> Payload {
        if self.payload.len() > COPIED_MAX {
            return self.payload.clone();
        }
        let mut slot = self.small.acquire();
        let buffer = slot.buffer();
        buffer.clear();
        append(buffer, self.payload.bytes());
        self.small.freeze(slot)
    }
}

/// Takes what the sockets of a participant receive. Called on the receive and on the driver thread, at the same time;
/// or on a thread that waits instead of the former ([`NetworkConfig::by_caller`]).
pub trait Receive: Send + Sync + 'static {
    /// Takes one packet. Runs the frame to its end: effects are carried out by the callee. Must not wait. Where the packet
    /// [lands](Packet::lands), the answer may be what is expected next.
    fn receive(&self, packet: &Packet) -> Option<Expected>;

    /// Takes what was expected: the datagram has come as it should, and its payload is in its place. As
    /// [`Receive::receive`] otherwise.
    fn land(&self, landed: Expected) -> Option<Expected> {
        drop(landed);
        None
    }

    /// The answer of [`Network::locators`] has changed, because an interface or an address has come or gone. Called on the
    /// driver thread.
    fn locators_changed(&self) {}
}

/// The sockets of one participant. They close with the last handle after [`Network::stop`].
pub trait Network: Send + Sync {
    /// Where this participant can be reached now.
    fn locators(&self) -> Arc<Locators>;

    /// Sends. Never blocks.
    fn transport(&self) -> &Arc<dyn Transport>;

    /// The receive buffer that the system has granted on the user-data socket, in bytes; less than was asked is worth a
    /// warning.
    fn receive_buffer_granted(&self) -> usize;

    /// How many datagrams the user-data sockets had no room for, since they were opened; `None`: the system does not tell.
    /// Costs a system call per socket.
    fn dropped(&self) -> Option<u64> {
        None
    }

    /// How many bytes the receive buffer at a locator has room for, which is one of this host; `None`: the system does not
    /// tell. Costs two system calls.
    fn room_at(&self, locator: &Locator) -> Option<usize> {
        let _ = locator;
        None
    }

    /// Begins to receive.
    ///
    /// # Errors
    /// The system refuses a thread, or the network was started or stopped before.
    fn start(&self, receive: Arc<dyn Receive>) -> io::Result<()>;

    /// Signals [`Signals::WRITABLE`](crate::actor::Signals::WRITABLE) to `cell` and pokes it, once, when the sockets have
    /// room again. Allowed inside a cell.
    fn when_writable(&self, cell: Weak<dyn Poke>);

    /// Lets other processes of this host see that a participant of this one lives, until the network is dropped or the process
    /// ends, however it does.
    fn show_presence(&self, prefix: GuidPrefix) {
        let _ = prefix;
    }

    /// Whether a participant that shows its presence lives on this host. Costs a system call, and never waits.
    fn presence(&self, prefix: GuidPrefix) -> Presence {
        let _ = prefix;
        Presence::Unknown
    }

    /// Stops receiving; no packet is handed out after the threads have ended. Does not wait.
    fn stop(&self);
}

/// Why a participant has got no sockets.
#[derive(Debug)]
pub enum NetworkError {
    /// The domain is above 232: its ports would be above 65535.
    Domain(u32),
    /// No interface fits what was asked for.
    NoInterface,
    /// The system has refused.
    Io {
        /// What was tried.
        what: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// The file of the tap cannot be written.
    Tap {
        /// Where it should be.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
    /// A simulated network has no such thing.
    NotSimulated {
        /// The setting of the participant.
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
