//! Programs in a simulated world: the world itself, and its view of the library.

use dds_core::error::{CreateErrorKind, WaitErrorKind, WriteErrorKind};
use dds_core::listener::Delivery;
use dds_core::qos::{DataReaderQos, DataWriterQos, EntityFactory, Preset, Reliability, ResourceLimits, SubscriberQos};
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration};
use std::future::Future;
use std::sync::{Arc, Mutex, mpsc};
use std::task::{Context, Poll, Wake, Waker};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Step {
    number: u32,
}

/// A KEEP_ALL writer and reader on two hosts, and their participants.
fn pair(simulation: &Simulation) -> ([DomainParticipant; 2], DataWriter<Step>, DataReader<Step>) {
    let robot = simulation.participant("robot", 0).unwrap();
    let station = simulation.participant("station", 0).unwrap();
    let writer = robot.writer_builder("steps").qos(Preset::Event).build().unwrap();
    let reader = station.reader_builder("steps").qos(Preset::Event).build().unwrap();
    ([robot, station], writer, reader)
}

fn numbers(reader: &DataReader<Step>) -> Vec<u32> {
    reader.take().unwrap().into_data().map(|step: Step| step.number).collect()
}

/// Received samples of a hundred written ones.
fn hundred(simulation: &Simulation) -> Vec<u32> {
    let (_participants, writer, reader) = pair(simulation);
    writer.wait_for_readers(1).block().unwrap();
    for number in 0..100 {
        writer.write(&Step { number }).unwrap();
        simulation.run_for(Duration::from_millis(10));
    }
    writer.acknowledged().block_for(Duration::from_secs(60)).unwrap();
    numbers(&reader)
}

/// The same over a bad network, and the trace.
fn hall(seed: u64) -> (Vec<u32>, u64) {
    let simulation = Simulation::new(seed);
    simulation.set_network(Conditions::hall_wifi());
    (hundred(&simulation), simulation.trace_hash())
}

