//! Shared memory between participants of one host: in use by default, by UDP where it is impossible, and the reports.

#![allow(clippy::disallowed_methods, reason = "the tests use threads of an application")]

use crate::support::{PATIENCE, World};
use dds_core::cdr::Encoding;
use dds_core::config::{ChecksumKind, Receiving};
use dds_core::error::WriteErrorKind;
use dds_core::listener::Delivery;
use dds_core::matching::MatchReport;
use dds_core::qos::{DataReaderQos, DataWriterQos, ResourceLimits};
use dds_core::writer::WriteOptions;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Samples};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::time::{Duration as StdDuration, Instant};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Frame {
    number: u32,
    bytes: Vec<u8>,
}

fn frame(number: u32, len: usize) -> Frame {
    Frame { number, bytes: (0..len).map(|at| (at as u32 ^ number) as u8).collect() }
}

fn writer(participant: &DomainParticipant, topic: &str) -> DataWriter<Frame> {
    let qos = DataWriterQos::default().reliable().keep_all().transient_local();
    participant.writer_builder(topic).qos(qos).build().unwrap()
}

fn reader(participant: &DomainParticipant, topic: &str) -> DataReader<Frame> {
    let qos = DataReaderQos::default().reliable().keep_all().transient_local();
    participant.reader_builder(topic).qos(qos).build().unwrap()
}

/// Waits for a report of the writer, and returns its text.
fn wait_for(writer: &DataWriter<Frame>, is_expected: impl Fn(&MatchReport) -> bool) -> String {
    let start = Instant::now();
    loop {
        let reports = writer.explain_matches();
        if let Some(report) = reports.iter().find(|report| is_expected(report)) {
            return report.to_string();
        }
        assert!(start.elapsed() < StdDuration::from_secs(30), "{reports:?}");
        std::thread::sleep(StdDuration::from_millis(1));
    }
}

/// Writes samples of several lengths, and checks that all of them arrive in order.
fn exchange(writer: &DataWriter<Frame>, reader: &DataReader<Frame>, lens: &[usize]) {
    for (number, len) in lens.iter().enumerate() {
        writer.write(&frame(number as u32, *len)).unwrap();
    }
    for (number, len) in lens.iter().enumerate() {
        let sample = reader.next_sample().block_for(PATIENCE).unwrap();
        assert!(sample.data == Some(frame(number as u32, *len)), "sample {number}");
    }
}

const LENS: [usize; 9] = [0, 1, 1_500, 3_000, 60_000, 70_000, 1 << 20, 5, 4 << 20];

#[test]
fn participants_of_one_host_share_memory_without_settings() {
    for receive in [Receiving::Thread, Receiving::Caller] {
        let world = World::new();
        let [from, to] = [(); 2].map(|()| world.builder().receive(receive).build().unwrap());
        let (writer, reader) = (writer(&from, "frames"), reader(&to, "frames"));
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        let text = wait_for(&writer, |report| report.shared_memory);
        assert!(text.contains("through shared memory"), "{text}");
        let before = (from.traffic(), to.traffic());
        exchange(&writer, &reader, &LENS);
        writer.acknowledged().block_for(PATIENCE).unwrap();
        let after = (from.traffic(), to.traffic());
        let shared = after.0.sent_shared - before.0.sent_shared;
        assert!(shared > 4 * (1 << 20) / 65_000, "{shared} datagrams");
        // Fragments of long samples go to their places at once. On a busy machine, all of one sample may miss them.
        for _ in 0..50 {
            if to.traffic().landed_bytes > before.1.landed_bytes {
                break;
            }
            exchange(&writer, &reader, &[2 << 20]);
        }
        assert!(to.traffic().landed_bytes > before.1.landed_bytes);
        // The answers too.
        assert!(after.1.sent_shared > before.1.sent_shared);
    }
}

#[test]
fn sample_of_a_mebibyte_is_one_message() {
    for receive in [Receiving::Thread, Receiving::Caller] {
        let world = World::new();
        let [from, to] = [(); 2].map(|()| world.builder().receive(receive).build().unwrap());
        let (writer, reader) = (writer(&from, "frames"), reader(&to, "frames"));
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        wait_for(&writer, |report| report.shared_memory);
        let before = from.traffic();
        exchange(&writer, &reader, &[1 << 20; 10]);
        writer.acknowledged().block_for(PATIENCE).unwrap();
        let after = from.traffic();
        // Fragments would be 170. A few HEARTBEATs follow, and repairs on a busy machine.
        let shared = after.sent_shared - before.sent_shared;
        assert!((10..100).contains(&shared), "{shared} messages");
        assert!(after.sent_bytes - before.sent_bytes >= 10 << 20);
    }
}

