//! Protects and opens the payloads inside of submessages.
//!
//! A DATA has a whole payload. Each DATA_FRAG has a protected one of its own, with its fragments inside, as those of
//! Cyclone DDS and Fast DDS. Headers, inline QoS, and the fields of the fragments stay as they are.

use super::keys::ReceivedKeys;
use super::message_filter::Unsealable;
use dds_rtps::types::EntityId;
use dds_rtps::wire::ParameterListReader;
use dds_rtps::wire::submessage::id;
use dds_security::crypto::{OpenError, SendKey, payload};

/// Most bytes by which a payload grows, and its submessage with it. The last ones are padding.
pub(super) const PAYLOAD_OVERHEAD: u16 = payload::OVERHEAD as u16 + 4;

/// Flags of DATA and DATA_FRAG (RTPS 2.5, 9.4.5.4 and 9.4.5.5).
mod flag {
    pub(super) const LITTLE_ENDIAN: u8 = 0x01;
    pub(super) const INLINE_QOS: u8 = 0x02;
    /// The payload of a DATA is a sample.
    pub(super) const DATA: u8 = 0x04;
    /// The payload of a DATA is a key.
    pub(super) const KEY: u8 = 0x08;
    /// The payload of a DATA has another form than that of RTPS, such as a protected one.
    pub(super) const NON_STANDARD: u8 = 0x10;
    /// The same for a DATA_FRAG.
    pub(super) const NON_STANDARD_FRAGMENT: u8 = 0x08;
}

/// Bytes in front of the value of octetsToInlineQos, and behind it.
const OCTETS_AT: usize = 6;
const OCTETS_END: usize = 8;

/// Appends a submessage to `sealed`. Protects its payload, if it has one.
pub(super) fn seal_payload(key: &SendKey, submessage: &[u8], sealed: &mut Vec<u8>) -> Result<(), Unsealable> {
    let start = sealed.len();
    let Some(at) = payload_at(submessage).map_err(|_| Unsealable)? else {
        sealed.extend_from_slice(submessage);
        return Ok(());
    };
    let (head, plain) = submessage.split_at(at);
    sealed.extend_from_slice(head);
    sealed.resize(start + at + payload::front_len(key.kind()), 0);
    sealed.extend_from_slice(plain);
    payload::seal_behind(key, sealed, start + at);
    set_length(sealed, start).ok_or(Unsealable)
}

/// Whether [`pass_payload`] would append a submessage as it is.
pub(super) fn passes_unchanged(received: &mut ReceivedKeys, sender: EntityId, submessage: &[u8]) -> bool {
    matches!(payload_at(submessage), Ok(None)) || matches!(received.payload_key(sender), Ok(None))
}

/// Appends a submessage to `out`, and opens its payload on the way. An error leaves `out` as it was.
///
/// The submessage stays as it is without a payload, or if the payloads of its sender come plain.
pub(super) fn pass_payload(
    received: &mut ReceivedKeys,
    sender: EntityId,
    submessage: &[u8],
    out: &mut Vec<u8>,
) -> Result<(), OpenError> {
    let start = out.len();
    let keys = match payload_at(submessage)? {
        Some(at) => received.payload_key(sender)?.map(|keys| (at, keys)),
        None => None,
    };
    let Some((at, keys)) = keys else {
        out.extend_from_slice(submessage);
        return Ok(());
    };
    let (head, sealed) = submessage.split_at(at);
    let key = keys.named_by(&payload::header(sealed)?).ok_or(OpenError::UnknownKey)?;
    out.extend_from_slice(head);
    let opened = payload::open(key, sealed, out).and_then(|()| set_opened(out, start));
    if opened.is_err() {
        out.truncate(start);
    }
    opened
}

