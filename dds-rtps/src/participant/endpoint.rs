//! Writers and readers: local ones that are announced, and discovered remote ones (RTPS 2.5, 8.5.4).

use super::Participant;
use super::ignored::is_of_topic;
use super::security;
use super::type_lookup::handle_request;
use crate::discovery::data::{Decoded, DiscoveryDataError, PublicationData, SubscriptionData, endpoint_key};
use crate::discovery::{
    BuiltinPairTopic, Discovered, DiscoveredReader, DiscoveredWriter, EndpointAnnouncement, ParticipantEvent,
    ParticipantLoss, ParticipantMessage,
};
use crate::history::{ChangeKind, HistorySample, InstanceState};
use crate::qos::{Liveliness, LivelinessKind};
use crate::types::{Duration, EntityId, Guid, GuidPrefix, InstanceHandle, Now};
use std::sync::Arc;

/// Content of a sample of a builtin topic.
enum BuiltinChange<'a> {
    /// The payload describes an entity.
    Alive(&'a [u8]),
    /// The entity is gone.
    Gone(Guid),
    /// Nothing usable.
    Ignored,
}

impl Participant {
    /// Adds a local writer, or updates its QoS. Its GUID gets this participant's prefix.
    pub fn add_writer(&mut self, now: Now, data: PublicationData) {
        self.add(now, data);
        self.schedule_assertions(now);
    }

    /// Adds a local reader, or updates its QoS. Its GUID gets this participant's prefix.
    pub fn add_reader(&mut self, now: Now, data: SubscriptionData) {
        self.add(now, data);
    }

    /// Updates the announcement of a local writer; returns false if the writer was removed.
    pub fn update_writer(&mut self, now: Now, data: PublicationData) -> bool {
        if !self.contains(&data) {
            return false;
        }
        self.add_writer(now, data);
        true
    }

    /// Updates the announcement of a local reader; returns false if the reader was removed.
    pub fn update_reader(&mut self, now: Now, data: SubscriptionData) -> bool {
        if !self.contains(&data) {
            return false;
        }
        self.add_reader(now, data);
        true
    }

    fn contains<T: EndpointAnnouncement>(&self, data: &T) -> bool {
        self.matching.contains::<T>(Guid::new(self.config.prefix, data.endpoint().guid.entity_id))
    }

    /// Removes a local writer; returns false if nothing is removed.
    pub fn remove_writer(&mut self, now: Now, writer: EntityId) -> bool {
        let removed = self.remove::<PublicationData>(now, writer);
        self.schedule_assertions(now);
        removed
    }

    /// Removes a local reader; returns false if nothing is removed.
    pub fn remove_reader(&mut self, now: Now, reader: EntityId) -> bool {
        self.remove::<SubscriptionData>(now, reader)
    }

    fn add<T: EndpointAnnouncement>(&mut self, now: Now, mut data: T) {
        let endpoint = data.endpoint_mut();
        endpoint.guid.prefix = self.config.prefix;
        let instance = InstanceHandle::from(endpoint.guid);
        // Their attributes are part of the announcement.
        if let Some(plugins) = &self.config.security {
            plugins.local_endpoint(endpoint);
        }
        let mut payload = Vec::new();
        data.encode(&mut payload);
        // The match follows the announcement: `Awareness` takes the number of the last one.
        if !security::announcing_pair(self, T::TOPIC, &data.endpoint().topic_name).publish(now, instance, &payload) {
            self.counters.unpublished += 1;
        }
        self.matching.put(Arc::new(Discovered::local(data)));
        self.request_types(now);
        security::carry_out_actions(self, now);
    }

    fn remove<T: EndpointAnnouncement>(&mut self, now: Now, id: EntityId) -> bool {
        let guid = Guid::new(self.config.prefix, id);
        // An endpoint that was never announced, or was removed before, needs no disposal.
        let Some(removed) = self.matching.remove::<T>(guid, ParticipantLoss::Left) else { return false };
        let mut key = Vec::new();
        endpoint_key(guid, &mut key);
        let topic_name = &removed.data.endpoint().topic_name;
        if !security::announcing_pair(self, T::TOPIC, topic_name).withdraw(now, InstanceHandle::from(guid), &key) {
            self.counters.unpublished += 1;
        }
        true
    }