/// Whether an address lies in the memory that a peer shares.
fn is_shared(address: *const u8) -> bool {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let at = address.addr();
    maps.lines().any(|line| {
        let Some((start, end)) = line.split(' ').next().unwrap_or_default().split_once('-') else { return false };
        let [start, end] = [start, end].map(|number| usize::from_str_radix(number, 16).unwrap());
        line.contains("memfd:dds-shm") && (start..end).contains(&at)
    })
}

/// Writes a sample of 200 000 bytes until it is received in place. A fragment that is repaired does not lie there.
fn received_in_place(writer: &DataWriter<Frame>, readers: &[DataReader<Frame>]) -> Vec<Samples<Frame>> {
    for _ in 0..50 {
        writer.write(&frame(7, 200_000)).unwrap();
        let next = |reader: &DataReader<Frame>| {
            reader.readable().block_for(PATIENCE).unwrap();
            reader.take().unwrap()
        };
        let taken: Vec<Samples<Frame>> = readers.iter().map(next).collect();
        if taken.iter().all(|samples| is_shared(place_of(samples))) {
            return taken;
        }
    }
    panic!("no sample lies in shared memory");
}

fn place_of(samples: &Samples<Frame>) -> *const u8 {
    samples.iter().next().unwrap().encoded().unwrap().bytes.as_ptr()
}

#[test]
fn long_sample_lies_in_the_memory_of_its_writer_until_it_is_dropped() {
    for receive in [Receiving::Thread, Receiving::Caller] {
        let world = World::new();
        let [from, to] = [(); 2].map(|()| world.builder().receive(receive).build().unwrap());
        let (writer, readers) = (writer(&from, "frames"), [reader(&to, "frames"), reader(&to, "frames")]);
        writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
        wait_for(&writer, |report| report.shared_memory);
        let kept = received_in_place(&writer, &readers);
        assert_eq!(place_of(&kept[0]), place_of(&kept[1]), "both readers share it");
        // Later samples use other memory, also beyond what the reader may keep.
        for number in 0..100 {
            writer.write(&frame(number, 1 << 20)).unwrap();
            for reader in &readers {
                assert!(reader.next_sample().block_for(PATIENCE).unwrap().data == Some(frame(number, 1 << 20)));
            }
        }
        // It outlives everything else.
        drop((writer, readers));
        from.close();
        let value = |samples: &Samples<Frame>| samples.iter().next().unwrap().decode().unwrap().unwrap();
        assert!(kept.iter().all(|samples| value(samples) == frame(7, 200_000)));
        to.close();
        assert!(kept.iter().all(|samples| value(samples) == frame(7, 200_000)));
    }
}

#[test]
fn loans_that_are_sent_together_are_read_in_place() {
    let world = World::new();
    let [from, to] = [(); 2].map(|()| world.participant());
    let publisher = from.publisher(None).unwrap();
    let qos = DataWriterQos::default().reliable().keep_all().transient_local();
    let writer = publisher.writer_builder::<Frame>("frames").qos(qos).build().unwrap();
    let reader = reader(&to, "frames");
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    wait_for(&writer, |report| report.shared_memory);
    let suspended = publisher.suspend_publications().unwrap();
    let before = from.traffic().sent_shared;
    for number in 0..10 {
        assert!(write_loan(&writer, number, 16 << 10));
    }
    drop(suspended);
    writer.acknowledged().block_for(PATIENCE).unwrap();
    // A message of several samples would be a copy.
    let sent = from.traffic().sent_shared - before;
    assert!(sent >= 10, "{sent} messages");
    for number in 0..10 {
        let samples = reader.select().max_samples(1).take().unwrap();
        assert!(is_shared(place_of(&samples)), "sample {number}");
        assert!(samples.iter().next().unwrap().decode().unwrap().unwrap() == frame(number, 16 << 10));
    }
}

