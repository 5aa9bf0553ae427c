//! The message of the topic `ros_discovery_info`: the nodes of a participant, with their endpoints.
//!
//! A GID has 16 bytes since ROS 2 Iron, and 24 in Humble, where 8 zero bytes follow the GUID. Topic and type have the
//! same names, so the length of the message decides (`rmw_dds_common/msg/Gid.msg`).

use dds_cdr::cdr::{DecodeError, EncodeError, Encoding, decode_payload, encode_payload};
use dds_core::error::CreateError;
use dds_core::qos::{DataRepresentation, DataWriterQos};
use dds_core::{DataWriter, DdsType, DomainParticipant, Guid};
use dds_ros2_msgs::RosMessage;
use dds_ros2_msgs::rmw_dds_common::msg::{Gid, NodeEntitiesInfo, ParticipantEntitiesInfo};

/// The topic.
pub(crate) const TOPIC: &str = "ros_discovery_info";

#[derive(DdsType, Debug, Clone, Default)]
struct HumbleGid {
    data: [u8; 24],
}

#[derive(DdsType, Debug, Clone, Default)]
struct HumbleNode {
    #[dds(bound = 256)]
    node_namespace: String,
    #[dds(bound = 256)]
    node_name: String,
    reader_gid_seq: Vec<HumbleGid>,
    writer_gid_seq: Vec<HumbleGid>,
}

#[derive(DdsType, Debug, Clone, Default)]
struct HumbleParticipant {
    gid: HumbleGid,
    node_entities_info_seq: Vec<HumbleNode>,
}

/// The longest message that counts. It has the endpoints of a thousand nodes.
pub(crate) const LEN_MAX: usize = 1 << 20;

/// Creates a writer of the topic.
pub(super) fn writer(participant: &DomainParticipant) -> Result<DataWriter<ParticipantEntitiesInfo>, CreateError> {
    let qos = DataWriterQos::default().reliable().transient_local().keep_last(1);
    let qos = qos.representation(vec![DataRepresentation::Xcdr1]).user_data(user_data());
    participant.writer_builder::<ParticipantEntitiesInfo>(TOPIC).qos(qos).build()
}

/// USER_DATA of the endpoints of the topic. `rmw_cyclonedds` logs a warning without it.
pub(super) fn user_data() -> Vec<u8> {
    crate::user_data::entry(crate::user_data::TYPE_HASH, ParticipantEntitiesInfo::TYPE_HASH).into_bytes()
}

/// The nodes of a participant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Announcement {
    pub(crate) participant: Guid,
    pub(crate) nodes: Vec<NodeRecord>,
    /// Whether GIDs have 24 bytes.
    pub(crate) is_humble: bool,
}

/// A node with its endpoints.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct NodeRecord {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) readers: Vec<Guid>,
    pub(crate) writers: Vec<Guid>,
}

/// Returns the message as a payload. `is_humble` selects GIDs of 24 bytes.
pub(crate) fn encode(participant: Guid, nodes: &[NodeRecord], is_humble: bool) -> Result<Vec<u8>, EncodeError> {
    let mut payload = Vec::new();
    if is_humble {
        let gid = |guid: &Guid| {
            let mut data = [0; 24];
            data[..16].copy_from_slice(&guid.to_bytes());
            HumbleGid { data }
        };
        let node = |record: &NodeRecord| HumbleNode {
            node_namespace: record.namespace.clone(),
            node_name: record.name.clone(),
            reader_gid_seq: record.readers.iter().map(gid).collect(),
            writer_gid_seq: record.writers.iter().map(gid).collect(),
        };
        let nodes = nodes.iter().map(node).collect();
        let message = HumbleParticipant { gid: gid(&participant), node_entities_info_seq: nodes };
        encode_payload(&message, Encoding::Xcdr1, &mut payload)?;
    } else {
        let gid = |guid: &Guid| Gid { data: guid.to_bytes() };
        let node = |record: &NodeRecord| NodeEntitiesInfo {
            node_namespace: record.namespace.clone(),
            node_name: record.name.clone(),
            reader_gid_seq: record.readers.iter().map(gid).collect(),
            writer_gid_seq: record.writers.iter().map(gid).collect(),
        };
        let nodes = nodes.iter().map(node).collect();
        let message = ParticipantEntitiesInfo { gid: gid(&participant), node_entities_info_seq: nodes };
        encode_payload(&message, Encoding::Xcdr1, &mut payload)?;
    }
    Ok(payload)
}

