//! Destination of the answers to a message with INFO_REPLY (RTPS 2.5, 8.3.4 and 8.3.8.9).

use super::data::ParticipantData;
use crate::types::{Locator, LocatorKind};
use crate::wire::InfoReply;

/// Effect of an INFO_REPLY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyTo {
    /// It has no locator: answers go to the discovered locators.
    Discovered,
    /// Answers go to this locator.
    At(Locator),
    /// It has only locators outside of the source's hosts: answers go to the discovered locators.
    Refused,
}

impl ReplyTo {
    /// Chooses among the locators of an INFO_REPLY; `valid` are the locators of the sender that may receive answers.
    ///
    /// A datagram does not prove its sender. An attacker could forge one, and make us send requested samples,
    /// megabytes, to a third party. So only addresses count that the source has announced, on hosts that have answered.
    /// The port is free, because INFO_REPLY exists to name another socket of the same host. One locator is enough: an
    /// answer has to arrive once.
    #[must_use]
    pub fn choose(reply: &InfoReply<'_>, valid: &[Locator]) -> Self {
        if reply.unicast.is_empty() {
            return Self::Discovered;
        }
        for locator in reply.unicast.iter() {
            let is_udp = matches!(locator.kind, LocatorKind::UdpV4 | LocatorKind::UdpV6);
            let has_port = locator.to_socket_addr().is_some_and(|address| address.port() != 0);
            let is_valid = valid.iter().any(|known| known.kind == locator.kind && known.address == locator.address);
            if is_udp && has_port && is_valid {
                return Self::At(locator);
            }
        }
        Self::Refused
    }

    /// Returns the chosen locator, if any.
    #[must_use]
    pub const fn locator(self) -> Option<Locator> {
        match self {
            Self::At(locator) => Some(locator),
            _ => None,
        }
    }
}

impl ParticipantData {
    /// Returns all unicast locators that it announces.
    #[must_use]
    pub fn unicast_locators(&self) -> Vec<Locator> {
        [&self.metatraffic_unicast[..], &self.default_unicast].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::GuidPrefix;
    use crate::wire::{Message, MessageBuilder, Submessage};

    fn at(last: u8, port: u16) -> Locator {
        Locator::udp_v4([10, 0, 0, last].into(), port)
    }

    fn chosen(named: &[Locator], valid: &[Locator]) -> ReplyTo {
        let mut bytes = Vec::new();
        let mut builder = MessageBuilder::new(&mut bytes);
        builder.header(GuidPrefix([1; 12]));
        builder.info_reply(named, &[]);
        let message = Message::parse(&bytes).unwrap();
        let Some(Ok(Submessage::InfoReply(reply))) = message.submessages().next() else { panic!("no INFO_REPLY") };
        ReplyTo::choose(&reply, valid)
    }

    #[test]
    fn another_port_of_a_valid_host_is_accepted() {
        let valid = [at(1, 7410), at(1, 7411), at(2, 7411)];
        assert_eq!(chosen(&[at(2, 9000)], &valid), ReplyTo::At(at(2, 9000)));
        assert_eq!(chosen(&[at(3, 7411), at(1, 7411)], &valid), ReplyTo::At(at(1, 7411)));
    }

    #[test]
    fn reply_to_a_third_party_is_refused() {
        let valid = [at(1, 7410)];
        assert_eq!(chosen(&[at(3, 7410)], &valid), ReplyTo::Refused);
        assert_eq!(chosen(&[at(1, 7410)], &[]), ReplyTo::Refused);
        assert_eq!(chosen(&[at(1, 0)], &valid), ReplyTo::Refused);
        let shared_memory = Locator { kind: LocatorKind::Other(16), ..at(1, 7410) };
        assert_eq!(chosen(&[shared_memory], &[shared_memory]), ReplyTo::Refused);
    }

    #[test]
    fn reply_without_locator_uses_discovery() {
        assert_eq!(chosen(&[], &[at(1, 7410)]), ReplyTo::Discovered);
        assert_eq!(chosen(&[], &[]).locator(), None);
    }
}
