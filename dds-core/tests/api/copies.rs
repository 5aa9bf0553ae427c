//! How often the bytes of a sample are copied on their way, by where they lie: the table in `ARCHITECTURE.md`, "Memory".
//!
//! Two readers of one sample whose bytes lie in one place have not copied them since they parted; bytes that lie where the
//! writer has put them were not copied at all. What a datagram is made of is seen in `dds-rtps`
//! (`writer/sending.rs`: `large_payloads_are_gathered_and_small_ones_copied`), and so is what becomes of a received one
//! (`reader/tests/ordering.rs`: `large_payloads_share_packet_small_ones_are_copied`).

use crate::support::{PATIENCE, World};
use dds_core::cdr::{Encoded, Encoding, encode_payload};
use dds_core::qos::Preset;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Samples};
use std::ops::Range;

#[derive(DdsType, Debug, Clone, Default, PartialEq)]
struct Image {
    #[dds(key)]
    camera: u32,
    bytes: Vec<u8>,
}

#[derive(DdsType)]
#[dds(view_of = Image)]
struct ImageView<'a> {
    #[dds(key)]
    camera: u32,
    bytes: &'a [u8],
}

fn image(len: usize) -> Image {
    Image { camera: 7, bytes: (0..len).map(|at| at as u8).collect() }
}

fn writer(participant: &DomainParticipant, readers: usize) -> DataWriter<Image> {
    let writer = participant.writer_builder("image").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(readers).block_for(PATIENCE).unwrap();
    writer
}

fn reader(participant: &DomainParticipant) -> DataReader<Image> {
    participant.reader_builder("image").qos(Preset::Event).build().unwrap()
}

/// The next sample of each reader.
fn taken(readers: &[DataReader<Image>]) -> Vec<Samples<Image>> {
    let next = |reader: &DataReader<Image>| {
        reader.readable().block_for(PATIENCE).unwrap();
        reader.take().unwrap()
    };
    readers.iter().map(next).collect()
}

/// Where the encoded samples lie.
fn places(batches: &[Samples<Image>]) -> Vec<Range<*const u8>> {
    batches.iter().map(|batch| batch.iter().next().unwrap().encoded().unwrap().bytes.as_ptr_range()).collect()
}

fn is_one_place(places: &[Range<*const u8>]) -> bool {
    places.windows(2).all(|pair| pair[0] == pair[1])
}

/// A writer and two readers of one participant.
fn in_process() -> (DataWriter<Image>, Vec<DataReader<Image>>) {
    let participant = World::new().participant();
    let readers = vec![reader(&participant), reader(&participant)];
    (writer(&participant, 2), readers)
}

#[test]
fn within_a_participant_a_sample_is_copied_once_when_it_is_encoded() {
    let (writer, readers) = in_process();
    for len in [10, 1000, 100_000] {
        let image = image(len);
        writer.write(&image).unwrap();
        let batches = taken(&readers);
        let places = places(&batches);
        assert!(is_one_place(&places), "{len} bytes: both readers have the writer's slot");
        assert!(!places[0].contains(&image.bytes.as_ptr()));
    }
}

#[test]
fn a_loaned_value_is_copied_once_when_it_is_encoded() {
    let (writer, readers) = in_process();
    let mut loan = writer.loan().unwrap();
    *loan = image(1000);
    loan.write().unwrap();
    assert!(is_one_place(&places(&taken(&readers))));
}

#[test]
fn what_is_encoded_already_is_copied_once() {
    let (writer, readers) = in_process();
    let mut payload = Vec::new();
    encode_payload(&image(1000), Encoding::Xcdr1, &mut payload).unwrap();
    writer.write_encoded(Encoded::new(&payload).unwrap()).unwrap();
    let batches = taken(&readers);
    let places = places(&batches);
    assert!(is_one_place(&places) && places[0].start != payload.as_ptr());
}

#[test]
fn loaned_bytes_are_not_copied_at_all() {
    let (writer, readers) = in_process();
    let mut payload = Vec::new();
    encode_payload(&image(1000), Encoding::Xcdr1, &mut payload).unwrap();
    let mut loan = writer.loan_encoded(Encoding::Xcdr1, payload.len()).unwrap();
    loan.copy_from_slice(&payload);
    let place = loan.as_ptr();
    loan.write().unwrap();
    let batches = taken(&readers);
    let places = places(&batches);
    assert!(is_one_place(&places) && places[0].start == place);
}

