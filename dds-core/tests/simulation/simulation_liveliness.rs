//! Liveliness in virtual time: writers fall silent, recover and close.

use dds_core::listener::{
    DataReaderListener, DataWriterListener, PublisherListener, SubscriberListener, TopicListener,
};
use dds_core::qos::{DataReaderQos, DataWriterQos, Liveliness, LivelinessKind, Ownership, ResourceLimits};
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::status::{CountStatus, LivelinessChangedStatus, ReaderEvent, StatusMask, WriterEvent};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, InstanceState};
use futures_core::Stream;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use LivelinessKind::{Automatic, ManualByParticipant, ManualByTopic};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: u32,
}

const LEASE: Duration = Duration::from_millis(1_000);
/// Most delay with which a participant reports the liveliness of its writers.
const HEARSAY: Duration = Duration::from_millis(250);
/// The shortest wait in these tests.
const MOMENT: Duration = Duration::from_millis(20);

fn of_kind(kind: LivelinessKind, lease_duration: Duration) -> DataWriterQos {
    DataWriterQos::default().reliable().keep_last(5).liveliness(Liveliness::new(kind, lease_duration))
}

fn writer(participant: &DomainParticipant, kind: LivelinessKind) -> DataWriter<Pose> {
    participant.writer_builder("poses").qos(of_kind(kind, LEASE)).build().unwrap()
}

fn reader(participant: &DomainParticipant) -> DataReader<Pose> {
    participant.reader_builder("poses").qos(DataReaderQos::default().reliable().keep_all()).build().unwrap()
}

/// Counts of alive and not alive writers, and their changes since the last call.
fn lively(reader: &DataReader<Pose>) -> (u32, u32, i32, i32) {
    let LivelinessChangedStatus { alive_count, not_alive_count, alive_count_change, not_alive_count_change, .. } =
        reader.liveliness_changed();
    (alive_count, not_alive_count, alive_count_change, not_alive_count_change)
}

fn lost(writer: &DataWriter<Pose>) -> (u64, u64) {
    let CountStatus { total_count, total_count_change, .. } = writer.liveliness_lost();
    (total_count, total_count_change)
}

/// Takes all samples and returns their instance states.
fn states(reader: &DataReader<Pose>) -> Vec<InstanceState> {
    reader.take().unwrap().into_iter().map(|sample| sample.info.instance_state).collect()
}

/// Worlds with two participants: on two hosts, or one participant twice.
fn worlds() -> impl Iterator<Item = (Simulation, DomainParticipant, DomainParticipant)> {
    [(1, false), (2, true), (3, false), (4, true)].into_iter().map(|(seed, local)| {
        let simulation = Simulation::new(seed);
        let robot = simulation.participant("robot", 0).unwrap();
        let station = if local { robot.clone() } else { simulation.participant("station", 0).unwrap() };
        (simulation, robot, station)
    })
}

#[test]
fn manual_writer_expires_recovers_and_closes() {
    for kind in [ManualByParticipant, ManualByTopic] {
        for (simulation, robot, station) in worlds() {
            let (writer, reader) = (writer(&robot, kind), reader(&station));
            writer.wait_for_readers(1).block().unwrap();
            reader.wait_for_writers(1).block().unwrap();
            assert_eq!(lively(&reader), (1, 0, 1, 0), "{kind:?}");
            writer.write(&Pose { robot: 1, x: 1 }).unwrap();
            simulation.run_for(MOMENT);
            assert_eq!(states(&reader), [InstanceState::Alive]);
            // The reader learns of the silence only with the next report of the participant.
            simulation.run_for(LEASE + HEARSAY);
            assert_eq!(lively(&reader), (0, 1, -1, 1), "{kind:?}");
            assert_eq!(reader.liveliness_changed().last_publication_handle, writer.instance_handle());
            assert_eq!(lost(&writer), (1, 1));
            assert_eq!(states(&reader), [InstanceState::NotAliveNoWriters]);
            // Silence counts once, however long it lasts.
            simulation.run_for(Duration::from_secs(10));
            assert_eq!((lively(&reader), lost(&writer)), ((0, 1, 0, 0), (1, 0)), "{kind:?}: silent is silent");
            writer.assert_liveliness().unwrap();
            simulation.run_for(MOMENT);
            assert_eq!(lively(&reader), (1, 0, 1, -1), "{kind:?}");
            simulation.run_for(LEASE + HEARSAY);
            assert_eq!(lively(&reader), (0, 1, -1, 1), "{kind:?}");
            writer.write(&Pose { robot: 1, x: 2 }).unwrap();
            simulation.run_for(MOMENT);
            assert_eq!(lively(&reader), (1, 0, 1, -1), "{kind:?}");
            assert_eq!(states(&reader), [InstanceState::Alive]);
            assert_eq!(lost(&writer), (2, 1));
            // A closed writer is neither alive nor lost.
            drop(writer);
            simulation.run_for(MOMENT);
            assert_eq!(lively(&reader), (0, 0, -1, 0), "{kind:?}");
        }
    }
}