/// A reader that keeps all copies the samples beyond its share, so that the writer can go on.
#[test]
fn reader_of_many_unread_long_samples_receives_all() {
    let world = World::new();
    let [from, to] = [(); 2].map(|()| world.participant());
    let (writer, reader) = (writer(&from, "frames"), reader(&to, "frames"));
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    wait_for(&writer, |report| report.shared_memory);
    for number in 0..60 {
        writer.write(&frame(number, 1 << 20)).unwrap();
    }
    writer.acknowledged().block_for(PATIENCE).unwrap();
    for number in 0..60 {
        let sample = reader.next_sample().block_for(PATIENCE).unwrap();
        assert!(sample.data == Some(frame(number, 1 << 20)), "sample {number}");
    }
}

/// Fills a loan with a frame. The payload is its fields in the byte order of this machine.
fn write_loan(writer: &DataWriter<Frame>, number: u32, len: usize) -> bool {
    let mut loan = writer.loan_encoded(Encoding::Xcdr1, 12 + len).unwrap();
    loan[4..8].copy_from_slice(&number.to_ne_bytes());
    loan[8..12].copy_from_slice(&(len as u32).to_ne_bytes());
    loan[12..].copy_from_slice(&frame(number, len).bytes);
    let is_in_shared_memory = is_shared(loan.as_ptr());
    // Bytes of another type come back, and can be mended in place.
    let place = loan.as_ptr();
    loan[1] = 0x77;
    let (mut loan, error) = loan.write_or_return(WriteOptions::new()).unwrap_err();
    assert!(matches!(error.kind(), WriteErrorKind::NotASample(_)), "{error}");
    assert_eq!(loan.as_ptr(), place);
    loan[1] = u8::from(cfg!(target_endian = "little"));
    loan.write().unwrap();
    is_in_shared_memory
}

#[test]
fn large_loans_lie_in_shared_memory_and_are_received_as_written() {
    const LONGEST: usize = (8 << 20) - 1024;
    for receive in [Receiving::Thread, Receiving::Caller] {
        let world = World::new();
        let [from, to] = [(); 2].map(|()| world.builder().receive(receive).build().unwrap());
        let (writer, readers) = (writer(&from, "frames"), [reader(&to, "frames"), reader(&from, "frames")]);
        writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
        wait_for(&writer, |report| report.shared_memory);
        assert!(!write_loan(&writer, 0, 1000), "a copy of few bytes costs less");
        assert!(!write_loan(&writer, 1, LONGEST + (64 << 10)), "such a sample goes in fragments");
        let mut expected = vec![frame(0, 1000), frame(1, LONGEST + (64 << 10))];
        // More than half of the memory, so that the last ones do not fit.
        let mut in_place = 0;
        for number in 2..60 {
            let len = [5_000, 65_000, 300_000, 2_700_000][number as usize % 4];
            in_place += usize::from(write_loan(&writer, number, len));
            expected.push(frame(number, len));
        }
        assert!((10..58).contains(&in_place), "{in_place} of 58 loans");
        // A reader that joins later gets them from the same memory.
        let late = world.builder().receive(receive).build().unwrap();
        for reader in readers.into_iter().chain([reader(&late, "frames")]) {
            for frame in &expected {
                let sample = reader.next_sample().block_for(PATIENCE).unwrap();
                assert!(sample.data.as_ref() == Some(frame), "sample {}", frame.number);
            }
        }
    }
}

/// The writer expects a sample like the one before. Others are copied there, or are encoded again.
#[test]
fn long_values_are_encoded_in_shared_memory() {
    let world = World::new();
    let [from, to] = [(); 2].map(|()| world.participant());
    let (writer, local, remote) = (writer(&from, "frames"), reader(&from, "frames"), reader(&to, "frames"));
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    wait_for(&writer, |report| report.shared_memory);
    let lens =
        [100_000, 100_001, 99_000, 500_000, 480_001, 100_003, 10, 100_000, 2_700_000, 2_700_002, 9 << 20, 70_000];
    let expected = [false, true, true, false, true, true, true, false, false, true, false, false];
    for (number, (len, is_in_shared_memory)) in lens.into_iter().zip(expected).enumerate() {
        writer.write(&frame(number as u32, len)).unwrap();
        local.readable().block_for(PATIENCE).unwrap();
        let samples = local.take().unwrap();
        assert_eq!(is_shared(place_of(&samples)), is_in_shared_memory, "sample {number}");
        assert!(samples.iter().next().unwrap().decode().unwrap().unwrap() == frame(number as u32, len));
        let sample = remote.next_sample().block_for(PATIENCE).unwrap();
        assert!(sample.data == Some(frame(number as u32, len)), "sample {number}");
    }
}