/// Returns the participant and its nodes from a payload of either layout.
pub(crate) fn decode(payload: &[u8]) -> Result<Announcement, DecodeError> {
    let plain = decode_payload::<ParticipantEntitiesInfo>(payload).map(|message| {
        let guids = |gids: Vec<Gid>| gids.into_iter().map(|gid| Guid::from_bytes(gid.data)).collect();
        let nodes = message.node_entities_info_seq.into_iter().map(|node| NodeRecord {
            namespace: node.node_namespace,
            name: node.node_name,
            readers: guids(node.reader_gid_seq),
            writers: guids(node.writer_gid_seq),
        });
        let participant = Guid::from_bytes(message.gid.data);
        Announcement { participant, nodes: nodes.collect(), is_humble: false }
    });
    // With GIDs of 24 bytes, the shorter layout ends early: it takes the zeros behind the first GUID for a length.
    match plain {
        Ok(announcement) if payload.len() < encoded_len(&announcement.nodes) + 4 => return Ok(announcement),
        _ => {}
    }
    let message = decode_payload::<HumbleParticipant>(payload)?;
    let guid = |gid: &HumbleGid| {
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&gid.data[..16]);
        Guid::from_bytes(bytes)
    };
    let nodes = message.node_entities_info_seq.iter().map(|node| NodeRecord {
        namespace: node.node_namespace.clone(),
        name: node.node_name.clone(),
        readers: node.reader_gid_seq.iter().map(guid).collect(),
        writers: node.writer_gid_seq.iter().map(guid).collect(),
    });
    Ok(Announcement { participant: guid(&message.gid), nodes: nodes.collect(), is_humble: true })
}

/// Length of the payload of these nodes with GIDs of 16 bytes, without padding at the end.
fn encoded_len(nodes: &[NodeRecord]) -> usize {
    let aligned = |len: usize| len.next_multiple_of(4);
    let text = |len: usize, text: &str| aligned(len) + 4 + text.len() + 1;
    let gids = |len: usize, gids: &[Guid]| aligned(len) + 4 + 16 * gids.len();
    let mut len = 4 + 16 + 4;
    for node in nodes {
        len = text(text(len, &node.namespace), &node.name);
        len = gids(gids(len, &node.readers), &node.writers);
    }
    len
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guid(byte: u8) -> Guid {
        Guid::from_bytes([byte; 16])
    }

    fn records() -> Vec<NodeRecord> {
        let talker = NodeRecord {
            namespace: "/".into(),
            name: "talker".into(),
            readers: vec![guid(2)],
            writers: vec![guid(3), guid(4)],
        };
        let idle = NodeRecord { namespace: "/lab/x".into(), name: "n".into(), ..NodeRecord::default() };
        vec![talker, idle]
    }

    #[test]
    fn both_layouts_are_told_apart() {
        for is_humble in [false, true] {
            for count in 0..=2 {
                let nodes = &records()[..count];
                let payload = encode(guid(1), nodes, is_humble).unwrap();
                let expected = Announcement { participant: guid(1), nodes: nodes.to_vec(), is_humble };
                assert_eq!(decode(&payload).unwrap(), expected, "{count}");
            }
        }
    }

    #[test]
    fn truncated_message_is_refused_or_shorter() {
        let payload = encode(guid(1), &records(), false).unwrap();
        for len in 0..payload.len() - 4 {
            assert!(decode(&payload[..len]).is_err(), "{len}");
        }
    }

    #[test]
    fn root_namespace_has_the_bytes_of_rmw() {
        let payload = encode(guid(1), &records()[..1], false).unwrap();
        assert_eq!(payload[..4], [0, 1, 0, 0]);
        assert_eq!(payload[20..32], [1, 0, 0, 0, 2, 0, 0, 0, b'/', 0, 0, 0]);
        assert_eq!(payload[32..43], [7, 0, 0, 0, b't', b'a', b'l', b'k', b'e', b'r', 0]);
    }
}