/// Opens the payload of the submessage that begins at `start` and ends `message`.
///
/// Nothing changes without a payload, or if the payloads of its sender come plain. The submessage has no meaning
/// after an error.
pub(super) fn open_payload(
    received: &mut ReceivedKeys,
    sender: EntityId,
    message: &mut Vec<u8>,
    start: usize,
) -> Result<(), OpenError> {
    let submessage = message.get(start..).unwrap_or_default();
    let Some(at) = payload_at(submessage)? else { return Ok(()) };
    let Some(keys) = received.payload_key(sender)? else { return Ok(()) };
    let header = payload::header(submessage.get(at..).unwrap_or_default())?;
    let key = keys.named_by(&header).ok_or(OpenError::UnknownKey)?;
    payload::open_from(key, message, start + at)?;
    set_opened(message, start)
}

/// Returns where the payload of a submessage begins. `None` without a payload.
fn payload_at(submessage: &[u8]) -> Result<Option<usize>, OpenError> {
    let malformed = OpenError::Malformed;
    let [kind, flags, ..] = *submessage.first_chunk::<4>().ok_or(malformed)?;
    let has_payload = match kind {
        id::DATA => flags & (flag::DATA | flag::KEY) != 0,
        id::DATA_FRAG => true,
        _ => false,
    };
    if !has_payload {
        return Ok(None);
    }
    let number_at = |at: usize| {
        let bytes = submessage.get(at..)?.first_chunk::<2>()?;
        Some(if flags & flag::LITTLE_ENDIAN != 0 { u16::from_le_bytes(*bytes) } else { u16::from_be_bytes(*bytes) })
    };
    let mut at = OCTETS_END + usize::from(number_at(OCTETS_AT).ok_or(malformed)?);
    if flags & flag::INLINE_QOS != 0 {
        // The reader of messages decides where the list ends. Any other rule would let a forger move the payload.
        let list = submessage.get(at..).ok_or(malformed)?;
        let mut parameters = ParameterListReader::new(list, flags & flag::LITTLE_ENDIAN != 0);
        for parameter in &mut parameters {
            parameter.map_err(|_| malformed)?;
        }
        at += parameters.position();
    }
    if at > submessage.len() { Err(malformed) } else { Ok(Some(at)) }
}

/// Completes the submessage that begins at `start` and ends `message`, after its payload was opened.
///
/// A sender should set the flag N of a protected payload (RTPS 2.5, 8.3.8.2.2). ZeroDDS does. Cyclone DDS and Fast DDS
/// do not.
fn set_opened(message: &mut [u8], start: usize) -> Result<(), OpenError> {
    let submessage = message.get_mut(start..).ok_or(OpenError::Malformed)?;
    let [kind, flags] = submessage.first_chunk_mut::<2>().ok_or(OpenError::Malformed)?;
    *flags &= !if *kind == id::DATA { flag::NON_STANDARD } else { flag::NON_STANDARD_FRAGMENT };
    // The submessage is shorter than before, so its length has 16 bits.
    set_length(message, start).ok_or(OpenError::Malformed)
}

