//! Each entity has a span with its GUID, and with its topic if it has one.

use crate::support::{Notes, World};
use dds_core::{DdsType, Entity};

#[derive(DdsType)]
struct Count {
    count: u64,
}

#[test]
fn spans_carry_guid_and_topic() {
    let ((participant, writer, reader), spans) = Notes::of_spans().take(|| {
        let participant = World::new().participant();
        let writer = participant.writer::<Count>("robot/count").unwrap();
        let reader = participant.reader::<Count>("robot/count").unwrap();
        (participant, writer, reader)
    });
    let has = |name: &str, parts: &[String]| {
        spans.iter().any(|span| span.starts_with(name) && parts.iter().all(|part| span.contains(part)))
    };
    let guid = |entity: &dyn Entity| format!("guid={}", entity.guid());
    let topic = "robot/count".to_owned();
    assert!(has("participant", &[guid(&participant)]), "{spans:?}");
    assert!(has("writer", &[guid(&writer), topic.clone()]), "{spans:?}");
    assert!(has("reader", &[guid(&reader), topic]), "{spans:?}");
}
