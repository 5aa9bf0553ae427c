//! A bridge without types: it passes samples as bytes into memory that it reuses.

use super::{Log, log};
use crate::support::{PATIENCE, World};
use dds_core::Sample;
use dds_core::cdr::Encoded;
use dds_core::qos::{Preset, TopicQos};

#[test]
fn bridge_passes_samples_as_bytes() {
    let participant = World::new().participant();
    let inlet = participant.raw_topic("inside", "Log", TopicQos::default()).unwrap();
    let outlet = participant.raw_topic("outside", "Log", TopicQos::default()).unwrap();
    let from = participant.reader_builder(&inlet).qos(Preset::Event).build().unwrap();
    let to = participant.writer_builder(&outlet).qos(Preset::Event).build().unwrap();
    let reader = participant.reader_builder::<Log>("outside").qos(Preset::Event).build().unwrap();
    let writer = participant.writer_builder::<Log>("inside").qos(Preset::Event).build().unwrap();
    to.wait_for_readers(1).block_for(PATIENCE).unwrap();

    let mut buffer: Vec<Sample<Log>> = Vec::new();
    for round in ["a somewhat longer line", "short"] {
        for _ in 0..2 {
            writer.write(&log(round)).unwrap();
        }
        for sample in from.take().unwrap().iter() {
            let encoded: Encoded<'_> = sample.encoded().unwrap();
            to.write_encoded(encoded).unwrap();
        }
        assert_eq!(reader.take_into(&mut buffer).unwrap(), 2);
        assert!(buffer.iter().all(|sample| sample.data.as_ref() == Some(&log(round))));
    }
    let kept = buffer[0].data.as_ref().unwrap().text.capacity();
    assert!(kept >= "a somewhat longer line".len(), "the memory of the first round is used again: {kept}");
}