#[test]
fn loan_is_not_reused_while_its_sample_is_read_in_place() {
    let world = World::new();
    let [from, to] = [(); 2].map(|()| world.participant());
    let qos = DataWriterQos::default().reliable().keep_last(1).transient_local();
    let writer = from.writer_builder::<Frame>("frames").qos(qos).build().unwrap();
    let reader = reader(&to, "frames");
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    wait_for(&writer, |report| report.shared_memory);
    let mut kept = Vec::new();
    for number in 0..100 {
        assert!(write_loan(&writer, number, 100_000));
        reader.readable().block_for(PATIENCE).unwrap();
        // Some stay, so that the order in which the memory returns changes.
        let samples = reader.take().unwrap();
        kept.push((number, samples));
        if number % 3 == 0 {
            kept.swap_remove(number as usize % kept.len());
        }
        for (number, samples) in &kept {
            let value = samples.iter().last().unwrap().decode().unwrap().unwrap();
            assert!(value == frame(*number, 100_000), "sample {number}");
        }
    }
}

/// The poll ends between the samples, so the thread sleeps and is woken as well.
#[test]
fn polling_participants_exchange_samples_after_any_pause() {
    for receive in [Receiving::Thread, Receiving::Caller] {
        let world = World::new();
        let poll = StdDuration::from_micros(200);
        let [from, to] = [(); 2].map(|()| world.builder().receive(receive).busy_poll(poll).build().unwrap());
        let (writer, reader) = (writer(&from, "frames"), reader(&to, "frames"));
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        wait_for(&writer, |report| report.shared_memory);
        let before = from.traffic();
        for round in 0..50 {
            exchange(&writer, &reader, &[10, 5_000, 70_000]);
            std::thread::sleep(StdDuration::from_micros(round * 10));
        }
        exchange(&writer, &reader, &LENS);
        assert!(from.traffic().sent_shared > before.sent_shared);
    }
}

struct StopOnDrop<'a>(&'a AtomicBool);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// A caller that always finds samples in the memory receives those of other hosts as well.
#[test]
fn polled_memory_leaves_udp_its_turn() {
    let world = World::new();
    let to = world.builder().receive(Receiving::Caller).busy_poll(StdDuration::from_millis(100)).build().unwrap();
    let (near, far) = (world.participant(), world.udp_participant());
    let qos = DataWriterQos::default().best_effort();
    let flood = near.writer_builder::<Frame>("frames").qos(qos.clone()).build().unwrap();
    let reader = to.reader_builder::<Frame>("frames").qos(DataReaderQos::default().keep_all()).build().unwrap();
    let rare = far.writer_builder::<Frame>("frames").qos(qos).build().unwrap();
    flood.wait_for_readers(1).block_for(PATIENCE).unwrap();
    rare.wait_for_readers(1).block_for(PATIENCE).unwrap();
    wait_for(&flood, |report| report.shared_memory);
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                flood.write(&frame(0, 10)).unwrap();
            }
        });
        // Ends the thread, so that a failure is not a hang.
        let _stop = StopOnDrop(&stop);
        let mut received = 0;
        for _ in 0..300_000 {
            if received == 10 {
                return;
            }
            rare.write(&frame(1, 10)).unwrap();
            let sample = reader.next_sample().block_for(PATIENCE).unwrap();
            received += sample.data.unwrap().number;
        }
        panic!("{received} samples by UDP");
    });
}

/// A transform copies each message and makes it longer.
#[test]
fn sample_with_a_checksum_goes_in_fragments() {
    let world = World::new();
    let from = world.builder().message_checksums(ChecksumKind::Crc32c).build().unwrap();
    let to = world.participant();
    let (writer, reader) = (writer(&from, "frames"), reader(&to, "frames"));
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    wait_for(&writer, |report| report.shared_memory);
    let before = from.traffic();
    exchange(&writer, &reader, &[1 << 20; 10]);
    let shared = from.traffic().sent_shared - before.sent_shared;
    assert!(shared >= 10 * (1 << 20) / 65_000, "{shared} messages");
}

