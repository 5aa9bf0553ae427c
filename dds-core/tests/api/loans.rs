//! Loans: values and bytes that a writer lends, where they go, and that none is lost.

use crate::support::{PATIENCE, World};
use dds_core::cdr::{Encoding, Raw};
use dds_core::error::WriteErrorKind;
use dds_core::qos::{DataWriterQos, Preset, ResourceLimits};
use dds_core::writer::WriteOptions;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, InstanceHandle};
use std::panic::{AssertUnwindSafe, catch_unwind};

#[derive(DdsType, Debug, Clone, Default, PartialEq)]
struct Scan {
    #[dds(key)]
    sensor: u32,
    ranges: Vec<f32>,
}

const LOANS_MAX: usize = 64;

fn pair(qos: DataWriterQos) -> (DomainParticipant, DataWriter<Scan>, DataReader<Scan>) {
    let participant = World::new().participant();
    let reader = participant.reader_builder("scan").qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder("scan").qos(qos).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    (participant, writer, reader)
}

fn event() -> DataWriterQos {
    Preset::Event.writer()
}

/// Space for one sample, and no blocking time.
fn narrow() -> DataWriterQos {
    let limits = ResourceLimits::NONE.max_samples(1).max_samples_per_instance(1);
    let mut qos = event().resource_limits(limits);
    qos.reliability = dds_core::qos::Reliability::Reliable { max_blocking_time: Duration::ZERO };
    qos
}

fn limit_reached() -> WriteErrorKind {
    WriteErrorKind::OutOfResources { limit: "loans at a time", value: LOANS_MAX as u64 }
}

/// Writes an encoded scan: header, sensor, number of ranges, ranges.
fn fill(bytes: &mut [u8], sensor: u32, ranges: &[f32]) {
    bytes[4..8].copy_from_slice(&sensor.to_ne_bytes());
    bytes[8..12].copy_from_slice(&(ranges.len() as u32).to_ne_bytes());
    for (place, range) in bytes[12..].chunks_exact_mut(4).zip(ranges) {
        place.copy_from_slice(&range.to_ne_bytes());
    }
}

#[test]
fn loan_reuses_its_memory() {
    let (_participant, writer, reader) = pair(event());
    let mut loan = writer.loan().unwrap();
    assert_eq!(*loan, Scan::default());
    loan.sensor = 1;
    loan.ranges.extend((0..1000).map(|at| at as f32));
    let memory = loan.ranges.as_ptr();
    loan.write().unwrap();
    assert_eq!(reader.take_next().unwrap().unwrap().data.unwrap().ranges.len(), 1000);
    let mut loan = writer.loan().unwrap();
    assert_eq!((loan.sensor, loan.ranges.len()), (1, 1000), "as it was left");
    loan.ranges.clear();
    assert_eq!((loan.ranges.as_ptr(), loan.ranges.capacity() >= 1000), (memory, true));
    drop(loan);
    assert!(reader.take_next().unwrap().is_none(), "dropped is not written");
    assert_eq!(writer.loan().unwrap().ranges.as_ptr(), memory);
}

#[test]
fn panic_returns_loan() {
    let (_participant, writer, reader) = pair(event());
    let mut memory = Vec::new();
    for _ in 0..2 * LOANS_MAX {
        let panicked = catch_unwind(AssertUnwindSafe(|| {
            let mut loan = writer.loan().unwrap();
            loan.ranges.reserve_exact(10);
            memory.push(loan.ranges.as_ptr() as usize);
            let bytes = writer.loan_encoded(Encoding::Xcdr1, 12).unwrap();
            memory.push(bytes.as_ptr() as usize);
            std::panic::resume_unwind(Box::new("on purpose"));
        }));
        assert!(panicked.is_err());
    }
    memory.sort_unstable();
    memory.dedup();
    assert_eq!(memory.len(), 2, "the same memory each time");
    assert!(reader.take().unwrap().is_empty());
}

