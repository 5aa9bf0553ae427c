//! The four bytes that name an endpoint within its participant (RTPS 2.5, 9.3.1.2).

use std::fmt;

/// Names an endpoint within its participant: three bytes of key, one byte of kind (RTPS 2.5, 9.3.1.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct EntityId(pub [u8; 4]);

/// The kind of an entity: the last byte of its [`EntityId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum EntityKind {
    /// A participant.
    Participant,
    /// A writer of a topic with a key.
    WriterWithKey,
    /// A writer of a topic without a key.
    WriterNoKey,
    /// A reader of a topic with a key.
    ReaderWithKey,
    /// A reader of a topic without a key.
    ReaderNoKey,
    /// A group of writers: a publisher.
    WriterGroup,
    /// A group of readers: a subscriber.
    ReaderGroup,
    /// A kind that the specification does not define.
    Other,
}

impl EntityId {
    /// No entity, or "every matched reader" in a submessage.
    pub const UNKNOWN: Self = Self([0; 4]);
    /// The participant itself.
    pub const PARTICIPANT: Self = Self([0x00, 0x00, 0x01, 0xc1]);
    /// SPDP writer, best effort and stateless.
    pub const SPDP_WRITER: Self = Self([0x00, 0x01, 0x00, 0xc2]);
    /// SPDP reader.
    pub const SPDP_READER: Self = Self([0x00, 0x01, 0x00, 0xc7]);
    /// SEDP writer of publications.
    pub const SEDP_PUBLICATIONS_WRITER: Self = Self([0x00, 0x00, 0x03, 0xc2]);
    /// SEDP reader of publications.
    pub const SEDP_PUBLICATIONS_READER: Self = Self([0x00, 0x00, 0x03, 0xc7]);
    /// SEDP writer of subscriptions.
    pub const SEDP_SUBSCRIPTIONS_WRITER: Self = Self([0x00, 0x00, 0x04, 0xc2]);
    /// SEDP reader of subscriptions.
    pub const SEDP_SUBSCRIPTIONS_READER: Self = Self([0x00, 0x00, 0x04, 0xc7]);
    /// Writer of participant messages (liveliness).
    pub const PARTICIPANT_MESSAGE_WRITER: Self = Self([0x00, 0x02, 0x00, 0xc2]);
    /// Reader of participant messages (liveliness).
    pub const PARTICIPANT_MESSAGE_READER: Self = Self([0x00, 0x02, 0x00, 0xc7]);
    /// Writer of TypeLookup requests (XTYPES 1.3, 7.6.3.3.1). These four have no key.
    pub const TYPE_REQUEST_WRITER: Self = Self([0x00, 0x03, 0x00, 0xc3]);
    /// Reader of TypeLookup requests.
    pub const TYPE_REQUEST_READER: Self = Self([0x00, 0x03, 0x00, 0xc4]);
    /// Writer of TypeLookup replies.
    pub const TYPE_REPLY_WRITER: Self = Self([0x00, 0x03, 0x01, 0xc3]);
    /// Reader of TypeLookup replies.
    pub const TYPE_REPLY_READER: Self = Self([0x00, 0x03, 0x01, 0xc4]);
    /// Writer of handshake messages, best effort and stateless (DDS Security 1.1, 7.4.7.1).
    pub const STATELESS_MESSAGE_WRITER: Self = Self([0x00, 0x02, 0x01, 0xc3]);
    /// Reader of handshake messages.
    pub const STATELESS_MESSAGE_READER: Self = Self([0x00, 0x02, 0x01, 0xc4]);
    /// Writer of keys.
    pub const VOLATILE_MESSAGE_WRITER: Self = Self([0xff, 0x02, 0x02, 0xc3]);
    /// Reader of keys.
    pub const VOLATILE_MESSAGE_READER: Self = Self([0xff, 0x02, 0x02, 0xc4]);
    /// Protected SEDP writer of publications.
    pub const SECURE_PUBLICATIONS_WRITER: Self = Self([0xff, 0x00, 0x03, 0xc2]);
    /// Protected SEDP reader of publications.
    pub const SECURE_PUBLICATIONS_READER: Self = Self([0xff, 0x00, 0x03, 0xc7]);
    /// Protected SEDP writer of subscriptions.
    pub const SECURE_SUBSCRIPTIONS_WRITER: Self = Self([0xff, 0x00, 0x04, 0xc2]);
    /// Protected SEDP reader of subscriptions.
    pub const SECURE_SUBSCRIPTIONS_READER: Self = Self([0xff, 0x00, 0x04, 0xc7]);
    /// Protected SPDP writer, reliable.
    pub const SECURE_PARTICIPANTS_WRITER: Self = Self([0xff, 0x01, 0x01, 0xc2]);
    /// Protected SPDP reader.
    pub const SECURE_PARTICIPANTS_READER: Self = Self([0xff, 0x01, 0x01, 0xc7]);
    /// Protected writer of participant messages (liveliness).
    pub const SECURE_MESSAGE_WRITER: Self = Self([0xff, 0x02, 0x00, 0xc2]);
    /// Protected reader of participant messages.
    pub const SECURE_MESSAGE_READER: Self = Self([0xff, 0x02, 0x00, 0xc7]);

