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
fn only_the_strongest_writer_of_each_instance_is_heard() {
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
fn ownership_passes_on_when_the_owner_unregisters_or_is_deleted() {
    Pair::on_every_way(|pair| {
        let lifecycle = WriterDataLifecycle { autodispose_unregistered_instances: false };
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
fn a_disposed_instance_is_still_its_owners() {
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
fn a_strength_changes_at_run_time() {
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
fn a_host_that_crashes_loses_its_instances() {
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
