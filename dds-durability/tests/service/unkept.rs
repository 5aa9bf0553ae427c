//! A writer with samples that should outlive it, and no durability service: the log contains a warning.

use crate::support::Notes;
use dds_core::qos::{DataWriterQos, Durability};
use dds_core::sim::Simulation;
use dds_core::{DdsType, Duration};
use dds_durability::DurabilityService;

#[derive(DdsType)]
struct Count {
    count: u64,
}

/// Warnings of a writer with this durability when it closes after one sample.
fn warnings(durability: Durability, has_service: bool) -> Vec<String> {
    let ((), mut warnings) = Notes::of_warnings().take(|| {
        let simulation = Simulation::new(1);
        let robot = simulation.participant("robot", 0).unwrap();
        let service = has_service.then(|| {
            let participant = simulation.build("keeper", DurabilityService::participant(0)).unwrap();
            DurabilityService::builder().start(participant).unwrap()
        });
        let qos = DataWriterQos::default().reliable().durability(durability);
        let writer = robot.writer_builder::<Count>("count").qos(qos).build().unwrap();
        simulation.run_for(Duration::from_secs(5));
        writer.write(&Count { count: 1 }).unwrap();
        drop((writer, service));
    });
    warnings.retain(|warning| warning.contains("no durability service"));
    warnings
}

#[test]
fn writer_without_service_warns_on_close() {
    assert_eq!(warnings(Durability::Transient, false).len(), 1);
    assert_eq!(warnings(Durability::Persistent, false).len(), 1);
    assert!(warnings(Durability::TransientLocal, false).is_empty());
    assert!(warnings(Durability::Transient, true).is_empty());
}