#[test]
fn views_and_bytes_are_read_where_they_lie_and_values_are_copied_once() {
    let (writer, readers) = in_process();
    writer.write(&image(1000)).unwrap();
    let batches = taken(&readers);
    let sample = batches[0].iter().next().unwrap();
    let place = sample.encoded().unwrap().bytes.as_ptr_range();
    let view = sample.view::<ImageView<'_>>().unwrap().unwrap();
    assert!(view.camera == 7 && place.contains(&view.bytes.as_ptr()), "a view");
    assert_eq!(sample.to_bytes().unwrap().as_ptr(), place.start, "counted bytes");
    let value = sample.decode().unwrap().unwrap();
    assert!(!place.contains(&value.bytes.as_ptr()), "a value");
}

/// What the system has put into its place of samples of `SAMPLE_LEN` bytes, for each of them.
fn landed(from: &DomainParticipant, to: &DomainParticipant, readers: usize) -> Vec<usize> {
    let readers: Vec<_> = (0..readers).map(|_| reader(to)).collect();
    let writer = writer(from, readers.len());
    let sent = image(SAMPLE_LEN);
    let landed = |_| {
        let before = to.traffic().landed_bytes;
        writer.write(&sent).unwrap();
        for batch in taken(&readers) {
            assert!(batch.iter().next().unwrap().decode().unwrap().unwrap() == sent);
        }
        usize::try_from(to.traffic().landed_bytes - before).unwrap()
    };
    (0..SAMPLES).map(landed).collect()
}

const SAMPLE_LEN: usize = 4 << 20;
const SAMPLES: usize = 20;

/// The first two fragments tell which is next, and the last is of another length: these three are copied, once. So is a
/// datagram that is another one than was expected, and the eight after it (`driver/os/landings.rs`), of 65: here that happens
/// once or twice a sample.
const LANDED_MIN: usize = SAMPLE_LEN / 4 * 3;

/// Fragments that come from the same host, for one reader, are received in their place. A thread that is kept from its socket,
/// or a reader that is occupied, may cost a sample that, but not all of them.
#[test]
fn by_udp_fragments_for_one_reader_are_received_in_their_place() {
    let world = World::new();
    let landed = landed(&world.udp_participant(), &world.udp_participant(), 1);
    let most = *landed.iter().max().unwrap();
    assert!(most >= LANDED_MIN, "of {SAMPLE_LEN} bytes landed {landed:?}");
    // The last one cannot be said to land, nor can the headers in front of the first.
    assert!(most < SAMPLE_LEN, "more has landed than was sent: {landed:?}");
}

/// Two readers put the sample together each in a slot of its own: both copy all of it, once. What one of them has missed, and is
/// sent again for it alone, may land.
#[test]
fn by_udp_fragments_for_two_readers_are_copied_once_by_each() {
    let world = World::new();
    let landed = landed(&world.udp_participant(), &world.udp_participant(), 2);
    assert!(landed.iter().filter(|landed| **landed == 0).count() > SAMPLES / 2, "{landed:?} bytes have landed");
}

/// By UDP, what is short lies in a slot of each reader, what fills a buffer stays in the one it was received in, and what
/// came in fragments was put together once by each reader.
#[test]
fn by_udp_what_is_received_is_copied_once_or_kept_in_the_receive_buffer() {
    let world = World::new();
    let (from, to) = (world.udp_participant(), world.udp_participant());
    let readers = vec![reader(&to), reader(&to)];
    let writer = writer(&from, 2);
    for (len, is_kept) in [(10, false), (4000, false), (5000, true), (60_000, true), (200_000, false)] {
        writer.write(&image(len)).unwrap();
        let batches = taken(&readers);
        assert_eq!(is_one_place(&places(&batches)), is_kept, "{len} bytes");
        for batch in &batches {
            assert_eq!(batch.iter().next().unwrap().decode().unwrap().unwrap(), image(len));
        }
    }
}
