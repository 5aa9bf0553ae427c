//! What the submessages of one message have in common at a moment (RTPS 2.5, 8.3.4).

use super::{Header, Submessage};
use crate::types::{EntityId, Guid, GuidPrefix, ProtocolVersion, Time, VendorId};

/// Whose, for whom and of when the next submessage is: begins with the message's header, changes with every INFO_SRC,
/// INFO_DST and INFO_TS, ends with the message. Made anew for each message; it is a few words on the stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receiver {
    /// The protocol that the source speaks.
    pub source_version: ProtocolVersion,
    /// Who built the source.
    pub source_vendor: VendorId,
    /// The participant that wrote.
    pub source_prefix: GuidPrefix,
    /// The participant that is to read; [`GuidPrefix::UNKNOWN`] for every one.
    pub destination_prefix: GuidPrefix,
    /// When the source wrote, by its clock.
    pub source_timestamp: Option<Time>,
}

impl Receiver {
    /// The state before the first submessage.
    #[must_use]
    pub const fn new(header: &Header) -> Self {
        Self {
            source_version: header.version,
            source_vendor: header.vendor,
            source_prefix: header.prefix,
            destination_prefix: GuidPrefix::UNKNOWN,
            source_timestamp: None,
        }
    }

    /// Takes in one submessage; all but INFO_SRC, INFO_DST and INFO_TS change nothing.
    pub fn apply(&mut self, submessage: &Submessage<'_>) {
        match submessage {
            Submessage::InfoTimestamp(timestamp) => self.source_timestamp = *timestamp,
            Submessage::InfoDestination(prefix) => self.destination_prefix = *prefix,
            Submessage::InfoSource(source) => {
                self.source_version = source.version;
                self.source_vendor = source.vendor;
                self.source_prefix = source.prefix;
                // The timestamp was another participant's.
                self.source_timestamp = None;
            }
            _ => {}
        }
    }

    /// Whether the participant with this prefix is to read what follows.
    #[must_use]
    pub fn is_for(&self, prefix: GuidPrefix) -> bool {
        self.destination_prefix == GuidPrefix::UNKNOWN || self.destination_prefix == prefix
    }

    /// The GUID of one of the source's endpoints.
    #[must_use]
    pub const fn source(&self, entity_id: EntityId) -> Guid {
        Guid::new(self.source_prefix, entity_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{InfoSource, Message, MessageBuilder};

    const A: GuidPrefix = GuidPrefix([0xa; 12]);
    const B: GuidPrefix = GuidPrefix([0xb; 12]);

    fn after(build: impl FnOnce(&mut MessageBuilder<'_>)) -> Receiver {
        let mut bytes = Vec::new();
        let mut builder = MessageBuilder::new(&mut bytes);
        builder.header(A);
        build(&mut builder);
        let message = Message::parse(&bytes).unwrap();
        let mut receiver = Receiver::new(&message.header);
        message.submessages().for_each(|submessage| receiver.apply(&submessage.unwrap()));
        receiver
    }

    #[test]
    fn a_message_begins_for_everybody_and_without_a_time() {
        let receiver = after(|_| {});
        assert!(receiver.is_for(A) && receiver.is_for(B));
        assert_eq!((receiver.source_prefix, receiver.source_timestamp), (A, None));
        assert_eq!((receiver.source_vendor, receiver.source_version), (VendorId::OURS, ProtocolVersion::OURS));
    }

    #[test]
    fn info_dst_narrows_and_widens() {
        let receiver = after(|message| message.info_dst(B));
        assert!(receiver.is_for(B) && !receiver.is_for(A));
        let receiver = after(|message| {
            message.info_dst(B);
            message.info_dst(GuidPrefix::UNKNOWN);
        });
        assert!(receiver.is_for(B) && receiver.is_for(A));
    }

    #[test]
    fn info_ts_holds_until_it_is_taken_back() {
        let time = Time::from_unix_nanos(1_700_000_000_123_456_789);
        assert_eq!(after(|message| message.info_ts(Some(time))).source_timestamp, Some(time));
        let receiver = after(|message| {
            message.info_ts(Some(time));
            message.info_ts(Some(Time::INVALID));
        });
        assert_eq!(receiver.source_timestamp, None);
    }

    #[test]
    fn info_src_replaces_the_source_and_forgets_its_time() {
        let version = ProtocolVersion { major: 2, minor: 1 };
        let receiver = after(|message| {
            message.info_ts(Some(Time::from_unix_nanos(1)));
            message.info_dst(B);
            message.info_src(&InfoSource { version, vendor: VendorId::RTI, prefix: B });
        });
        assert_eq!((receiver.source_version, receiver.source_vendor), (version, VendorId::RTI));
        assert_eq!(receiver.source(EntityId::SPDP_WRITER), Guid::new(B, EntityId::SPDP_WRITER));
        assert_eq!(receiver.source_timestamp, None);
        assert!(receiver.is_for(B) && !receiver.is_for(A));
    }
}
