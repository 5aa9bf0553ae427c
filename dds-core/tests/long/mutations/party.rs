//! Participants with writers and readers of every kind, which all match those of the other parties.

use crate::simulated::{Node, World};
use dds_core::qos::{DataReaderQos, DataWriterQos, ResourceLimits};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, InstanceHandle};
use dds_rtps::types::GuidPrefix;

#[derive(DdsType, Debug, Clone, PartialEq)]
pub(crate) struct Pose {
    #[dds(key)]
    pub(crate) robot: u32,
    pub(crate) count: u64,
    pub(crate) name: String,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(extensibility = "mutable")]
pub(crate) struct Settings {
    #[dds(key)]
    pub(crate) name: String,
    pub(crate) count: u64,
    pub(crate) gains: Vec<f64>,
    pub(crate) limit: Option<u32>,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
pub(crate) struct Image {
    pub(crate) count: u64,
    pub(crate) pixels: Vec<u8>,
}

/// The type of most captures.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(name = "ShapeType", extensibility = "appendable")]
pub(crate) struct Shape {
    #[dds(key, bound = 128)]
    pub(crate) color: String,
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) shapesize: i32,
}

pub(crate) struct Topic<T> {
    pub(crate) writer: DataWriter<T>,
    pub(crate) reader: DataReader<T>,
}

pub(crate) struct Party {
    pub(crate) participant: DomainParticipant,
    pub(crate) node: Node,
    pub(crate) poses: Topic<Pose>,
    pub(crate) fast: Topic<Pose>,
    pub(crate) settings: Topic<Settings>,
    pub(crate) images: Topic<Image>,
    pub(crate) squares: Topic<Shape>,
}

/// Limit that the impersonated participant may fill.
///
/// The honest participant's samples fit beside it once they are taken.
const LIMITS: ResourceLimits = ResourceLimits::NONE.max_samples(256).max_instances(64).max_samples_per_instance(256);

impl Party {
    pub(crate) fn new(world: &World) -> Self {
        let node = world.node();
        node.record();
        let participant = node.build(world.builder().lease(Duration::from_secs(10)));
        let reliable = || (DataWriterQos::default().reliable(), DataReaderQos::default().reliable());
        let (writer, reader) = reliable();
        let few = LIMITS.max_samples(8).max_samples_per_instance(8);
        let poses = (writer.keep_last(64), reader.keep_all().resource_limits(few));
        let fast = (DataWriterQos::default().best_effort(), DataReaderQos::default().best_effort().keep_last(200));
        let (writer, reader) = reliable();
        let settings = (writer.transient_local(), reader.transient_local().keep_last(64).resource_limits(LIMITS));
        let (writer, reader) = reliable();
        let images = (writer.keep_last(8), reader.keep_all().resource_limits(LIMITS));
        let squares = (DataWriterQos::default().reliable(), DataReaderQos::default().best_effort().keep_last(200));
        Self {
            poses: topic(&participant, "pose", poses),
            fast: topic(&participant, "fast", fast),
            settings: topic(&participant, "settings", settings),
            images: topic(&participant, "image", images),
            squares: topic(&participant, "Square", squares),
            participant,
            node,
        }
    }

    pub(crate) fn prefix(&self) -> [u8; 12] {
        let GuidPrefix(prefix) = self.participant.guid().prefix;
        prefix
    }

    /// The ids of all endpoints, the same for each party.
    pub(crate) fn ids(&self) -> Vec<[u8; 4]> {
        let ids = |writer: dds_core::Guid, reader: dds_core::Guid| [writer.entity_id.0, reader.entity_id.0];
        let mut all = Vec::new();
        all.extend(ids(self.poses.writer.guid(), self.poses.reader.guid()));
        all.extend(ids(self.fast.writer.guid(), self.fast.reader.guid()));
        all.extend(ids(self.settings.writer.guid(), self.settings.reader.guid()));
        all.extend(ids(self.images.writer.guid(), self.images.reader.guid()));
        all.extend(ids(self.squares.writer.guid(), self.squares.reader.guid()));
        all
    }

    /// Writes a sample with every writer.
    pub(crate) fn speak(&self, count: u64) {
        self.poses.writer.write(&pose(count)).unwrap();
        self.fast.writer.write(&pose(count)).unwrap();
        self.settings.writer.write(&settings(count)).unwrap();
        self.images.writer.write(&image(count)).unwrap();
        let shape = Shape { color: "RED".into(), x: count as i32, y: 1, shapesize: 30 };
        self.squares.writer.write(&shape).unwrap();
    }

    /// Ends an instance of every writer.
    pub(crate) fn end_instances(&self) {
        self.poses.writer.dispose(&2).unwrap();
        self.settings.writer.unregister_instance(&"arm".to_owned()).unwrap();
        self.squares.writer.dispose(&"RED".to_owned()).unwrap();
    }
}

impl<T: dds_core::cdr::DecodeOwned + 'static> Topic<T> {
    /// Empties the reader, and appends the samples of the writer of `other` to `into`.
    pub(crate) fn take_from(&self, other: &Self, into: &mut Vec<T>) {
        let writer = InstanceHandle::from(other.writer.guid());
        for sample in self.reader.take().unwrap().iter() {
            match sample.decode() {
                Some(Ok(data)) if sample.info().publication_handle == writer => into.push(data),
                _ => {}
            }
        }
    }
}

pub(crate) fn pose(count: u64) -> Pose {
    Pose { robot: (count % 3) as u32, count, name: "arm".repeat(count as usize % 5) }
}

pub(crate) fn settings(count: u64) -> Settings {
    Settings { name: "arm".into(), count, gains: vec![0.5; count as usize % 4], limit: (count % 2 == 0).then_some(7) }
}

pub(crate) fn image(count: u64) -> Image {
    Image { count, pixels: (0..9_000).map(|at| (at as u64 ^ count) as u8).collect() }
}

fn topic<T: DdsType + 'static>(
    participant: &DomainParticipant,
    name: &'static str,
    (writer, reader): (DataWriterQos, DataReaderQos),
) -> Topic<T> {
    Topic {
        writer: participant.writer_builder(name).qos(writer).build().unwrap(),
        reader: participant.reader_builder(name).qos(reader).build().unwrap(),
    }
}
