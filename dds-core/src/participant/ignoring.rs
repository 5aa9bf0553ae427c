//! Participants and endpoints that the application ignores (DDS 1.4, 2.2.2.2.1), or whose certificates are revoked.

use crate::participant::ParticipantHandle;
#[cfg(feature = "security-pki")]
use crate::protection::CredentialsError;
use dds_rtps::types::{EntityId, Guid, InstanceHandle};

impl ParticipantHandle {
    /// Ignores all remote endpoints of a discovered topic. Returns `false` if the handle is unknown.
    pub(crate) fn ignore_topic(&self, handle: InstanceHandle) -> bool {
        let topics = self.discovery().discovered_topics();
        // The key is a hash, which does not tell the names.
        let Some(topic) = topics.iter().find(|topic| topic.key == handle) else { return false };
        self.announce(|participant, now| participant.ignore_topic(now, &topic.name, &topic.type_name)).is_ok()
    }

    /// Reads the files of revoked certificates again, and cuts off the participants that they revoke.
    #[cfg(feature = "security-pki")]
    pub(crate) fn reload_revocations(&self) -> Result<(), CredentialsError> {
        self.core.config().reload_revocations(self.core.driver().now())?;
        // A closed participant has no peers.
        let _ = self.announce(|participant, now| participant.security_changed(now));
        Ok(())
    }

    /// Ignores a remote participant or endpoint. Returns `false` for another kind, or a local entity.
    pub(crate) fn ignore(&self, handle: InstanceHandle, is_kind: impl FnOnce(EntityId) -> bool) -> bool {
        let Some(bytes) = handle.as_bytes() else { return false };
        let guid = Guid::from_bytes(*bytes);
        // The own endpoints match by discovery as well, and a participant cannot ignore itself.
        if !is_kind(guid.entity_id) || guid.prefix == self.core.prefix() || !self.core.is_enabled() {
            return false;
        }
        let ignored = self.announce(|participant, now| match guid.entity_id {
            EntityId::PARTICIPANT => participant.ignore_participant(now, guid.prefix),
            _ => participant.ignore_endpoint(now, guid),
        });
        ignored.is_ok()
    }
}
