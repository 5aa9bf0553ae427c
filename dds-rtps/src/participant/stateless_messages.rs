//! Messages of the topic ParticipantStatelessMessage: handshakes (DDS Security 1.1, 7.4.3).
//!
//! In: fragments and whole messages of any sender. Out: messages, datagrams. Owned: incomplete messages, and those to
//! send.
//!
//! Sequence numbers decide nothing, because any sender can forge them. Bounds: 16 incomplete messages of at most
//! 64 KiB, 256 messages to send. Handshakes repeat dropped messages.

use super::config::ParticipantConfig;
use crate::discovery::stays_on_host;
use crate::output::Datagram;
use crate::types::{EntityId, GuidPrefix, Locator, Now, SequenceNumber};
use crate::wire::{DataFrag, DataFragHeader, DataHeader, MessageBuilder, PayloadKind};
use std::collections::{BTreeMap, VecDeque};

/// Longest message: certificate, permissions and keys of one participant have a few kilobytes.
const MESSAGE_LEN_MAX: usize = 64 << 10;
/// Incomplete messages.
const ASSEMBLIES_MAX: usize = 16;
/// Incomplete messages of one sender, so that it does not displace those of all others.
const ASSEMBLIES_PER_SENDER: usize = 4;
/// Messages that wait for the socket.
const WAITING_MAX: usize = 256;
/// Bytes of a message that one datagram carries: it fits into an Ethernet frame.
const FRAGMENT_SIZE: u16 = 1_300;
/// As [`FRAGMENT_SIZE`], for a receiver on this host: most messages are shorter.
const FRAGMENT_SIZE_ON_HOST: u16 = 8_000;

/// The writer and the reader of handshake messages.
#[derive(Debug, Default)]
pub(super) struct StatelessMessages {
    assemblies: VecDeque<StatelessAssembly>,
    waiting: VecDeque<WaitingMessage>,
    last: SequenceNumber,
    /// Messages to one of several locators so far. Bound: the known participants.
    turns: BTreeMap<GuidPrefix, usize>,
}

#[derive(Debug)]
struct StatelessAssembly {
    sender: GuidPrefix,
    number: SequenceNumber,
    fragment_size: usize,
    bytes: Vec<u8>,
    /// By fragment.
    arrived: Vec<bool>,
}

#[derive(Debug)]
struct WaitingMessage {
    to: GuidPrefix,
    locators: Vec<Locator>,
    number: SequenceNumber,
    payload: Vec<u8>,
    fragment_size: u16,
    /// Number of the next fragment, from 1.
    next: u32,
}

impl StatelessMessages {
    /// Adds fragments. Returns the message that they complete.
    pub(super) fn add(&mut self, sender: GuidPrefix, data: &DataFrag<'_>) -> Option<Vec<u8>> {
        let (len, fragment_size) = (data.sample_size as usize, usize::from(data.fragment_size));
        if len > MESSAGE_LEN_MAX || fragment_size == 0 {
            return None;
        }
        // A fragment of other lengths belongs to another message, even with the same number.
        let is_of = |known: &StatelessAssembly| {
            known.sender == sender
                && known.number == data.writer_sn
                && (known.bytes.len(), known.fragment_size) == (len, fragment_size)
        };
        let index = match self.assemblies.iter().position(is_of) {
            Some(index) => index,
            None => self.begin(StatelessAssembly {
                sender,
                number: data.writer_sn,
                fragment_size,
                bytes: vec![0; len],
                arrived: vec![false; len.div_ceil(fragment_size)],
            }),
        };
        let assembly = self.assemblies.get_mut(index)?;
        let first = data.fragment_starting_num as usize - 1;
        let start = first * fragment_size;
        let room = assembly.bytes.get_mut(start..)?;
        let copied = room.len().min(data.payload.len());
        room[..copied].copy_from_slice(&data.payload[..copied]);
        for arrived in assembly.arrived.iter_mut().skip(first).take(usize::from(data.fragments_in_submessage)) {
            *arrived = true;
        }
        if assembly.arrived.contains(&false) {
            return None;
        }
        Some(self.assemblies.remove(index)?.bytes)
    }

