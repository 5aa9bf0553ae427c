//! How often the bytes of a sample are copied: the table in `ARCHITECTURE.md`, "Memory".
//!
//! If two readers return the same addresses, no copy was made after their paths divided. If the address is that of the
//! writer's memory, no copy was made at all.
//!
//! `dds-rtps` tests how datagrams are composed (`writer/sending.rs`:
//! `large_payloads_are_gathered_and_small_copied`). It also tests how payloads are received
//! (`reader/tests/ordering.rs`: `large_payloads_share_packet_small_ones_are_copied`).

use crate::support::{PATIENCE, World};
use dds_core::cdr::{Encoded, Encoding};
use dds_core::qos::Preset;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Samples};
use dds_rtps::cdr::encode_payload;
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

/// Takes the next sample of each reader.
fn taken(readers: &[DataReader<Image>]) -> Vec<Samples<Image>> {
    let next = |reader: &DataReader<Image>| {
        reader.readable().block_for(PATIENCE).unwrap();
        reader.take().unwrap()
    };
    readers.iter().map(next).collect()
}

/// Address ranges of the encoded samples.
fn places(batches: &[Samples<Image>]) -> Vec<Range<*const u8>> {
    batches.iter().map(|batch| batch.iter().next().unwrap().encoded().unwrap().bytes.as_ptr_range()).collect()
}

fn is_one_place(places: &[Range<*const u8>]) -> bool {
    places.windows(2).all(|pair| pair[0] == pair[1])
}

/// Creates a writer and two readers of one participant.
fn in_process() -> (DataWriter<Image>, Vec<DataReader<Image>>) {
    let participant = World::new().participant();
    let readers = vec![reader(&participant), reader(&participant)];
    (writer(&participant, 2), readers)
}

#[test]
fn local_sample_is_copied_once_at_encoding() {
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
fn loaned_value_is_copied_once_at_encoding() {
    let (writer, readers) = in_process();
    let mut loan = writer.loan().unwrap();
    *loan = image(1000);
    loan.write().unwrap();
    assert!(is_one_place(&places(&taken(&readers))));
}

#[test]
fn encoded_sample_is_copied_once() {
    let (writer, readers) = in_process();
    let mut payload = Vec::new();
    encode_payload(&image(1000), Encoding::Xcdr1, &mut payload).unwrap();
    writer.write_encoded(Encoded::new(&payload).unwrap()).unwrap();
    let batches = taken(&readers);
    let places = places(&batches);
    assert!(is_one_place(&places) && places[0].start != payload.as_ptr());
}

#[test]
fn loaned_bytes_are_not_copied() {
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
fn views_are_read_in_place_and_values_copied() {
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

/// Returns the number of bytes received in place for each sample of `SAMPLE_LEN` bytes.
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

/// Least number of bytes that must be received in place.
///
/// The first two of 65 fragments establish the sequence, and the last has another length: these three are copied once.
/// An unexpected datagram is copied too, with the eight after it (`driver/os/landings.rs`). In this test that happens
/// once or twice a sample.
const LANDED_MIN: usize = SAMPLE_LEN / 4 * 3;

/// The kernel writes fragments for one reader on the same host directly into their assembly.
///
/// A delayed receive thread or an occupied reader may prevent that for one sample, but not for all samples.
#[test]
fn udp_fragments_for_one_reader_land_in_place() {
    let world = World::new();
    let landed = landed(&world.udp_participant(), &world.udp_participant(), 1);
    let most = *landed.iter().max().unwrap();
    assert!(most >= LANDED_MIN, "of {SAMPLE_LEN} bytes landed {landed:?}");
    // The last fragment and the headers before the first one never count as received in place.
    assert!(most < SAMPLE_LEN, "more has landed than was sent: {landed:?}");
}

/// Two readers assemble the sample in separate slots, so both copy all of it once.
///
/// A fragment that is retransmitted for one reader alone may still be received in place.
#[test]
fn udp_fragments_are_copied_once_by_each_reader() {
    let world = World::new();
    let landed = landed(&world.udp_participant(), &world.udp_participant(), 2);
    assert!(landed.iter().filter(|landed| **landed == 0).count() > SAMPLES / 2, "{landed:?} bytes have landed");
}

/// Where a received sample lies depends on its length.
///
/// By UDP, each reader copies a short sample into a slot. A sample that fills a receive buffer stays there. Each reader
/// assembles a fragmented sample once.
#[test]
fn udp_sample_is_copied_once_or_kept_in_buffer() {
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
