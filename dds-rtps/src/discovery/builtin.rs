//! Set of builtin endpoints (RTPS 2.5, 9.3.2.12; the bits are those of Cyclone DDS and Fast DDS).

/// A set of builtin endpoints (BUILTIN_ENDPOINT_SET).
///
/// Do not send to an endpoint whose bit is not set, and do not wait for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct BuiltinEndpoints(pub u32);

impl BuiltinEndpoints {
    /// No endpoint.
    pub const NONE: Self = Self(0);
    /// The SPDP writer.
    pub const PARTICIPANT_WRITER: Self = Self(1 << 0);
    /// The SPDP reader.
    pub const PARTICIPANT_READER: Self = Self(1 << 1);
    /// The SEDP writer of publications.
    pub const PUBLICATIONS_WRITER: Self = Self(1 << 2);
    /// The SEDP reader of publications.
    pub const PUBLICATIONS_READER: Self = Self(1 << 3);
    /// The SEDP writer of subscriptions.
    pub const SUBSCRIPTIONS_WRITER: Self = Self(1 << 4);
    /// The SEDP reader of subscriptions.
    pub const SUBSCRIPTIONS_READER: Self = Self(1 << 5);
    /// The writer of participant messages (liveliness).
    pub const MESSAGE_WRITER: Self = Self(1 << 10);
    /// The reader of participant messages (liveliness).
    pub const MESSAGE_READER: Self = Self(1 << 11);
    /// The writer of type requests (XTYPES 1.3, 7.6.3.3.3).
    pub const TYPE_REQUEST_WRITER: Self = Self(1 << 12);
    /// The reader of type requests.
    pub const TYPE_REQUEST_READER: Self = Self(1 << 13);
    /// The writer of type replies.
    pub const TYPE_REPLY_WRITER: Self = Self(1 << 14);
    /// The reader of type replies.
    pub const TYPE_REPLY_READER: Self = Self(1 << 15);
    /// All endpoints that exchange types.
    pub const TYPES: Self = Self(0xf << 12);
    /// The protected SEDP writer of publications (DDS Security 1.1, 7.4.7.1).
    pub const SECURE_PUBLICATIONS_WRITER: Self = Self(1 << 16);
    /// The protected SEDP reader of publications.
    pub const SECURE_PUBLICATIONS_READER: Self = Self(1 << 17);
    /// The protected SEDP writer of subscriptions.
    pub const SECURE_SUBSCRIPTIONS_WRITER: Self = Self(1 << 18);
    /// The protected SEDP reader of subscriptions.
    pub const SECURE_SUBSCRIPTIONS_READER: Self = Self(1 << 19);
    /// The protected writer of participant messages.
    pub const SECURE_MESSAGE_WRITER: Self = Self(1 << 20);
    /// The protected reader of participant messages.
    pub const SECURE_MESSAGE_READER: Self = Self(1 << 21);
    /// The writer of handshake messages.
    pub const STATELESS_MESSAGE_WRITER: Self = Self(1 << 22);
    /// The reader of handshake messages.
    pub const STATELESS_MESSAGE_READER: Self = Self(1 << 23);
    /// The writer of keys.
    pub const VOLATILE_MESSAGE_WRITER: Self = Self(1 << 24);
    /// The reader of keys.
    pub const VOLATILE_MESSAGE_READER: Self = Self(1 << 25);
    /// The protected SPDP writer.
    pub const SECURE_PARTICIPANTS_WRITER: Self = Self(1 << 26);
    /// The protected SPDP reader.
    pub const SECURE_PARTICIPANTS_READER: Self = Self(1 << 27);

    /// Whether every endpoint of `other` is in this set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// The endpoints of this set that are not in `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The endpoints of both sets.
    #[must_use]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoint_bits_are_those_of_the_standard() {
        // Zenzen DDS announces this set: only the six endpoints of SPDP and SEDP.
        let announced = BuiltinEndpoints(0x3f);
        assert!(
            announced.contains(BuiltinEndpoints::PUBLICATIONS_WRITER.union(BuiltinEndpoints::SUBSCRIPTIONS_READER))
        );
        assert!(!announced.contains(BuiltinEndpoints::MESSAGE_WRITER));
    }
}
