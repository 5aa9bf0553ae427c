//! The graph as data: participants, their nodes and endpoints.

use super::discovery_info::NodeRecord;
use crate::context::Distro;
use crate::user_data;
use dds_core::Guid;
use dds_core::builtin::VendorId;
use dds_core::matching::EndpointQos;
use std::collections::BTreeMap;

/// The first 12 bytes of a GUID, which all endpoints of a participant share.
pub(crate) type Prefix = [u8; 12];

pub(crate) fn prefix_of(guid: Guid) -> Prefix {
    let mut prefix = [0; 12];
    prefix.copy_from_slice(&guid.to_bytes()[..12]);
    prefix
}

/// Messages of participants that discovery has not found yet. Each is also bounded by its size.
const UNKNOWN_PARTICIPANTS_MAX: usize = 256;

/// A remote participant.
#[derive(Debug, Clone)]
pub(crate) struct RemoteParticipant {
    /// `None` for a program outside of ROS 2.
    pub(crate) enclave: Option<String>,
    pub(crate) vendor: VendorId,
    /// The first release with its version of DDS, as far as it announces one.
    pub(crate) release: Distro,
}

impl RemoteParticipant {
    pub(crate) fn new(enclave: Option<String>, vendor: VendorId, product_version: &str) -> Self {
        let major = product_version.split('.').next().unwrap_or_default();
        let release = match (vendor, major.parse::<u32>().unwrap_or_default()) {
            // Fast DDS 2 announces no version.
            (VendorId::EPROSIMA, 3..) => Distro::Kilted,
            // The versions of Cyclone DDS before are 0.1 to 0.10.
            (VendorId::CYCLONE, 11..) => Distro::Lyrical,
            _ => Distro::Jazzy,
        };
        Self { enclave, vendor, release }
    }
}

/// An endpoint of any participant.
#[derive(Debug, Clone)]
pub(crate) struct EndpointRecord {
    pub(crate) topic_name: String,
    pub(crate) type_name: String,
    pub(crate) type_hash: Option<String>,
    pub(crate) service_hash: Option<String>,
    pub(crate) qos: EndpointQos,
}

impl EndpointRecord {
    pub(crate) fn new(topic_name: String, type_name: String, qos: EndpointQos) -> Self {
        // A malformed hash counts as none.
        let hash = |key| user_data::hash(qos.user_data(), key).unwrap_or_default();
        let (type_hash, service_hash) = (hash(user_data::TYPE_HASH), hash(user_data::SERVICE_HASH));
        Self { topic_name, type_name, type_hash, service_hash, qos }
    }
}

/// All that discovery and `ros_discovery_info` tell about other participants. Bounded by the limits of discovery.
#[derive(Debug, Default)]
pub(crate) struct Remote {
    pub(crate) participants: BTreeMap<Prefix, RemoteParticipant>,
    /// Nodes of each participant. A message may arrive before the announcement of its participant.
    nodes: BTreeMap<Prefix, RemoteNodes>,
    pub(crate) endpoints: BTreeMap<Guid, EndpointRecord>,
}

/// The nodes of a remote participant.
#[derive(Debug, Default)]
struct RemoteNodes {
    nodes: Vec<NodeRecord>,
    /// The release whose form the announcement has.
    distro: Distro,
}

impl Remote {
    /// Sets the nodes of a participant. Returns the form of the announcement before.
    pub(crate) fn set_nodes(&mut self, participant: Prefix, nodes: Vec<NodeRecord>, distro: Distro) -> Option<Distro> {
        let is_known = self.participants.contains_key(&participant) || self.nodes.contains_key(&participant);
        if !is_known && self.nodes.len() >= self.participants.len() + UNKNOWN_PARTICIPANTS_MAX {
            let participants = &self.participants;
            self.nodes.retain(|prefix, _| participants.contains_key(prefix));
        }
        let former = self.nodes.insert(participant, RemoteNodes { nodes, distro });
        former.map(|former| former.distro)
    }

    /// The participants that read only the form of a release, which their announcements have.
    pub(crate) fn of_distro(&self, distro: Distro) -> impl Iterator<Item = Prefix> {
        let announced = self.nodes.iter().filter(move |(_, announced)| announced.distro == distro);
        announced.map(|(prefix, _)| *prefix).filter(|prefix| !self.reads_both_forms(prefix))
    }

    /// Whether a participant is a context of this crate. Two of them would follow each other's form without end.
    fn reads_both_forms(&self, participant: &Prefix) -> bool {
        let is_own = |found: &RemoteParticipant| found.vendor == VendorId::OURS && found.enclave.is_some();
        self.participants.get(participant).is_some_and(is_own)
    }

    /// The release whose form the announcement of a participant has: Humble, or Jazzy for all others.
    pub(crate) fn form(&self, participant: Prefix) -> Option<Distro> {
        Some(self.nodes.get(&participant)?.distro)
    }

    /// The release of a participant, by its announcement, its version of DDS, and its services.
    pub(crate) fn release(&self, participant: Prefix) -> Option<Distro> {
        let form = self.form(participant)?;
        let Some(found) = self.participants.get(&participant) else { return Some(form) };
        // A program of this crate announces what Lyrical reads, but is of no release.
        if form == Distro::Humble || found.vendor == VendorId::OURS {
            return Some(form);
        }
        let guid = |entity: u8| {
            let mut bytes = [entity; 16];
            bytes[..12].copy_from_slice(&participant);
            Guid::from_bytes(bytes)
        };
        let mut endpoints = self.endpoints.range(guid(0)..=guid(u8::MAX));
        let is_lyrical = endpoints.any(|(_, endpoint)| endpoint.service_hash.is_some());
        Some(if is_lyrical { Distro::Lyrical } else { found.release })
    }

