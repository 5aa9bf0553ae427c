//! A pre-shared key on real sockets, and on shared memory if the build has it.

#[cfg(feature = "security-pki")]
use crate::keystore::{Keystore, Kinds};
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

/// The answers count for participants that are there, and for those that come later.
#[cfg(feature = "security-pki")]
#[test]
#[allow(clippy::disallowed_methods, reason = "the test runs in real time")]
fn participant_is_cut_off_that_an_answer_of_ocsp_revokes() {
    let keystore = Keystore::new(&["robot", "station", "thief"], Kinds { rtps: "SIGN", ..Kinds::NONE }, |text| text);
    let world = World::new();
    let build = |name: &str| world.builder().credentials(keystore.credentials(name)).build().unwrap();
    let knows = |participant: &DomainParticipant, count| {
        let start = std::time::Instant::now();
        while participant.discovered_participants().len() != count {
            assert!(start.elapsed().as_secs() < 60, "{} are known", participant.discovered_participants().len());
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
    };
    let [robot, station, thief] = ["robot", "station", "thief"].map(build);
    let writer = robot.writer_builder::<Block>("blocks").qos(Preset::Event).build().unwrap();
    let [reader, stolen] = [&station, &thief]
        .map(|participant| participant.reader_builder::<Block>("blocks").qos(Preset::Event).build().unwrap());
    let block = |number| Block { bytes: vec![number; 100] };
    let pass = |number| {
        writer.write(&block(number)).unwrap();
        assert_eq!(reader.next_sample().block_for(PATIENCE).unwrap().data, Some(block(number)));
    };
    writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
    knows(&robot, 2);
    if !keystore.write_answer("robot", "thief", false) {
        return crate::support::skip("openssl");
    }
    robot.reload_revocations().unwrap();
    pass(1);
    assert_eq!(stolen.next_sample().block_for(PATIENCE).unwrap().data, Some(block(1)));
    assert_eq!(robot.discovered_participants().len(), 2, "a good answer cuts no participant off");
    assert!(keystore.write_answer("robot", "thief", true));
    robot.reload_revocations().unwrap();
    knows(&robot, 1);
    let names_thief = |participant: &DomainParticipant| {
        let reason = participant.explain_protection().unwrap_or_default();
        reason.contains("the authority has revoked the certificate")
    };
    assert!(names_thief(&robot), "{:?}", robot.explain_protection());
    pass(2);
    assert!(stolen.take().unwrap().into_data().next().is_none());
    // A participant that reads the file at its start, and another one of the thief.
    let later = build("robot");
    let again = build("thief");
    knows(&later, 2);
    knows(&again, 2);
    let reads = [&robot, &later].map(|participant| participant.guid().prefix);
    assert!(again.discovered_participants().iter().all(|known| !reads.contains(&known.key.prefix)));
    let start = std::time::Instant::now();
    while !names_thief(&later) {
        assert!(start.elapsed().as_secs() < 60, "{:?}", later.explain_protection());
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}
