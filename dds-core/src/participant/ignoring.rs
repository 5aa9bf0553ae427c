//! Participants and endpoints that the application ignores (DDS 1.4, 2.2.2.2.1).

use crate::actor::Effects;
use crate::participant::ParticipantHandle;
use dds_rtps::types::{EntityId, Guid, InstanceHandle};

impl ParticipantHandle {
    /// Ignores all remote endpoints of a discovered topic. Returns `false` if the handle is unknown.
    pub(crate) fn ignore_topic(&self, handle: InstanceHandle) -> bool {
        let Some(topic) = self.discovery().discovered_topics().into_iter().find(|topic| topic.key == handle) else {
            return false;
        };
        Effects::scope(|effects| {
            let ignored = self
                .discovery()
                .change(effects, |participant, _| participant.ignore_topic(&topic.name, &topic.type_name));
            self.carry_out_matches(effects);
            ignored.is_ok()
        })
    }

    /// Ignores a remote participant or endpoint. Returns `false` for another kind, or a local entity.
    pub(crate) fn ignore(&self, handle: InstanceHandle, is_kind: impl FnOnce(EntityId) -> bool) -> bool {
        let Some(guid) = handle.as_bytes().copied().map(Guid::from_bytes) else { return false };
        if !is_kind(guid.entity_id) || guid.prefix == self.core.prefix() || !self.core.is_enabled() {
            return false;
        }
        Effects::scope(|effects| {
            let ignored = self.discovery().change(effects, |participant, now| match guid.entity_id {
                EntityId::PARTICIPANT => participant.ignore_participant(now, guid.prefix),
                _ => participant.ignore_endpoint(guid),
            });
            self.carry_out_matches(effects);
            ignored.is_ok()
        })
    }
}