#[test]
fn closed_lost_writer_leaves_not_alive_count() {
    for kind in [ManualByParticipant, ManualByTopic] {
        for (simulation, robot, station) in worlds() {
            let (writer, reader) = (writer(&robot, kind), reader(&station));
            reader.wait_for_writers(1).block().unwrap();
            simulation.run_for(Duration::from_secs(3));
            assert_eq!(lively(&reader), (0, 1, 0, 1));
            drop(writer);
            simulation.run_for(MOMENT);
            assert_eq!(lively(&reader), (0, 0, 0, -1), "{kind:?}");
        }
    }
}

#[test]
fn timely_assertions_keep_writer_alive() {
    for kind in [Automatic, ManualByParticipant, ManualByTopic] {
        for (simulation, robot, station) in worlds() {
            let (writer, reader) = (writer(&robot, kind), reader(&station));
            reader.wait_for_writers(1).block().unwrap();
            // Twice a slow assertion period, and one that is a million times faster than the lease.
            for step in 0..20_u32 {
                match step % 4 {
                    0 => writer.write(&Pose { robot: 1, x: step }).unwrap(),
                    1 => writer.dispose(&1).unwrap(),
                    2 => writer.assert_liveliness().unwrap(),
                    // A participant asserts all its writers except those of kind MANUAL_BY_TOPIC.
                    _ => robot.assert_liveliness(),
                }
                if step % 4 == 3 && kind == ManualByTopic {
                    writer.write(&Pose { robot: 2, x: step }).unwrap();
                }
                simulation.run_for(Duration::from_millis(900));
            }
            assert_eq!((lively(&reader), lost(&writer)), ((1, 0, 1, 0), (0, 0)), "{kind:?}");
        }
    }
}

#[test]
fn automatic_writer_expires_only_with_its_link() {
    let simulation = Simulation::new(5);
    let (robot, station) = (simulation.participant("robot", 0).unwrap(), simulation.participant("station", 0).unwrap());
    let (writer, reader) = (writer(&robot, Automatic), reader(&station));
    reader.wait_for_writers(1).block().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    writer.write(&Pose { robot: 1, x: 1 }).unwrap();
    // A long time without samples: the participant asserts the writer by itself.
    simulation.run_for(Duration::from_secs(60));
    assert_eq!(lively(&reader), (1, 0, 1, 0));
    assert_eq!(states(&reader), [InstanceState::Alive]);
    // Shorter than the participant's lease: the writer is not alive, and still matched.
    simulation.link("robot", "station").cut();
    simulation.run_for(Duration::from_secs(3));
    assert_eq!(lively(&reader), (0, 1, -1, 1));
    assert_eq!(reader.subscription_matched().current_count, 1);
    assert_eq!(states(&reader), [InstanceState::NotAliveNoWriters]);
    simulation.link("robot", "station").mend();
    // The next assertion restores the writer without a sample.
    simulation.run_for(Duration::from_secs(1));
    assert_eq!(lively(&reader), (1, 0, 1, -1));
    assert_eq!(lost(&writer), (0, 0), "the writer asserted its liveliness as often as possible");
}

