//! Hosts that sleep, are frozen, or both: clocks and threads that stop, wait, and resume.

use dds_core::listener::Delivery;
use dds_core::qos::{DataReaderQos, DataWriterQos, Liveliness, Preset};
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::stats::LikelyCause;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Step {
    number: u32,
    padding: Vec<u8>,
}

impl Step {
    fn new(number: u32) -> Self {
        Self { number, padding: vec![0; 1000] }
    }
}

struct Pair {
    simulation: Simulation,
    robot: DomainParticipant,
    station: DomainParticipant,
    writer: DataWriter<Step>,
    reader: DataReader<Step>,
}

/// A writer on the robot and a reader on the station, matched.
fn pair(writer: DataWriterQos, reader: DataReaderQos) -> Pair {
    let simulation = Simulation::with_interference(1, Interference::NONE);
    simulation.set_network(Conditions::perfect());
    let robot = simulation.participant("robot", 0).unwrap();
    let station = simulation.participant("station", 0).unwrap();
    let writer = robot.writer_builder("steps").qos(writer).build().unwrap();
    let reader = station.reader_builder("steps").qos(reader).build().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    simulation.run_for(Duration::from_secs(1));
    Pair { simulation, robot, station, writer, reader }
}

fn reliable() -> Pair {
    pair(Preset::Event.writer(), Preset::Event.reader())
}

fn best_effort() -> Pair {
    pair(DataWriterQos::default().best_effort(), DataReaderQos::default().best_effort().keep_all())
}

fn numbers(reader: &DataReader<Step>) -> Vec<u32> {
    reader.take().unwrap().into_data().map(|step: Step| step.number).collect()
}

#[test]
fn frozen_host_is_silent_until_it_resumes() {
    let Pair { simulation, writer, reader, .. } = &reliable();
    let (station, said) = (simulation.host("station"), Arc::new(AtomicUsize::new(0)));
    let (address, count) = (station.address(), Arc::clone(&said));
    simulation.intercept(move |passing| {
        count.fetch_add(usize::from(passing.from == address), Ordering::Relaxed);
        true
    });
    station.freeze_for(Duration::from_secs(5));
    (0..10).for_each(|number| writer.write(&Step::new(number)).unwrap());
    // Just before the end of the freeze.
    simulation.run_for(Duration::from_millis(4900));
    assert!(numbers(reader).is_empty());
    assert_eq!(said.load(Ordering::Relaxed), 0, "not even an ACKNACK");
    simulation.run_for(Duration::from_millis(200));
    assert_eq!(numbers(reader), (0..10).collect::<Vec<_>>());
    writer.acknowledged().block_for(Duration::from_secs(1)).unwrap();
    // All samples fit into the receive buffer of the frozen host.
    assert_eq!(simulation.network_counters().buffer_full, 0);
}

#[test]
fn frozen_host_counts_receive_buffer_overflow() {
    let Pair { simulation, station, writer, reader, .. } = &best_effort();
    let host = simulation.host("station");
    host.set_receive_buffer(20_000);
    host.freeze_for(Duration::from_secs(1));
    for number in 0..100 {
        writer.write(&Step::new(number)).unwrap();
        simulation.run_for(Duration::from_millis(1));
    }
    simulation.run_for(Duration::from_secs(1));
    let taken = numbers(reader);
    // Each datagram of about 1 KB takes room in the buffer of 20 000 bytes.
    assert!((10..20).contains(&taken.len()), "{taken:?}");
    assert_eq!(taken, (0..taken.len() as u32).collect::<Vec<_>>());
    let lost = 100 - taken.len() as u64;
    assert_eq!(station.traffic().socket_full, lost);
    // Announcements use other buffers, which are nearly empty.
    assert_eq!(simulation.network_counters().buffer_full, lost);
    // The next sample reveals the hole. The host grants a smaller buffer than the participant requests.
    writer.write(&Step::new(100)).unwrap();
    simulation.run_for(Duration::from_secs(1));
    let cause = LikelyCause::SocketOverflow { dropped: lost, receive_buffer: 20_000 };
    assert_eq!(reader.losses().likely_cause(), Some(cause));
}

