//! Peers of Humble and of later releases at once, as readers that know one form of announcements each.

use crate::{LIMIT, builder};
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Guid, Scope};
use dds_ros2::msgs::rmw_dds_common::msg::{Gid, ParticipantEntitiesInfo};
use dds_ros2::{Context, Distro, Node};

#[derive(DdsType, Debug, Clone, Default)]
struct HumbleGid {
    data: [u8; 24],
}

#[derive(DdsType, Debug, Clone, Default)]
struct HumbleNode {
    namespace: String,
    name: String,
    readers: Vec<HumbleGid>,
    writers: Vec<HumbleGid>,
}

/// The announcement of a participant of Humble.
#[derive(DdsType, Debug, Clone, Default)]
#[dds(name = "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_")]
struct HumbleInfo {
    participant: HumbleGid,
    nodes: Vec<HumbleNode>,
}

/// A participant outside of this crate, which announces no nodes and reads the announcements of one context.
struct Peer<T> {
    participant: DomainParticipant,
    announcements: DataReader<T>,
    own: DataWriter<T>,
}

impl<T: DdsType + 'static> Peer<T> {
    fn new(tag: &str) -> Self {
        let tag = format!("{tag}-{}", std::process::id());
        let builder = DomainParticipant::builder(0).scope(Scope::Host).domain_tag(tag).type_information(false);
        let participant = builder.build().unwrap();
        let reader = DataReaderQos::default().reliable().transient_local().keep_all();
        let announcements = participant.reader_builder::<T>("ros_discovery_info").qos(reader).build().unwrap();
        let writer = DataWriterQos::default().reliable().transient_local().keep_last(1);
        let own = participant.writer_builder::<T>("ros_discovery_info").qos(writer).build().unwrap();
        Self { participant, announcements, own }
    }
}

impl Peer<HumbleInfo> {
    fn announce(&self) {
        let mut participant = HumbleGid::default();
        participant.data[..16].copy_from_slice(&self.participant.guid().to_bytes());
        self.own.write(&HumbleInfo { participant, nodes: Vec::new() }).unwrap();
    }

    /// Waits until an announcement has these nodes. Those before it may be misread.
    fn wait_for(&self, context: &Context, nodes: &[&str]) {
        loop {
            let sample = self.announcements.next_sample().block_for(LIMIT).unwrap();
            let names: Vec<_> = sample.data.iter().flat_map(|info| &info.nodes).map(|node| &node.name).collect();
            if is_of(sample.info.sample_identity().writer, context) && names == nodes {
                return;
            }
        }
    }
}

impl Peer<ParticipantEntitiesInfo> {
    fn announce(&self) {
        let gid = Gid { data: self.participant.guid().to_bytes() };
        self.own.write(&ParticipantEntitiesInfo { gid, ..ParticipantEntitiesInfo::default() }).unwrap();
    }

    /// Waits until an announcement has these nodes. In the form of Humble, one would have none.
    fn wait_for(&self, context: &Context, nodes: &[&str]) {
        loop {
            let sample = self.announcements.next_sample().block_for(LIMIT).unwrap();
            if !is_of(sample.info.sample_identity().writer, context) {
                continue;
            }
            let info = sample.data.unwrap();
            let names: Vec<_> = info.node_entities_info_seq.iter().map(|node| node.node_name.as_str()).collect();
            assert!(!names.is_empty(), "{info:?}");
            if names == nodes {
                return;
            }
        }
    }
}

fn is_of(writer: Guid, context: &Context) -> bool {
    writer.prefix == context.participant().guid().prefix
}

#[test]
fn peers_of_both_forms_get_announcements_in_their_own() {
    let context = builder("forms").build().unwrap();
    let node = |name: &str| -> Node { context.node_builder(name).bare().build().unwrap() };
    let _first = node("first");
    let (humble, modern) = (Peer::<HumbleInfo>::new("forms"), Peer::<ParticipantEntitiesInfo>::new("forms"));
    humble.announce();
    modern.announce();
    humble.wait_for(&context, &["first"]);
    modern.wait_for(&context, &["first"]);
    let graph = context.graph();
    for (guid, distro) in [(humble.participant.guid(), Distro::Humble), (modern.participant.guid(), Distro::Jazzy)] {
        graph.wait_until(|graph| graph.distro(guid) == Some(distro)).block_for(LIMIT).unwrap();
    }
    let _second = node("second");
    humble.wait_for(&context, &["first", "second"]);
    modern.wait_for(&context, &["first", "second"]);
    // A late one, while both writers have their history.
    let late = Peer::<ParticipantEntitiesInfo>::new("forms");
    late.announce();
    late.wait_for(&context, &["first", "second"]);
    assert_eq!(graph.faults(), []);
}
