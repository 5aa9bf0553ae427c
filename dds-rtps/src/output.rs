//! The output of the protocol: datagrams to send.
//!
//! Each sender creates one [`Datagram`] and reuses it. Its buffer contains the headers. Large payloads stay in their
//! slots, and the system call gathers them. A datagram keeps its destinations: if the socket is full, its sender
//! continues later with the destination that failed, in the same order.

use crate::concurrent::Payload;
use crate::types::{Locator, TrafficClass};
use smallvec::SmallVec;
use std::ops::Range;

/// One datagram: its segments and destinations.
#[derive(Debug, Default)]
pub struct Datagram {
    buffer: Vec<u8>,
    /// Payloads between the bytes of `buffer`.
    gathered: SmallVec<[Gathered; 4]>,
    destinations: SmallVec<[Locator; 4]>,
    next_destination: usize,
    traffic_class: TrafficClass,
}

/// A part of a payload in a datagram.
#[derive(Debug)]
struct Gathered {
    /// The offset in the buffer before which the payload is sent.
    offset: usize,
    payload: Payload,
    range: Range<usize>,
}

impl Datagram {
    /// An empty datagram. Its memory grows to its largest content.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Removes content and destinations. Keeps the memory and the traffic class.
    pub fn clear(&mut self) {
        self.buffer.clear();
        self.gathered.clear();
        self.destinations.clear();
        self.next_destination = 0;
    }

    /// The traffic class. Default: best effort.
    #[must_use]
    pub const fn traffic_class(&self) -> TrafficClass {
        self.traffic_class
    }

    /// Sets the traffic class of this and all later content.
    pub fn set_traffic_class(&mut self, class: TrafficClass) {
        self.traffic_class = class;
    }

