//! Where to answer a peer that says so in its message (INFO_REPLY; RTPS 2.5, 8.3.4 and 8.3.8.9).

use super::data::ParticipantData;
use crate::types::{Locator, LocatorKind};
use crate::wire::InfoReply;

/// What becomes of an INFO_REPLY.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplyTo {
    /// It names no locator: answers go where discovery says.
    Discovered,
    /// Answers go there.
    At(Locator),
    /// It names only locators that do not lie on the source's hosts: answers go where discovery says.
    Refused,
}

impl ReplyTo {
    /// Chooses among the locators that a message of `source` names; `None`: nothing is known of the source.
    ///
    /// A datagram proves nothing of its sender. If its word were enough, whoever forges one could let us send what a
    /// reader has asked for, megabytes, to a third party. So only addresses count that the source has announced; the port
    /// is free, for another socket of the same host is what INFO_REPLY is good for. One locator is enough: an answer has
    /// to arrive once.
    #[must_use]
    pub fn choose(reply: &InfoReply<'_>, source: Option<&[Locator]>) -> Self {
        if reply.unicast.is_empty() {
            return Self::Discovered;
        }
        let announced = source.unwrap_or_default();
        let is_host = |locator: &Locator| {
            let is_udp = matches!(locator.kind, LocatorKind::UdpV4 | LocatorKind::UdpV6);
            let same = |known: &Locator| known.kind == locator.kind && known.address == locator.address;
            is_udp && locator.to_socket_addr().is_some_and(|address| address.port() != 0) && announced.iter().any(same)
        };
        reply.unicast.iter().find(is_host).map_or(Self::Refused, Self::At)
    }

    /// The locator, if there is one.
    #[must_use]
    pub const fn locator(self) -> Option<Locator> {
        match self {
            Self::At(locator) => Some(locator),
            _ => None,
        }
    }
}

impl ParticipantData {
    /// All unicast locators that it announces.
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

    fn chosen(named: &[Locator], announced: Option<&[Locator]>) -> ReplyTo {
        let mut bytes = Vec::new();
        let mut builder = MessageBuilder::new(&mut bytes);
        builder.header(GuidPrefix([1; 12]));
        builder.info_reply(named, &[]);
        let message = Message::parse(&bytes).unwrap();
        let Some(Ok(Submessage::InfoReply(reply))) = message.submessages().next() else { panic!("no INFO_REPLY") };
        ReplyTo::choose(&reply, announced)
    }

    #[test]
    fn another_port_of_an_announced_host_is_taken() {
        let announced = [at(1, 7410), at(1, 7411), at(2, 7411)];
        assert_eq!(chosen(&[at(2, 9000)], Some(&announced)), ReplyTo::At(at(2, 9000)));
        assert_eq!(chosen(&[at(3, 7411), at(1, 7411)], Some(&announced)), ReplyTo::At(at(1, 7411)));
    }

    #[test]
    fn a_third_party_is_not_sent_anything() {
        let announced = [at(1, 7410)];
        assert_eq!(chosen(&[at(3, 7410)], Some(&announced)), ReplyTo::Refused);
        assert_eq!(chosen(&[at(1, 7410)], None), ReplyTo::Refused);
        assert_eq!(chosen(&[at(1, 0)], Some(&announced)), ReplyTo::Refused);
        let shared_memory = Locator { kind: LocatorKind::Other(16), ..at(1, 7410) };
        assert_eq!(chosen(&[shared_memory], Some(&[shared_memory])), ReplyTo::Refused);
    }

    #[test]
    fn no_locator_means_as_announced() {
        assert_eq!(chosen(&[], Some(&[at(1, 7410)])), ReplyTo::Discovered);
        assert_eq!(chosen(&[], None).locator(), None);
    }
}
