//! The messages on the socket that open a path.
//!
//! In: received bytes. Out: a legal message or nothing. Integers have the byte order of the host.
//!
//! | offset | bytes | content |
//! |---|---|---|
//! | 0 | 4 | `DSHM` |
//! | 4 | 2 | kind: 1 hello, 2 refusal |
//! | 6 | 2 | version of the sender |
//! | 8 | 2 | oldest version that the sender understands |
//! | 10 | 2 | why the sender refuses |
//! | 12 | 4 | length of the sender's ring |
//! | 16 | 4 | length of the sender's pool |
//! | 20 | 4 | 0 |
//! | 24 | 16 | identity of the sender |
//! | 40 | 16 | identity of the receiver |
//!
//! A hello carries two descriptors: outbox and pool. A receiver ignores bytes behind the last field, so that later
//! versions may add fields.

use crate::pool::POOL_LEN_MAX;
use crate::reasons::Refusal;
use crate::ring::RING_LENS;

/// Version of the handshake and of the outbox.
pub(crate) const VERSION: u16 = 1;

/// Bytes of a handshake message.
pub(crate) const HANDSHAKE_LEN: usize = 56;

const MAGIC: [u8; 4] = *b"DSHM";

/// A received handshake message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HandshakeMessage {
    Hello(Hello),
    Refusal(RefusalCode),
}

/// The lengths and identities of the sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) ring_len: u32,
    pub(crate) pool_len: u32,
    pub(crate) sender: [u8; 16],
    pub(crate) receiver: [u8; 16],
}

/// A refusal on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u16)]
pub(crate) enum RefusalCode {
    User = 1,
    Version = 2,
    Crowded = 3,
    AlreadyConnected = 4,
    Identity = 5,
    Resources = 6,
    Malformed = 7,
    PoolLen = 8,
}

impl RefusalCode {
    const ALL: [Self; 8] = [
        Self::User,
        Self::Version,
        Self::Crowded,
        Self::AlreadyConnected,
        Self::Identity,
        Self::Resources,
        Self::Malformed,
        Self::PoolLen,
    ];

    /// The code that tells the peer why this side refuses.
    pub(crate) fn of(refusal: &Refusal) -> Self {
        match refusal {
            Refusal::UserRefused { .. } => Self::User,
            Refusal::Version { .. } => Self::Version,
            Refusal::Crowded => Self::Crowded,
            Refusal::AlreadyConnected => Self::AlreadyConnected,
            Refusal::WrongIdentity => Self::Identity,
            Refusal::PeerPoolTooLong { .. } => Self::PoolLen,
            Refusal::Memory(_) | Refusal::Descriptors(_) | Refusal::DescriptorShare { .. } | Refusal::Seals(_) => {
                Self::Resources
            }
            _ => Self::Malformed,
        }
    }

    /// The reason for the side that was refused.
    pub(crate) fn reason(self) -> Refusal {
        match self {
            Self::User => Refusal::RefusedByPolicyOfPeer,
            // `parse` handles this code itself, because it knows the version of the peer.
            Self::Version => Refusal::Version { peer: 0 },
            Self::Crowded => Refusal::PeerCrowded,
            Self::AlreadyConnected => Refusal::AlreadyConnected,
            Self::Identity => Refusal::WrongIdentity,
            Self::Resources => Refusal::PeerLacksResources,
            Self::Malformed => Refusal::Malformed,
            Self::PoolLen => Refusal::PoolTooLong,
        }
    }
}

impl HandshakeMessage {
    pub(crate) fn encode(&self) -> [u8; HANDSHAKE_LEN] {
        let mut bytes = [0; HANDSHAKE_LEN];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[6..8].copy_from_slice(&VERSION.to_ne_bytes());
        // This version understands no older one.
        bytes[8..10].copy_from_slice(&VERSION.to_ne_bytes());
        match self {
            Self::Hello(hello) => {
                bytes[4..6].copy_from_slice(&1_u16.to_ne_bytes());
                bytes[12..16].copy_from_slice(&hello.ring_len.to_ne_bytes());
                bytes[16..20].copy_from_slice(&hello.pool_len.to_ne_bytes());
                bytes[24..40].copy_from_slice(&hello.sender);
                bytes[40..56].copy_from_slice(&hello.receiver);
            }
            Self::Refusal(code) => {
                bytes[4..6].copy_from_slice(&2_u16.to_ne_bytes());
                bytes[10..12].copy_from_slice(&(*code as u16).to_ne_bytes());
            }
        }
        bytes
    }

