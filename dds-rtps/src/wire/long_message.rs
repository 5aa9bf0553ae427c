//! The fragments of a message with one large sample, for a transport that cannot carry the message as it is.
//!
//! In: a message that ends with a DATA. Out: messages with a DATA_FRAG each.

use super::{Data, DataFragHeader, Message, MessageBuilder, SerializedPayload, Submessage};
use crate::cdr::append;

/// Bytes of the sentinel at the end of an inline QoS.
const SENTINEL_LEN: usize = 4;

/// A message that consists of one large sample.
#[derive(Debug)]
pub struct LongMessage<'a> {
    /// The header of the message, and the submessages before the sample.
    head: &'a [u8],
    data: Data<'a>,
    payload: &'a [u8],
}

impl<'a> LongMessage<'a> {
    /// Bytes of each fragment except the last. A message with one fragment stays below the 65 507 bytes of UDP.
    pub const FRAGMENT_SIZE: u16 = 60_000;

    /// Parses a message of this implementation. `None` if its end is not the DATA of a sample.
    #[must_use]
    pub fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut submessages = Message::parse(bytes).ok()?.submessages();
        loop {
            let start = submessages.offset();
            match submessages.next()?.ok()? {
                Submessage::InfoTimestamp(_) | Submessage::InfoDestination(_) => {}
                Submessage::Data(data) if submessages.next().is_none() => {
                    let payload = data.payload.bytes()?;
                    // DATA_FRAG carries the length in 32 bits.
                    u32::try_from(payload.len()).ok()?;
                    return Some(Self { head: bytes.get(..start)?, data, payload });
                }
                _ => return None,
            }
        }
    }

    /// Number of fragments.
    #[must_use]
    pub fn fragment_count(&self) -> u32 {
        u32::try_from(self.payload.len().div_ceil(usize::from(Self::FRAGMENT_SIZE))).unwrap_or(u32::MAX)
    }

    /// Appends the message with one fragment, from number 1, to an empty buffer.
    pub fn put_fragment(&self, number: u32, buffer: &mut Vec<u8>) {
        let data = &self.data;
        let header = DataFragHeader {
            reader_id: data.reader_id,
            writer_id: data.writer_id,
            writer_sn: data.writer_sn,
            fragment_starting_num: number,
            fragments_in_submessage: 1,
            fragment_size: Self::FRAGMENT_SIZE,
            sample_size: u32::try_from(self.payload.len()).unwrap_or(u32::MAX),
            is_key: matches!(data.payload, SerializedPayload::Key(_)),
            non_standard_payload: data.non_standard_payload,
        };
        append(buffer, self.head);
        let mut message = MessageBuilder::new(buffer);
        let end = message.data_frag(&header, |inline_qos| {
            // Only the first fragment carries the inline QoS, for the whole sample.
            if let (1, Some(list)) = (number, &data.inline_qos) {
                let parameters = list.bytes.len().saturating_sub(SENTINEL_LEN);
                inline_qos.encoded(list.bytes.get(..parameters).unwrap_or_default());
            }
        });
        message.payload(self.payload.get(header.payload_range()).unwrap_or_default(), end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{EntityId, GuidPrefix, SequenceNumber, Time};
    use crate::wire::{DataHeader, PayloadKind};

    fn message(len: usize, has_key_hash: bool) -> (Vec<u8>, Vec<u8>) {
        let payload: Vec<u8> = (0..len).map(|index| (index / 7) as u8).collect();
        let data = DataHeader {
            reader_id: EntityId([0, 0, 1, 7]),
            writer_id: EntityId([0, 0, 1, 2]),
            writer_sn: SequenceNumber(9),
            payload: PayloadKind::Data,
            non_standard_payload: false,
        };
        let mut bytes = Vec::new();
        let mut builder = MessageBuilder::new(&mut bytes);
        builder.header(GuidPrefix(*b"abcdefghijkl"));
        builder.info_ts(Some(Time::from_unix_nanos(1_000_000_000)));
        let end = builder.data(&data, len, |inline_qos| {
            if has_key_hash {
                inline_qos.key_hash(b"0123456789abcdef");
            }
        });
        builder.payload(&payload, end);
        (bytes, payload)
    }

    #[test]
    fn fragments_of_a_long_message_have_its_sample() {
        for (len, has_key_hash) in [(65_513, false), (120_000, true), (120_001, true), (1 << 20, false)] {
            let (bytes, payload) = message(len, has_key_hash);
            let long = LongMessage::parse(&bytes).unwrap();
            let mut together = Vec::new();
            for number in 1..=long.fragment_count() {
                let mut fragment = Vec::new();
                long.put_fragment(number, &mut fragment);
                assert!(fragment.len() <= 65_507);
                assert_eq!(fragment[..32], bytes[..32], "header and timestamp");
                let parsed: Vec<_> = Message::parse(&fragment).unwrap().submessages().map(Result::unwrap).collect();
                let [Submessage::InfoTimestamp(Some(_)), Submessage::DataFrag(fragment)] = &parsed[..] else {
                    panic!("{parsed:?}")
                };
                assert_eq!((fragment.fragment_starting_num, fragment.sample_size as usize), (number, len));
                assert_eq!(fragment.inline_qos.is_some(), has_key_hash && number == 1);
                assert_eq!((fragment.writer_sn, fragment.writer_id), (SequenceNumber(9), EntityId([0, 0, 1, 2])));
                together.extend_from_slice(fragment.payload);
            }
            assert!(together.starts_with(&payload) && together.len() < payload.len() + 4, "{len} bytes");
        }
    }

    #[test]
    fn other_messages_are_not_split() {
        let (mut bytes, _) = message(1_000, false);
        assert!(LongMessage::parse(&bytes).is_some());
        MessageBuilder::new(&mut bytes).info_dst(GuidPrefix::UNKNOWN);
        assert!(LongMessage::parse(&bytes).is_none(), "something follows the sample");
        assert!(LongMessage::parse(&bytes[..20]).is_none(), "no sample");
        assert!(LongMessage::parse(b"other").is_none());
    }
}