#[test]
fn one_way_cut_expires_only_at_deaf_side() {
    for kind in [Automatic, ManualByParticipant, ManualByTopic] {
        let simulation = Simulation::new(6);
        let (robot, station) =
            (simulation.participant("robot", 0).unwrap(), simulation.participant("station", 0).unwrap());
        let (there, heard_there) = (writer(&robot, kind), reader(&station));
        let (here, heard_here) = (writer(&station, kind), reader(&robot));
        // Each reader matches the writer of its own participant, too.
        heard_there.wait_for_writers(2).block().unwrap();
        heard_here.wait_for_writers(2).block().unwrap();
        // The station does not hear the robot, but the robot hears the station.
        simulation.link("robot", "station").one_way().cut();
        for x in 0..10 {
            there.write(&Pose { robot: 1, x }).unwrap();
            here.write(&Pose { robot: 2, x }).unwrap();
            simulation.run_for(Duration::from_millis(300));
        }
        assert_eq!(lively(&heard_there), (1, 1, 1, 1), "{kind:?}");
        assert_eq!(lively(&heard_here), (2, 0, 2, 0), "{kind:?}");
        simulation.link("robot", "station").mend();
        there.write(&Pose { robot: 1, x: 11 }).unwrap();
        here.write(&Pose { robot: 2, x: 11 }).unwrap();
        simulation.run_for(Duration::from_millis(900));
        assert_eq!(lively(&heard_there), (2, 0, 1, -1), "{kind:?}");
    }
}

#[test]
fn one_writer_asserts_all_manual_by_participant() {
    for (simulation, robot, station) in worlds() {
        let (speaks, silent) = (writer(&robot, ManualByParticipant), writer(&robot, ManualByParticipant));
        let by_topic = writer(&robot, ManualByTopic);
        let reader = reader(&station);
        reader.wait_for_writers(3).block().unwrap();
        for x in 0..30 {
            speaks.write(&Pose { robot: 1, x }).unwrap();
            simulation.run_for(Duration::from_millis(100));
        }
        assert_eq!(lively(&reader), (2, 1, 2, 1));
        assert_eq!((lost(&speaks), lost(&silent), lost(&by_topic)), ((0, 0), (0, 0), (1, 1)));
        // Without assertions, the remaining two writers expire as well.
        simulation.run_for(Duration::from_secs(3));
        assert_eq!(lively(&reader), (0, 3, -2, 2));
        robot.assert_liveliness();
        simulation.run_for(MOMENT);
        assert_eq!(lively(&reader), (2, 1, 2, -2));
        assert_eq!((lost(&speaks), lost(&silent), lost(&by_topic)), ((1, 1), (1, 1), (1, 0)));
        // Both writers expire again, and the changes of the next read cancel out.
        simulation.run_for(Duration::from_secs(3));
        speaks.write(&Pose { robot: 1, x: 99 }).unwrap();
        simulation.run_for(MOMENT);
        assert_eq!(lively(&reader), (2, 1, 0, 0), "they went and came back between two looks");
    }
}

#[test]
fn best_effort_writer_asserts_manual_by_topic() {
    for (simulation, robot, station) in worlds() {
        let qos = of_kind(ManualByTopic, LEASE).best_effort();
        let writer = robot.writer_builder::<Pose>("poses").qos(qos).build().unwrap();
        let reader = station.reader_builder::<Pose>("poses").qos(DataReaderQos::default().best_effort());
        let reader = reader.build().unwrap();
        reader.wait_for_writers(1).block().unwrap();
        for _ in 0..10 {
            writer.assert_liveliness().unwrap();
            simulation.run_for(Duration::from_millis(800));
        }
        assert_eq!(lively(&reader), (1, 0, 1, 0));
        simulation.run_for(LEASE);
        assert_eq!(lively(&reader), (0, 1, -1, 1));
        writer.assert_liveliness().unwrap();
        simulation.run_for(MOMENT);
        assert_eq!(lively(&reader), (1, 0, 1, -1));
    }
}