#[test]
fn loans_beyond_limit_fail_until_return() {
    let (_participant, writer, _reader) = pair(event());
    let mut values: Vec<_> = (0..LOANS_MAX / 2).map(|_| writer.loan().unwrap()).collect();
    let mut bytes: Vec<_> = (0..LOANS_MAX / 2).map(|_| writer.loan_encoded(Encoding::Xcdr1, 12).unwrap()).collect();
    assert_eq!(writer.loan().unwrap_err().kind(), &limit_reached());
    assert_eq!(writer.loan_encoded(Encoding::Xcdr1, 12).unwrap_err().kind(), &limit_reached());
    drop(bytes.pop());
    values.push(writer.loan().unwrap());
    assert_eq!(writer.loan().unwrap_err().kind(), &limit_reached());
    values.pop().unwrap().write().unwrap();
    writer.loan().unwrap().write().unwrap();
}

#[test]
fn refused_loan_returns_and_can_be_retried() {
    let (_participant, writer, reader) = pair(narrow());
    let full = |kind: &WriteErrorKind| matches!(kind, WriteErrorKind::Full { .. } | WriteErrorKind::Timeout { .. });
    // The writer processes the acknowledgment as soon as it looks, so only a full reader keeps the history occupied.
    let limits = ResourceLimits::NONE.max_samples(1);
    let slow_qos = Preset::Event.reader().resource_limits(limits);
    let slow = _participant.reader_builder::<Scan>("scan").qos(slow_qos).build().unwrap();
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    let sensor = 1;
    writer.write(&Scan { sensor, ranges: vec![1.0] }).unwrap();
    writer.write(&Scan { sensor, ranges: vec![2.0] }).unwrap();
    let mut loan = writer.loan().unwrap();
    *loan = Scan { sensor, ranges: vec![3.0] };
    let (loan, error) = loan.write_or_return(WriteOptions::new()).unwrap_err();
    assert!(full(error.kind()), "{error}");
    let mut bytes = writer.loan_encoded(Encoding::Xcdr1, 16).unwrap();
    fill(&mut bytes, sensor, &[4.0]);
    let memory = bytes.as_ptr();
    let (bytes, error) = bytes.write_or_return(WriteOptions::new()).unwrap_err();
    assert!(full(error.kind()), "{error}");
    assert_eq!(bytes.as_ptr(), memory);
    let next = || slow.next_sample().block_for(PATIENCE).unwrap().data.unwrap().ranges;
    assert_eq!(next(), [1.0]);
    loan.write().unwrap();
    assert_eq!(next(), [2.0]);
    bytes.write().unwrap();
    assert_eq!((next(), next()), (vec![3.0], vec![4.0]));
    let seen: Vec<_> = reader.take().unwrap().into_data().flat_map(|scan| scan.ranges).collect();
    assert_eq!(seen, [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn loans_outlive_their_writer() {
    let (_participant, writer, _reader) = pair(event());
    let mut loan = writer.loan().unwrap();
    loan.sensor = 7;
    let bytes = writer.loan_encoded(Encoding::Xcdr1, 12).unwrap();
    writer.close();
    let (loan, error) = loan.write_or_return(WriteOptions::new()).unwrap_err();
    assert_eq!((error.kind(), loan.sensor), (&WriteErrorKind::Closed, 7));
    assert_eq!(bytes.write().unwrap_err().kind(), &WriteErrorKind::Closed);
    assert_eq!(writer.loan().unwrap_err().kind(), &WriteErrorKind::Closed);
    assert_eq!(writer.loan_encoded(Encoding::Xcdr1, 12).unwrap_err().kind(), &WriteErrorKind::Closed);
}

#[test]
fn loaned_bytes_reach_reader_without_copy() {
    let (_participant, writer, reader) = pair(event());
    let mut bytes = writer.loan_encoded(Encoding::Xcdr1, 20).unwrap();
    fill(&mut bytes, 9, &[0.5, 0.25]);
    let memory = bytes.as_ptr();
    bytes.write().unwrap();
    let samples = reader.take().unwrap();
    let sample = samples.iter().next().unwrap();
    assert_eq!(sample.encoded().unwrap().bytes.as_ptr(), memory);
    assert_eq!(sample.decode().unwrap().unwrap(), Scan { sensor: 9, ranges: vec![0.5, 0.25] });
    assert_eq!(Some(sample.info().instance_handle), writer.lookup_instance(&9));
    assert_ne!(writer.loan_encoded(Encoding::Xcdr1, 20).unwrap().as_ptr(), memory, "the reader has it");
    drop(samples);
    let bytes = writer.loan_encoded(Encoding::Xcdr1, 20).unwrap();
    assert_eq!(&bytes[..4], [0, if cfg!(target_endian = "little") { 1 } else { 0 }, 0, 0]);
}

#[test]
fn loaned_bytes_are_checked_before_publication() {
    let (_participant, writer, reader) = pair(event());
    let refused = |change: &dyn Fn(&mut [u8])| {
        let mut bytes = writer.loan_encoded(Encoding::Xcdr1, 16).unwrap();
        fill(&mut bytes, 1, &[1.0]);
        change(&mut bytes);
        bytes.write().unwrap_err().kind().clone()
    };
    assert!(matches!(refused(&|bytes| bytes[1] = 0xee), WriteErrorKind::NotASample(_)));
    assert!(matches!(refused(&|bytes| bytes[1] = 3), WriteErrorKind::NotASample(_)), "a parameter list");
    let other = WriteErrorKind::OtherEncoding { offered: Encoding::Xcdr1, given: Encoding::Xcdr2 };
    assert_eq!(refused(&|bytes| bytes[1] = 7), other);
    assert_eq!(writer.loan_encoded(Encoding::Xcdr2, 16).unwrap_err().kind(), &other);
    // The slice is too short for the key, or for the header.
    assert!(matches!(
        writer.loan_encoded(Encoding::Xcdr1, 6).unwrap().write().unwrap_err().kind(),
        WriteErrorKind::NotASample(_)
    ));
    assert!(matches!(writer.loan_encoded(Encoding::Xcdr1, 3).unwrap_err().kind(), WriteErrorKind::NotASample(_)));
    for len in [1 << 40, usize::MAX] {
        let error = writer.loan_encoded(Encoding::Xcdr1, len).unwrap_err();
        assert!(matches!(error.kind(), WriteErrorKind::OutOfResources { .. }), "{error}");
    }
    let mut bytes = writer.loan_encoded(Encoding::Xcdr1, 16).unwrap();
    fill(&mut bytes, 1, &[1.0]);
    let wrong = WriteOptions::new().instance(InstanceHandle::from_key_hash([9; 16]));
    let (bytes, error) = bytes.write_or_return(wrong).unwrap_err();
    assert!(matches!(error.kind(), WriteErrorKind::OtherInstance { .. }));
    assert!(reader.take().unwrap().is_empty());
    bytes.write().unwrap();
    assert_eq!(reader.take().unwrap().into_data().next(), Some(Scan { sensor: 1, ranges: vec![1.0] }));
}

#[test]
fn raw_topic_lends_bytes() {
    let participant = World::new().participant();
    let topic = participant.raw_topic("raw", "Scan", Default::default()).unwrap();
    let reader = participant.reader_builder::<Raw>(&topic).qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder::<Raw>(&topic).qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    let encoding = Encoding::Xcdr1;
    let mut bytes = writer.loan_encoded(encoding, 8).unwrap();
    bytes[4..].copy_from_slice(b"abcd");
    bytes.write().unwrap();
    let raw = reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
    assert_eq!(raw.bytes.get(4..), Some(&b"abcd"[..]));
}
