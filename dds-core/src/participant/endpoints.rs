//! Services of the participant for its entities. They inform discovery, routes and topics in the right order.

use crate::actor::{Effects, Poke, close_cell};
use crate::context::{ParticipantContext, ParticipantCore};
use crate::endpoint::{Endpoint, EndpointCore};
use crate::infrastructure::{CreateErrorKind, Missing};
use crate::introspection::{EndpointInfo, MatchReport};
use crate::participant::ParticipantHandle;
use crate::publication::{PublicationContext, PublisherGroup, WriterCell, WriterHandle};
use crate::qos::DataRepresentation;
use crate::subscription::{ReaderHandle, SubscriberGroup, SubscriptionContext};
use crate::topic::{BuiltinKind, PublicationBuiltinTopicData, SubscriptionBuiltinTopicData, TopicContext, TopicHandle};
use dds_rtps::cdr::Encoding;
use dds_rtps::discovery::data::{EndpointData, PublicationData, SubscriptionData};
use dds_rtps::participant::Participant;
use dds_rtps::types::{EntityId, Guid, GuidPrefix, InstanceHandle, Now};
use std::any::Any;
use std::sync::{Arc, Weak};

impl ParticipantContext for ParticipantHandle {
    fn core(&self) -> &Arc<ParticipantCore> {
        &self.core
    }

    fn end(&self) {
        self.leave_at_last_drop();
    }

    fn use_topic(&self, name: &str, type_name: &str) -> Result<(), CreateErrorKind> {
        self.core().check_open()?;
        if self.core().config().is_durability_service() {
            // It stores samples of other writers, which may use one topic name with several types.
            return Ok(());
        }
        // Fails if the participant uses the name with another type.
        self.topics().acquire(name, type_name)?;
        Effects::scope(|effects| self.discovery().wake_finders(effects));
        Ok(())
    }

    fn release_topic(&self, name: &str) {
        if !self.core().config().is_durability_service() {
            self.topics().release(name);
        }
    }

    fn remove_entity(&self, id: EntityId) {
        self.contained().remove(id);
    }

    fn describe_endpoints(&self, guids: &[Guid]) -> Vec<EndpointInfo> {
        self.discovery().describe_endpoints(guids)
    }

    fn explain_endpoint(&self, guid: Guid) -> Vec<MatchReport> {
        self.reports(|endpoint| endpoint.guid == guid)
    }

    fn why_waiting(&self, guid: Guid) -> String {
        self.explain_wait(guid)
    }

