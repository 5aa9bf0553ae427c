//! Queries of the application to discovery.

use crate::discovery::Discovery;
use crate::introspection::EndpointInfo;
use crate::topic::{
    ParticipantBuiltinTopicData, PublicationBuiltinTopicData, SubscriptionBuiltinTopicData, TopicBuiltinTopicData,
    topic_qos_of_reader, topic_qos_of_writer,
};
use dds_rtps::participant::Participant;
use dds_rtps::types::{Guid, GuidPrefix, InstanceHandle};
use std::collections::BTreeMap;

impl Discovery {
    /// Reads the state of discovery. Returns the default if the participant is closed.
    pub(crate) fn know<R: Default>(&self, look: impl FnOnce(&Participant) -> R) -> R {
        // A closed participant knows nothing.
        self.cell().visit(|actor, _| look(actor.rtps())).unwrap_or_default()
    }

    /// Returns the known remote participants.
    pub(crate) fn discovered_participants(&self) -> Vec<ParticipantBuiltinTopicData> {
        self.know(|rtps| rtps.participants().map(|participant| (&**participant).into()).collect())
    }

    /// Returns the remote participants that are durability services.
    pub(crate) fn durability_services(&self) -> Vec<GuidPrefix> {
        let mut services = Vec::new();
        for participant in self.discovered_participants() {
            if participant.is_durability_service() {
                services.push(participant.key.prefix);
            }
        }
        services
    }

    /// Returns the topics of remote endpoints, by name.
    pub(crate) fn discovered_topics(&self) -> Vec<TopicBuiltinTopicData> {
        self.know(|rtps| {
            let mut found = Vec::new();
            // Writers first, because their QoS has all policies of a topic.
            for writer in rtps.matching().writers() {
                if !writer.is_local {
                    let qos = topic_qos_of_writer(&writer.data.qos);
                    found.push(TopicBuiltinTopicData::new(&writer.data.endpoint, qos));
                }
            }
            for reader in rtps.matching().readers() {
                if !reader.is_local {
                    let qos = topic_qos_of_reader(&reader.data.qos);
                    found.push(TopicBuiltinTopicData::new(&reader.data.endpoint, qos));
                }
            }
            let mut topics = BTreeMap::new();
            for topic in found {
                topics.entry((topic.name.clone(), topic.type_name.clone())).or_insert(topic);
            }
            topics.into_values().collect()
        })
    }

    /// Returns the data of these endpoints. Skips unknown ones.
    pub(crate) fn describe_endpoints(&self, guids: &[Guid]) -> Vec<EndpointInfo> {
        self.know(|rtps| {
            let mut found = Vec::new();
            for &guid in guids {
                if let Some(writer) = rtps.matching().writer(guid) {
                    found.push(EndpointInfo::of_writer(writer, rtps));
                } else if let Some(reader) = rtps.matching().reader(guid) {
                    found.push(EndpointInfo::of_reader(reader, rtps));
                }
            }
            found
        })
    }

    /// Returns the announcement of a writer.
    pub(crate) fn publication_data(&self, handle: InstanceHandle) -> Option<PublicationBuiltinTopicData> {
        let guid = Guid::from_bytes(*handle.as_bytes()?);
        self.know(|rtps| Some(rtps.matching().writer(guid)?.data.clone().into()))
    }

    /// Returns the announcement of a reader.
    pub(crate) fn subscription_data(&self, handle: InstanceHandle) -> Option<SubscriptionBuiltinTopicData> {
        let guid = Guid::from_bytes(*handle.as_bytes()?);
        self.know(|rtps| Some(rtps.matching().reader(guid)?.data.clone().into()))
    }
}
