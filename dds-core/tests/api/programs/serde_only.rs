//! A recursive type that implements serde alone, and a derived type of the same shape. Two programs exchange them.

use crate::support::{PATIENCE, World};
use dds_core::qos::{Preset, TopicQos};
use dds_core::{DdsType, Serde, Topic};
use serde::{Deserialize, Serialize};

/// A part of a robot, the parts mounted on it, and its replacement.
#[derive(Serialize, Deserialize, Debug, Clone, PartialEq)]
struct Part {
    name: String,
    mounted: Vec<Part>,
    spare: Option<Box<Part>>,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
struct DerivedPart {
    name: String,
    mounted: Vec<DerivedPart>,
    spare: Option<Box<DerivedPart>>,
}

impl From<&Part> for DerivedPart {
    fn from(Part { name, mounted, spare }: &Part) -> Self {
        let spare = spare.as_deref().map(|spare| Box::new(spare.into()));
        Self { name: name.clone(), mounted: mounted.iter().map(Self::from).collect(), spare }
    }
}

fn part(name: &str, mounted: &[Part]) -> Part {
    Part { name: name.to_owned(), mounted: mounted.to_vec(), spare: None }
}

fn arm() -> Part {
    let mut gripper = part("gripper", &[part("finger", &[]), part("finger", &[part("tip", &[])])]);
    gripper.spare = Some(Box::new(part("hook", &[])));
    part("arm", &[part("camera", &[]), gripper])
}

#[test]
fn recursive_serde_type_matches_derived_type() {
    for by_udp in [false, true] {
        let world = World::new();
        let participant = if by_udp { world.udp_participant() } else { world.participant() };
        let topic: Topic<Serde<Part>> = participant.serde_topic("parts", "DerivedPart", TopicQos::default()).unwrap();
        let (reader, writer) = (
            participant.reader_builder(&topic).qos(Preset::Event).build().unwrap(),
            participant.writer_builder(&topic).qos(Preset::Event).build().unwrap(),
        );
        let deriving = participant.reader_builder::<DerivedPart>("parts").qos(Preset::Event).build().unwrap();
        let answering = participant.writer_builder::<DerivedPart>("parts").qos(Preset::Event).build().unwrap();
        writer.wait_for_readers(2).block_for(PATIENCE).unwrap();
        answering.wait_for_readers(2).block_for(PATIENCE).unwrap();

        writer.write(&Serde(arm())).unwrap();
        let seen = deriving.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
        assert_eq!(seen, DerivedPart::from(&arm()));
        assert_eq!(reader.next_sample().block_for(PATIENCE).unwrap().data, Some(Serde(arm())));
        let tip = &seen.mounted[1].mounted[1];
        answering.write(tip).unwrap();
        let answer = reader.next_sample().block_for(PATIENCE).unwrap().data.unwrap();
        assert_eq!(answer, Serde(part("finger", &[part("tip", &[])])));
    }
}
