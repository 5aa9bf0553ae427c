//! Receives the expected fragment directly into its assembly.
//!
//! The kernel writes as many bytes as the expected headers have into the receive buffer. The next bytes go to the place
//! of the payload, and the rest to the receive buffer again. If it was another datagram, the middle part is copied into
//! the gap in the receive buffer. The receiver then sees an ordinary datagram.

use crate::driver::Expected;
use dds_rtps::cdr::copy;
use dds_rtps::transport::udp::{Received, UdpReceiver};
use std::io;

/// A wrong guess costs a copy of the received bytes. Below this length the cost does not matter.
const DEAR_LEN: usize = 8 << 10;

/// Number of datagrams that are received as usual after an expensive wrong guess. Each further one doubles it, up to
/// the maximum.
const PAUSE_MIN: u32 = 8;
const PAUSE_MAX: u32 = 512;

/// Result of one receive call.
#[allow(clippy::large_enum_variant, reason = "it is moved once for each fragment; a box would be allocated for each")]
pub(super) enum Arrival {
    /// The expected fragment, whose payload is in place.
    Landed(Expected),
    /// Datagrams in the receive buffer.
    Datagrams(Received),
}

/// The expected datagram, and the success of earlier guesses.
#[derive(Debug, Default)]
pub(super) struct Landings {
    expected: Option<Expected>,
    /// Number of datagrams for which no fragment is expected.
    pause: u32,
    next_pause: u32,
}

impl Landings {
    /// Returns the empty place for the datagram to expect next.
    pub(super) fn place(&mut self) -> &mut Option<Expected> {
        // Dropped in place, because a move of the large value would cost more.
        self.expected = None;
        &mut self.expected
    }

    /// Counts a received datagram. Returns whether a fragment should be expected after it.
    pub(super) fn are_worth_it(&mut self) -> bool {
        self.pause = self.pause.saturating_sub(1);
        self.pause == 0
    }