#[test]
fn reader_uses_offered_lease_duration() {
    for (simulation, robot, station) in worlds() {
        let writer = writer(&robot, ManualByTopic);
        let asked = |lease_duration| {
            let liveliness = Liveliness::automatic(lease_duration);
            let qos = DataReaderQos::default().liveliness(liveliness);
            station.reader_builder::<Pose>("poses").qos(qos).build().unwrap()
        };
        let (longer, infinite) = (asked(Duration::from_secs(60)), asked(Duration::INFINITE));
        writer.wait_for_readers(2).block().unwrap();
        // The lease of the writer applies, not the longer one that the reader requests.
        simulation.run_for(LEASE);
        simulation.run_for(MOMENT);
        assert_eq!((lively(&longer), lively(&infinite)), ((0, 1, 0, 1), (0, 1, 0, 1)));
    }
}

#[test]
fn zero_and_infinite_leases_are_handled() {
    for (simulation, robot, station) in worlds() {
        let of = |lease| robot.writer_builder::<Pose>("poses").qos(of_kind(ManualByTopic, lease)).build().unwrap();
        let (shortest, infinite) = (of(Duration::from_nanos(1)), of(Duration::INFINITE));
        let reader = reader(&station);
        reader.wait_for_writers(2).block().unwrap();
        simulation.run_for(Duration::from_secs(3_600));
        assert_eq!(lively(&reader), (1, 1, 1, 1));
        assert_eq!((lost(&shortest), lost(&infinite)), ((1, 1), (0, 0)));
    }
}

#[test]
fn late_reader_learns_of_expired_writers() {
    let simulation = Simulation::new(7);
    let robot = simulation.participant("robot", 0).unwrap();
    let writer = writer(&robot, ManualByTopic);
    simulation.run_for(Duration::from_secs(3));
    assert_eq!(lost(&writer), (1, 1));
    // A reader of the same participant is told at once.
    let local = reader(&robot);
    assert_eq!(lively(&local), (0, 1, 0, 1));
    writer.write(&Pose { robot: 1, x: 1 }).unwrap();
    assert_eq!((lively(&local), states(&local)), ((1, 0, 1, -1), vec![InstanceState::Alive]));
}

#[derive(Clone, Default)]
struct Diary(Arc<Mutex<Vec<String>>>);