    /// Parses a handshake message. A refusal is understood in every version.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, Refusal> {
        let (magic, rest) = bytes.split_first_chunk::<4>().ok_or(Refusal::Malformed)?;
        let (kind, rest) = u16_of(rest)?;
        let (version, rest) = u16_of(rest)?;
        let (oldest, rest) = u16_of(rest)?;
        let (code, rest) = u16_of(rest)?;
        if *magic != MAGIC {
            return Err(Refusal::Malformed);
        }
        // Before the version, because a peer of any version may refuse.
        if kind == 2 {
            return match RefusalCode::ALL.into_iter().find(|known| *known as u16 == code) {
                // The code has no number, so the version of the message tells why.
                Some(RefusalCode::Version) => Err(Refusal::Version { peer: version }),
                Some(code) => Ok(Self::Refusal(code)),
                None => Err(Refusal::Malformed),
            };
        }
        if version < VERSION || oldest > VERSION {
            return Err(Refusal::Version { peer: version });
        }
        let (ring_len, rest) = u32_of(rest)?;
        let (pool_len, rest) = u32_of(rest)?;
        // Reserved, and later versions may use it, so each value is legal.
        let (_, rest) = u32_of(rest)?;
        let (sender, rest) = rest.split_first_chunk::<16>().ok_or(Refusal::Malformed)?;
        // Later versions may append fields, so the rest is ignored.
        let (receiver, _) = rest.split_first_chunk::<16>().ok_or(Refusal::Malformed)?;
        // Positions are masked with the length, so it must be a power of two.
        let is_ring = ring_len.is_power_of_two() && RING_LENS.contains(&ring_len);
        let is_pool = pool_len > 0 && pool_len as usize <= POOL_LEN_MAX;
        if kind != 1 || !is_ring || !is_pool {
            return Err(Refusal::Malformed);
        }
        Ok(Self::Hello(Hello { ring_len, pool_len, sender: *sender, receiver: *receiver }))
    }
}

fn u16_of(bytes: &[u8]) -> Result<(u16, &[u8]), Refusal> {
    let (number, rest) = bytes.split_first_chunk().ok_or(Refusal::Malformed)?;
    Ok((u16::from_ne_bytes(*number), rest))
}

fn u32_of(bytes: &[u8]) -> Result<(u32, &[u8]), Refusal> {
    let (number, rest) = bytes.split_first_chunk().ok_or(Refusal::Malformed)?;
    Ok((u32::from_ne_bytes(*number), rest))
}

#[cfg(test)]
#[cfg(not(dds_loom))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hello() -> Hello {
        Hello { ring_len: 4096, pool_len: 16384, sender: [1; 16], receiver: [2; 16] }
    }

    fn changed(at: usize, bytes: &[u8]) -> [u8; HANDSHAKE_LEN] {
        let mut message = HandshakeMessage::Hello(hello()).encode();
        message[at..at + bytes.len()].copy_from_slice(bytes);
        message
    }

    #[test]
    fn message_round_trip_keeps_every_field() {
        let messages = RefusalCode::ALL.into_iter().filter(|code| *code != RefusalCode::Version);
        for message in messages.map(HandshakeMessage::Refusal).chain([HandshakeMessage::Hello(hello())]) {
            assert_eq!(HandshakeMessage::parse(&message.encode()).unwrap(), message);
        }
    }

    #[test]
    fn newer_hello_that_understands_this_version_is_accepted() {
        let mut bytes = changed(6, &9_u16.to_ne_bytes()).to_vec();
        bytes.extend([5; 40]);
        assert_eq!(HandshakeMessage::parse(&bytes).unwrap(), HandshakeMessage::Hello(hello()));
    }

    #[test]
    fn version_without_overlap_is_refused_with_its_number() {
        let too_new = changed(6, &[9_u16.to_ne_bytes(), 9_u16.to_ne_bytes()].concat());
        assert!(matches!(HandshakeMessage::parse(&too_new), Err(Refusal::Version { peer: 9 })));
        let too_old = changed(6, &[0; 4]);
        assert!(matches!(HandshakeMessage::parse(&too_old), Err(Refusal::Version { peer: 0 })));
        let told = HandshakeMessage::Refusal(RefusalCode::Version).encode();
        assert!(matches!(HandshakeMessage::parse(&told), Err(Refusal::Version { peer: VERSION })));
    }

    #[test]
    fn wrong_magic_kind_or_length_is_malformed() {
        let faults: [(usize, &[u8]); 6] = [
            (0, b"X"),
            (4, &7_u16.to_ne_bytes()),
            (12, &5000_u32.to_ne_bytes()),
            (12, &(2_u32 << 20).to_ne_bytes()),
            (16, &0_u32.to_ne_bytes()),
            (16, &u32::MAX.to_ne_bytes()),
        ];
        for (at, bytes) in faults {
            assert!(matches!(HandshakeMessage::parse(&changed(at, bytes)), Err(Refusal::Malformed)), "{at}");
        }
        for len in 0..HANDSHAKE_LEN {
            assert!(matches!(HandshakeMessage::parse(&changed(0, b"D")[..len]), Err(Refusal::Malformed)), "{len}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: if cfg!(miri) { 4 } else { 512 }, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_parse_or_fail_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            let _ = HandshakeMessage::parse(&bytes);
        }
    }
}