    fn unmatched(&self, guid: Guid) -> Missing {
        self.explain_unmatched(guid)
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl TopicContext for ParticipantHandle {
    fn add_topic(&self, topic: &Arc<TopicHandle>) {
        self.contained().add_topic(topic);
    }

    fn update_endpoints_of(&self, topic: &Arc<TopicHandle>) {
        for reader in self.contained().readers() {
            match reader.topic() {
                Some(of_reader) if Arc::ptr_eq(of_reader, topic) => self.update_reader(&reader),
                // It was created by name, and follows no topic object.
                _ => {}
            }
        }
        for writer in self.contained().writers() {
            match writer.topic() {
                Some(of_writer) if Arc::ptr_eq(of_writer, topic) => self.update_writer(&writer),
                _ => {}
            }
        }
    }
}

impl SubscriptionContext for ParticipantHandle {
    fn add_subscriber(&self, subscriber: &Arc<SubscriberGroup>) {
        self.contained().add_subscriber(subscriber);
    }

    fn is_builtin_subscriber(&self, subscriber: &Arc<SubscriberGroup>) -> bool {
        self.discovery().builtin().is_subscriber(subscriber)
    }

    fn enter_reader(&self, reader: &Arc<ReaderHandle>) -> Result<(), CreateErrorKind> {
        // In the table first: a participant that closes now closes the reader, or the check below fails.
        self.contained().add_reader(reader);
        self.check_not_closed()?;
        reader.refresh_listeners();
        if let Some(group) = reader.group() {
            group.watch_reader(reader);
        }
        Ok(())
    }

    fn announce_reader(&self, reader: &ReaderHandle) -> Result<(), CreateErrorKind> {
        let (data, version) = subscription_data(reader);
        self.core().config().check_endpoint(&data.endpoint, self.core().driver().now())?;
        // In the routes before peers hear of it, so that the first samples find it.
        self.reception().routes().add_reader(reader.guid().entity_id, Arc::clone(reader.cell()));
        self.announce(|participant, now| {
            if let Some(types) = reader.types() {
                participant.add_type(types);
            }
            participant.add_reader(now, data);
        })?;
        // A change between the description and the announcement saw no reader to update.
        if reader.version() != version {
            self.update_reader(reader);
        }
        Ok(())
    }

    fn add_builtin_reader(&self, reader: &ReaderHandle, kind: BuiltinKind) -> Result<(), CreateErrorKind> {
        Effects::scope(|effects| {
            let mut turn = self.matching();
            // Events that are still pending are in the snapshot below; they go to the readers before this one.
            self.carry_out_events(&mut turn, effects);
            // The turn of matching excludes events between the snapshot and the entry of the reader.
            let known = self.discovery().known(effects)?;
            self.reception().routes().add_reader(reader.guid().entity_id, Arc::clone(reader.cell()));
            self.discovery().builtin().add(reader, kind, &known, effects);
            drop(turn);
            Ok(())
        })
    }

    /// Repeats the announcement if another thread changed the QoS. So the last announcement is the newest.
    fn update_reader(&self, reader: &ReaderHandle) {
        loop {
            let (data, version) = subscription_data(reader);
            let announced = self.announce(|participant, now| participant.update_reader(now, data));
            // Of two threads that announce, the later one may have the older data. So look once more.
            if announced.is_err() || reader.version() == version {
                return;
            }
        }
    }

    fn delete_reader(&self, id: EntityId, topic: &str) {
        // A closed participant has withdrawn everything already.
        let _ = self.announce(|participant, now| participant.remove_reader(now, id));
        self.reception().routes().remove_reader(id);
        self.release_topic(topic);
    }

    fn publication_data(&self, writer: InstanceHandle) -> Option<PublicationBuiltinTopicData> {
        self.discovery().publication_data(writer)
    }

    fn inbox_dropped(&self) -> u64 {
        self.reception().inbox_dropped()
    }
}

impl PublicationContext for ParticipantHandle {
    fn add_publisher(&self, publisher: &Arc<PublisherGroup>) {
        self.contained().add_publisher(publisher);
    }

    fn enter_writer(&self, writer: &Arc<WriterHandle>) -> Result<(), CreateErrorKind> {
        // As for a reader, before the check.
        self.contained().add_writer(writer);
        self.check_not_closed()?;
        writer.refresh_listeners();
        Ok(())
    }

    fn announce_writer(&self, writer: &WriterHandle) -> Result<(), CreateErrorKind> {
        let (data, version) = publication_data(writer);
        self.core().config().check_endpoint(&data.endpoint, self.core().driver().now())?;
        set_inline_qos(writer, &data);
        self.reception().routes().add_writer(writer.guid().entity_id, Arc::clone(writer.cell()));
        // Its lease begins. A closed writer promises nothing any more.
        let _ = writer.cell().visit(|actor, effects| actor.assert_liveliness(effects));
        self.announce(|participant, now| {
            if let Some(types) = writer.types() {
                participant.add_type(types);
            }
            participant.add_writer(now, data);
        })?;
        if writer.version() != version {
            self.update_writer(writer);
        }
        Ok(())
    }

    /// As [`update_reader`](SubscriptionContext::update_reader).
    fn update_writer(&self, writer: &WriterHandle) {
        loop {
            let (data, version) = publication_data(writer);
            set_inline_qos(writer, &data);
            let announced = self.announce(|participant, now| participant.update_writer(now, data));
            if announced.is_err() || writer.version() == version {
                return;
            }
        }
    }

    fn drain(&self, id: EntityId, cell: Arc<WriterCell>) {
        // In the list first, or a wake of the last acknowledgment would miss it.
        self.draining().add(id, cell);
        self.finish_drained(&self.drain_bell());
    }

    fn subscription_data(&self, reader: InstanceHandle) -> Option<SubscriptionBuiltinTopicData> {
        self.discovery().subscription_data(reader)
    }

    fn durability_services(&self) -> Vec<GuidPrefix> {
        self.discovery().durability_services()
    }

    fn discovery_cell(&self) -> Weak<dyn Poke> {
        Arc::downgrade(self.discovery().cell()) as Weak<dyn Poke>
    }
}

impl ParticipantHandle {
    /// Fails if the participant is closed. The caller has added a new endpoint to the table.
    ///
    /// The closing thread reads the table after it has set the flag. So an endpoint that enters in the meantime fails
    /// here, or that thread closes it.
    fn check_not_closed(&self) -> Result<(), CreateErrorKind> {
        if self.core().is_closed() { Err(CreateErrorKind::Closed) } else { Ok(()) }
    }

    /// Changes the state of discovery, and carries out the resulting matches.
    pub(super) fn announce<R>(&self, change: impl FnOnce(&mut Participant, Now) -> R) -> Result<R, CreateErrorKind> {
        Effects::scope(|effects| {
            let announced = self.discovery().change(effects, change);
            self.carry_out_matches(effects);
            announced
        })
    }

    /// Withdraws a writer. Its topic was released when the application dropped it.
    pub(super) fn delete_writer(&self, id: EntityId, cell: &Arc<WriterCell>) {
        // A closed participant has withdrawn everything already.
        let _ = self.announce(|participant, now| participant.remove_writer(now, id));
        // After the withdrawal, so that an ACKNACK that is on its way still finds the writer.
        close_cell(cell);
        self.reception().routes().remove_writer(id);
    }
}

/// Returns the announcement of a reader and its version, with the versions of its group and topic.
fn subscription_data(reader: &ReaderHandle) -> (SubscriptionData, u64) {
    let (mut qos, version) = reader.qos().versioned();
    if qos.representation.is_empty() {
        qos.representation = DataRepresentation::READABLE.to_vec();
    }
    let mut endpoint = EndpointData::new(reader.guid(), reader.topic_name(), reader.type_name());
    let version = version + describe(reader, &mut endpoint);
    let (content_filter, filter_version) = match reader.filtered() {
        Some(filtered) => filtered.describe(reader.topic_name()),
        None => (None, 0),
    };
    (SubscriptionData { content_filter, ..SubscriptionData::new(endpoint, qos) }, version + filter_version)
}

/// Adds the parts that group, topic and type contribute to the announcement. Returns the sum of their versions.
fn describe<E: Endpoint>(of: &EndpointCore<E>, endpoint: &mut EndpointData) -> u64 {
    let mut version = 0;
    endpoint.data_tags = of.data_tags().clone();
    if let Some(types) = of.types() {
        endpoint.type_information = Some(Arc::clone(types.information()));
    }
    // Each part returns the version that it has described: data and version are read under one lock.
    if let Some(group) = of.group() {
        version += group.describe(endpoint);
    }
    if let Some(topic) = of.topic() {
        version += topic.describe(endpoint);
    }
    version
}

/// Returns the announcement of a writer and its version, as for a reader.
fn publication_data(writer: &WriterHandle) -> (PublicationData, u64) {
    let (mut qos, version) = writer.qos().versioned();
    qos.representation = vec![match writer.encoding() {
        Ok(Encoding::Xcdr2) => DataRepresentation::Xcdr2,
        // Only an enabled writer is announced.
        Ok(Encoding::Xcdr1) | Err(_) => DataRepresentation::Xcdr1,
    }];
    let mut endpoint = EndpointData::new(writer.guid(), writer.topic_name(), writer.type_name());
    let version = version + describe(writer, &mut endpoint);
    (PublicationData { endpoint, qos }, version)
}

/// Sets the inline QoS that the writer sends to readers that request it.
fn set_inline_qos(writer: &WriterHandle, data: &PublicationData) {
    let inline_qos = data.inline_qos();
    // A closed writer sends nothing.
    let _ = writer.cell().visit(|actor, _| actor.set_inline_qos(&inline_qos));
}
