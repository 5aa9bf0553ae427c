//! The message that carries tokens: ParticipantGenericMessage (DDS Security 1.1, 7.4.4).
//!
//! ```text
//! 0   encapsulation header              4 bytes: 00 00 (big endian) or 00 01 (little endian), options
//! 4   source GUID                       16 bytes
//! 20  sequence number                   i64
//! 28  related source GUID               16 bytes
//! 44  related sequence number           i64
//! 52  destination participant GUID      16 bytes
//! 68  destination endpoint GUID         16 bytes
//! 84  source endpoint GUID              16 bytes
//! 100 class id                          string
//!     tokens                            sequence of DataHolder
//! ```

use super::cdr::{CdrError, CdrReader, CdrWriter, TokenByteOrder};
use super::holder::{DataHolder, LEN_MAX};

/// Fewest bytes of a token: the lengths of its three parts.
const HOLDER_LEN_MIN: usize = 12;

/// A message of the topics ParticipantStatelessMessage and ParticipantVolatileMessageSecure.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GenericMessage {
    /// GUID of the participant that sends it, and number of the message.
    pub identity: ([u8; 16], i64),
    /// The message that it answers. Zero without one.
    pub related: ([u8; 16], i64),
    /// GUID of the participant for which it is. Zero for all.
    pub destination_participant: [u8; 16],
    /// GUID of the endpoint for which it is. Zero without one.
    pub destination_endpoint: [u8; 16],
    /// GUID of the endpoint that it is about. Zero without one.
    pub source_endpoint: [u8; 16],
    /// Class, such as [`Self::AUTHENTICATION`].
    pub class_id: String,
    /// The tokens.
    pub tokens: Vec<DataHolder>,
}

impl GenericMessage {
    /// Class of messages with AuthRequest tokens.
    pub const AUTHENTICATION_REQUEST: &str = "dds.sec.auth_request";
    /// Class of messages with handshake tokens.
    pub const AUTHENTICATION: &str = "dds.sec.auth";
    /// Class of messages with the keys of a participant.
    pub const PARTICIPANT_KEYS: &str = "dds.sec.participant_crypto_tokens";
    /// Class of messages with the keys of a writer.
    pub const WRITER_KEYS: &str = "dds.sec.datawriter_crypto_tokens";
    /// Class of messages with the key of a reader.
    pub const READER_KEYS: &str = "dds.sec.datareader_crypto_tokens";

    /// Reads a serialized payload, with its encapsulation header.
    ///
    /// # Errors
    /// [`CdrError`] if the bytes break the layout, or are more than 64 KiB.
    pub fn parse(payload: &[u8]) -> Result<Self, CdrError> {
        let (header, bytes) = payload.split_first_chunk::<4>().ok_or(CdrError { at: 0 })?;
        let order = match header {
            [0, 0, ..] => TokenByteOrder::Big,
            [0, 1, ..] => TokenByteOrder::Little,
            _ => return Err(CdrError { at: 0 }),
        };
        // Anyone can send such a message, so its length is the limit of the work.
        if bytes.len() > LEN_MAX {
            return Err(CdrError { at: LEN_MAX });
        }
        let mut reader = CdrReader::new(bytes, order);
        let identity = (reader.array()?, reader.i64()?);
        let related = (reader.array()?, reader.i64()?);
        let destination_participant = reader.array()?;
        let destination_endpoint = reader.array()?;
        let source_endpoint = reader.array()?;
        let class_id = reader.string()?.to_owned();
        let count = reader.count(HOLDER_LEN_MIN)?;
        let tokens = (0..count).map(|_| DataHolder::read(&mut reader)).collect::<Result<_, _>>()?;
        Ok(Self { identity, related, destination_participant, destination_endpoint, source_endpoint, class_id, tokens })
    }

    /// Writes the serialized payload, with its encapsulation header.
    #[must_use]
    pub fn to_payload(&self, order: TokenByteOrder) -> Vec<u8> {
        let mut writer = CdrWriter::with_encapsulation(order);
        for (guid, number) in [&self.identity, &self.related] {
            writer.bytes(guid);
            writer.i64(*number);
        }
        for guid in [&self.destination_participant, &self.destination_endpoint, &self.source_endpoint] {
            writer.bytes(guid);
        }
        writer.string(&self.class_id);
        writer.count(self.tokens.len());
        for token in &self.tokens {
            token.write(&mut writer);
        }
        writer.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message() -> GenericMessage {
        let mut token = DataHolder::new("class");
        token.properties.push(("a".to_owned(), "bc".to_owned()));
        token.add("d", &[1, 2, 3, 4, 5]);
        token.add("e", &[]);
        GenericMessage {
            identity: ([1; 16], 2),
            related: ([3; 16], -4),
            destination_participant: [5; 16],
            destination_endpoint: [6; 16],
            source_endpoint: [7; 16],
            class_id: GenericMessage::AUTHENTICATION.to_owned(),
            tokens: vec![token.clone(), token],
        }
    }

    #[test]
    fn message_has_the_layout_of_the_specification() {
        for order in [TokenByteOrder::Big, TokenByteOrder::Little] {
            let payload = message().to_payload(order);
            assert_eq!(
                payload[20..28],
                if order == TokenByteOrder::Big { 2_i64.to_be_bytes() } else { 2_i64.to_le_bytes() }
            );
            assert_eq!(payload[52..56], [5; 4]);
            assert_eq!(payload[104..116], *b"dds.sec.auth");
            assert_eq!(GenericMessage::parse(&payload), Ok(message()));
            for len in 0..payload.len() {
                assert!(GenericMessage::parse(&payload[..len]).is_err(), "{len}");
            }
        }
    }

    #[test]
    fn counts_beyond_the_bytes_are_refused() {
        let mut payload = message().to_payload(TokenByteOrder::Big);
        payload[120..124].copy_from_slice(&u32::MAX.to_be_bytes());
        assert_eq!(GenericMessage::parse(&payload), Err(CdrError { at: 120 }));
        assert!(GenericMessage::parse(&vec![0; 1 << 20]).is_err());
    }

    proptest! {
        #[test]
        fn changed_bytes_are_a_message_or_an_error(changes in proptest::collection::vec((0..200_usize, any::<u8>()), 1..5)) {
            let mut payload = message().to_payload(TokenByteOrder::Little);
            for (at, byte) in changes {
                let at = at % payload.len();
                payload[at] = byte;
            }
            if let Ok(read) = GenericMessage::parse(&payload) {
                prop_assert_eq!(GenericMessage::parse(&read.to_payload(TokenByteOrder::Big)), Ok(read));
            }
        }
    }
}
