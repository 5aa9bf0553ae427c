//! Participants whose private keys stay in a PKCS #11 token.

use crate::keystore::{Keystore, Kinds};
use crate::soft_hsm::{SoftHsm, with_soft_hsm};
use dds_core::qos::Preset;
use dds_core::security::Credentials;
use dds_core::sim::Simulation;
use dds_core::{DataReader, DdsType, DomainParticipant, Duration};

const PATIENCE: Duration = Duration::from_secs(60);

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Parcel {
    number: u32,
}

/// Moves the key of an identity from its file into a token.
fn move_key(hsm: &SoftHsm, keystore: &Keystore, name: &str, id: &str) {
    let folder = keystore.enclave(name);
    let key = std::fs::read_to_string(folder.join("key.pem")).unwrap();
    hsm.import(&key, "fleet", name, id);
    std::fs::remove_file(folder.join("key.pem")).unwrap();
    std::fs::write(folder.join("key.p11"), hsm.uri(&format!("token=fleet;object={name}"))).unwrap();
}

fn build(simulation: &Simulation, name: &str, credentials: Credentials) -> DomainParticipant {
    let builder = DomainParticipant::builder(0).ignore_environment().linger(Duration::ZERO).credentials(credentials);
    simulation.build(name, builder).unwrap()
}

#[test]
fn participants_with_keys_in_a_token_pass_samples() {
    with_soft_hsm("token_keys::participants_with_keys_in_a_token_pass_samples", |hsm| {
        hsm.add_token("fleet");
        let kinds = Kinds { rtps: "SIGN", discovery: "ENCRYPT", metadata: "ENCRYPT", ..Kinds::NONE };
        let keystore = Keystore::with(kinds);
        [("robot", "01"), ("station", "02")].into_iter().for_each(|(name, id)| move_key(hsm, &keystore, name, id));
        let simulation = Simulation::new(31);
        let [robot, station] = ["robot", "station"].map(|name| build(&simulation, name, keystore.credentials(name)));
        let writer = robot.writer_builder("parcels").qos(Preset::Event.writer()).build().unwrap();
        let reader: DataReader<Parcel> = station.reader_builder("parcels").qos(Preset::Event.reader()).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        writer.write(&Parcel { number: 7 }).unwrap();
        let sample = reader.next_sample().block_for(PATIENCE).unwrap();
        assert_eq!(sample.data, Some(Parcel { number: 7 }));
        // A fault names the file, the place and the next step.
        std::fs::write(keystore.enclave("robot").join("key.p11"), hsm.uri("token=ship;object=robot")).unwrap();
        let builder = DomainParticipant::builder(0).ignore_environment().credentials(keystore.credentials("robot"));
        let error = simulation.build("third", builder).unwrap_err().to_string();
        assert!(error.contains("key.p11: private key: "), "{error}");
        assert!(error.contains("no token fits (known: fleet): correct token=NAME"), "{error}");
    });
}
