//! State that the submessages of one message share (RTPS 2.5, 8.3.4).

use super::{Header, InfoReply, Submessage};
use crate::types::{EntityId, Guid, GuidPrefix, ProtocolVersion, Time, VendorId};
use std::net::IpAddr;

/// Source, destination and timestamp of the next submessage.
///
/// It begins with the message header, changes with each INFO_SRC, INFO_DST, INFO_TS and INFO_REPLY, and ends with the
/// message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receiver<'a> {
    /// Protocol version of the source.
    pub source_version: ProtocolVersion,
    /// Vendor of the source.
    pub source_vendor: VendorId,
    /// The sending participant.
    pub source_prefix: GuidPrefix,
    /// The receiving participant; [`GuidPrefix::UNKNOWN`] for all.
    pub destination_prefix: GuidPrefix,
    /// Source timestamp, by the clock of the source.
    pub source_timestamp: Option<Time>,
    /// Requested destination of answers; `None` for the discovered one. Do not use it unchecked; see [`InfoReply`].
    pub reply: Option<InfoReply<'a>>,
    /// Address that the datagram came from; `None` if the transport has no addresses. A sender can forge it.
    pub sender: Option<IpAddr>,
}

impl<'a> Receiver<'a> {
    /// Creates the state before the first submessage.
    #[must_use]
    pub const fn new(header: &Header) -> Self {
        Self {
            source_version: header.version,
            source_vendor: header.vendor,
            source_prefix: header.prefix,
            destination_prefix: GuidPrefix::UNKNOWN,
            source_timestamp: None,
            reply: None,
            sender: None,
        }
    }

    /// Applies a submessage. Only those that change the state have an effect.
    pub fn apply(&mut self, submessage: &Submessage<'a>) {
        match submessage {
            Submessage::InfoTimestamp(timestamp) => self.source_timestamp = *timestamp,
            Submessage::HeaderExtension(extension) => {
                if let Some(timestamp) = extension.timestamp {
                    // An invalid timestamp takes an earlier one back.
                    self.source_timestamp = if timestamp.is_valid() { Some(timestamp) } else { None };
                }
            }
            Submessage::InfoDestination(prefix) => self.destination_prefix = *prefix,
            Submessage::InfoSource(source) => {
                self.source_version = source.version;
                self.source_vendor = source.vendor;
                self.source_prefix = source.prefix;
                // Timestamp and locators belonged to the other participant.
                self.source_timestamp = None;
                self.reply = None;
            }
            Submessage::InfoReply(reply) => self.reply = Some(*reply),
            _ => {}
        }
    }

    /// Whether the following submessages are for the participant with this prefix.
    #[must_use]
    pub fn is_for(&self, prefix: GuidPrefix) -> bool {
        // Without an INFO_DST a message is for all participants.
        self.destination_prefix == GuidPrefix::UNKNOWN || self.destination_prefix == prefix
    }

    /// Returns the GUID of an endpoint of the source.
    #[must_use]
    pub const fn source(&self, entity_id: EntityId) -> Guid {
        Guid::new(self.source_prefix, entity_id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Locator;
    use crate::wire::{InfoSource, Message, MessageBuilder};
    use std::net::{Ipv4Addr, SocketAddrV4};

    const A: GuidPrefix = GuidPrefix([0xa; 12]);
    const B: GuidPrefix = GuidPrefix([0xb; 12]);

    fn after(build: impl FnOnce(&mut MessageBuilder<'_>)) -> Receiver<'static> {
        let mut bytes = Vec::new();
        let mut builder = MessageBuilder::new(&mut bytes);
        builder.header(A);
        build(&mut builder);
        let message = Message::parse(bytes.leak()).unwrap();
        let mut receiver = Receiver::new(&message.header);
        for submessage in message.submessages() {
            receiver.apply(&submessage.unwrap());
        }
        receiver
    }

    #[test]
    fn message_begins_for_all_without_timestamp() {
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
    fn info_ts_holds_until_invalidated() {
        let time = Time::from_unix_nanos(1_700_000_000_123_456_789);
        assert_eq!(after(|message| message.info_ts(Some(time))).source_timestamp, Some(time));
        let receiver = after(|message| {
            message.info_ts(Some(time));
            message.info_ts(Some(Time::INVALID));
        });
        assert_eq!(receiver.source_timestamp, None);
    }

    #[test]
    fn info_reply_holds_until_the_source_changes() {
        let at = |port| SocketAddrV4::new(Ipv4Addr::LOCALHOST, port);
        let locator = |port| Locator::udp_v4(Ipv4Addr::LOCALHOST, port);
        assert_eq!(after(|_| {}).reply, None);
        let reply = after(|message| message.info_reply_ip4(at(1), Some(at(2)))).reply.unwrap();
        assert_eq!(reply.unicast.iter().collect::<Vec<_>>(), [locator(1)]);
        assert_eq!(reply.multicast.iter().collect::<Vec<_>>(), [locator(2)]);
        let replaced = after(|message| {
            message.info_reply_ip4(at(1), Some(at(2)));
            message.info_reply(&[locator(3), locator(4)], &[]);
        });
        let reply = replaced.reply.unwrap();
        assert_eq!(reply.unicast.iter().collect::<Vec<_>>(), [locator(3), locator(4)]);
        assert!(reply.multicast.is_empty());
        let receiver = after(|message| {
            message.info_reply_ip4(at(1), None);
            let version = ProtocolVersion::OURS;
            message.info_src(&InfoSource { version, vendor: VendorId::RTI, prefix: B });
        });
        assert_eq!(receiver.reply, None);
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