impl Diary {
    fn note(&self, who: &str, text: String) {
        self.0.lock().unwrap().push(format!("{who}: {text}"));
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl DataReaderListener<Pose> for Diary {
    fn on_liveliness_changed(&mut self, _: &DataReader<Pose>, status: LivelinessChangedStatus) {
        self.note("reader", format!("{} alive, {} not", status.alive_count, status.not_alive_count));
    }
}

impl DataWriterListener<Pose> for Diary {
    fn on_liveliness_lost(&mut self, _: &DataWriter<Pose>, status: CountStatus) {
        self.note("writer", format!("lost {}", status.total_count_change));
    }
}

impl SubscriberListener for Diary {
    fn on_liveliness_changed(&mut self, _: &dyn dds_core::listener::AnyEndpoint, status: LivelinessChangedStatus) {
        self.note("participant", format!("{} alive, {} not", status.alive_count, status.not_alive_count));
    }
}

impl PublisherListener for Diary {
    fn on_liveliness_lost(&mut self, _: &dyn dds_core::listener::AnyEndpoint, status: CountStatus) {
        self.note("participant", format!("lost {}", status.total_count_change));
    }
}

impl TopicListener for Diary {}

#[test]
fn lowest_requesting_listener_gets_liveliness() {
    let simulation = Simulation::with_interference(8, Interference::NONE);
    let robot = simulation.participant("robot", 0).unwrap();
    let diary = Diary::default();
    let both = StatusMask::LIVELINESS_CHANGED | StatusMask::LIVELINESS_LOST;
    robot.set_listener(both, diary.clone()).unwrap();
    let (writer, reader) = (writer(&robot, ManualByTopic), reader(&robot));
    simulation.run_for(Duration::from_secs(2));
    let mut told = diary.take();
    told.sort();
    assert_eq!(told, ["participant: 0 alive, 1 not", "participant: 1 alive, 0 not", "participant: lost 1"]);
    // From now on the endpoints request the statuses themselves.
    reader.set_listener(both, diary.clone()).unwrap();
    writer.set_listener(both, diary.clone()).unwrap();
    writer.assert_liveliness().unwrap();
    simulation.run_for(MOMENT);
    assert_eq!(diary.take(), ["reader: 1 alive, 0 not"]);
    simulation.run_for(Duration::from_secs(2));
    let mut told = diary.take();
    told.sort();
    assert_eq!(told, ["reader: 0 alive, 1 not", "writer: lost 1"]);
}

#[test]
fn event_streams_and_conditions_show_liveliness() {
    let simulation = Simulation::with_interference(9, Interference::NONE);
    let robot = simulation.participant("robot", 0).unwrap();
    let (writer, reader) = (writer(&robot, ManualByTopic), reader(&robot));
    let (mut of_writer, mut of_reader) = (pin!(writer.events()), pin!(reader.events()));
    let mut context = Context::from_waker(Waker::noop());
    simulation.run_for(MOMENT);
    assert!(reader.status_changes().contains(StatusMask::LIVELINESS_CHANGED));
    // Reading the status resets its change.
    lively(&reader);
    assert!(!reader.status_changes().contains(StatusMask::LIVELINESS_CHANGED));
    simulation.run_for(Duration::from_secs(2));
    assert!(reader.status_changes().contains(StatusMask::LIVELINESS_CHANGED));
    assert!(writer.status_changes().contains(StatusMask::LIVELINESS_LOST));
    let mut told = false;
    while let Poll::Ready(Some(event)) = of_writer.as_mut().poll_next(&mut context) {
        told |= matches!(event, WriterEvent::LivelinessLost(status) if status.total_count == 1);
    }
    assert!(told);
    let mut last = None;
    while let Poll::Ready(Some(event)) = of_reader.as_mut().poll_next(&mut context) {
        if let ReaderEvent::LivelinessChanged(status) = event {
            last = Some((status.alive_count, status.not_alive_count));
        }
    }
    assert_eq!(last, Some((0, 1)));
    assert_eq!(lost(&writer), (1, 1));
    assert!(!writer.status_changes().contains(StatusMask::LIVELINESS_LOST));
}

#[test]
fn ownership_leaves_silent_writer_and_returns() {
    for kind in [ManualByParticipant, ManualByTopic] {
        for (simulation, robot, station) in worlds() {
            let of = |qos: DataWriterQos, strength| {
                let qos = qos.ownership(Ownership::Exclusive).ownership_strength(strength);
                robot.writer_builder::<Pose>("poses").qos(qos).build().unwrap()
            };
            let strong = of(of_kind(kind, LEASE), 7);
            let weak = of(DataWriterQos::default().reliable(), 1);
            let qos = DataReaderQos::default().reliable().keep_all();
            let qos = qos.ownership(Ownership::Exclusive);
            let reader = station.reader_builder::<Pose>("poses").qos(qos).build().unwrap();
            strong.wait_for_readers(1).block().unwrap();
            weak.wait_for_readers(1).block().unwrap();
            let heard = || {
                simulation.run_for(MOMENT);
                let data: Vec<u32> = reader.take().unwrap().into_data().map(|pose| pose.x).collect();
                data
            };
            strong.write(&Pose { robot: 1, x: 1 }).unwrap();
            weak.write(&Pose { robot: 1, x: 2 }).unwrap();
            assert_eq!(heard(), [1]);
            // The strong writer loses the instance when its lease ends.
            simulation.run_for(LEASE + HEARSAY);
            weak.write(&Pose { robot: 1, x: 3 }).unwrap();
            assert_eq!(heard(), [3], "{kind:?}");
            strong.write(&Pose { robot: 1, x: 4 }).unwrap();
            simulation.run_for(MOMENT);
            weak.write(&Pose { robot: 1, x: 5 }).unwrap();
            assert_eq!(heard(), [4], "{kind:?}");
        }
    }
}

#[test]
fn end_of_instance_survives_one_sided_loss() {
    let simulation = Simulation::new(10);
    let (robot, station) = (simulation.participant("robot", 0).unwrap(), simulation.participant("station", 0).unwrap());
    let writer = robot.writer_builder::<Pose>("poses").qos(DataWriterQos::default().reliable().transient_local());
    let writer = writer.build().unwrap();
    let reader = station.reader_builder::<Pose>("poses");
    let reader = reader.qos(DataReaderQos::default().reliable().transient_local().keep_all()).build().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    for robot in 1..=4 {
        writer.write(&Pose { robot, x: 0 }).unwrap();
    }
    simulation.run_for(MOMENT);
    assert_eq!(states(&reader).len(), 4);
    // The robot does not hear the station, and its lease of the reader ends.
    simulation.link("station", "robot").one_way().cut();
    simulation.run_for(Duration::from_secs(40));
    assert_eq!(writer.publication_matched().current_count, 0);
    assert_eq!(reader.subscription_matched().current_count, 1, "the reader has noticed nothing");
    writer.unregister_instance(&1).unwrap();
    writer.dispose(&2).unwrap();
    writer.write(&Pose { robot: 3, x: 1 }).unwrap();
    // Samples of this time must be repaired after the interruption.
    simulation.run_for(Duration::from_secs(10));
    simulation.link("station", "robot").mend();
    simulation.run_for(Duration::from_secs(10));
    let told: Vec<(u32, bool)> = reader
        .take()
        .unwrap()
        .into_iter()
        .map(|sample| {
            let robot = reader.key_value(sample.info.instance_handle).unwrap();
            (robot, sample.info.instance_state == InstanceState::Alive)
        })
        .collect();
    assert_eq!(told, [(1, false), (2, false), (3, true)], "and nothing of the fourth, which is as it was");
}

/// Samples that a volatile writer writes without readers are for no reader.
///
/// The reader did not notice that it was away, so the writer tells it. The reader's ledger adds up, the reader waits
/// for nothing, and no writer waits for it.
#[test]
fn volatile_gap_of_one_sided_loss_is_counted() {
    for loss in [0.0, 0.3] {
        let simulation = Simulation::new(12);
        simulation.set_network(Conditions::ethernet().lossy(loss));
        let [robot, station] = ["robot", "station"].map(|host| simulation.participant(host, 0).unwrap());
        let writer = robot.writer_builder::<Pose>("poses").qos(DataWriterQos::default().reliable().keep_all());
        let writer = writer.build().unwrap();
        let reader = station.reader_builder::<Pose>("poses").qos(DataReaderQos::default().reliable().keep_all());
        let reader = reader.build().unwrap();
        writer.wait_for_readers(1).block().unwrap();
        reader.wait_for_writers(1).block().unwrap();
        (1..=4).for_each(|robot| writer.write(&Pose { robot, x: 0 }).unwrap());
        writer.acknowledged().block_for(Duration::from_secs(20)).unwrap();
        assert_eq!(reader.take().unwrap().len(), 4);
        // Only the writer's side loses its peer.
        simulation.link("station", "robot").one_way().cut();
        simulation.run_for(Duration::from_secs(40));
        assert_eq!(writer.publication_matched().current_count, 0);
        assert_eq!(reader.subscription_matched().current_count, 1, "the reader has noticed nothing");
        // Numbers 5 to 9.
        (0..3).for_each(|x| writer.write(&Pose { robot: 1, x }).unwrap());
        writer.dispose(&2).unwrap();
        writer.unregister_instance(&3).unwrap();
        simulation.run_for(Duration::from_secs(5));
        simulation.link("station", "robot").mend();
        let matched = || writer.publication_matched().current_count == 1;
        assert!(simulation.run_until(Duration::from_secs(20), matched));
        simulation.run_for(Duration::from_secs(5));
        // The writer has written nothing since. The initial HEARTBEAT informs the reader.
        let losses = reader.losses();
        // The reader counts the samples of the interruption as lost, because it was entitled to them.
        let [row] = &losses.writers[..] else { panic!("{losses:?}") };
        assert_eq!((row.first.0, row.last.0, row.known, row.received), (1, 9, 9, 4), "{row:?}");
        assert_eq!((row.not_received.total(), row.awaited, row.waiting), (5, 0, 0), "{row:?}");
        assert_eq!(reader.sample_lost().total_count, row.lost());
        assert_eq!(reader.take().unwrap().len(), 0);
        writer.acknowledged().block_for(Duration::from_secs(20)).unwrap();
        reader.historical_data().block_for(Duration::from_secs(20)).unwrap();
        writer.write(&Pose { robot: 4, x: 7 }).unwrap();
        writer.acknowledged().block_for(Duration::from_secs(20)).unwrap();
        let taken: Vec<u32> = reader.take().unwrap().into_data().map(|pose| pose.x).collect();
        assert_eq!(taken, [7]);
    }
}

/// If one side has lost the other, samples of that time are history for a volatile reader.
///
/// Both sides must match again, and all later samples must arrive. No writer may wait for a reader that is gone.
#[test]
fn volatile_pair_recovers_from_one_sided_loss() {
    for reader_notices in [false, true] {
        let simulation = Simulation::new(11);
        let [robot, station] = ["robot", "station"].map(|host| simulation.participant(host, 0).unwrap());
        let limits = ResourceLimits::NONE.max_samples(20);
        let qos = DataWriterQos::default().reliable().keep_all().resource_limits(limits);
        let writer = robot.writer_builder::<Pose>("poses").qos(qos).build().unwrap();
        let qos = DataReaderQos::default().reliable().keep_all();
        let reader = station.reader_builder::<Pose>("poses").qos(qos).build().unwrap();
        writer.wait_for_readers(1).block().unwrap();
        reader.wait_for_writers(1).block().unwrap();
        let matched = || {
            let readers = writer.publication_matched().current_count;
            (readers, reader.subscription_matched().current_count)
        };
        let taken = || reader.take().unwrap().into_data().map(|pose| pose.x).collect::<Vec<_>>();
        // The side that no longer hears its peer is the one that notices.
        let (from, to) = if reader_notices { ("robot", "station") } else { ("station", "robot") };
        for round in 0..3 {
            let first = 1_000 * round;
            (0..10).for_each(|x| writer.write(&Pose { robot: 1, x: first + x }).unwrap());
            writer.acknowledged().block_for(Duration::from_secs(20)).unwrap();
            assert_eq!(taken(), (first..first + 10).collect::<Vec<_>>());
            simulation.link(from, to).one_way().cut();
            simulation.run_for(Duration::from_secs(40));
            assert_eq!(matched(), if reader_notices { (1, 0) } else { (0, 1) });
            if !reader_notices {
                // More than there is room for, because no reader has to acknowledge it.
                (0..50).for_each(|x| writer.write(&Pose { robot: 1, x: first + 100 + x }).unwrap());
            }
            simulation.link(from, to).mend();
            assert!(simulation.run_until(Duration::from_secs(20), || matched() == (1, 1)), "{:?}", matched());
            simulation.run_for(Duration::from_secs(5));
            // Samples of the interruption may or may not arrive.
            taken();
        }
        reader.close();
        assert!(simulation.run_until(Duration::from_secs(20), || { writer.publication_matched().current_count == 0 }));
        (0..50).for_each(|x| writer.write(&Pose { robot: 1, x }).unwrap());
    }
}
