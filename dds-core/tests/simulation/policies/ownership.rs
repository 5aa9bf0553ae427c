//! OWNERSHIP and OWNERSHIP_STRENGTH (DDS 1.4, 2.2.3.9 and 2.2.3.10).

use super::*;
use dds_core::qos::{Ownership, WriterDataLifecycle};

fn offer(strength: i32) -> DataWriterQos {
    DataWriterQos::default().ownership(Ownership::Exclusive).ownership_strength(strength)
}

fn request() -> DataReaderQos {
    DataReaderQos::default().reliable().keep_all().ownership(Ownership::Exclusive)
}

#[test]
fn only_strongest_writer_delivers_each_instance() {
    Pair::on_every_way(|pair| {
        let (weak, strong, reader) = (pair.writer(offer(1)), pair.writer(offer(2)), pair.reader(request()));
        pair.settle();
        pair.write(&weak, 1, 10);
        pair.write(&strong, 1, 20);
        pair.write(&weak, 1, 11);
        pair.write(&weak, 2, 12);
        assert_eq!(values(&reader), [10, 20, 12]);
    });
}

#[test]
fn ownership_moves_on_unregister_or_delete() {
    Pair::on_every_way(|pair| {
        let lifecycle = WriterDataLifecycle::KEEP;
        let strong = pair.writer(offer(2).writer_data_lifecycle(lifecycle));
        let (weak, reader) = (pair.writer(offer(1)), pair.reader(request()));
        pair.settle();
        pair.write(&strong, 1, 20);
        pair.write(&weak, 1, 10);
        strong.unregister_instance(&1).unwrap();
        pair.write(&weak, 1, 11);
        pair.write(&strong, 1, 21);
        pair.write(&weak, 1, 12);
        assert_eq!(values(&reader), [20, 11, 21]);
        drop(strong);
        pair.settle();
        pair.write(&weak, 1, 13);
        assert_eq!(values(&reader), [13]);
    });
}

#[test]
fn disposed_instance_keeps_its_owner() {
    Pair::on_every_way(|pair| {
        let (weak, strong, reader) = (pair.writer(offer(1)), pair.writer(offer(2)), pair.reader(request()));
        pair.settle();
        pair.write(&strong, 1, 20);
        weak.dispose(&1).unwrap();
        pair.run(50);
        assert_eq!(values(&reader), [20]);
        strong.dispose(&1).unwrap();
        pair.write(&weak, 1, 10);
        assert_eq!(states(&reader), [InstanceState::NotAliveDisposed]);
        pair.write(&strong, 1, 21);
        assert_eq!(values(&reader), [21]);
    });
}

#[test]
fn changed_strength_moves_ownership() {
    Pair::on_every_way(|pair| {
        let (one, other, reader) = (pair.writer(offer(1)), pair.writer(offer(2)), pair.reader(request()));
        pair.settle();
        pair.write(&other, 1, 20);
        pair.write(&one, 1, 10);
        one.set_qos(one.qos().ownership_strength(3)).unwrap();
        pair.run(500);
        pair.write(&other, 1, 21);
        pair.write(&one, 1, 11);
        one.set_qos(one.qos().ownership_strength(-3)).unwrap();
        pair.run(500);
        pair.write(&one, 1, 12);
        pair.write(&other, 1, 22);
        assert_eq!(values(&reader), [20, 11, 22]);
    });
}

#[test]
fn crashed_host_loses_ownership() {
    let simulation = Simulation::new(3);
    let (near, far) = (simulation.participant("near", 0).unwrap(), simulation.participant("far", 0).unwrap());
    let weak = near.writer_builder::<Pose>("pose").qos(offer(1)).build().unwrap();
    let reader = near.reader_builder::<Pose>("pose").qos(request()).build().unwrap();
    let strong = far.writer_builder::<Pose>("pose").qos(offer(2)).build().unwrap();
    simulation.run_for(Duration::from_secs(2));
    strong.write(&Pose { robot: 1, x: 20 }).unwrap();
    simulation.run_for(SOON);
    weak.write(&Pose { robot: 1, x: 10 }).unwrap();
    simulation.host("far").crash();
    simulation.run_for(Duration::from_secs(60));
    weak.write(&Pose { robot: 1, x: 11 }).unwrap();
    assert_eq!(values(&reader), [20, 11]);
}
