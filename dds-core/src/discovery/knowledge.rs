//! Queries of the application to discovery.

use crate::discovery::Discovery;
use crate::introspection::EndpointInfo;
use crate::settings::DURABILITY_SERVICE;
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
        let known = self.cell().visit(|actor, _| look(actor.rtps()));
        known.unwrap_or_default()
    }

    /// Returns the known remote participants.
    pub(crate) fn discovered_participants(&self) -> Vec<ParticipantBuiltinTopicData> {
        self.know(|rtps| rtps.participants().map(|participant| (&**participant).into()).collect())
    }

    /// Returns the remote participants that are durability services.
    pub(crate) fn durability_services(&self) -> Vec<GuidPrefix> {
        let is_service = |(name, _): &(String, String)| name == DURABILITY_SERVICE;
        let mut services = self.discovered_participants();
        services.retain(|known| known.properties.iter().any(is_service));
        services.into_iter().map(|known| known.key.prefix).collect()
    }

    /// Returns the topics of remote endpoints, by name.
    pub(crate) fn discovered_topics(&self) -> Vec<TopicBuiltinTopicData> {
        self.know(|rtps| {
            let mut topics = BTreeMap::new();
            let key = |data: &TopicBuiltinTopicData| (data.name.clone(), data.type_name.clone());
            for writer in rtps.matching().writers().filter(|writer| !writer.is_local) {
                let topic = TopicBuiltinTopicData::new(&writer.data.endpoint, topic_qos_of_writer(&writer.data.qos));
                topics.entry(key(&topic)).or_insert(topic);
            }
            for reader in rtps.matching().readers().filter(|reader| !reader.is_local) {
                let topic = TopicBuiltinTopicData::new(&reader.data.endpoint, topic_qos_of_reader(&reader.data.qos));
                topics.entry(key(&topic)).or_insert(topic);
            }
            topics.into_values().collect()
        })
    }

    /// Returns the data of these endpoints. Skips unknown ones.
    pub(crate) fn describe_endpoints(&self, guids: &[Guid]) -> Vec<EndpointInfo> {
        self.know(|rtps| {
            let describe = |guid: &Guid| match rtps.matching().writer(*guid) {
                Some(writer) => Some(EndpointInfo::of_writer(writer, rtps)),
                None => rtps.matching().reader(*guid).map(|reader| EndpointInfo::of_reader(reader, rtps)),
            };
            guids.iter().filter_map(describe).collect()
        })
    }

    /// Returns the announcement of a writer.
    pub(crate) fn publication_data(&self, handle: InstanceHandle) -> Option<PublicationBuiltinTopicData> {
        let guid = Guid::from_bytes(*handle.as_bytes()?);
        self.know(|rtps| rtps.matching().writer(guid).map(|writer| writer.data.clone().into()))
    }

    /// Returns the announcement of a reader.
    pub(crate) fn subscription_data(&self, handle: InstanceHandle) -> Option<SubscriptionBuiltinTopicData> {
        let guid = Guid::from_bytes(*handle.as_bytes()?);
        self.know(|rtps| rtps.matching().reader(guid).map(|reader| reader.data.clone().into()))
    }
}