    /// The buffer for headers and small payloads.
    pub fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.buffer
    }

    /// Replaces the whole content by `bytes`, which gets the former buffer. The destinations stay.
    pub fn replace(&mut self, bytes: &mut Vec<u8>) {
        std::mem::swap(&mut self.buffer, bytes);
        // `bytes` already contains the payloads.
        self.gathered.clear();
    }

    /// Appends `range` of `payload` after the present content, without a copy.
    pub fn gather(&mut self, payload: Payload, range: Range<usize>) {
        debug_assert!(range.end <= payload.len(), "the range lies in the payload");
        // The offset is where the payload interrupts the buffer, which may still grow behind it.
        self.gathered.push(Gathered { offset: self.buffer.len(), payload, range });
    }

    /// Appends the content of `other` without its first `skipped` bytes, which must lie in its buffer. Clears `other`.
    pub fn append(&mut self, other: &mut Self, skipped: usize) {
        let before = self.buffer.len();
        // The skipped bytes are a message header that this datagram already has.
        debug_assert!(skipped <= other.buffer.len(), "the skipped bytes lie in the buffer");
        self.buffer.extend_from_slice(other.buffer.get(skipped..).unwrap_or_default());
        for piece in other.gathered.drain(..) {
            debug_assert!(piece.offset >= skipped, "the skipped bytes lie before the first payload");
            self.gathered.push(Gathered { offset: before + piece.offset.saturating_sub(skipped), ..piece });
        }
        other.clear();
    }

    /// The bytes before the first gathered payload.
    #[must_use]
    pub fn head(&self) -> &[u8] {
        let end = self.gathered.first().map_or(self.buffer.len(), |first| first.offset);
        self.buffer.get(..end).unwrap_or_default()
    }

    /// The content as one gathered payload with the bytes before and behind it. `None` if it has another number of
    /// payloads, or only a part of one.
    #[must_use]
    pub fn around_payload(&self) -> Option<(&[u8], &Payload, &[u8])> {
        let [Gathered { offset, payload, range }] = self.gathered.as_slice() else { return None };
        let (front, rest) = self.buffer.split_at_checked(*offset)?;
        if *range == (0..payload.len()) { Some((front, payload, rest)) } else { None }
    }

    /// Adds a destination, unless it is present.
    pub fn add_destination(&mut self, locator: Locator) {
        if !self.destinations.contains(&locator) {
            self.destinations.push(locator);
        }
    }

    /// Replaces the destinations by `locators`, which must differ from each other.
    ///
    /// Does not compare them: for senders whose destinations seldom change.
    pub fn set_destinations(&mut self, locators: &[Locator]) {
        self.destinations.clear();
        self.destinations.extend(locators.iter().copied());
        self.next_destination = 0;
    }

    /// All destinations.
    #[must_use]
    pub fn destinations(&self) -> &[Locator] {
        &self.destinations
    }

    /// The destinations to which the datagram has not been sent yet.
    #[must_use]
    pub fn remaining_destinations(&self) -> &[Locator] {
        self.destinations.get(self.next_destination..).unwrap_or_default()
    }

    /// Notes that the datagram was sent to the first of the remaining destinations.
    pub fn destination_done(&mut self) {
        debug_assert!(self.next_destination < self.destinations.len(), "a destination remains");
        self.next_destination += 1;
    }

    /// Removes the remaining destinations for which `is_left` returns false, because they are served.
    ///
    /// For a transport that serves some destinations before another transport serves the rest.
    pub fn retain_destinations(&mut self, mut is_left: impl FnMut(&Locator) -> bool) {
        // The destinations before were served earlier. They stay, because `next_destination` counts them.
        let first = self.next_destination;
        let mut index = 0;
        self.destinations.retain(|destination| {
            index += 1;
            index <= first || is_left(destination)
        });
    }

    /// Whether the datagram has no content.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.buffer.is_empty() && self.gathered.is_empty()
    }

    /// The length on the wire, in bytes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.buffer.len() + self.gathered.iter().map(|gathered| gathered.range.len()).sum::<usize>()
    }

    /// The content in wire order, as slices for a gathering system call.
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
                // Two payloads may follow each other directly. An empty segment would cost an entry of the system call.
                let start = std::mem::replace(&mut done, end);
                if start < end {
                    return self.buffer.get(start..end);
                }
            }
        })
    }

    /// Appends the whole content to `bytes`: for tests, taps and transports that cannot gather.
    pub fn copy_to(&self, bytes: &mut Vec<u8>) {
        for segment in self.segments() {
            bytes.extend_from_slice(segment);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_in_wire_order() {
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
    fn one_whole_payload_has_bytes_around_it() {
        let mut datagram = Datagram::new();
        datagram.buffer().extend_from_slice(b"head");
        assert!(datagram.around_payload().is_none());
        datagram.gather(Payload::copy_of(b"payload"), 0..7);
        datagram.buffer().extend_from_slice(b"tail");
        let (front, payload, rest) = datagram.around_payload().unwrap();
        assert_eq!((front, payload.bytes(), rest), (&b"head"[..], &b"payload"[..], &b"tail"[..]));
        datagram.gather(Payload::copy_of(b"other"), 0..5);
        assert!(datagram.around_payload().is_none());
        datagram.clear();
        datagram.gather(Payload::copy_of(b"part"), 0..3);
        assert!(datagram.around_payload().is_none());
    }

    #[test]
    fn append_keeps_order_and_skips_the_head() {
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
    fn replace_keeps_destinations() {
        let mut datagram = Datagram::new();
        datagram.buffer().extend_from_slice(b"head");
        datagram.gather(Payload::copy_of(b"payload"), 0..7);
        datagram.add_destination(Locator::udp_v4([127, 0, 0, 1].into(), 1));
        datagram.replace(&mut b"sealed".to_vec());
        assert_eq!(datagram.segments().collect::<Vec<_>>(), [b"sealed"]);
        assert_eq!(datagram.destinations().len(), 1);
    }

    #[test]
    fn destinations_are_served_in_order() {
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

    #[test]
    fn served_destinations_leave_the_others_in_order() {
        let mut datagram = Datagram::new();
        let of_port = |port| Locator::udp_v4([127, 0, 0, 1].into(), port);
        for port in 1..=5 {
            datagram.add_destination(of_port(port));
        }
        datagram.destination_done();
        datagram.retain_destinations(|destination| destination.port % 2 == 0);
        assert_eq!(datagram.remaining_destinations(), [of_port(2), of_port(4)]);
        datagram.retain_destinations(|_| false);
        assert!(datagram.remaining_destinations().is_empty());
    }
}