#[test]
fn threads_of_frozen_host_do_not_run() {
    let Pair { simulation, robot, writer, .. } = &reliable();
    let calls = Arc::new(AtomicUsize::new(0));
    let bell = Arc::clone(&calls);
    let inner: DataReader<Step> = robot
        .reader_builder("steps")
        .qos(Preset::Event.reader())
        .delivery(Delivery::EventThread)
        .on_data(move |_| _ = bell.fetch_add(1, Ordering::Relaxed))
        .build()
        .unwrap();
    writer.wait_for_readers(2).block().unwrap();
    simulation.host("robot").freeze_for(Duration::from_secs(1));
    writer.write(&Step::new(1)).unwrap();
    simulation.run_for(Duration::from_millis(900));
    // Neither the receive thread nor the event thread has run.
    assert_eq!(calls.load(Ordering::Relaxed), 0);
    simulation.run_for(Duration::from_millis(200));
    assert_eq!((calls.load(Ordering::Relaxed), numbers(&inner)), (1, vec![1]));
}

#[test]
fn freeze_does_not_wake_sleeping_host() {
    let liveliness = Liveliness::manual_by_topic(Duration::from_secs(10));
    let qos = Preset::Event.writer().liveliness(liveliness);
    let Pair { simulation, robot, station, writer, reader } = &pair(qos, Preset::Event.reader());
    simulation.host("robot").sleep_for(Duration::from_secs(3600));
    simulation.run_for(Duration::from_secs(1000));
    simulation.host("robot").freeze_for(Duration::from_secs(1));
    // A shorter sleep does not wake it either.
    simulation.host("robot").sleep_for(Duration::from_secs(1));
    simulation.run_for(Duration::from_secs(2000));
    writer.write(&Step::new(1)).unwrap();
    // The sleep ends after 3600 s, and 3599 s have passed.
    simulation.run_for(Duration::from_secs(599));
    assert!(station.discovered_participants().is_empty() && numbers(reader).is_empty());
    // Its own clock stood still, so it measures neither silence nor missing announcements.
    simulation.run_for(Duration::from_secs(2));
    assert_eq!(writer.liveliness_lost().total_count, 0);
    assert_eq!(robot.discovered_participants().len(), 1);
    assert_eq!(writer.publication_matched().total_count, 1);
    simulation.run_for(Duration::from_secs(10));
    assert_eq!(station.discovered_participants().len(), 1);
}

#[test]
fn frozen_host_resumes_after_sleep_and_freeze() {
    let Pair { simulation, station, writer, reader, .. } = &reliable();
    let host = simulation.host("station");
    host.freeze_for(Duration::from_secs(20));
    host.sleep_for(Duration::from_secs(2));
    let sent = station.traffic().sent;
    simulation.run_for(Duration::from_secs(3));
    writer.write(&Step::new(1)).unwrap();
    // Both pauses began together, so the freeze ends 20 s after the start. It is 19.9 s now.
    simulation.run_for(Duration::from_millis(16_900));
    assert_eq!((numbers(reader), station.traffic().sent - sent), (vec![], 0), "it announces itself every 3 s else");
    simulation.run_for(Duration::from_secs(5));
    assert_eq!(numbers(reader), [1]);
}

#[test]
fn restart_does_not_wake_sleeping_host() {
    let Pair { simulation, writer, reader, .. } = &best_effort();
    simulation.host("station").sleep_for(Duration::from_secs(5));
    simulation.host("station").restart();
    writer.write(&Step::new(1)).unwrap();
    simulation.run_for(Duration::from_secs(4));
    assert!(numbers(reader).is_empty());
    simulation.run_for(Duration::from_millis(1100));
    // The first sample arrived during the sleep and was lost.
    writer.write(&Step::new(2)).unwrap();
    simulation.run_for(Duration::from_millis(100));
    assert_eq!(numbers(reader), [2]);
}

#[test]
fn crash_ends_pauses_and_prevents_new_ones() {
    let Pair { simulation, station, .. } = &best_effort();
    let host = simulation.host("robot");
    host.sleep_for(Duration::from_secs(3600));
    host.freeze_for(Duration::from_secs(3600));
    host.crash();
    host.sleep_for(Duration::from_secs(3600));
    host.freeze_for(Duration::from_secs(3600));
    host.restart();
    simulation.run_for(Duration::from_secs(60));
    // The participant from before the crash must not return.
    assert!(station.discovered_participants().is_empty());
    let again = simulation.participant("robot", 0).unwrap();
    simulation.run_for(Duration::from_secs(1));
    assert_eq!((again.discovered_participants().len(), station.discovered_participants().len()), (1, 1));
}