    /// The nodes of a participant.
    pub(crate) fn nodes_of(&self, participant: Prefix) -> &[NodeRecord] {
        self.nodes.get(&participant).map_or(&[], |announced| &announced.nodes)
    }

    /// Removes a participant. Returns the form of its announcement.
    pub(crate) fn remove_participant(&mut self, participant: Prefix) -> Option<Distro> {
        self.participants.remove(&participant);
        self.endpoints.retain(|guid, _| prefix_of(*guid) != participant);
        self.nodes.remove(&participant).map(|announced| announced.distro)
    }

    /// The nodes of known participants, each with its enclave.
    ///
    /// Participants of `ros2-client` announce no enclave. `rmw_dds_common` shows their nodes as well.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = (&NodeRecord, &str)> {
        self.nodes.iter().flat_map(|(prefix, announced)| {
            let participant = self.participants.get(prefix);
            let enclave = participant.map(|participant| participant.enclave.as_deref().unwrap_or_default());
            announced.nodes.iter().filter_map(move |node| Some((node, enclave?)))
        })
    }

    /// The node that lists an endpoint.
    pub(crate) fn node_of(&self, endpoint: Guid) -> Option<&NodeRecord> {
        let nodes = self.nodes_of(prefix_of(endpoint));
        nodes.iter().find(|node| node.readers.contains(&endpoint) || node.writers.contains(&endpoint))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dds_core::qos::DataWriterQos;

    #[test]
    fn messages_of_unknown_participants_are_bounded() {
        let mut remote = Remote::default();
        for number in 0..5000_u32 {
            let mut prefix = [0; 12];
            prefix[..4].copy_from_slice(&number.to_be_bytes());
            remote.set_nodes(prefix, vec![NodeRecord::default()], Distro::Jazzy);
            assert!(remote.nodes.len() <= UNKNOWN_PARTICIPANTS_MAX);
        }
        assert_eq!(remote.nodes().count(), 0);
    }

    #[test]
    fn message_before_its_participant_is_joined() {
        let mut remote = Remote::default();
        let node = NodeRecord { name: "n".into(), ..NodeRecord::default() };
        remote.set_nodes([1; 12], vec![node], Distro::Humble);
        assert_eq!(remote.form([1; 12]), Some(Distro::Humble));
        assert_eq!(remote.nodes().count(), 0);
        let participant = RemoteParticipant::new(Some("/".into()), VendorId::OURS, "0.1.0");
        remote.participants.insert([1; 12], participant);
        assert_eq!(remote.nodes().map(|(node, _)| node.name.clone()).collect::<Vec<_>>(), ["n"]);
        remote.remove_participant([1; 12]);
        assert_eq!(remote.nodes().count(), 0);
        // Without an enclave.
        remote.set_nodes([1; 12], vec![NodeRecord::default()], Distro::Jazzy);
        remote.participants.insert([1; 12], RemoteParticipant::new(None, VendorId::RUSTDDS, ""));
        assert_eq!(remote.nodes().map(|(_, enclave)| enclave).collect::<Vec<_>>(), [""]);
    }

    #[test]
    fn release_shows_in_the_form_the_version_and_the_services() {
        let mut remote = Remote::default();
        let mut release = |vendor, version, form, user_data: &[u8]| {
            let guid = Guid::from_bytes([3; 16]);
            remote.set_nodes(prefix_of(guid), vec![NodeRecord::default()], form);
            remote.participants.insert(prefix_of(guid), RemoteParticipant::new(None, vendor, version));
            let qos = EndpointQos::Writer(DataWriterQos::default().user_data(user_data.to_vec()));
            remote.endpoints.insert(guid, EndpointRecord::new("rq/flipRequest".into(), String::new(), qos));
            remote.release(prefix_of(guid)).unwrap()
        };
        let hashes = user_data::entry(user_data::SERVICE_HASH, &format!("RIHS01_{}", "1".repeat(64)));
        let (fast, cyclone) = (VendorId::EPROSIMA, VendorId::CYCLONE);
        assert_eq!(release(fast, "", Distro::Humble, b""), Distro::Humble);
        assert_eq!(release(fast, "", Distro::Jazzy, b""), Distro::Jazzy);
        assert_eq!(release(fast, "3.2.3", Distro::Jazzy, b""), Distro::Kilted);
        assert_eq!(release(fast, "3.6.1", Distro::Jazzy, hashes.as_bytes()), Distro::Lyrical);
        assert_eq!(release(cyclone, "0.10.5", Distro::Jazzy, b""), Distro::Jazzy);
        assert_eq!(release(cyclone, "11.0.1", Distro::Jazzy, b""), Distro::Lyrical);
        assert_eq!(release(VendorId::OURS, "0.1.0", Distro::Jazzy, hashes.as_bytes()), Distro::Jazzy);
        // A malformed hash counts as none.
        assert_eq!(release(fast, "3.2.3", Distro::Jazzy, b"sertypehash=RIHS01_;"), Distro::Kilted);
    }
}
