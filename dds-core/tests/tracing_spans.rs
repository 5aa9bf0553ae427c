//! Each entity has a span that carries its GUID, and its topic if it has one.

#![allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]

mod support;

use dds_core::{DdsType, Entity};
use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use support::World;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

#[derive(DdsType)]
struct Count {
    count: u64,
}

/// Notes every new span as its name and fields.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span()
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(span.metadata().name().to_owned());
        span.record(&mut fields);
        let mut spans = self.0.lock().unwrap();
        spans.push(fields.0);
        Id::from_u64(spans.len() as u64)
    }
    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn event(&self, _event: &Event<'_>) {}
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

#[test]
fn spans_carry_guid_and_topic() {
    let notes = Notes::default();
    let (participant, writer, reader) = tracing::subscriber::with_default(notes.clone(), || {
        let participant = World::new().participant();
        let writer = participant.writer::<Count>("robot/count").unwrap();
        let reader = participant.reader::<Count>("robot/count").unwrap();
        (participant, writer, reader)
    });
    let spans = notes.0.lock().unwrap().clone();
    let has = |name: &str, parts: &[String]| {
        spans.iter().any(|span| span.starts_with(name) && parts.iter().all(|part| span.contains(part)))
    };
    let guid = |entity: &dyn Entity| format!("guid={}", entity.guid());
    let topic = "robot/count".to_owned();
    assert!(has("participant", &[guid(&participant)]), "{spans:?}");
    assert!(has("writer", &[guid(&writer), topic.clone()]), "{spans:?}");
    assert!(has("reader", &[guid(&reader), topic]), "{spans:?}");
}
