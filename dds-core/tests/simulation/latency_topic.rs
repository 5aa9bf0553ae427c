//! The topic on which a participant publishes the latencies of its endpoints.

use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::sim::{Conditions, Simulation};
use dds_core::stats::{LatencyKind, LatencyReport};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, Guid, InstanceState};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Reading {
    number: u32,
}

/// A participant that publishes its latencies, one that only writes, and one that looks at the reports.
struct Robots {
    simulation: Simulation,
    watched: DomainParticipant,
    other: DomainParticipant,
    reports: DataReader<LatencyReport>,
}

impl Robots {
    fn new() -> Self {
        let simulation = Simulation::new(4);
        simulation.set_network(Conditions::immediate().delayed(Duration::from_millis(3), Duration::ZERO));
        let watched = simulation.build("watched", DomainParticipant::builder(0).publish_latencies(true)).unwrap();
        let other = simulation.participant("other", 0).unwrap();
        let station = simulation.participant("station", 0).unwrap();
        let qos = DataReaderQos::default().reliable().transient_local();
        let reports = station.reader_builder(LatencyReport::TOPIC).qos(qos).build().unwrap();
        reports.wait_for_writers(1).block().unwrap();
        Self { simulation, watched, other, reports }
    }

    fn run(&self, millis: u64) {
        self.simulation.run_for(Duration::from_millis(millis));
    }

    fn taken(&self) -> Vec<LatencyReport> {
        self.reports.take().unwrap().into_iter().filter_map(|sample| sample.data).collect()
    }
}

fn reliable_pair(
    writing: &DomainParticipant,
    reading: &DomainParticipant,
) -> (DataWriter<Reading>, DataReader<Reading>) {
    let writer = writing.writer_builder("readings").qos(DataWriterQos::default().reliable()).build().unwrap();
    let reader =
        reading.reader_builder("readings").qos(DataReaderQos::default().reliable().keep_all()).build().unwrap();
    reader.wait_for_writers(1).block().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    (writer, reader)
}

fn millis(nanos: u64) -> u64 {
    (nanos + 500_000) / 1_000_000
}

#[test]
fn reader_reports_reception_and_take() {
    let robots = Robots::new();
    let (writer, reader) = reliable_pair(&robots.other, &robots.watched);
    for number in 0..8 {
        writer.write(&Reading { number }).unwrap();
        robots.run(10);
        assert_eq!(reader.take().unwrap().len(), 1);
    }
    robots.run(1100);
    let mut reports = robots.taken();
    reports.sort_by_key(|report| report.kind);
    let [received, taken] = &reports[..] else { panic!("{reports:?}") };
    assert_eq!((received.kind, taken.kind), (LatencyKind::WriteToReception, LatencyKind::ReceptionToTake));
    for report in [received, taken] {
        assert_eq!(Guid::from_bytes(report.endpoint), reader.guid());
        assert_eq!(report.topic_name, "readings");
        assert_eq!(report.buckets.iter().map(|bucket| bucket.count).sum::<u64>(), report.count);
        assert!(report.buckets.is_sorted_by_key(|bucket| bucket.upper_ns));
    }
    assert_eq!((received.count, millis(received.p50_ns), millis(received.sum_ns)), (8, 3, 24));
    // Each eighth take is measured: 10 ms after the write.
    assert_eq!((taken.count, millis(taken.max_ns)), (1, 7));
    assert_eq!((received.crosses_hosts, taken.crosses_hosts), (true, false));
    // Without new times, there is no new report.
    robots.run(3000);
    assert_eq!(robots.taken(), []);
    writer.write(&Reading { number: 9 }).unwrap();
    robots.run(1100);
    assert_eq!(robots.taken().len(), 1);
}

#[test]
fn writer_reports_acknowledgments() {
    let robots = Robots::new();
    let (writer, _reader) = reliable_pair(&robots.watched, &robots.other);
    writer.write(&Reading { number: 1 }).unwrap();
    writer.acknowledged().block().unwrap();
    robots.run(1100);
    let reports = robots.taken();
    let [report] = &reports[..] else { panic!("{reports:?}") };
    assert_eq!((report.kind, Guid::from_bytes(report.endpoint)), (LatencyKind::Acknowledgment, writer.guid()));
    assert_eq!((report.count, millis(report.min_ns), report.crosses_hosts), (1, 6, false));
}

#[test]
fn writer_on_the_same_host_shares_the_clock() {
    let robots = Robots::new();
    let (writer, _reader) = reliable_pair(&robots.watched, &robots.watched);
    writer.write(&Reading { number: 1 }).unwrap();
    robots.run(1100);
    let reports = robots.taken();
    let [report] = &reports[..] else { panic!("{reports:?}") };
    assert_eq!((report.kind, report.crosses_hosts), (LatencyKind::WriteToReception, false));
}

#[test]
fn late_reader_receives_the_last_report_and_end_of_endpoint() {
    let robots = Robots::new();
    let (writer, reader) = reliable_pair(&robots.other, &robots.watched);
    writer.write(&Reading { number: 1 }).unwrap();
    robots.run(2000);
    assert_eq!(robots.taken().len(), 1);
    let qos = DataReaderQos::default().reliable().transient_local();
    let late: DataReader<LatencyReport> = robots.other.reader_builder(LatencyReport::TOPIC).qos(qos).build().unwrap();
    late.wait_for_writers(1).block().unwrap();
    robots.run(500);
    assert_eq!(late.take().unwrap().len(), 1);
    reader.close();
    robots.run(1100);
    let states: Vec<_> = robots.reports.take().unwrap().into_iter().map(|it| it.info.instance_state).collect();
    assert_eq!(states, [InstanceState::NotAliveDisposed]);
}

#[test]
fn topic_survives_the_end_of_all_entities_and_ends_with_the_participant() {
    let robots = Robots::new();
    robots.watched.close_contained();
    robots.run(1500);
    robots.reports.take().unwrap();
    let (writer, _reader) = reliable_pair(&robots.other, &robots.watched);
    writer.write(&Reading { number: 1 }).unwrap();
    robots.run(1100);
    assert_eq!(robots.taken().len(), 1);
    let weak = robots.watched.downgrade();
    let Robots { simulation, watched, reports, other: _other } = robots;
    drop((_reader, watched));
    assert!(weak.upgrade().is_none());
    simulation.run_for(Duration::from_millis(500));
    assert!(reports.matched_publications().is_empty());
}

#[test]
fn participant_publishes_no_latencies_without_the_setting() {
    let robots = Robots::new();
    let writers = |participant: &DomainParticipant| {
        let prefix = participant.guid().prefix;
        let matched = robots.reports.matched_publications();
        matched.iter().filter(|writer| writer.guid.prefix == prefix).count()
    };
    assert_eq!((writers(&robots.watched), writers(&robots.other)), (1, 0));
}
