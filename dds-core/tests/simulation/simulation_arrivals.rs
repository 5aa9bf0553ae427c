//! Faults on reception, in virtual time.

use dds_core::config::ChecksumKind;
use dds_core::qos::Preset;
use dds_core::sim::{Conditions, Simulation};
use dds_core::{DdsType, DomainParticipant, Duration};
use dds_rtps::transport::faults::Faults;

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Count {
    count: u32,
}

fn under(seed: u64, conditions: Conditions) -> Faults {
    Faults { seed, conditions, ..Faults::default() }
}

/// Two hosts. The second one has these faults on reception.
fn hosts(faults: Faults) -> (Simulation, [DomainParticipant; 2]) {
    let simulation = Simulation::new(1);
    simulation.set_network(Conditions::default());
    let builder = || DomainParticipant::builder(0).message_checksums(ChecksumKind::Crc32c);
    let one = simulation.build("one", builder()).unwrap();
    let other = simulation.build("other", builder().receive_faults(faults)).unwrap();
    (simulation, [one, other])
}

#[test]
fn full_receive_loss_prevents_discovery() {
    let (simulation, [one, other]) = hosts(under(0, Conditions { loss: 1.0, ..Conditions::immediate() }));
    simulation.run_for(Duration::from_secs(30));
    assert_eq!(other.traffic().received, 0);
    assert!(one.traffic().received > 5, "its datagrams are undamaged");
}

#[test]
fn receive_delay_delays_samples() {
    let delay = Duration::from_millis(250);
    let (simulation, [one, other]) = hosts(under(0, Conditions { delay, ..Conditions::immediate() }));
    let reader = other.reader_builder::<Count>("counts").qos(Preset::Event.reader()).build().unwrap();
    let writer = one.writer_builder::<Count>("counts").qos(Preset::Event.writer()).build().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    reader.wait_for_writers(1).block().unwrap();
    simulation.run_for(Duration::from_secs(2));
    for count in 0..3 {
        let written = simulation.now();
        writer.write(&Count { count }).unwrap();
        let sample = reader.next_sample().block().unwrap();
        assert_eq!(sample.data.unwrap(), Count { count });
        let took = simulation.now().as_unix_nanos() - written.as_unix_nanos();
        assert!((250_000_000..260_000_000).contains(&took), "{took} ns");
    }
}

#[test]
fn receive_faults_are_repaired() {
    let conditions = Conditions::immediate().delayed(Duration::ZERO, Duration::from_millis(3));
    let conditions = conditions.lossy(0.1).duplicating(0.1).reordering(0.2).damaging(0.1);
    let (simulation, [one, other]) = hosts(under(5, conditions));
    let reader = other.reader_builder::<Count>("counts").qos(Preset::Event.reader()).build().unwrap();
    let writer = one.writer_builder::<Count>("counts").qos(Preset::Event.writer()).build().unwrap();
    writer.wait_for_readers(1).block().unwrap();
    reader.wait_for_writers(1).block().unwrap();
    for count in 0..500 {
        writer.write(&Count { count }).unwrap();
    }
    for count in 0..500 {
        assert_eq!(reader.next_sample().block().unwrap().data.unwrap(), Count { count });
    }
    simulation.run_for(Duration::from_secs(2));
    assert_eq!(reader.take().unwrap().len(), 0);
    assert!(other.traffic().damaged > 0);
}

/// The two programs of the README on a network that reorders datagrams.
///
/// Samples and disposals of participants use different sockets, so reordering may occur on any network.
#[test]
fn best_effort_samples_arrive_before_dispose() {
    for seed in 0..200 {
        let simulation = Simulation::new(seed);
        let network = Conditions::perfect().delayed(Duration::from_millis(5), Duration::from_millis(4)).reordering(0.5);
        simulation.set_network(network);
        let one = simulation.participant("one", 0).unwrap();
        let other = simulation.participant("other", 0).unwrap();
        let reader = other.reader::<Count>("counts").unwrap();
        let writer = one.writer::<Count>("counts").unwrap();
        writer.wait_for_readers(1).block().unwrap();
        writer.write(&Count { count: 7 }).unwrap();
        drop((writer, one));
        simulation.run_for(Duration::from_millis(100));
        let counts: Vec<Count> = reader.take().unwrap().into_data().collect();
        assert_eq!(counts, [Count { count: 7 }], "seed {seed}");
    }
}
