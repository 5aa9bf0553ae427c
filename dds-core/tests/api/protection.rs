//! A pre-shared key on real sockets, and on shared memory if the build has it.

use crate::support::{PATIENCE, World};
use dds_core::qos::Preset;
use dds_core::security::{Passphrase, PreSharedKey};
use dds_core::{DdsType, DomainParticipant};

#[derive(DdsType, Debug, PartialEq, Clone)]
struct Block {
    bytes: Vec<u8>,
}

fn participant(world: &World, text: &str) -> DomainParticipant {
    let key = PreSharedKey::new(Passphrase::new(1, text).unwrap());
    world.builder().pre_shared_key(key).build().unwrap()
}

#[test]
fn protected_samples_of_all_sizes_arrive_in_real_time() {
    let world = World::new();
    let [robot, station] = [(); 2].map(|()| participant(&world, "a passphrase of this test"));
    let outsider = participant(&world, "a passphrase of an outsider");
    let writer = robot.writer_builder::<Block>("blocks").qos(Preset::Event).build().unwrap();
    let reader = station.reader_builder::<Block>("blocks").qos(Preset::Event).build().unwrap();
    let lonely = outsider.reader_builder::<Block>("blocks").qos(Preset::Event).build().unwrap();
    writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
    for len in [0, 1, 1000, 65_000, 1 << 20, 70_000, 3] {
        let block = Block { bytes: (0..len).map(|at| (at % 251) as u8).collect() };
        writer.write(&block).unwrap();
        let sample = reader.next_sample().block_for(PATIENCE).unwrap();
        assert_eq!(sample.data, Some(block), "{len} bytes");
    }
    assert_eq!((robot.discovered_participants().len(), outsider.discovered_participants().len()), (1, 0));
    assert!(lonely.take().unwrap().is_empty());
}