    /// Repeats the announcements of all local writers, or of all local readers, with higher sequence numbers. Also
    /// repeats the disposals of those that were withdrawn lately.
    pub(super) fn publish_again<T: EndpointAnnouncement>(&mut self, now: Now) {
        let pair = self.pairs.get_mut(T::TOPIC);
        for instance in pair.withdrawn(now) {
            let Some(bytes) = instance.as_bytes() else { continue };
            let mut key = Vec::new();
            endpoint_key(Guid::from_bytes(*bytes), &mut key);
            self.counters.unpublished += u64::from(!pair.dispose(now, instance, &key));
        }
        for endpoint in self.matching.of::<T>(self.config.prefix) {
            // Such an announcement never leaves in plain text. Its own pair has no challenges, so no peer needs it.
            if security::protects_discovery_of(self, &endpoint.data.endpoint().topic_name) {
                continue;
            }
            let mut payload = Vec::new();
            endpoint.data.encode(&mut payload);
            self.publish(now, T::TOPIC, InstanceHandle::from(endpoint.data.endpoint().guid), &payload);
        }
    }

    pub(super) fn publish(&mut self, now: Now, topic: BuiltinPairTopic, instance: InstanceHandle, payload: &[u8]) {
        if !self.pairs.get_mut(topic).publish(now, instance, payload) {
            self.counters.unpublished += 1;
        }
    }

    /// Asserts to the peers that our writers of this kind are alive.
    ///
    /// A MANUAL_BY_TOPIC writer asserts itself, so this does nothing for that kind.
    pub fn assert_liveliness(&mut self, now: Now, kind: LivelinessKind) {
        if kind == LivelinessKind::ManualByTopic {
            return;
        }
        let message = ParticipantMessage { prefix: self.config.prefix, kind };
        if security::publish_protected(self, now, message.instance(), &message.encode()) {
            self.publish(now, BuiltinPairTopic::Messages, message.instance(), &message.encode());
        }
    }

    fn schedule_assertions(&mut self, now: Now) {
        let writers = self.matching.of::<PublicationData>(self.config.prefix);
        let offered = || writers.iter().map(|writer| &writer.data.qos.liveliness);
        self.liveliness.automatic.set_writers(now.instant, offered());
        self.liveliness.manual.set_writers(offered());
    }

    /// Sends the assertions that are due. If this process did not run, some come too late (DDS 1.4, 2.2.4.1,
    /// LIVELINESS_LOST).
    pub(super) fn send_due_assertions(&mut self, now: Now) {
        if let Some(silence) = self.liveliness.automatic.take_due(now.instant) {
            self.push_liveliness_lost(silence);
            self.assert_liveliness(now, LivelinessKind::Automatic);
        }
        if self.liveliness.manual.is_due(now.instant) {
            self.assert_liveliness(now, LivelinessKind::ManualByParticipant);
        }
    }

    fn push_liveliness_lost(&mut self, silence: Duration) {
        if self.liveliness.automatic.is_in_time(silence) {
            return;
        }
        for writer in self.matching.of::<PublicationData>(self.config.prefix) {
            let Liveliness { kind, lease_duration } = writer.data.qos.liveliness;
            if kind == LivelinessKind::Automatic && lease_duration < silence {
                let writer = writer.data.endpoint.guid.entity_id;
                self.matching.push_event(ParticipantEvent::LivelinessLost { writer });
            }
        }
    }

    /// Handles the samples that have arrived on a builtin topic.
    pub(super) fn handle_samples(&mut self, now: Now, topic: BuiltinPairTopic) {
        // The buffer leaves `self` for the loop, whose handlers need the whole participant.
        let mut samples = std::mem::take(&mut self.samples);
        self.pairs.get_mut(topic).take(now, &mut samples);
        for sample in samples.drain(..) {
            let Some(sender) = sender(&sample) else {
                debug_assert!(false, "each sample of a builtin topic has a writer");
                continue;
            };
            // The sample may have waited behind a hole until the participant was lost.
            if !self.peers.known.contains_key(&sender) {
                continue;
            }
            match topic {
                BuiltinPairTopic::Publications => self.handle_endpoint::<PublicationData>(sender, &sample, false),
                BuiltinPairTopic::Subscriptions => self.handle_endpoint::<SubscriptionData>(sender, &sample, false),
                BuiltinPairTopic::Messages => self.handle_message(sender, &sample, false),
                BuiltinPairTopic::TypeRequests => handle_request(&mut self.lookup(now).1, &sample),
                BuiltinPairTopic::TypeReplies => {
                    let (lookup, mut cx) = self.lookup(now);
                    lookup.handle_reply(&mut cx, sender, &sample);
                }
            }
        }
        self.samples = samples;
        self.request_types(now);
        security::carry_out_actions(self, now);
    }

