//! Topics whose governance protects the payloads, and with them the keys.

use crate::keystore::{Keystore, Kinds};
use dds_core::qos::{DataReaderQos, DataWriterQos, Durability, DurabilityService as ServiceQos};
use dds_core::sim::Simulation;
use dds_core::{Change, DdsType, DomainParticipant, Duration};
use dds_durability::DurabilityService;
use std::sync::{Arc, Mutex};

const PATIENCE: Duration = Duration::from_secs(60);
/// Their bytes appear nowhere by chance.
const DISPOSED: u64 = 0x0102_0304_0506_0708;
const ALIVE: u64 = 0x1112_1314_1516_1718;

#[derive(DdsType, Debug, PartialEq, Clone)]
struct Patient {
    #[dds(key)]
    number: u64,
    notes: String,
}

/// The service may know the type. Late readers get the right instances from it, and an outsider sees no key.
#[test]
fn no_key_of_a_protected_topic_is_readable() {
    let kinds = Kinds { data: "ENCRYPT", ..Kinds::NONE };
    let keystore = Keystore::new(&["keeper", "robot", "station"], kinds, |text| text);
    for (seed, builder) in (0..).zip([DurabilityService::builder().key_of::<Patient>(), DurabilityService::builder()]) {
        let simulation = Simulation::new(seed);
        let datagrams = Arc::new(Mutex::new(Vec::new()));
        let record = Arc::clone(&datagrams);
        simulation.intercept(move |passing| {
            record.lock().unwrap().push(passing.bytes.to_vec());
            true
        });
        let build = |name: &str| {
            let participant = DomainParticipant::builder(0).ignore_environment().linger(Duration::ZERO);
            participant.credentials(keystore.credentials(name))
        };
        let keeper = simulation.build("keeper", DurabilityService::participant_of(build("keeper"))).unwrap();
        let service = builder.start(keeper).unwrap();
        let robot = simulation.build("robot", build("robot")).unwrap();
        let kept = ServiceQos::default().keep_last(3).cleanup_delay(Duration::from_secs(30));
        let qos = DataWriterQos::default().reliable().keep_all();
        let qos = qos.durability(Durability::Transient).durability_service(kept);
        let writer = robot.writer_builder::<Patient>("patients").qos(qos).build().unwrap();
        writer.wait_for_readers(1).block_for(PATIENCE).unwrap();
        let alive = Patient { number: ALIVE, notes: "confidential".to_owned() };
        writer.write(&Patient { number: DISPOSED, notes: "gone".to_owned() }).unwrap();
        writer.dispose(&DISPOSED).unwrap();
        writer.write(&alive).unwrap();
        assert!(simulation.run_until(PATIENCE, || service.status().changes == 3), "{:?}", service.status());
        assert_eq!((service.status().instances, service.status().of_unknown_instance), (2, 0));
        drop((writer, robot));
        let station = simulation.build("station", build("station")).unwrap();
        let qos = DataReaderQos::default().reliable().keep_all().durability(Durability::Transient);
        let late = station.reader_builder::<Patient>("patients").qos(qos).build().unwrap();
        let mut changes = Vec::new();
        let has_both = || {
            changes.extend(late.take().unwrap().into_changes());
            changes.iter().any(|change| matches!(change, Change::Disposed(DISPOSED)))
                && changes.iter().any(|change| matches!(change, Change::Data(data) if *data == alive))
        };
        assert!(simulation.run_until(PATIENCE, has_both), "seed {seed}");
        // The service withdraws the disposed instance after its delay, and tells the reader.
        assert!(simulation.run_until(PATIENCE, || service.status().instances == 1));
        simulation.run_for(Duration::from_secs(5));
        for datagram in datagrams.lock().unwrap().iter() {
            for key in [DISPOSED, ALIVE] {
                for bytes in [key.to_be_bytes(), key.to_le_bytes()] {
                    assert!(!datagram.windows(8).any(|window| window == bytes), "{key:x} is readable, seed {seed}");
                }
            }
        }
    }
}