/// The listener is slow, so datagrams wait in the socket when the path opens. A reader of best effort would lose them.
#[test]
fn best_effort_samples_keep_their_order_when_a_path_opens() {
    for receive in [Receiving::Thread, Receiving::Caller] {
        let world = World::new();
        let [from, to] = [(); 2].map(|()| world.builder().receive(receive).build().unwrap());
        let writer = from.writer_builder("frames").qos(DataWriterQos::default().best_effort()).build().unwrap();
        let (sender, numbers) = mpsc::channel();
        let reader = to
            .reader_builder::<Frame>("frames")
            .qos(DataReaderQos::default().keep_all())
            .delivery(Delivery::Inline)
            .on_sample(move |sample| {
                std::thread::sleep(StdDuration::from_micros(500));
                sender.send(sample.data.unwrap().number).unwrap();
            })
            .build()
            .unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        let mut count = 0;
        let mut shared = None;
        while shared.is_none_or(|shared| count < shared + 100) {
            writer.write(&frame(count, 10)).unwrap();
            count += 1;
            if shared.is_none() && from.traffic().sent_shared > 0 {
                shared = Some(count);
            }
            // The socket has room for thousands of samples.
            assert!(count < 3_000, "the path does not open");
            std::thread::sleep(StdDuration::from_micros(100));
        }
        for number in 0..count {
            assert_eq!(numbers.recv_timeout(StdDuration::from_secs(20)), Ok(number), "{receive:?} of {count}");
        }
        drop(reader);
    }
}

#[test]
fn participant_without_shared_memory_uses_udp_and_says_why() {
    let world = World::new();
    let (from, to) = (world.participant(), world.builder().shared_memory(0).build().unwrap());
    let (writer, reader) = (writer(&from, "frames"), reader(&to, "frames"));
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    exchange(&writer, &reader, &LENS);
    let text = wait_for(&writer, |report| report.not_shared.is_some());
    assert!(text.contains("by UDP and not through shared memory: no process"), "{text}");
    assert_eq!((from.traffic().sent_shared, to.traffic().sent_shared), (0, 0));
    // The other participant does not share, so it has nothing to explain.
    let reports = reader.explain_matches();
    assert!(reports.iter().all(|report| !report.shared_memory && report.not_shared.is_none()), "{reports:?}");
}

#[test]
fn udp_only_shares_no_memory() {
    let world = World::new();
    let (from, to) = (world.udp_participant(), world.participant());
    let (writer, reader) = (writer(&from, "frames"), reader(&to, "frames"));
    exchange(&writer, &reader, &LENS);
    assert_eq!((from.traffic().sent_shared, to.traffic().sent_shared), (0, 0));
}

/// The pool has room for one datagram, so most of them use UDP.
#[test]
fn small_memory_loses_no_reliable_sample() {
    let world = World::new();
    let from = world.builder().shared_memory(70_000).build().unwrap();
    let readers: Vec<_> = (0..3).map(|_| reader(&world.participant(), "frames")).collect();
    let writer = writer(&from, "frames");
    writer.wait_for_readers(3).block_for(PATIENCE).unwrap();
    wait_for(&writer, |report| report.shared_memory);
    for number in 0..20 {
        writer.write(&frame(number, 300_000)).unwrap();
    }
    for reader in &readers {
        for number in 0..20 {
            let sample = reader.next_sample().block_for(PATIENCE).unwrap();
            assert!(sample.data == Some(frame(number, 300_000)), "sample {number}");
        }
    }
    assert!(from.traffic().sent_shared > 0);
}

/// A path opens in the middle of a stream, and its end leaves the stream whole.
#[test]
fn stream_survives_the_change_of_its_carrier() {
    let world = World::new();
    let from = world.participant();
    let writer = writer(&from, "frames");
    // One path exists for the whole time.
    let first = world.participant();
    let first_reader = reader(&first, "frames");
    wait_for(&writer, |report| report.shared_memory);
    let (sender, taken) = mpsc::channel();
    let writing = std::thread::spawn({
        let writer = writer.clone();
        move || {
            for number in 0..4_000 {
                writer.write(&frame(number, 100 + (number as usize * 37) % 3_000)).unwrap();
            }
        }
    });
    // Each joins while samples are sent, and leaves in the middle.
    let mut threads = Vec::new();
    for leaves in [false, true, false, true] {
        let (participant, sender) = (world.participant(), sender.clone());
        threads.push(std::thread::spawn(move || {
            let reader = reader(&participant, "frames");
            for number in 0..if leaves { 500 } else { 4_000 } {
                let sample = reader.next_sample().block_for(PATIENCE).unwrap();
                assert_eq!(sample.data.map(|data| data.number), Some(number));
            }
            sender.send(()).unwrap();
        }));
    }
    drop(sender);
    assert_eq!(taken.iter().count(), 4);
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    writing.join().unwrap();
    for number in 0..4_000 {
        let sample = first_reader.next_sample().block_for(PATIENCE).unwrap();
        assert_eq!(sample.data.map(|data| data.number), Some(number));
    }
    assert!(from.traffic().sent_shared > 4_000 / 50);
}