    /// Begins a message, in place of an older one if there is no room. Returns its position.
    fn begin(&mut self, assembly: StatelessAssembly) -> usize {
        let of_sender = |known: &StatelessAssembly| known.sender == assembly.sender;
        if self.assemblies.iter().filter(|known| of_sender(known)).count() >= ASSEMBLIES_PER_SENDER {
            // The list is in the order of arrival, so the first one of the sender is its oldest.
            if let Some(oldest) = self.assemblies.iter().position(of_sender) {
                self.assemblies.remove(oldest);
            }
        }
        if self.assemblies.len() >= ASSEMBLIES_MAX {
            self.assemblies.pop_front();
        }
        self.assemblies.push_back(assembly);
        self.assemblies.len() - 1
    }

    /// Forgets the messages of and to a participant.
    pub(super) fn forget(&mut self, prefix: GuidPrefix) {
        self.assemblies.retain(|assembly| assembly.sender != prefix);
        self.waiting.retain(|message| message.to != prefix);
        self.turns.remove(&prefix);
    }

    /// Returns one of the locators of a participant, another one each time.
    pub(super) fn next_of(&mut self, to: GuidPrefix, locators: &[Locator]) -> Option<Locator> {
        let turns = self.turns.entry(to).or_default();
        let turn = turns.checked_rem(locators.len())?;
        *turns = turns.wrapping_add(1);
        locators.get(turn).copied()
    }

    /// Adds a message to send.
    pub(super) fn send(&mut self, to: GuidPrefix, locators: &[Locator], payload: Vec<u8>) {
        // Handshakes repeat the message.
        if locators.is_empty() || payload.len() > MESSAGE_LEN_MAX || self.waiting.len() >= WAITING_MAX {
            return;
        }
        self.last = self.last.next();
        let (number, locators) = (self.last, locators.to_vec());
        self.waiting.push_back(WaitingMessage { to, locators, number, payload, fragment_size: FRAGMENT_SIZE, next: 1 });
    }

    /// Builds the next datagram; returns false without one to send.
    pub(super) fn poll_transmit(&mut self, now: Now, config: &ParticipantConfig, datagram: &mut Datagram) -> bool {
        let Some(message) = self.waiting.front_mut() else { return false };
        datagram.clear();
        let mut builder = MessageBuilder::new(datagram.buffer());
        builder.header(config.prefix);
        builder.info_dst(message.to);
        builder.info_ts(Some(now.time));
        // The fragments of one message have one size, also if the addresses change between them.
        if message.next == 1 && stays_on_host(&config.host_addresses, &message.locators) {
            message.fragment_size = FRAGMENT_SIZE_ON_HOST;
        }
        let is_last = message.build_next(&mut builder);
        datagram.set_destinations(&message.locators);
        // Messages leave one after the other, so a receiver has one incomplete message of this sender at a time.
        if is_last {
            self.waiting.pop_front();
        }
        true
    }
}