/// Writes the length of the submessage that begins at `start` and ends `message`. `None` if it does not fit.
fn set_length(message: &mut [u8], start: usize) -> Option<()> {
    let submessage = message.get_mut(start..)?;
    let len = u16::try_from(submessage.len().checked_sub(4)?).ok()?;
    let [_, flags, length @ ..] = submessage.first_chunk_mut::<4>()?;
    *length = if *flags & flag::LITTLE_ENDIAN != 0 { len.to_le_bytes() } else { len.to_be_bytes() };
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protection::keys::{ExpectedProtection, KeyTables, KeysOfPeer, OwnKeys};
    use crate::protection::message_filter::{Buffers, MessageFilter, MessageRules};
    use dds_rtps::types::{GuidPrefix, SequenceNumber, VendorId};
    use dds_rtps::wire::{
        DataFragHeader, DataHeader, Header, Message, MessageBuilder, OpenedMessage, PayloadKind, SerializedPayload,
        Submessage,
    };
    use dds_security::crypto::{KeyMaterial, TransformationKind};
    use std::sync::Arc;

    const OWN: GuidPrefix = GuidPrefix([1; 12]);
    const PEER: GuidPrefix = GuidPrefix([2; 12]);
    const WRITER: EntityId = EntityId([0, 0, 1, 2]);
    const KINDS: [TransformationKind; 3] =
        [TransformationKind::None, TransformationKind::Aes256Gmac, TransformationKind::Aes256Gcm];

    fn send_key(kind: TransformationKind) -> Option<Arc<SendKey>> {
        SendKey::new(KeyMaterial::generate(kind).unwrap()).unwrap().map(Arc::new)
    }

    fn filter(messages: Option<SendKey>) -> MessageFilter {
        let rules = MessageRules { messages: messages.is_some(), discovery: true, liveliness: true };
        MessageFilter { rules, keys: KeyTables::new(messages), buffers: Buffers::default() }
    }

    /// A sender and a receiver with these kinds of keys for messages, submessages and payloads.
    fn pair(messages: TransformationKind, submessages: TransformationKind, payloads: TransformationKind) -> Pair {
        let message_key = KeyMaterial::generate(messages).unwrap();
        let [sender, receiver] = [(); 2].map(|()| filter(SendKey::new(message_key.clone()).unwrap()));
        let own = OwnKeys { submessages: send_key(submessages), payloads: send_key(payloads), unused: None };
        let exchange = KeyMaterial::generate(TransformationKind::Aes256Gcm).unwrap();
        receiver.keys.set_peer(OWN, KeysOfPeer::new(SendKey::new(exchange).unwrap().unwrap(), Some(VendorId::OURS)));
        let peer = receiver.keys.peer(OWN).unwrap();
        if messages != TransformationKind::None {
            peer.received().set_messages(message_key);
        }
        let expected = ExpectedProtection { submessages: own.submessages.is_some(), payloads: own.payloads.is_some() };
        peer.received().set_expected(WRITER, expected);
        let mut materials = own.submessages.iter().chain(&own.payloads).map(|key| key.material().clone());
        if let Some(first) = materials.next() {
            assert!(peer.received().set_endpoint(WRITER, EntityId([0, 0, 1, 7]), first, materials.next()));
        }
        sender.keys.set_own(WRITER, own);
        Pair { sender, receiver }
    }

    struct Pair {
        sender: MessageFilter,
        receiver: MessageFilter,
    }

    impl Pair {
        fn sealed(&self, message: &[u8]) -> Vec<u8> {
            let mut sealed = vec![0xaa; self.sender.front_len()];
            sealed.extend_from_slice(message);
            self.sender.seal(&mut sealed).unwrap();
            sealed
        }

        fn opened(&self, datagram: &[u8]) -> Result<Vec<u8>, OpenError> {
            let mut scratch = Vec::new();
            let opened = self.receiver.open(datagram, &mut scratch)?;
            Ok(match opened {
                OpenedMessage::Datagram => datagram.to_vec(),
                OpenedMessage::Scratch { start } => scratch[start..].to_vec(),
            })
        }
    }

    fn data_header(payload: PayloadKind) -> DataHeader {
        DataHeader {
            reader_id: EntityId::UNKNOWN,
            writer_id: WRITER,
            writer_sn: SequenceNumber::FIRST,
            payload,
            non_standard_payload: false,
        }
    }

    /// A message with samples, a key, fragments, and a DATA without payload.
    fn message() -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut builder = MessageBuilder::new(&mut bytes);
        builder.header(OWN);
        builder.info_dst(PEER);
        for (kind, payload) in [
            (PayloadKind::Data, &b"\0\x01\0\0a secret sample.."[..]),
            (PayloadKind::Key, b"\0\x01\0\0a secret key...."),
            (PayloadKind::None, b""),
            (PayloadKind::Data, b"\0\x01\0\0another secret sample..."),
        ] {
            let end = builder.data(&data_header(kind), payload.len(), |qos| {
                qos.key_hash(&[7; 16]);
            });
            builder.payload(payload, end);
        }
        let header = DataFragHeader {
            reader_id: EntityId::UNKNOWN,
            writer_id: WRITER,
            writer_sn: SequenceNumber::FIRST,
            fragment_starting_num: 2,
            fragments_in_submessage: 2,
            fragment_size: 8,
            sample_size: 27,
            is_key: false,
            non_standard_payload: false,
        };
        let end = builder.data_frag(&header, |_| {});
        builder.payload(b"secret fragments", end);
        bytes
    }

    #[test]
    fn each_combination_of_protections_opens() {
        let plain = message();
        assert_eq!(Message::parse(&plain).unwrap().submessages().filter(Result::is_ok).count(), 6);
        for (messages, submessages, payloads) in
            KINDS.iter().flat_map(|a| KINDS.iter().flat_map(move |b| KINDS.iter().map(move |c| (*a, *b, *c))))
        {
            let pair = pair(messages, submessages, payloads);
            let sealed = pair.sealed(&plain);
            let is_legible = sealed.windows(6).any(|part| part == b"secret");
            let encrypts = [messages, submessages, payloads].iter().any(|kind| kind.encrypts());
            assert_eq!(is_legible, !encrypts, "{messages:?} {submessages:?} {payloads:?}");
            assert_eq!(pair.opened(&sealed).as_ref(), Ok(&plain));
            assert!(sealed.len() <= plain.len() + 5 * usize::from(PAYLOAD_OVERHEAD) + 7 * 56 + 80);
        }
    }

    /// Some senders mark a protected payload. Behind the filter it is an ordinary one again.
    #[test]
    fn mark_of_a_protected_payload_ends_with_its_protection() {
        for submessages in KINDS {
            let pair = pair(TransformationKind::None, submessages, TransformationKind::Aes256Gcm);
            let plain = message();
            let mut marked = plain.clone();
            let mut at = Header::WIRE_LEN;
            while let Some([kind, flags, l0, l1]) = marked.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<4>()) {
                *flags |= match *kind {
                    // Not that one without a payload.
                    id::DATA if *flags & (flag::DATA | flag::KEY) != 0 => flag::NON_STANDARD,
                    id::DATA_FRAG => flag::NON_STANDARD_FRAGMENT,
                    _ => 0,
                };
                at += 4 + usize::from(u16::from_le_bytes([*l0, *l1]));
            }
            assert_ne!(marked, plain);
            assert_eq!(pair.opened(&pair.sealed(&marked)), Ok(plain), "{submessages:?}");
        }
    }

    /// The number of a sample is plain. A forger could write another one in front of a copied payload.
    #[test]
    fn payload_with_a_forged_number_is_a_replay() {
        let pair = pair(TransformationKind::None, TransformationKind::None, TransformationKind::Aes256Gcm);
        let mut alone = Vec::new();
        let mut builder = MessageBuilder::new(&mut alone);
        builder.header(OWN);
        let end = builder.data(&data_header(PayloadKind::Data), 12, |_| {});
        builder.payload(b"\0\x01\0\0a sample", end);
        let mut sealed = pair.sealed(&alone);
        assert_eq!(pair.opened(&sealed), Ok(alone.clone()));
        // The last byte of the number, in front of the payload.
        sealed[43] ^= 1;
        assert_eq!(pair.opened(&sealed), Err(OpenError::Replayed));
        assert_eq!(pair.opened(&pair.sealed(&alone)), Ok(alone), "sent again, it is no replay");
    }

    #[test]
    fn headers_stay_readable_and_numbers_may_be_big_endian() {
        let pair = pair(TransformationKind::None, TransformationKind::None, TransformationKind::Aes256Gcm);
        let sealed = pair.sealed(&message());
        let parsed: Vec<_> = Message::parse(&sealed).unwrap().submessages().map(Result::unwrap).collect();
        let Submessage::Data(data) = &parsed[1] else { panic!("{parsed:?}") };
        assert_eq!(data.inline_qos.as_ref().unwrap().key_hash(), Some([7; 16]));
        let SerializedPayload::Data(payload) = data.payload else { panic!("{data:?}") };
        assert_eq!(payload.len(), 20 + 4 + 24 + 20);
        let big_endian = [
            &b"RTPS\x02\x05\x01\xdd"[..],
            &OWN.0,
            &[id::DATA, 2 | 4, 0, 40, 0, 0, 0, 16, 0, 0, 0, 0],
            &WRITER.0,
            &[0, 0, 0, 0, 0, 0, 0, 1],
            // A parameter of a vendor that looks like a sentinel, and the sentinel.
            &[0x80, 1, 0, 4, 1, 2, 3, 4, 0, 1, 0, 0],
            b"\0\0\0\0four",
        ]
        .concat();
        let sealed = pair.sealed(&big_endian);
        assert_eq!(sealed.len(), big_endian.len() + 44);
        assert_eq!(pair.opened(&sealed), Ok(big_endian));
    }

    #[test]
    fn payload_begins_where_the_reader_of_messages_finds_it() {
        let head = [&[id::DATA, 2 | 4, 0, 0, 0, 0, 0, 16, 0, 0, 0, 0][..], &WRITER.0, &[0; 8]].concat();
        for (list, end) in [
            (&[0, 1, 0, 0, 9, 9, 9, 9][..], Some(4)),
            (&[0x80, 1, 0, 4, 1, 2, 3, 4, 0, 1, 0, 0], Some(12)),
            (&[0x40, 1, 0, 0, 0xc0, 1, 0, 0, 0, 1, 0, 0], Some(12)),
            (&[0x80, 1, 0, 3, 1, 2, 3, 0, 1, 0, 0], None),
            (&[0x80, 1, 0, 8, 0, 1, 0, 0], None),
            (&[0x80, 1, 0, 0], None),
        ] {
            let found = payload_at(&[&head[..], list].concat());
            assert_eq!(found.ok().flatten(), end.map(|end| head.len() + end), "{list:?}");
        }
    }

    #[test]
    fn plain_and_changed_payloads_are_dropped() {
        for payloads in [TransformationKind::Aes256Gmac, TransformationKind::Aes256Gcm] {
            let pair = pair(TransformationKind::None, TransformationKind::None, payloads);
            // Only the DATA without payload passes.
            let kept = pair.opened(&message()).unwrap();
            let parsed: Vec<_> = Message::parse(&kept).unwrap().submessages().map(Result::unwrap).collect();
            let [_, Submessage::Data(data)] = &parsed[..] else { panic!("{parsed:?}") };
            assert_eq!(data.payload, SerializedPayload::None);

            let mut alone = Vec::new();
            let mut builder = MessageBuilder::new(&mut alone);
            builder.header(OWN);
            let end = builder.data(&data_header(PayloadKind::Data), 12, |_| {});
            builder.payload(b"\0\x01\0\0a sample", end);
            let sealed = pair.sealed(&alone);
            for bit in 44 * 8..sealed.len() * 8 {
                let mut changed = sealed.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                assert!(pair.opened(&changed).is_err(), "bit {bit}");
            }
            for len in 20..sealed.len() {
                let opened = pair.opened(&sealed[..len]);
                assert!(opened.as_ref().is_ok_and(|plain| plain.len() == 20) || opened.is_err(), "{len}: {opened:?}");
            }
        }
    }

    #[test]
    fn key_of_submessages_protects_no_payload_beside_a_second_key() {
        let kind = TransformationKind::Aes256Gcm;
        let pair = pair(TransformationKind::None, kind, kind);
        let own = pair.sender.keys.own(WRITER).unwrap();
        pair.sender.keys.set_own(WRITER, OwnKeys { payloads: own.submessages.clone(), ..own });
        assert!(
            pair.opened(&pair.sealed(&message()))
                .is_ok_and(|kept| { Message::parse(&kept).unwrap().submessages().count() == 2 })
        );
    }

    #[test]
    fn submessage_without_a_place_for_its_payload_is_malformed() {
        let whole = [id::DATA, 1 | 2 | 4, 0, 0, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 1, 0, 0, 0];
        let qos = [0x70, 0, 4, 0, 1, 2, 3, 4, 1, 0, 0, 0];
        let submessage = [&whole[..], &qos].concat();
        assert_eq!(payload_at(&submessage), Ok(Some(36)));
        for len in 0..submessage.len() {
            assert_eq!(payload_at(&submessage[..len]), Err(OpenError::Malformed), "{len}");
        }
        assert_eq!(payload_at(&[id::HEARTBEAT, 1, 0, 0]), Ok(None));
    }
}
