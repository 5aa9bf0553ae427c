//! Writers and readers: ours, as they are announced, and those of others, as they are found (RTPS 2.5, 8.5.4).

use super::Participant;
use crate::discovery::data::{DataError, Decoded, PublicationData, SubscriptionData, endpoint_key};
use crate::discovery::{BuiltinTopic, Discovered, ParticipantEvent, ParticipantMessage};
use crate::history::{ChangeKind, HistorySample};
use crate::qos::LivelinessKind;
use crate::types::{EntityId, Guid, GuidPrefix, InstanceHandle, Now};
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
    pub fn add_writer(&mut self, now: Now, mut data: PublicationData) {
        data.endpoint.guid.prefix = self.config.prefix;
        let mut payload = std::mem::take(&mut self.payload);
        data.encode(&mut payload);
        self.publish(now, BuiltinTopic::Publications, data.endpoint.guid, &payload);
        self.payload = payload;
        self.matching.put_writer(Arc::new(Discovered::local(data)));
        self.schedule_assertions(now);
    }

    /// Adds a reader of ours, or takes over that its QoS has changed. Its GUID gets this participant's prefix.
    pub fn add_reader(&mut self, now: Now, mut data: SubscriptionData) {
        data.endpoint.guid.prefix = self.config.prefix;
        let mut payload = std::mem::take(&mut self.payload);
        data.encode(&mut payload);
        self.publish(now, BuiltinTopic::Subscriptions, data.endpoint.guid, &payload);
        self.payload = payload;
        self.matching.put_reader(Arc::new(Discovered::local(data)));
    }

    /// Removes a writer of ours. `false`: there was none.
    pub fn remove_writer(&mut self, now: Now, writer: EntityId) -> bool {
        let guid = Guid::new(self.config.prefix, writer);
        let removed = self.matching.remove_writer(guid).is_some();
        if removed {
            self.withdraw(now, BuiltinTopic::Publications, guid);
            self.schedule_assertions(now);
        }
        removed
    }

    /// Removes a reader of ours. `false`: there was none.
    pub fn remove_reader(&mut self, now: Now, reader: EntityId) -> bool {
        let guid = Guid::new(self.config.prefix, reader);
        let removed = self.matching.remove_reader(guid).is_some();
        if removed {
            self.withdraw(now, BuiltinTopic::Subscriptions, guid);
        }
        removed
    }

    fn publish(&mut self, now: Now, topic: BuiltinTopic, guid: Guid, payload: &[u8]) {
        if !self.pair(topic).publish(now, InstanceHandle::from_guid(guid), payload) {
            self.counters.unpublished += 1;
        }
    }

    fn withdraw(&mut self, now: Now, topic: BuiltinTopic, guid: Guid) {
        let mut key = std::mem::take(&mut self.payload);
        endpoint_key(guid, &mut key);
        if !self.pair(topic).withdraw(now, InstanceHandle::from_guid(guid), &key) {
            self.counters.unpublished += 1;
        }
        self.payload = key;
    }

    /// Shows others that our writers of this kind are alive. Nothing is said of MANUAL_BY_TOPIC here: such a writer speaks
    /// for itself.
    pub fn assert_liveliness(&mut self, now: Now, kind: LivelinessKind) {
        if kind == LivelinessKind::ManualByTopic {
            return;
        }
        let message = ParticipantMessage { prefix: self.config.prefix, kind };
        if !self.pair(BuiltinTopic::Messages).publish(now, message.instance(), &message.encode()) {
            self.counters.unpublished += 1;
        }
    }

    fn schedule_assertions(&mut self, now: Now) {
        let writers = self.matching.writers_of(self.config.prefix);
        self.assertions.set_writers(now.instant, writers.map(|writer| &writer.data.qos.liveliness));
    }

    /// Takes in what has arrived on a builtin topic.
    pub(super) fn take_samples(&mut self, now: Now, topic: BuiltinTopic) {
        let mut samples = std::mem::take(&mut self.samples);
        self.pair(topic).take(now, &mut samples);
        for sample in samples.drain(..) {
            let Some(sender) = sender(&sample).filter(|sender| self.peers.contains_key(sender)) else { continue };
            match topic {
                BuiltinTopic::Publications => self.take_publication(sender, &sample),
                BuiltinTopic::Subscriptions => self.take_subscription(sender, &sample),
                BuiltinTopic::Messages => self.take_message(sender, &sample),
            }
        }
        self.samples = samples;
    }

    fn take_publication(&mut self, sender: GuidPrefix, sample: &HistorySample) {
        let payload = match told(sample) {
            Told::There(payload) => payload,
            Told::Gone(guid) if guid.prefix != sender => return self.counters.foreign += 1,
            Told::Gone(guid) => {
                if self.matching.remove_writer(guid).is_some() {
                    self.count_endpoint(sender, |endpoints| endpoints.saturating_sub(1));
                }
                return;
            }
            Told::Nothing => return,
        };
        match PublicationData::decode(payload, sender) {
            Ok(decoded) => {
                let guid = decoded.data.endpoint.guid;
                let is_new = self.matching.writer(guid).is_none();
                let Some(writer) = self.discovered(decoded, guid, is_new, |data| &data.endpoint) else { return };
                self.matching.put_writer(Arc::new(writer));
            }
            Err(error) => self.count_malformed(error),
        }
    }

    fn take_subscription(&mut self, sender: GuidPrefix, sample: &HistorySample) {
        let payload = match told(sample) {
            Told::There(payload) => payload,
            Told::Gone(guid) if guid.prefix != sender => return self.counters.foreign += 1,
            Told::Gone(guid) => {
                if self.matching.remove_reader(guid).is_some() {
                    self.count_endpoint(sender, |endpoints| endpoints.saturating_sub(1));
                }
                return;
            }
            Told::Nothing => return,
        };
        match SubscriptionData::decode(payload, sender) {
            Ok(decoded) => {
                let guid = decoded.data.endpoint.guid;
                let is_new = self.matching.reader(guid).is_none();
                let Some(reader) = self.discovered(decoded, guid, is_new, |data| &data.endpoint) else { return };
                self.matching.put_reader(Arc::new(reader));
            }
            Err(error) => self.count_malformed(error),
        }
    }

    /// Adds what is known of the participant; `None`: the endpoint is ignored, or one too many.
    fn discovered<T>(
        &mut self,
        decoded: Decoded<T>,
        guid: Guid,
        is_new: bool,
        endpoint: impl Fn(&T) -> &crate::discovery::data::EndpointData,
    ) -> Option<Discovered<T>> {
        self.counters.skipped_parameters += u64::from(decoded.skipped);
        if self.ignored.contains(&guid) {
            return None;
        }
        let peer = self.peers.get(&guid.prefix)?;
        if is_new && peer.endpoints >= self.config.limits.endpoints_per_participant_max {
            self.counters.endpoints_refused += 1;
            return None;
        }
        let reach = self.reach_of_endpoint(&peer.data, endpoint(&decoded.data));
        let vendor = peer.data.vendor;
        if is_new {
            self.count_endpoint(guid.prefix, |endpoints| endpoints + 1);
        }
        Some(Discovered { data: decoded.data, reach, vendor, is_local: false })
    }

    fn count_endpoint(&mut self, prefix: GuidPrefix, change: impl FnOnce(usize) -> usize) {
        if let Some(peer) = self.peers.get_mut(&prefix) {
            peer.endpoints = change(peer.endpoints);
        }
    }

    fn count_malformed(&mut self, error: DataError) {
        match error {
            DataError::Guid => self.counters.foreign += 1,
            _ => self.counters.malformed_endpoints += 1,
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
    match (sample.kind, &sample.payload) {
        (ChangeKind::Alive, Some(payload)) if sample.info.valid_data => Told::There(payload.bytes()),
        (ChangeKind::Alive, _) => Told::Nothing,
        _ => match sample.info.instance_handle.as_bytes() {
            Some(bytes) => Told::Gone(Guid::from_bytes(*bytes)),
            None => Told::Nothing,
        },
    }
}
