//! TRANSPORT_PRIORITY (DDS 1.4, 2.2.3.15): a writer's datagrams use its traffic class, which may change at any time.

use super::{Pair, Pose, SOON, values};
use dds_core::qos::{DataReaderQos, DataWriterQos, EntityFactory, PublisherQos};
use dds_core::sim::{Conditions, Simulation};
use dds_core::{DdsType, Duration};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

/// The traffic classes of the datagrams to user-data ports since the last check.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<BTreeSet<u8>>>);

impl Seen {
    fn of(simulation: &Simulation) -> Self {
        let seen = Self::default();
        let noted = seen.clone();
        simulation.intercept(move |passing| {
            if !passing.to.ip().is_multicast() && passing.to.port() % 2 == 1 && passing.from.octets()[3] == 1 {
                noted.0.lock().unwrap().insert(passing.dscp);
            }
            true
        });
        seen
    }

    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut *self.0.lock().unwrap()).into_iter().collect()
    }
}

#[test]
fn datagrams_use_traffic_class_of_writer() {
    Pair::on_every_way(|pair| {
        let is_remote = pair.from.guid() != pair.to.guid();
        let seen = Seen::of(&pair.simulation);
        let reader = pair.reader(DataReaderQos::default().reliable().keep_all());
        let urgent = pair.writer(DataWriterQos::default().keep_all().transport_priority(46));
        let usual = pair.writer(DataWriterQos::default().keep_all());
        pair.settle();
        let expect = |classes: &[u8], x: u32| {
            let remote: &[u8] = if is_remote { classes } else { &[] };
            assert_eq!((seen.take(), values(&reader)), (remote.to_vec(), vec![x]));
        };
        seen.take();
        pair.write(&urgent, 1, 1);
        expect(&[46], 1);
        pair.write(&usual, 1, 2);
        expect(&[0], 2);
        // Every 32-bit value is legal.
        for (x, (priority, class)) in [(i32::MAX, 63), (-7, 0), (10, 10)].into_iter().enumerate() {
            urgent.set_qos(urgent.qos().transport_priority(priority)).unwrap();
            pair.simulation.run_for(SOON);
            seen.take();
            pair.write(&urgent, 1, x as u32);
            expect(&[class], x as u32);
        }
    });
}

#[derive(DdsType)]
struct Map {
    cells: Vec<u8>,
}

/// The class applies to fragments and to repairs as well.
#[test]
fn fragments_and_repairs_use_traffic_class() {
    let simulation = Simulation::new(11);
    let from = simulation.participant("robot", 0).unwrap();
    let to = simulation.participant("station", 0).unwrap();
    simulation.set_network(Conditions { loss: 0.3, ..Conditions::default() });
    let seen = Seen::of(&simulation);
    let reader = to.reader_builder::<Map>("map").qos(DataReaderQos::default().reliable()).build().unwrap();
    let writer = from.writer_builder("map").qos(DataWriterQos::default().transport_priority(5)).build().unwrap();
    writer.wait_for_readers(1).block_for(Duration::from_secs(60)).unwrap();
    writer.write(&Map { cells: vec![7; 100_000] }).unwrap();
    let sample = reader.next_sample().block_for(Duration::from_secs(60)).unwrap();
    assert_eq!(sample.data.map(|map: Map| map.cells.len()), Some(100_000));
    assert_eq!(seen.take(), [5]);
}

/// A writer that is created disabled gets the class of the QoS at the time of `enable`.
#[test]
fn traffic_class_is_set_when_writer_is_enabled() {
    let simulation = Simulation::new(12);
    let from = simulation.participant("robot", 0).unwrap();
    let to = simulation.participant("station", 0).unwrap();
    let seen = Seen::of(&simulation);
    let reader = to.reader::<Pose>("pose").unwrap();
    let factory = EntityFactory::MANUAL;
    let publisher = from.publisher(PublisherQos::default().entity_factory(factory)).unwrap();
    let writer = publisher.writer::<Pose>("pose").unwrap();
    writer.set_qos(writer.qos().transport_priority(20)).unwrap();
    writer.enable().unwrap();
    simulation.run_for(Duration::from_secs(2));
    seen.take();
    writer.write(&Pose { robot: 1, x: 1 }).unwrap();
    simulation.run_for(SOON);
    assert_eq!((seen.take(), values(&reader)), (vec![20], vec![1]));
}