impl WaitingMessage {
    /// Adds the message, or its next fragment. Returns whether it is the last one.
    fn build_next(&mut self, builder: &mut MessageBuilder<'_>) -> bool {
        let fragment_size = self.fragment_size;
        let (writer_id, reader_id) = (EntityId::STATELESS_MESSAGE_WRITER, EntityId::STATELESS_MESSAGE_READER);
        if self.payload.len() <= usize::from(fragment_size) {
            let (writer_sn, payload) = (self.number, PayloadKind::Data);
            let header = DataHeader { reader_id, writer_id, writer_sn, payload, non_standard_payload: false };
            let end = builder.data(&header, self.payload.len(), |_| {});
            builder.payload(&self.payload, end);
            return true;
        }
        let header = DataFragHeader {
            reader_id,
            writer_id,
            writer_sn: self.number,
            fragment_starting_num: self.next,
            fragments_in_submessage: 1,
            fragment_size,
            // `send` has checked that the length is at most 64 KiB.
            sample_size: self.payload.len() as u32,
            is_key: false,
            non_standard_payload: false,
        };
        let range = header.payload_range();
        let end = builder.data_frag(&header, |_| {});
        let is_last = range.end >= self.payload.len();
        builder.payload(self.payload.get(range).unwrap_or_default(), end);
        self.next += 1;
        is_last
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{Instant, Time};
    use crate::wire::{Message, Submessage};

    const OWN: GuidPrefix = GuidPrefix([1; 12]);
    const PEER: GuidPrefix = GuidPrefix([2; 12]);

    /// Returns the datagrams of a message to another host.
    fn datagrams(len: usize) -> Vec<Vec<u8>> {
        datagrams_to([192, 168, 1, 2], len)
    }

    fn datagrams_to(address: [u8; 4], len: usize) -> Vec<Vec<u8>> {
        let config = ParticipantConfig::new(OWN, 0);
        let now = Now { instant: Instant::from_nanos(1), time: Time::from_unix_nanos(1) };
        let mut messages = StatelessMessages::default();
        messages.send(PEER, &[Locator::udp_v4(address.into(), 7410)], (0..len).map(|at| at as u8).collect());
        let mut datagram = Datagram::new();
        std::iter::from_fn(|| messages.poll_transmit(now, &config, &mut datagram).then(|| datagram.head().to_vec()))
            .collect()
    }

    fn fragments_of(datagram: &[u8]) -> Vec<DataFrag<'_>> {
        let all = Message::parse(datagram).unwrap().submessages().map(Result::unwrap);
        all.filter_map(|submessage| if let Submessage::DataFrag(data) = submessage { Some(data) } else { None })
            .collect()
    }

    #[test]
    fn long_message_survives_its_fragments_in_any_order() {
        for len in [1_301, 2_600, 2_601, 5_000] {
            let mut datagrams = datagrams(len);
            assert_eq!(datagrams.len(), len.div_ceil(usize::from(FRAGMENT_SIZE)));
            let is_one_frame = datagrams.iter().all(|datagram| datagram.len() <= 1_400);
            assert!(is_one_frame, "a datagram is longer than a frame");
            assert_eq!(datagrams_to([127, 0, 0, 1], len).len(), 1, "a message on this host needs no fragments");
            datagrams.reverse();
            datagrams.insert(0, datagrams[0].clone());
            let mut messages = StatelessMessages::default();
            let mut complete = Vec::new();
            for datagram in &datagrams {
                for fragment in fragments_of(datagram) {
                    complete.extend(messages.add(PEER, &fragment));
                }
            }
            assert_eq!(complete, [(0..len).map(|at| at as u8).collect::<Vec<_>>()]);
        }
        assert_eq!(datagrams(1_300).len(), 1);
        assert!(fragments_of(&datagrams(1_300)[0]).is_empty());
    }

    #[test]
    fn unproved_addresses_take_turns() {
        let locators = [1, 2, 3].map(|port| Locator::udp_v4([127, 0, 0, 1].into(), port));
        let mut messages = StatelessMessages::default();
        let used: Vec<_> = (0..6).filter_map(|_| messages.next_of(PEER, &locators)).collect();
        assert_eq!(used, [locators, locators].concat());
        assert_eq!(messages.next_of(PEER, &[]), None);
    }

    #[test]
    fn incomplete_messages_are_bounded() {
        let first = &datagrams(5_000)[0];
        let fragment = &fragments_of(first)[0];
        let mut messages = StatelessMessages::default();
        for number in 1..1_000 {
            for sender in 0..10 {
                let fragment = DataFrag { writer_sn: SequenceNumber(number), ..fragment.clone() };
                assert_eq!(messages.add(GuidPrefix([sender; 12]), &fragment), None);
            }
            let of_first = messages.assemblies.iter().filter(|known| known.sender == GuidPrefix([0; 12])).count();
            assert!(messages.assemblies.len() <= ASSEMBLIES_MAX && of_first <= ASSEMBLIES_PER_SENDER);
        }
        let endless = DataFrag { sample_size: 1 << 30, ..fragment.clone() };
        let other = GuidPrefix([99; 12]);
        assert_eq!(messages.add(other, &endless), None);
        assert!(messages.assemblies.iter().all(|known| known.sender != other));
    }
}