#[test]
fn reliable_samples_arrive_in_order_despite_loss() {
    for seed in 0..10 {
        assert_eq!(hall(seed).0, (0..100).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn same_seed_gives_same_trace() {
    let traces: Vec<u64> = (0..5).map(|seed| hall(seed).1).collect();
    assert_eq!((0..5).map(|seed| hall(seed).1).collect::<Vec<_>>(), traces);
    // Different seeds must give different traces.
    assert!((1..5).all(|seed| traces[seed] != traces[0]));
}

/// Interference occurs, including timers that fire late, twice or without a cause.
///
/// Without a request, the world has no interference.
#[test]
fn interference_happens_only_if_requested() {
    let counters = |interference| {
        let mut all = [0; 8];
        for seed in 0..10 {
            let simulation = Simulation::with_interference(seed, interference);
            assert_eq!(hundred(&simulation), (0..100).collect::<Vec<_>>(), "seed {seed}");
            let c = simulation.interference_counters();
            let timers = [c.late_timers, c.double_timers, c.stray_timers];
            // Each counter belongs to one kind of interference.
            let others = [c.occupied, c.hasty, c.blocked, c.small_inboxes, c.bursts];
            all.iter_mut().zip(timers.into_iter().chain(others)).for_each(|(sum, count)| *sum += count);
        }
        all
    };
    let happened = counters(Interference::default());
    assert!(happened.iter().all(|count| *count > 0), "{happened:?}");
    assert_eq!(counters(Interference::NONE), [0; 8]);
}

/// Calls that block other threads are counted by the affected threads.
///
/// The duration is virtual time, which passes only inside of the calls.
#[test]
fn long_calls_count_by_blocked_threads() {
    for delivery in [Delivery::EventThread, Delivery::Inline] {
        let simulation = Simulation::with_interference(11, Interference::NONE);
        let ([_robot, station], writer, reader) = pair(&simulation);
        drop(reader);
        let (others, mut lasts) = (station.writer::<Step>("others").unwrap(), 0);
        let clock = station.clone();
        let (done, calls) = std::sync::mpsc::channel();
        // Inline calls must not wait. Reading the clock takes 20 ns.
        let on_data = move |reader: &DataReader<Step>| {
            lasts = reader.take().unwrap().into_data().next().map_or(lasts, |step: Step| step.number);
            let lasts = Duration::from_micros(lasts.into());
            match delivery {
                Delivery::EventThread => assert!(others.wait_for_readers(9).block_for(lasts).is_err()),
                _ => {
                    let started = clock.now();
                    while clock.now() - started < lasts {}
                }
            }
            done.send(()).unwrap();
        };
        let builder = station.reader_builder("steps").qos(Preset::Event).delivery(delivery);
        let _reader = builder.on_data(on_data).build().unwrap();
        writer.wait_for_readers(1).block().unwrap();
        // Microseconds: short for both, long for an inline call, long for both.
        let counted = [500, 50_000, 150_000].map(|lasts| {
            writer.write(&Step { number: lasts }).unwrap();
            assert!(simulation.run_until(Duration::from_secs(5), || calls.try_recv().is_ok()), "{delivery:?}");
            // The listener sends its message before the call is over.
            simulation.run_for(Duration::from_millis(1));
            let counters = station.listener_counters();
            (counters.long_event_calls, counters.long_inline_calls)
        });
        let expected = if delivery == Delivery::Inline { [(0, 0), (0, 1), (0, 2)] } else { [(0, 0), (0, 0), (1, 0)] };
        assert_eq!(counted, expected, "{delivery:?}");
    }
}

#[test]
fn tap_in_simulation_fails_without_file() {
    let file = std::env::temp_dir().join(format!("dds-simulated-{}.pcap", std::process::id()));
    let error = Simulation::new(1).build("host", DomainParticipant::builder(0).tap(&file)).unwrap_err();
    assert_eq!(error.kind(), &CreateErrorKind::NotSimulated { setting: "tap" });
    assert!(error.to_string().contains("Simulation::intercept"), "{error}");
    assert!(!file.exists());
}

#[test]
fn wait_takes_only_virtual_time() {
    let simulation = Simulation::new(1);
    let participant = simulation.participant("alone", 0).unwrap();
    let reader = participant.reader::<Step>("steps").unwrap();
    let before = simulation.now();
    let error = reader.next_sample().block_for(Duration::from_secs(10 * 3600)).unwrap_err();
    assert!(matches!(error.kind(), WaitErrorKind::Timeout { .. }), "{error}");
    // Ten hours pass at once, because no event is due before.
    assert!(simulation.now() - before >= Duration::from_secs(10 * 3600));
    // Without an own limit, the limit of the world applies.
    simulation.set_wait_limit(Duration::from_secs(5));
    assert!(matches!(reader.next_sample().block().unwrap_err().kind(), WaitErrorKind::Timeout { .. }));
}

#[test]
fn listener_runs_while_test_waits() {
    for delivery in [Delivery::EventThread, Delivery::Inline] {
        let simulation = Simulation::new(2);
        let ([_robot, station], writer, reader) = pair(&simulation);
        drop(reader);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let sink = Arc::clone(&seen);
        let reader = station.reader_builder("steps").qos(Preset::Event).delivery(delivery);
        let reader =
            reader.on_sample(move |sample| sink.lock().unwrap().push(sample.data.map(|step: Step| step.number)));
        let _reader = reader.build().unwrap();
        writer.wait_for_readers(1).block().unwrap();
        (0..3).for_each(|number| writer.write(&Step { number }).unwrap());
        assert!(simulation.run_until(Duration::from_secs(5), || seen.lock().unwrap().len() == 3), "{delivery:?}");
        assert_eq!(*seen.lock().unwrap(), [Some(0), Some(1), Some(2)]);
    }
}

#[test]
fn crashed_host_expires_and_restart_is_found() {
    let simulation = Simulation::new(3);
    let ([_robot, _station], writer, reader) = pair(&simulation);
    writer.wait_for_readers(1).block().unwrap();
    simulation.host("station").crash();
    // Half of the lease has passed, so the host still counts as alive.
    simulation.run_for(Duration::from_secs(10));
    assert_eq!(writer.publication_matched().current_count, 1);
    simulation.run_for(Duration::from_secs(15));
    assert_eq!(writer.publication_matched().current_count, 0);
    drop(reader);
    simulation.host("station").restart();
    let station = simulation.participant("station", 0).unwrap();
    let reader = station.reader_builder("steps").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    writer.write(&Step { number: 7 }).unwrap();
    assert_eq!(reader.next_sample().block().unwrap().data, Some(Step { number: 7 }));
}

#[test]
fn cut_link_delays_without_loss() {
    let simulation = Simulation::new(4);
    let (_participants, writer, reader) = pair(&simulation);
    writer.wait_for_readers(1).block().unwrap();
    simulation.link("robot", "station").cut();
    (0..10).for_each(|number| writer.write(&Step { number }).unwrap());
    simulation.run_for(Duration::from_secs(5));
    assert!(reader.take().unwrap().is_empty());
    simulation.link("robot", "station").mend();
    writer.acknowledged().block_for(Duration::from_secs(10)).unwrap();
    assert_eq!(numbers(&reader), (0..10).collect::<Vec<_>>());
}

#[test]
fn sleeping_host_keeps_leases_of_peers() {
    let simulation = Simulation::new(5);
    let ([robot, station], writer, _reader) = pair(&simulation);
    writer.wait_for_readers(1).block().unwrap();
    simulation.host("robot").sleep_for(Duration::from_secs(3600));
    simulation.run_for(Duration::from_secs(3600));
    // The peers have dropped the sleeping host, but it has not dropped them.
    // The peers' leases of the sleeping host have ended.
    assert!(station.discovered_participants().is_empty());
    assert_eq!(robot.discovered_participants().len(), 1);
    simulation.run_for(Duration::from_secs(10));
    assert_eq!(station.discovered_participants().len(), 1);
    assert_eq!(writer.publication_matched().current_count, 1);
}

#[test]
fn real_time_clocks_may_differ_between_hosts() {
    let simulation = Simulation::new(6);
    simulation.host("robot").step_clock(-3_000_000_000);
    simulation.host("robot").set_clock_drift(1000);
    let (participants, writer, reader) = pair(&simulation);
    writer.wait_for_readers(1).block().unwrap();
    simulation.run_for(Duration::from_secs(1000));
    for (participant, host) in participants.iter().zip(["robot", "station"]) {
        // `now` follows the host's clock, including its step and its drift.
        // The call itself takes some nanoseconds.
        let ago = simulation.host(host).time() - participant.now();
        assert!(ago.as_nanos().unsigned_abs() < 1_000, "{ago}");
    }
    writer.write(&Step { number: 1 }).unwrap();
    let sample = reader.next_sample().block().unwrap();
    let behind = simulation.host("station").time() - sample.info.source_timestamp;
    assert!((1_990_000_000..2_010_000_000).contains(&behind.as_nanos()), "{behind}");
}

#[test]
fn block_on_completes_future() {
    let simulation = Simulation::with_interference(7, Interference::NONE);
    let (_participants, writer, reader) = pair(&simulation);
    let both = async {
        writer.wait_for_readers(1).await.unwrap();
        writer.write(&Step { number: 5 }).unwrap();
        reader.next_sample().await.unwrap().data
    };
    assert_eq!(simulation.block_on(Duration::from_secs(10), both), Some(Some(Step { number: 5 })));
    // Without a sample, the future ends with the limit.
    assert!(simulation.block_on(Duration::from_secs(10), reader.next_sample()).is_none());
}

#[test]
fn damaged_datagrams_with_checksum_are_repaired() {
    let simulation = Simulation::new(8);
    simulation.set_network(Conditions::ethernet().damaging(0.2));
    let build = |host: &str| {
        let builder = DomainParticipant::builder(0).message_checksums(dds_core::config::ChecksumKind::Crc32c);
        simulation.build(host, builder).unwrap()
    };
    let (robot, station) = (build("robot"), build("station"));
    let writer = robot.writer_builder("steps").qos(Preset::Event).build().unwrap();
    let reader = station.reader_builder("steps").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    (0..200).for_each(|number| writer.write(&Step { number }).unwrap());
    writer.acknowledged().block_for(Duration::from_secs(60)).unwrap();
    assert_eq!(numbers(&reader), (0..200).collect::<Vec<_>>());
    assert!(station.traffic().damaged > 0);
}

#[test]
fn crashed_host_rejects_participants_until_back() {
    let simulation = Simulation::new(9);
    let participant = simulation.participant("robot", 0).unwrap();
    simulation.host("robot").crash();
    let error = simulation.participant("robot", 0).unwrap_err();
    assert!(error.to_string().contains("restart"), "{error}");
    participant.close();
}

#[test]
fn writer_gets_turn_at_full_reader() {
    for seed in 0..50 {
        // Small and occupied inboxes force the writers to wait for room.
        let crowded = Interference { small_inbox: 1.0, occupied: 0.5, ..Interference::default() };
        let simulation = Simulation::with_interference(seed, crowded);
        let robot = simulation.participant("robot", 0).unwrap();
        let limits = ResourceLimits::NONE.max_samples(3);
        let qos = DataReaderQos::default().reliable().keep_all().resource_limits(limits);
        let reader = robot.reader_builder("steps").qos(qos).build().unwrap();
        let writers: Vec<DataWriter<Step>> =
            (0..3).map(|_| robot.writer_builder("steps").qos(Preset::Event).build().unwrap()).collect();
        for number in 0..10 {
            writers.iter().for_each(|writer| writer.write(&Step { number }).unwrap());
        }
        let mut received = Vec::new();
        simulation.run_until(Duration::from_secs(10), || {
            received.extend(numbers(&reader));
            received.len() == 30
        });
        received.sort_unstable();
        assert_eq!(received, (0..10).flat_map(|number| [number; 3]).collect::<Vec<_>>(), "seed {seed}");
    }
}

#[test]
fn reader_counts_created_receive_buffers() {
    let simulation = Simulation::with_interference(10, Interference::NONE);
    simulation.set_network(Conditions::perfect());
    let (_participants, writer, reader) = pair(&simulation);
    writer.wait_for_readers(1).block().unwrap();
    let made = || reader.counters().slots_made;
    let received = |count: u32| {
        (0..count).for_each(|number| {
            writer.write(&Step { number }).unwrap();
            simulation.run_for(Duration::from_millis(1));
        });
        reader.take().unwrap()
    };
    assert_eq!(received(100).len(), 100);
    let warm = made();
    assert!((1..=100).contains(&warm), "{warm}");
    // Once the pool is warm, taken samples return their buffers to it.
    for _ in 0..10 {
        assert_eq!(received(100).len(), 100);
    }
    assert_eq!(made(), warm, "each came free");
    // Samples that the application keeps occupy their buffers. The reader creates new ones and loses nothing.
    let kept = received(100);
    let more = received(100);
    assert!(made() >= warm + 90, "{warm} and then {}", made());
    assert_eq!(kept.into_data().map(|step: Step| step.number).collect::<Vec<_>>(), (0..100).collect::<Vec<_>>());
    assert_eq!(more.len(), 100);
}

#[derive(DdsType, Clone)]
struct Keyed {
    #[dds(key)]
    key: u32,
}

/// Runs an action at its first wake.
struct Does(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Wake for Does {
    fn wake(self: Arc<Self>) {
        let does = self.0.lock().unwrap().take();
        does.into_iter().for_each(|does| does());
    }
}

/// Runs `does` once this thread blocks, because time passes only then.
fn once_blocked<T>(reader: &DataReader<T>, does: impl FnOnce() + Send + 'static) -> impl Sized {
    // The timeout of this wait is the first event after the thread blocks.
    let mut alarm = Box::pin(reader.wait_for_writers(9).within(Duration::from_millis(1)));
    let waker = Waker::from(Arc::new(Does(Mutex::new(Some(Box::new(does))))));
    assert!(alarm.as_mut().poll(&mut Context::from_waker(&waker)).is_pending());
    alarm
}

#[test]
fn rejected_blocked_write_leaves_queue() {
    let simulation = Simulation::with_interference(11, Interference::NONE);
    let participant = simulation.participant("robot", 0).unwrap();
    let limits = ResourceLimits::NONE.max_samples(1);
    let qos = DataReaderQos::default().reliable().keep_all().resource_limits(limits);
    let reader = participant.reader_builder::<Keyed>("keyed").qos(qos).build().unwrap();
    let mut qos = DataWriterQos::default().keep_all().resource_limits(limits);
    qos.reliability = Reliability::Reliable { max_blocking_time: Duration::INFINITE };
    let writer = participant.writer_builder::<Keyed>("keyed").qos(qos).build().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    // Fill both histories, so that the next write has to wait.
    let filled = (0..).find(|&key| writer.try_write(&Keyed { key }).is_err()).unwrap();

    let first = writer.clone();
    let mut waiting = Box::pin(async move { first.write_async(&Keyed { key: 7 }).await });
    let mut carry_on = move || waiting.as_mut().poll(&mut Context::from_waker(Waker::noop()));
    assert!(carry_on().is_pending());
    let (tell, told) = mpsc::channel();
    let reads = reader.clone();
    let _room = once_blocked(&reader, move || {
        reads.take_next().unwrap().unwrap();
        tell.send(carry_on()).unwrap();
    });
    // The call waits behind the first write, and fails only then because of its unknown instance.
    let refused = writer.unregister_instance(&99).unwrap_err();
    assert_eq!(refused.kind(), &WriteErrorKind::UnknownInstance);
    assert_eq!(told.try_recv(), Ok(Poll::Ready(Ok(()))), "it has waited behind the other");
    assert_eq!((0..filled).filter(|_| reader.take_next().unwrap().is_some()).count(), filled as usize);
    assert_eq!(writer.try_write(&Keyed { key: 8 }), Ok(()));
}

#[test]
fn iteration_of_disabled_reader_waits_for_enable() {
    let simulation = Simulation::with_interference(12, Interference::NONE);
    let participant = simulation.participant("robot", 0).unwrap();
    let disabled = EntityFactory::MANUAL;
    let subscriber = participant.subscriber(SubscriberQos::default().entity_factory(disabled)).unwrap();
    let reader = subscriber.reader_builder::<Step>("steps").qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder::<Step>("steps").qos(Preset::Event).build().unwrap();
    let other = participant.reader::<Step>("other").unwrap();
    let late = reader.clone();
    // The call below blocks until the reader is enabled here.
    let _enabled = once_blocked(&other, move || {
        late.enable().unwrap();
        writer.write(&Step { number: 1 }).unwrap();
    });
    assert_eq!(reader.iter().next(), Some(Step { number: 1 }));
}
