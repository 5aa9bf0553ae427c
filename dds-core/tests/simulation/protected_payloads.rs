//! Topics whose payloads are protected by themselves: `data_protection_kind`.

use crate::keystore::{Keystore, Kinds};
use dds_core::matching::Obstacle;
use dds_core::qos::Preset;
use dds_core::sim::{Conditions, Simulation};
use dds_core::{Change, DataReader, DataWriter, DdsType, DomainParticipant, Duration};
use std::sync::{Arc, Mutex};

const PATIENCE: Duration = Duration::from_secs(60);
const PAYLOADS: Kinds = Kinds { data: "ENCRYPT", ..Kinds::NONE };

#[derive(DdsType, Debug, PartialEq, Clone)]
struct Patient {
    #[dds(key)]
    number: u64,
    notes: String,
}

fn patient(number: u64, notes: &str) -> Patient {
    Patient { number, notes: notes.to_owned() }
}

fn build(simulation: &Simulation, keystore: &Keystore, name: &str) -> DomainParticipant {
    let builder = DomainParticipant::builder(0).ignore_environment().linger(Duration::ZERO);
    simulation.build(name, builder.credentials(keystore.credentials(name))).unwrap()
}

fn reader(participant: &DomainParticipant) -> DataReader<Patient> {
    participant.reader_builder("patients").qos(Preset::State.reader()).build().unwrap()
}

fn writer(participant: &DomainParticipant) -> DataWriter<Patient> {
    participant.writer_builder("patients").qos(Preset::State.writer()).build().unwrap()
}

/// Returns what passes the network from now on.
fn recorded(simulation: &Simulation) -> Arc<Mutex<Vec<Vec<u8>>>> {
    let datagrams = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&datagrams);
    simulation.intercept(move |passing| {
        record.lock().unwrap().push(passing.bytes.to_vec());
        true
    });
    datagrams
}

fn contains(datagrams: &Mutex<Vec<Vec<u8>>>, part: &[u8]) -> bool {
    datagrams.lock().unwrap().iter().any(|bytes| bytes.windows(part.len()).any(|window| window == part))
}

#[test]
fn late_joiners_instances_and_local_readers_get_plain_samples() {
    for (seed, kinds) in
        (0..).zip([PAYLOADS, Kinds { metadata: "SIGN", ..PAYLOADS }, Kinds { data: "SIGN", ..PAYLOADS }])
    {
        let keystore = Keystore::with(kinds);
        let simulation = Simulation::new(seed);
        simulation.set_network(Conditions { loss: 0.1, ..Conditions::default() });
        let datagrams = recorded(&simulation);
        let (robot, station) = (build(&simulation, &keystore, "robot"), build(&simulation, &keystore, "station"));
        let patients = writer(&robot);
        let local = reader(&robot);
        let (one, other) = (patient(0x0102_0304_0506_0708, "confidential"), patient(9, &"confidential ".repeat(9_000)));
        for sample in [&one, &other] {
            patients.write(sample).unwrap();
        }
        patients.dispose(&9).unwrap();
        let remote = reader(&station);
        for reader in [&local, &remote] {
            assert!(reader.historical_data().block_for(PATIENCE).is_ok());
            let mut changes = Vec::new();
            let has_both = || {
                changes.extend(reader.take().unwrap().into_changes());
                changes.iter().any(|change| matches!(change, Change::Disposed(9)))
                    && changes.iter().any(|change| matches!(change, Change::Data(data) if *data == one))
            };
            assert!(simulation.run_until(PATIENCE, has_both), "{kinds:?}");
        }
        let is_secret = kinds.data == "ENCRYPT";
        assert_eq!(contains(&datagrams, b"confidential"), !is_secret, "{kinds:?}");
        // The key is neither in the payload, nor in the key hash beside it.
        assert!(!is_secret || !contains(&datagrams, &one.number.to_be_bytes()), "{kinds:?}");
        assert!(!is_secret || !contains(&datagrams, &one.number.to_le_bytes()), "{kinds:?}");
    }
}

#[test]
fn content_filters_read_plain_samples() {
    let keystore = Keystore::with(PAYLOADS);
    let simulation = Simulation::new(3);
    let (robot, station) = (build(&simulation, &keystore, "robot"), build(&simulation, &keystore, "station"));
    let patients = robot.writer_builder::<Patient>("patients").qos(Preset::Event.writer()).build().unwrap();
    let filtered =
        station.reader_builder::<Patient>("patients").qos(Preset::Event.reader()).filter("number > 5").build().unwrap();
    patients.wait_for_readers(1).block_for(PATIENCE).unwrap();
    for number in 0..10 {
        patients.write(&patient(number, "a note")).unwrap();
    }
    patients.acknowledged().block_for(PATIENCE).unwrap();
    let numbers: Vec<u64> = filtered.take().unwrap().into_data().map(|patient| patient.number).collect();
    assert_eq!(numbers, [6, 7, 8, 9]);
}

#[test]
fn another_data_protection_is_named() {
    let keystore = Keystore::with(PAYLOADS);
    let simulation = Simulation::new(4);
    let robot = build(&simulation, &keystore, "robot");
    keystore.edit_governance(|text| text.replace("<data_protection_kind>ENCRYPT<", "<data_protection_kind>SIGN<"));
    let station = build(&simulation, &keystore, "station");
    let (patients, _reader) = (writer(&robot), reader(&station));
    assert!(simulation.run_until(PATIENCE, || !patients.explain_matches().is_empty()));
    let reports = patients.explain_matches();
    let [Obstacle::Security { reason }] = &reports[0].obstacles[..] else { panic!("{reports:?}") };
    assert!(reason.contains("protects the topic in another way"), "{reason}");
}

/// Participants announce themselves for the second time after 100 ms. Lost messages would be repeated then.
#[test]
fn protected_endpoints_match_before_the_second_announcement() {
    let none = Kinds::NONE;
    let all = Kinds { rtps: "SIGN", discovery: "ENCRYPT", liveliness: "ENCRYPT", metadata: "ENCRYPT", data: "ENCRYPT" };
    let of_discovery = Kinds { discovery: "ENCRYPT", ..none };
    for kinds in [PAYLOADS, Kinds { metadata: "SIGN", ..none }, Kinds { rtps: "ENCRYPT", ..none }, of_discovery, all] {
        let keystore = Keystore::with(kinds);
        for seed in 0..4 {
            let simulation = Simulation::new(seed);
            let start = simulation.now();
            let (robot, station) = (build(&simulation, &keystore, "robot"), build(&simulation, &keystore, "station"));
            let (patients, visits) = (writer(&robot), reader(&station));
            patients.wait_for_readers(1).block_for(PATIENCE).unwrap();
            visits.wait_for_writers(1).block_for(PATIENCE).unwrap();
            let took = simulation.now().as_unix_nanos() - start.as_unix_nanos();
            assert!(took < 50_000_000, "{kinds:?}, seed {seed}: {took} ns of virtual time");
        }
    }
}
