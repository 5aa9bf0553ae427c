//! Writers and readers: ours, as they are announced, and those of others, as they are found (RTPS 2.5, 8.5.4).

use super::Participant;
use crate::discovery::data::{DataError, Decoded, PublicationData, SubscriptionData, endpoint_key};
use crate::discovery::{Announced, BuiltinTopic, Discovered, ParticipantEvent, ParticipantLoss, ParticipantMessage};
use crate::history::{ChangeKind, HistorySample, InstanceState};
use crate::qos::{Liveliness, LivelinessKind};
use crate::types::{Duration, EntityId, Guid, GuidPrefix, InstanceHandle, Now};
use std::sync::Arc;

/// What a sample of a builtin topic says.
enum Told<'a> {
    /// Something is there, as the payload describes it.
    There(&'a [u8]),
    /// It is gone.
    Gone(Guid),
    /// Nothing of use.
    Nothing,
}

impl Participant {
    /// Adds a writer of ours, or takes over that its QoS has changed. Its GUID gets this participant's prefix.
    pub fn add_writer(&mut self, now: Now, data: PublicationData) {
        self.add(now, data);
        self.schedule_assertions(now);
    }

    /// Adds a reader of ours, or takes over that its QoS has changed. Its GUID gets this participant's prefix.
    pub fn add_reader(&mut self, now: Now, data: SubscriptionData) {
        self.add(now, data);
    }

    /// Takes over that what is announced of a writer of ours has changed, unless it has been removed meanwhile (`false`).
    pub fn update_writer(&mut self, now: Now, data: PublicationData) -> bool {
        let is_known = self.knows(&data);
        if is_known {
            self.add_writer(now, data);
        }
        is_known
    }

    /// Takes over that what is announced of a reader of ours has changed, unless it has been removed meanwhile (`false`).
    pub fn update_reader(&mut self, now: Now, data: SubscriptionData) -> bool {
        let is_known = self.knows(&data);
        if is_known {
            self.add_reader(now, data);
        }
        is_known
    }

    fn knows<T: Announced>(&self, data: &T) -> bool {
        self.matching.knows::<T>(Guid::new(self.config.prefix, data.endpoint().guid.entity_id))
    }

    /// Removes a writer of ours. `false`: there was none.
    pub fn remove_writer(&mut self, now: Now, writer: EntityId) -> bool {
        let removed = self.remove::<PublicationData>(now, writer);
        self.schedule_assertions(now);
        removed
    }

    /// Removes a reader of ours. `false`: there was none.
    pub fn remove_reader(&mut self, now: Now, reader: EntityId) -> bool {
        self.remove::<SubscriptionData>(now, reader)
    }

    fn add<T: Announced>(&mut self, now: Now, mut data: T) {
        let endpoint = data.endpoint_mut();
        endpoint.guid.prefix = self.config.prefix;
        let instance = InstanceHandle::from(endpoint.guid);
        let mut payload = std::mem::take(&mut self.payload);
        data.encode(&mut payload);
        self.publish(now, T::TOPIC, instance, &payload);
        self.payload = payload;
        self.matching.put(Arc::new(Discovered::local(data)));
        self.ask_for_types(now);
    }

    fn remove<T: Announced>(&mut self, now: Now, id: EntityId) -> bool {
        let guid = Guid::new(self.config.prefix, id);
        if self.matching.remove::<T>(guid, ParticipantLoss::Left).is_none() {
            return false;
        }
        let mut key = std::mem::take(&mut self.payload);
        endpoint_key(guid, &mut key);
        if !self.pair(T::TOPIC).withdraw(now, InstanceHandle::from(guid), &key) {
            self.counters.unpublished += 1;
        }
        self.payload = key;
        true
    }

    pub(super) fn publish(&mut self, now: Now, topic: BuiltinTopic, instance: InstanceHandle, payload: &[u8]) {
        if !self.pair(topic).publish(now, instance, payload) {
            self.counters.unpublished += 1;
        }
    }

    /// Shows others that our writers of this kind are alive. Nothing is said of MANUAL_BY_TOPIC here: such a writer speaks
    /// for itself.
    pub fn assert_liveliness(&mut self, now: Now, kind: LivelinessKind) {
        if kind == LivelinessKind::ManualByTopic {
            return;
        }
        let message = ParticipantMessage { prefix: self.config.prefix, kind };
        self.publish(now, BuiltinTopic::Messages, message.instance(), &message.encode());
    }

    fn schedule_assertions(&mut self, now: Now) {
        let writers = self.matching.of::<PublicationData>(self.config.prefix);
        let offered = || writers.iter().map(|writer| &writer.data.qos.liveliness);
        self.assertions.set_writers(now.instant, offered());
        self.manual.set_writers(offered());
    }

