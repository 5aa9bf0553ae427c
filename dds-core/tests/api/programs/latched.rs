//! A value that late joiners see: one constant holds name, type and QoS; a function serves topics of any type.

use super::Log;
use crate::support::{PATIENCE, World};
use dds_core::cdr::DecodeOwned;
use dds_core::qos::Preset;
use dds_core::{DdsType, DomainParticipant, Result, TopicSpec};

const MAP: TopicSpec<Log> = TopicSpec::new("map", Preset::Parameter);

/// Returns the last value of a latched topic.
fn latest<T: DdsType + DecodeOwned>(participant: &DomainParticipant, topic: &TopicSpec<T>) -> Result<T> {
    let reader = participant.reader(topic)?;
    loop {
        if let Some(value) = reader.next_sample().block_for(PATIENCE)?.data {
            return Ok(value);
        }
    }
}

#[test]
fn late_joiner_sees_last_value() {
    let world = World::new();
    let (early, late) = (world.udp_participant(), world.udp_participant());
    let writer = early.writer(&MAP).unwrap();
    for text in ["old", "new"] {
        writer.write(&super::log(text)).unwrap();
    }
    assert_eq!(latest(&late, &MAP).unwrap(), super::log("new"));
    assert_eq!(latest(&early, &MAP).unwrap(), super::log("new"));
}