    /// Receives like [`UdpReceiver::receive`].
    pub(super) fn receive(&mut self, receiver: &mut UdpReceiver, buffer: &mut [u8]) -> io::Result<Arrival> {
        // `take` drops an unused guess before the call blocks, so that the reader gets its memory back.
        let expected = self.expected.take();
        let Some(mut expected) = expected else { return receiver.receive(buffer).map(Arrival::Datagrams) };
        // A run of datagrams in one call (UDP_GRO) cannot be scattered over one fragment.
        if receiver.takes_runs() {
            drop(expected);
            return receiver.receive(buffer).map(Arrival::Datagrams);
        }
        let Some((header, rest)) = buffer.split_at_mut_checked(expected.header_len()) else {
            return receiver.receive(buffer).map(Arrival::Datagrams);
        };
        let Some((gap, tail)) = rest.split_at_mut_checked(expected.landing.len()) else {
            return receiver.receive(buffer).map(Arrival::Datagrams);
        };
        let header_len = header.len();
        // One scatter read. Its result decides whether the guess was right.
        let received = receiver.receive_parts([&mut *header, expected.landing.buffer(), tail]);
        let len = match received {
            Ok(len) => len,
            Err(error) => {
                // Nothing was received, so the guess is still good.
                self.expected = Some(expected);
                return Err(error);
            }
        };
        if expected.has_come(len, header) {
            self.next_pause = 0;
            return Ok(Arrival::Landed(expected));
        }
        // Bytes after the header, as far as they lie in the assembly.
        let misplaced = len.saturating_sub(header_len).min(gap.len());
        if let (Some(gap), Some(place)) = (gap.get_mut(..misplaced), expected.landing.buffer().get(..misplaced)) {
            copy(gap, place);
        }
        // If the header matches, the guess was right about the fragment, and will be right about the next one.
        if misplaced >= DEAR_LEN && !expected.begins(header) {
            self.next_pause = (self.next_pause * 2).clamp(PAUSE_MIN, PAUSE_MAX);
            self.pause = self.next_pause;
        }
        Ok(Arrival::Datagrams(Received::one(len)))
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::Headers;
    use dds_rtps::qos::DataReaderQos;
    use dds_rtps::reader::{KeySource, ReaderConfig, Source, StatefulReader, WriterProxyConfig};
    use dds_rtps::types::{EntityId, Guid, GuidPrefix, Instant, Now, SequenceNumber, Time, VendorId};
    use dds_rtps::wire::DataFrag;
    use std::net::UdpSocket;
    use std::sync::Arc;

    const LEN: u16 = 20_000;
    const HEADER: [u8; 60] = [7; 60];
    const NUMBER_AT: usize = 40;
    const WRITER: Guid = Guid::new(GuidPrefix([2; 12]), EntityId([0, 0, 1, 3]));
    const NOW: Now = Now { instant: Instant::ZERO, time: Time::from_unix_nanos(1_000_000_000) };

    fn source() -> Source {
        Source { writer: WRITER, timestamp: None, vendor: VendorId::CYCLONE, reply: None }
    }

    /// A reader that has two of four fragments, and the datagram that it expects next.
    fn expecting() -> (StatefulReader, Expected) {
        let guid = Guid::new(GuidPrefix([1; 12]), EntityId([0, 0, 9, 4]));
        let mut reader = StatefulReader::new(ReaderConfig::new(guid, KeySource::None, &DataReaderQos::default()));
        assert!(reader.match_writer(NOW, WriterProxyConfig::new(WRITER)));
        for fragment in 1..=2 {
            let fragment = DataFrag {
                reader_id: EntityId::UNKNOWN,
                writer_id: WRITER.entity_id,
                writer_sn: SequenceNumber(1),
                fragment_starting_num: fragment,
                fragments_in_submessage: 1,
                fragment_size: LEN,
                sample_size: 4 * u32::from(LEN),
                inline_qos: None,
                payload: &[0; LEN as usize],
                is_key: false,
                non_standard_payload: false,
            };
            reader.handle_data_frag(NOW, &source(), &fragment);
        }
        let landing = reader.lend_next_fragment(WRITER, SequenceNumber(1), 2).unwrap();
        let headers = Headers::like(&HEADER, (NUMBER_AT, true), guid.entity_id, source()).unwrap();
        (reader, headers.in_front_of(landing))
    }

    fn expected_header() -> Vec<u8> {
        let mut header = HEADER.to_vec();
        header[NUMBER_AT..NUMBER_AT + 4].copy_from_slice(&3_u32.to_le_bytes());
        header
    }

    #[allow(clippy::disallowed_methods, reason = "a socket to receive from")]
    fn sockets() -> (UdpReceiver, UdpSocket) {
        let receiver = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        let sender = UdpSocket::bind(("127.0.0.1", 0)).unwrap();
        sender.connect(receiver.local_addr().unwrap()).unwrap();
        (UdpReceiver::new(Arc::new(receiver)), sender)
    }

    #[test]
    fn expected_fragment_is_received_in_place() {
        let (mut receiver, sender) = sockets();
        let (mut reader, expected) = expecting();
        let mut landings = Landings { expected: Some(expected), ..Landings::default() };
        sender.send(&[&expected_header()[..], &[9; LEN as usize]].concat()).unwrap();
        let mut buffer = vec![0; 65_536];
        let Ok(Arrival::Landed(mut landed)) = landings.receive(&mut receiver, &mut buffer) else {
            panic!("it did not land")
        };
        assert!(landed.landing.buffer().iter().all(|byte| *byte == 9) && landed.landing.len() == usize::from(LEN));
        let (landing, _) = landed.into_parts();
        // In-place reception does not expect the last fragment.
        assert!(reader.handle_in_place(NOW, &source(), landing).is_none());
        assert_eq!(reader.counters().malformed, 0);
    }

    /// Half a datagram, a longer one, one of another sender, one with a flipped bit, an empty one.
    #[test]
    fn unexpected_datagram_stays_unchanged_in_receive_buffer() {
        let (mut receiver, sender) = sockets();
        let whole: Vec<u8> = expected_header().into_iter().chain((0..LEN).map(|index| index as u8)).collect();
        let mut others: Vec<Vec<u8>> =
            [0, 1, 59, 60, 61, 1_000, whole.len() - 1].map(|len| whole[..len].to_vec()).into();
        others.push([&whole[..], &[1]].concat());
        others.push([&whole[..], &[5; 30_000]].concat());
        for bit in [0, 8 * NUMBER_AT, 8 * 59 + 7] {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            others.push(damaged);
        }
        let mut buffer = vec![0xaa; 65_536];
        for other in others {
            let (_reader, expected) = expecting();
            let mut landings = Landings { expected: Some(expected), ..Landings::default() };
            sender.send(&other).unwrap();
            let Ok(Arrival::Datagrams(received)) = landings.receive(&mut receiver, &mut buffer) else {
                panic!("{} bytes landed", other.len())
            };
            assert_eq!(
                received.datagrams().map(|range| (range.start, range.end)).collect::<Vec<_>>(),
                [(0, other.len())]
            );
            assert!(buffer[..other.len()] == other, "{} bytes are damaged", other.len());
            assert!(landings.expected.is_none());
            // After an expensive wrong guess it pauses, unless the fragment was right.
            let is_right = other.starts_with(&expected_header());
            let is_cheap = other.len() < HEADER.len() + DEAR_LEN;
            assert_eq!(landings.are_worth_it(), is_right || is_cheap, "{} bytes", other.len());
        }
    }
}