    /// Shows that our writers are alive, as far as that is due. If this process did not run, it was for some of them too
    /// late (DDS 1.4, 2.2.4.1, LIVELINESS_LOST).
    pub(super) fn assert_what_is_due(&mut self, now: Now) {
        if let Some(silence) = self.assertions.take_due(now.instant) {
            self.tell_broken_promises(silence);
            self.assert_liveliness(now, LivelinessKind::Automatic);
        }
        if self.manual.is_due(now.instant) {
            self.assert_liveliness(now, LivelinessKind::ManualByParticipant);
        }
    }

    fn tell_broken_promises(&mut self, silence: Duration) {
        if self.assertions.keeps(silence) {
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

    /// Takes in what has arrived on a builtin topic.
    pub(super) fn take_samples(&mut self, now: Now, topic: BuiltinTopic) {
        let mut samples = std::mem::take(&mut self.samples);
        self.pair(topic).take(now, &mut samples);
        for sample in samples.drain(..) {
            let Some(sender) = sender(&sample).filter(|sender| self.peers.contains_key(sender)) else { continue };
            match topic {
                BuiltinTopic::Publications => self.take_endpoint::<PublicationData>(sender, &sample),
                BuiltinTopic::Subscriptions => self.take_endpoint::<SubscriptionData>(sender, &sample),
                BuiltinTopic::Messages => self.take_message(sender, &sample),
                BuiltinTopic::TypeRequests => self.take_type_request(now, &sample),
                BuiltinTopic::TypeReplies => self.take_type_reply(sender, &sample),
            }
        }
        self.samples = samples;
        self.ask_for_types(now);
    }

    fn take_endpoint<T: Announced>(&mut self, sender: GuidPrefix, sample: &HistorySample) {
        match told(sample) {
            Told::There(payload) => match T::decode(payload, sender) {
                Ok(decoded) => self.find_endpoint(decoded),
                Err(DataError::Guid) => self.counters.foreign += 1,
                Err(_) => self.counters.malformed_endpoints += 1,
            },
            Told::Gone(guid) if guid.prefix != sender => self.counters.foreign += 1,
            Told::Gone(guid) => {
                if self.matching.remove::<T>(guid, ParticipantLoss::Left).is_some() {
                    self.count_endpoint(sender, |endpoints| endpoints.saturating_sub(1));
                }
            }
            Told::Nothing => {}
        }
    }

    /// Takes an endpoint in, unless it is ignored, or one too many.
    fn find_endpoint<T: Announced>(&mut self, decoded: Decoded<T>) {
        let Decoded { data, skipped } = decoded;
        self.counters.skipped_parameters += u64::from(skipped);
        let guid = data.endpoint().guid;
        if self.ignored.contains(data.endpoint()) {
            return;
        }
        let Some(peer) = self.peers.get(&guid.prefix) else { return };
        let is_new = !self.matching.knows::<T>(guid);
        if is_new && peer.endpoints >= self.config.limits.endpoints_per_participant_max {
            self.counters.endpoints_refused += 1;
            return;
        }
        let reach = self.reach_of_endpoint(&peer.data, data.endpoint());
        let vendor = peer.data.vendor;
        if is_new {
            self.count_endpoint(guid.prefix, |endpoints| endpoints + 1);
        }
        self.matching.put(Arc::new(Discovered { data, reach, vendor, is_local: false }));
    }

    fn count_endpoint(&mut self, prefix: GuidPrefix, change: impl FnOnce(usize) -> usize) {
        if let Some(peer) = self.peers.get_mut(&prefix) {
            peer.endpoints = change(peer.endpoints);
        }
    }

    fn take_message(&mut self, sender: GuidPrefix, sample: &HistorySample) {
        let Told::There(payload) = told(sample) else { return };
        match ParticipantMessage::decode(payload) {
            Some(ParticipantMessage { prefix, kind }) if prefix == sender => {
                self.matching.push_event(ParticipantEvent::LivelinessAsserted { prefix, kind });
            }
            Some(_) => self.counters.foreign += 1,
            // Vendors have kinds of their own, which mean nothing to us.
            None => self.counters.malformed_endpoints += 1,
        }
    }
}

/// The participant whose builtin writer wrote a sample.
fn sender(sample: &HistorySample) -> Option<GuidPrefix> {
    sample.info.publication_handle.as_bytes().map(|bytes| Guid::from_bytes(*bytes).prefix)
}

fn told(sample: &HistorySample) -> Told<'_> {
    // What is withdrawn before the announcement was taken, because both had to wait for an earlier one, ends with that
    // sample: no other one follows.
    let is_there = sample.info.valid_data && sample.info.instance_state == InstanceState::Alive;
    match (sample.kind, &sample.payload) {
        (ChangeKind::Alive, Some(payload)) if is_there => Told::There(payload.bytes()),
        (ChangeKind::Alive, Some(_)) if sample.info.valid_data => gone(sample),
        (ChangeKind::Alive, _) => Told::Nothing,
        _ => gone(sample),
    }
}

fn gone(sample: &HistorySample) -> Told<'static> {
    let guid = sample.info.instance_handle.as_bytes();
    guid.map_or(Told::Nothing, |bytes| Told::Gone(Guid::from_bytes(*bytes)))
}
