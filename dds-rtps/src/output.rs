//! What can come out of the protocol: datagrams to send.
//!
//! A [`Datagram`] is made once per sender and reused: the headers lie in its buffer, large payloads stay where they are
//! and are gathered by the system call. It keeps its destinations, so that a sender whose socket is full can go on with
//! the destination that refused, later, in the same order.

use crate::concurrent::Payload;
use crate::types::{Locator, TrafficClass};
use smallvec::SmallVec;
use std::ops::Range;

/// One datagram: gathered segments and where they go.
#[derive(Debug, Default)]
pub struct Datagram {
    buffer: Vec<u8>,
    /// Payloads that stand in between the bytes of `buffer`: (offset in `buffer` before which it stands, payload, range).
    gathered: SmallVec<[Gathered; 4]>,
    destinations: SmallVec<[Locator; 4]>,
    next_destination: usize,
    traffic_class: TrafficClass,
}

#[derive(Debug)]
struct Gathered {
    offset: usize,
    payload: Payload,
    range: Range<usize>,
}

impl Datagram {
    /// An empty datagram; its memory grows to the largest one ever laid out in it.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Forgets content and destinations, keeps the memory and the class.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.gathered.clear();
        self.destinations.clear();
        self.next_destination = 0;
    }

    /// How urgent it is. Default: not at all.
    #[must_use]
    pub const fn traffic_class(&self) -> TrafficClass {
        self.traffic_class
    }

    /// Says how urgent it is, and all that is laid out in it later.
    pub fn set_traffic_class(&mut self, class: TrafficClass) {
        self.traffic_class = class;
    }

    /// The headers: where a message is laid out.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Puts `bytes` in place of everything that was laid out; the destinations stay. `bytes` gets the old buffer.
    pub fn replace(&mut self, bytes: &mut Vec<u8>) {
        std::mem::swap(&mut self.buffer, bytes);
        self.gathered.clear();
    }

    /// Lets `range` of `payload` follow what the buffer holds now, without copying it.
    pub fn gather(&mut self, payload: Payload, range: Range<usize>) {
        self.gathered.push(Gathered { offset: self.buffer.len(), payload, range });
    }

    /// Lets all that was laid out in `other` follow, without its first `skipped` bytes, which must lie in its buffer; its
    /// destinations are forgotten.
    pub fn append(&mut self, other: &mut Self, skipped: usize) {
        let before = self.buffer.len();
        self.buffer.extend_from_slice(other.buffer.get(skipped..).unwrap_or_default());
        let moved = other.gathered.drain(..);
        self.gathered
            .extend(moved.map(|piece| Gathered { offset: before + piece.offset.saturating_sub(skipped), ..piece }));
        other.clear();
    }

    /// How it begins: what was laid out before the first payload that is gathered.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        let end = self.gathered.first().map_or(self.buffer.len(), |first| first.offset);
        self.buffer.get(..end).unwrap_or_default()
    }

    /// Adds a destination, unless it is there already.
    pub fn add_destination(&mut self, locator: Locator) {
        if !self.destinations.contains(&locator) {
            self.destinations.push(locator);
        }
    }

    /// Replaces the destinations by `locators`, which must differ from each other. For senders whose set of destinations
    /// seldom changes: nothing is compared.
    pub fn set_destinations(&mut self, locators: &[Locator]) {
        self.destinations.clear();
        self.destinations.extend_from_slice(locators);
        self.next_destination = 0;
    }

    /// All destinations.
    #[must_use]
    pub fn destinations(&self) -> &[Locator] {
        &self.destinations
    }

    /// The destinations that have not been served yet.
    #[must_use]
    pub fn remaining_destinations(&self) -> &[Locator] {
        self.destinations.get(self.next_destination..).unwrap_or_default()
    }

    /// Notes that the first of the remaining destinations has been served.
    pub fn destination_done(&mut self) {
        self.next_destination += 1;
    }

    /// Whether nothing has been laid out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty() && self.gathered.is_empty()
    }

    /// Bytes on the wire.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffer.len() + self.gathered.iter().map(|gathered| gathered.range.len()).sum::<usize>()
    }

    /// The bytes in wire order, as slices that a gathering system call can send as they lie.
    pub fn segments(&self) -> impl Iterator<Item = &[u8]> {
        let mut done = 0;
        let mut gathered = self.gathered.iter();
        let mut pending: Option<&Gathered> = None;
        let mut finished = false;
        std::iter::from_fn(move || {
            loop {
                if let Some(piece) = pending.take() {
                    return piece.payload.bytes().get(piece.range.clone());
                }
                if finished {
                    return None;
                }
                let end = match gathered.next() {
                    Some(piece) => {
                        pending = Some(piece);
                        piece.offset
                    }
                    None => {
                        finished = true;
                        self.buffer.len()
                    }
                };
                let start = std::mem::replace(&mut done, end);
                if start < end {
                    return self.buffer.get(start..end);
                }
            }
        })
    }

    /// All bytes in one piece, appended to `bytes`: for tests, taps and transports that cannot gather.
    pub fn copy_to(&self, bytes: &mut Vec<u8>) {
        self.segments().for_each(|segment| bytes.extend_from_slice(segment));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_come_in_wire_order() {
        let mut datagram = Datagram::new();
        datagram.buffer().extend_from_slice(b"head");
        datagram.gather(Payload::copy_of(b"payload"), 3..7);
        datagram.buffer().extend_from_slice(b"tail");
        datagram.gather(Payload::copy_of(b"end"), 0..3);
        let segments: Vec<&[u8]> = datagram.segments().collect();
        assert_eq!(segments, [&b"head"[..], b"load", b"tail", b"end"]);
        let mut bytes = Vec::new();
        datagram.copy_to(&mut bytes);
        assert_eq!(bytes, b"headloadtailend");
        assert_eq!(datagram.len(), bytes.len());
    }

    #[test]
    fn what_is_appended_keeps_its_order_and_loses_its_head() {
        let mut first = Datagram::new();
        first.buffer().extend_from_slice(b"head");
        first.gather(Payload::copy_of(b"one"), 0..3);
        let mut second = Datagram::new();
        second.buffer().extend_from_slice(b"headtwo");
        second.gather(Payload::copy_of(b"three"), 0..5);
        second.buffer().extend_from_slice(b"four");
        assert_eq!(second.head(), b"headtwo");
        first.append(&mut second, 4);
        let mut bytes = Vec::new();
        first.copy_to(&mut bytes);
        assert_eq!(bytes, b"headonetwothreefour");
        assert!(second.is_empty());
    }

    #[test]
    fn replaced_content_keeps_its_destinations() {
        let mut datagram = Datagram::new();
        datagram.buffer().extend_from_slice(b"head");
        datagram.gather(Payload::copy_of(b"payload"), 0..7);
        datagram.add_destination(Locator::udp_v4([127, 0, 0, 1].into(), 1));
        datagram.replace(&mut b"sealed".to_vec());
        assert_eq!(datagram.segments().collect::<Vec<_>>(), [b"sealed"]);
        assert_eq!(datagram.destinations().len(), 1);
    }

    #[test]
    fn destinations_are_served_one_after_the_other() {
        let mut datagram = Datagram::new();
        let a = Locator::udp_v4([127, 0, 0, 1].into(), 1);
        let b = Locator::udp_v4([127, 0, 0, 1].into(), 2);
        datagram.add_destination(a);
        datagram.add_destination(b);
        datagram.add_destination(a);
        assert_eq!(datagram.destinations(), [a, b]);
        datagram.destination_done();
        assert_eq!(datagram.remaining_destinations(), [b]);
        datagram.destination_done();
        assert!(datagram.remaining_destinations().is_empty());
    }
}