/// The fragments of a sample arrive by UDP, and then through shared memory. A thread may still expect them by UDP.
#[test]
fn large_samples_survive_the_change_of_their_carrier() {
    let frames: Vec<_> = (0..4).map(|number| frame(number, 4 << 20)).collect();
    for receive in [Receiving::Thread, Receiving::Caller] {
        let world = World::new();
        let from = world.participant();
        let limits = ResourceLimits::NONE.max_samples(2);
        let qos = DataWriterQos::default().reliable().keep_all().resource_limits(limits);
        let writer: DataWriter<Frame> = from.writer_builder("frames").qos(qos).build().unwrap();
        for round in 0..4 {
            let to = world.builder().receive(receive).build().unwrap();
            let qos = DataReaderQos::default().reliable().keep_all();
            let reader: DataReader<Frame> = to.reader_builder("frames").qos(qos).build().unwrap();
            writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
            // The path opens during one of these.
            for frame in &frames {
                writer.write(frame).unwrap();
                let sample = reader.next_sample().block_for(PATIENCE).unwrap();
                assert!(sample.data.as_ref() == Some(frame), "round {round}, sample {}", frame.number);
            }
            wait_for(&writer, |report| report.shared_memory);
            drop((reader, to));
            let start = Instant::now();
            while writer.publication_matched().current_count > 0 {
                assert!(start.elapsed() < StdDuration::from_secs(30));
                std::thread::sleep(StdDuration::from_millis(1));
            }
        }
        assert!(from.traffic().sent_shared > 0);
    }
}

#[test]
fn listeners_are_called_for_samples_in_shared_memory() {
    for (receive, delivery) in [
        (Receiving::Thread, Delivery::Inline),
        (Receiving::Thread, Delivery::EventThread),
        (Receiving::Caller, Delivery::Inline),
        (Receiving::Caller, Delivery::EventThread),
    ] {
        let world = World::new();
        let (from, to) = (world.participant(), world.builder().receive(receive).delivery(delivery).build().unwrap());
        let (sender, taken) = mpsc::channel();
        let qos = DataReaderQos::default().reliable().keep_all();
        let reader = to.reader_builder::<Frame>("frames").qos(qos).on_data(move |reader| {
            for data in reader.take().unwrap().into_data() {
                sender.send(data.number).unwrap();
            }
        });
        let _reader = reader.build().unwrap();
        let writer = writer(&from, "frames");
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        wait_for(&writer, |report| report.shared_memory);
        for number in 0..100 {
            writer.write(&frame(number, 10)).unwrap();
        }
        let numbers: Vec<_> = taken.iter().take(100).collect();
        assert_eq!(numbers, (0..100).collect::<Vec<_>>());
    }
}

/// The paths of others go on.
#[test]
fn closed_participant_ends_its_path_only() {
    let world = World::new();
    let from = world.participant();
    let writer = writer(&from, "frames");
    let stays = world.participant();
    let reader_that_stays = reader(&stays, "frames");
    for round in 0..5 {
        let leaves = world.participant();
        let leaving = reader(&leaves, "frames");
        writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
        let start = Instant::now();
        // In some rounds the reader leaves before its path is open.
        while round % 2 == 0 && writer.explain_matches().iter().filter(|report| report.shared_memory).count() < 2 {
            assert!(start.elapsed() < StdDuration::from_secs(30));
            std::thread::sleep(StdDuration::from_millis(1));
        }
        writer.write(&frame(round, 5_000)).unwrap();
        assert!(leaving.next_sample().block_for(PATIENCE).unwrap().data.is_some());
        drop((leaving, leaves));
        let sample = reader_that_stays.next_sample().block_for(PATIENCE).unwrap();
        assert_eq!(sample.data, Some(frame(round, 5_000)));
    }
    wait_for(&writer, |report| report.shared_memory);
    assert!(from.traffic().sent_shared > 0);
}