    /// Handles the announcement of an endpoint, which came by the protected builtin topic or by the plain one.
    pub(super) fn handle_endpoint<T: EndpointAnnouncement>(
        &mut self,
        sender: GuidPrefix,
        sample: &HistorySample,
        was_protected: bool,
    ) {
        match change_of(sample) {
            BuiltinChange::Alive(payload) => match T::decode(payload, sender) {
                Ok(Decoded { data, .. })
                    if !security::came_as_required(self, &data.endpoint().topic_name, was_protected) =>
                {
                    self.counters.unprotected += 1;
                }
                Ok(decoded) => self.add_endpoint(decoded),
                Err(DiscoveryDataError::Guid) => self.counters.foreign += 1,
                Err(_) => self.counters.malformed_endpoints += 1,
            },
            // A participant may announce and dispose only its own endpoints.
            BuiltinChange::Gone(guid) if guid.prefix != sender => self.counters.foreign += 1,
            BuiltinChange::Gone(guid) if !self.may_withdraw::<T>(guid, was_protected) => self.counters.unprotected += 1,
            BuiltinChange::Gone(guid) => {
                self.remove_endpoint::<T>(guid, ParticipantLoss::Left);
            }
            BuiltinChange::Ignored => {}
        }
    }

    /// Whether a disposal came by the builtin topic that the protection of its endpoint requires.
    fn may_withdraw<T: EndpointAnnouncement>(&self, guid: Guid, was_protected: bool) -> bool {
        match self.matching.endpoint::<T>(guid) {
            Some(known) => security::came_as_required(self, &known.data.endpoint().topic_name, was_protected),
            // Only a known endpoint has a topic, and only that decides about its protection.
            None => true,
        }
    }

    /// Adds a remote endpoint, unless it is ignored or exceeds the limit.
    fn add_endpoint<T: EndpointAnnouncement>(&mut self, decoded: Decoded<T>) {
        let Decoded { data, skipped } = decoded;
        self.counters.skipped_parameters += u64::from(skipped);
        let guid = data.endpoint().guid;
        // An ignored endpoint takes no place within the limit.
        if self.ignored.contains(data.endpoint()) {
            return;
        }
        let Some(peer) = self.peers.known.get(&guid.prefix) else {
            debug_assert!(false, "`handle_samples` checked that the participant is known");
            return;
        };
        let is_new = !self.matching.contains::<T>(guid);
        // A known endpoint may change at the limit, too.
        if is_new && peer.endpoints >= self.config.limits.endpoints_per_participant_max {
            self.counters.endpoints_refused += 1;
            return;
        }
        let route = self.route_of_endpoint(guid.prefix, data.endpoint());
        let vendor = peer.data.vendor;
        if is_new {
            if let Some(peer) = self.peers.known.get_mut(&guid.prefix) {
                peer.endpoints += 1;
            }
        }
        self.matching.put(Arc::new(Discovered { data, route, vendor, is_local: false }));
    }

    /// Removes a remote endpoint, and returns it if it was known.
    fn remove_endpoint<T: EndpointAnnouncement>(
        &mut self,
        guid: Guid,
        cause: ParticipantLoss,
    ) -> Option<Arc<Discovered<T>>> {
        let removed = self.matching.remove::<T>(guid, cause)?;
        if let Some(peer) = self.peers.known.get_mut(&guid.prefix) {
            debug_assert!(peer.endpoints > 0, "each known endpoint is counted");
            peer.endpoints = peer.endpoints.saturating_sub(1);
        }
        Some(removed)
    }

    /// Ignores a participant from now on, and removes it.
    pub fn ignore_participant(&mut self, now: Now, prefix: GuidPrefix) {
        // Before the removal, which takes their data along.
        for writer in self.matching.of::<PublicationData>(prefix) {
            self.ignored.remember_writer(writer);
        }
        for reader in self.matching.of::<SubscriptionData>(prefix) {
            self.ignored.remember_reader(reader);
        }
        self.ignored.insert(Guid::new(prefix, EntityId::PARTICIPANT));
        self.lose(now, prefix, ParticipantLoss::Ignored);
    }