    /// The id of a user-defined endpoint: the low 24 bits of `key`, then the kind.
    ///
    /// Kinds: writer with key 02, writer without 03, reader without 04, reader with 07, group of writers 08, of readers
    /// 09 (RTPS 2.5, 9.3.1.2).
    #[must_use]
    pub const fn user(key: u32, kind: EntityKind) -> Self {
        let [_, a, b, c] = key.to_be_bytes();
        let kind = match kind {
            EntityKind::WriterWithKey => 0x02,
            EntityKind::WriterNoKey => 0x03,
            EntityKind::ReaderNoKey => 0x04,
            EntityKind::ReaderWithKey => 0x07,
            EntityKind::WriterGroup => 0x08,
            EntityKind::ReaderGroup => 0x09,
            EntityKind::Participant => 0xc1,
            EntityKind::Other => 0x00,
        };
        Self([a, b, c, kind])
    }

    /// The kind, from the last byte.
    #[must_use]
    pub const fn kind(self) -> EntityKind {
        // The two high bits: 00 is user-defined, 11 is defined by the specification, 01 by a vendor.
        match self.0[3] {
            0xc1 => EntityKind::Participant,
            0x02 | 0xc2 | 0x42 => EntityKind::WriterWithKey,
            0x03 | 0xc3 | 0x43 => EntityKind::WriterNoKey,
            0x04 | 0xc4 | 0x44 => EntityKind::ReaderNoKey,
            0x07 | 0xc7 | 0x47 => EntityKind::ReaderWithKey,
            0x08 | 0xc8 | 0x48 => EntityKind::WriterGroup,
            0x09 | 0xc9 | 0x49 => EntityKind::ReaderGroup,
            _ => EntityKind::Other,
        }
    }

    /// Whether this is a built-in endpoint of the specification (kind bits `11`).
    #[must_use]
    pub const fn is_builtin(self) -> bool {
        self.0[3] & 0xc0 == 0xc0
    }

    /// Whether this names a writer.
    #[must_use]
    pub const fn is_writer(self) -> bool {
        matches!(self.kind(), EntityKind::WriterWithKey | EntityKind::WriterNoKey)
    }

    /// Whether this names a reader.
    #[must_use]
    pub const fn is_reader(self) -> bool {
        matches!(self.kind(), EntityKind::ReaderWithKey | EntityKind::ReaderNoKey)
    }
}

impl fmt::Debug for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", u32::from_be_bytes(self.0))
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_id_carries_key_and_kind() {
        let id = EntityId::user(0x0001_0203, EntityKind::ReaderWithKey);
        assert_eq!(id.0, [1, 2, 3, 7]);
        assert_eq!(id.kind(), EntityKind::ReaderWithKey);
        assert!(id.is_reader() && !id.is_writer() && !id.is_builtin());
    }

    #[test]
    fn builtin_kinds_are_recognised() {
        assert!(EntityId::SEDP_PUBLICATIONS_WRITER.is_builtin());
        assert!(EntityId::SEDP_PUBLICATIONS_WRITER.is_writer());
        assert!(EntityId::PARTICIPANT.is_builtin());
        assert_eq!(EntityId([0, 0, 1, 0x43]).kind(), EntityKind::WriterNoKey);
    }
}
