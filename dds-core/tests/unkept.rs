//! A writer that offers to outlive itself, and nobody who would see to that: the log says so.

#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]
#![cfg(all(feature = "sim", feature = "durability"))]

use dds_core::qos::{DataWriterQos, Durability};
use dds_core::sim::Simulation;
use dds_core::{DdsType, DurabilityService, Duration};
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

#[derive(DdsType)]
struct Count {
    count: u64,
}

/// Notes every warning.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<Vec<String>>>);

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_event() && *metadata.level() == Level::WARN
    }
    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.0.lock().unwrap().push(fields.0);
    }
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

/// What a writer of this durability says when it goes after one sample.
fn warnings(durability: Durability, has_service: bool) -> Vec<String> {
    let warnings = Warnings::default();
    tracing::subscriber::with_default(warnings.clone(), || {
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
    let all = warnings.0.lock().unwrap();
    all.iter().filter(|warning| warning.contains("no durability service")).cloned().collect()
}

#[test]
fn a_writer_whose_samples_nobody_keeps_says_so_when_it_goes() {
    assert_eq!(warnings(Durability::Transient, false).len(), 1);
    assert_eq!(warnings(Durability::Persistent, false).len(), 1);
    assert!(warnings(Durability::TransientLocal, false).is_empty());
    assert!(warnings(Durability::Transient, true).is_empty());
}