    /// Does what the plugins of DDS Security ask for after a change of their settings.
    pub fn security_changed(&mut self, now: Now) {
        security::carry_out_actions(self, now);
    }

    /// Ignores an endpoint of another participant from now on, and forgets it.
    pub fn ignore_endpoint(&mut self, now: Now, guid: Guid) {
        if guid.prefix == self.config.prefix {
            return;
        }
        self.ignored.insert(guid);
        self.forget_ignored(guid);
        // Its place may be free for another endpoint.
        security::carry_out_actions(self, now);
    }

    /// Ignores all remote endpoints with this topic and type from now on, and forgets them.
    pub fn ignore_topic(&mut self, now: Now, name: &str, type_name: &str) {
        self.ignored.insert_topic(name, type_name);
        // The GUIDs are collected first, because a removal changes the tables of this walk.
        let mut forgotten = Vec::new();
        for writer in self.matching.writers() {
            if is_of_topic(&writer.data.endpoint, name, type_name) {
                forgotten.push(writer.data.endpoint.guid);
            }
        }
        for reader in self.matching.readers() {
            if is_of_topic(&reader.data.endpoint, name, type_name) {
                forgotten.push(reader.data.endpoint.guid);
            }
        }
        for guid in forgotten {
            self.forget_ignored(guid);
        }
        security::carry_out_actions(self, now);
    }

    fn forget_ignored(&mut self, guid: Guid) {
        // The topic may have endpoints of this participant, which are never ignored.
        if guid.prefix == self.config.prefix {
            return;
        }
        if let Some(writer) = self.remove_endpoint::<PublicationData>(guid, ParticipantLoss::Ignored) {
            self.ignored.remember_writer(writer);
        }
        if let Some(reader) = self.remove_endpoint::<SubscriptionData>(guid, ParticipantLoss::Ignored) {
            self.ignored.remember_reader(reader);
        }
    }

    /// Returns the latest ignored writers, at most 256, as they were when they were ignored.
    pub fn ignored_writers(&self) -> impl Iterator<Item = &Arc<DiscoveredWriter>> {
        self.ignored.writers()
    }

    /// Returns the latest ignored readers, at most 256, as they were when they were ignored.
    pub fn ignored_readers(&self) -> impl Iterator<Item = &Arc<DiscoveredReader>> {
        self.ignored.readers()
    }

    /// Handles a liveliness assertion, which came by the protected builtin topic or by the plain one.
    pub(super) fn handle_message(&mut self, sender: GuidPrefix, sample: &HistorySample, was_protected: bool) {
        let BuiltinChange::Alive(payload) = change_of(sample) else { return };
        if !was_protected && security::requires_protected_liveliness(self, sender) {
            self.counters.unprotected += 1;
            return;
        }
        match ParticipantMessage::decode(payload) {
            // Only the participant itself may renew the leases of its writers.
            Some(ParticipantMessage { prefix, kind }) if prefix == sender => {
                self.matching.push_event(ParticipantEvent::LivelinessAsserted { prefix, kind });
            }
            Some(_) => self.counters.foreign += 1,
            // Vendors have own kinds, which mean nothing to us.
            None => self.counters.malformed_endpoints += 1,
        }
    }
}

/// Returns the participant whose builtin writer wrote a sample.
pub(super) fn sender(sample: &HistorySample) -> Option<GuidPrefix> {
    let bytes = sample.info.publication_handle.as_bytes()?;
    Some(Guid::from_bytes(*bytes).prefix)
}

fn change_of(sample: &HistorySample) -> BuiltinChange<'_> {
    // If an entity was withdrawn before its announcement was taken, because both waited for an earlier one, this
    // sample is the last: no other one follows.
    let is_there = sample.info.valid_data && sample.info.instance_state == InstanceState::Alive;
    match (sample.kind, &sample.payload) {
        (ChangeKind::Alive, Some(payload)) if is_there => BuiltinChange::Alive(payload.bytes()),
        (ChangeKind::Alive, Some(_)) if sample.info.valid_data => gone(sample),
        (ChangeKind::Alive, _) => BuiltinChange::Ignored,
        _ => gone(sample),
    }
}

fn gone(sample: &HistorySample) -> BuiltinChange<'static> {
    match sample.info.instance_handle.as_bytes() {
        Some(bytes) => BuiltinChange::Gone(Guid::from_bytes(*bytes)),
        None => BuiltinChange::Ignored,
    }
}
