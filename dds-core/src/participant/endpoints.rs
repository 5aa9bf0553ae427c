//! Making and deleting endpoints: discovery, routes and topics hear of it in the right order.

use crate::actor::Effects;
use crate::actor::close_cell;
use crate::cdr::Encoding;
use crate::infrastructure::CreateErrorKind;
use crate::participant::{Contained, ParticipantHandle};
use crate::publication::{WriterCell, WriterHandle};
use crate::qos::DataRepresentation;
use crate::subscription::ReaderHandle;
use dds_rtps::discovery::data::{EndpointData, PublicationData, SubscriptionData};
use dds_rtps::participant::Participant;
use dds_rtps::types::{EntityId, Now};
use std::sync::Arc;

impl ParticipantHandle {
    /// Counts one more endpoint or [`Topic`](crate::Topic) of a name.
    pub(crate) fn use_topic(&self, name: &str, type_name: &str) -> Result<(), CreateErrorKind> {
        self.check_open()?;
        if self.config().is_durability_service() {
            // It keeps what others write, under whatever types.
            return Ok(());
        }
        self.topics().acquire(name, type_name)?;
        Effects::scope(|effects| self.wake_finders(effects));
        Ok(())
    }

    pub(crate) fn release_topic(&self, name: &str) {
        if !self.config().is_durability_service() {
            self.topics().release(name);
        }
    }

    /// Announces a new reader. It is in the routes before others hear of it, so that nothing they send finds no one.
    pub(crate) fn add_reader(&self, reader: &ReaderHandle) -> Result<(), CreateErrorKind> {
        self.routes().add_reader(reader.guid().entity_id, Arc::clone(reader.cell()));
        let (data, version) = subscription_data(reader);
        self.announce(|participant, now| {
            reader.types().into_iter().for_each(|types| participant.add_type(types));
            participant.add_reader(now, data);
        })?;
        if reader.version() != version {
            self.update_reader(reader);
        }
        Ok(())
    }

    /// Announces a new writer.
    pub(crate) fn add_writer(&self, writer: &WriterHandle) -> Result<(), CreateErrorKind> {
        let (data, version) = publication_data(writer);
        set_inline_qos(writer, &data);
        self.routes().add_writer(writer.guid().entity_id, Arc::clone(writer.cell()));
        // Its lease begins. A closed writer promises nothing any more.
        let _ =
            Effects::scope(|effects| writer.cell().with(effects, |actor, effects| actor.assert_liveliness(effects)));
        self.announce(|participant, now| {
            writer.types.iter().for_each(|types| participant.add_type(types));
            participant.add_writer(now, data);
        })?;
        if writer.version() != version {
            self.update_writer(writer);
        }
        Ok(())
    }

    /// Enters a new reader among what the participant contains, and resolves who listens to it.
    pub(crate) fn enter_reader(&self, reader: &Arc<ReaderHandle>) -> Result<(), CreateErrorKind> {
        self.contain(|contained| contained.add_reader(reader))?;
        self.refresh_reader(reader);
        if let Some(group) = reader.group() {
            group.watch_reader(reader);
        }
        Ok(())
    }

    /// As [`enter_reader`](Self::enter_reader).
    pub(crate) fn enter_writer(&self, writer: &Arc<WriterHandle>) -> Result<(), CreateErrorKind> {
        self.contain(|contained| contained.add_writer(writer))?;
        self.refresh_writer(writer);
        Ok(())
    }

    /// Enters a new endpoint. One that comes while the participant is closed is refused by the look after it, or closed by
    /// whoever closes the participant, which looks at the table after it has said so.
    fn contain(&self, add: impl FnOnce(&Contained)) -> Result<(), CreateErrorKind> {
        add(self.contained());
        if self.is_closed() { Err(CreateErrorKind::Closed) } else { Ok(()) }
    }

    /// Announces a reader as it, its group and its topic are now. Whoever was overtaken by a later change announces that one too, so
    /// that the last announcement is the newest.
    pub(crate) fn update_reader(&self, reader: &ReaderHandle) {
        loop {
            let (data, version) = subscription_data(reader);
            let announced = self.announce(|participant, now| {
                participant.update_reader(now, data);
            });
            if announced.is_err() || reader.version() == version {
                return;
            }
        }
    }

    /// As [`update_reader`](Self::update_reader).
    pub(crate) fn update_writer(&self, writer: &WriterHandle) {
        loop {
            let (data, version) = publication_data(writer);
            set_inline_qos(writer, &data);
            let announced = self.announce(|participant, now| {
                participant.update_writer(now, data);
            });
            if announced.is_err() || writer.version() == version {
                return;
            }
        }
    }

    /// Changes what discovery knows, and carries out what follows for the endpoints here.
    fn announce(&self, change: impl FnOnce(&mut Participant, Now)) -> Result<(), CreateErrorKind> {
        Effects::scope(|effects| {
            let announced = self.cell().with(effects, |actor, _| actor.change(change));
            self.carry_out_matches(effects);
            announced.map_err(|_| CreateErrorKind::Closed)
        })
    }

    /// Takes a reader back.
    pub(crate) fn delete_reader(&self, id: EntityId, topic: &str) {
        Effects::scope(|effects| {
            // A closed participant has withdrawn everything already.
            let _ = self.cell().with(effects, |actor, _| {
                actor.change(|participant, now| {
                    participant.remove_reader(now, id);
                });
            });
            self.carry_out_matches(effects);
        });
        self.routes().remove_reader(id);
        self.release_topic(topic);
    }

    /// Takes a writer back; its topic was released when the application dropped it.
    pub(crate) fn delete_writer(&self, id: EntityId, cell: &Arc<WriterCell>) {
        Effects::scope(|effects| {
            // A closed participant has withdrawn everything already.
            let _ = self.cell().with(effects, |actor, _| {
                actor.change(|participant, now| {
                    participant.remove_writer(now, id);
                });
            });
            self.carry_out_matches(effects);
        });
        close_cell(cell);
        self.routes().remove_writer(id);
    }
}

/// What is announced of a reader, and the version of that: its own, and those of its group and topic.
fn subscription_data(reader: &ReaderHandle) -> (SubscriptionData, u64) {
    let (mut qos, version) = reader.qos().versioned();
    if qos.representation.is_empty() {
        qos.representation = DataRepresentation::READABLE.to_vec();
    }
    let mut endpoint = EndpointData::new(reader.guid(), reader.topic_name(), reader.type_name());
    endpoint.type_information = reader.types().map(|types| Arc::clone(types.information()));
    let version = version + reader.group().map_or(0, |group| group.describe(&mut endpoint));
    let version = version + reader.topic().map_or(0, |topic| topic.describe(&mut endpoint));
    let filter = reader.filtered().map(|filtered| filtered.describe(reader.topic_name()));
    let (content_filter, filter_version) = filter.unwrap_or_default();
    (SubscriptionData { content_filter, ..SubscriptionData::new(endpoint, qos) }, version + filter_version)
}

/// What is announced of a writer, and the version of that, as of a reader.
fn publication_data(writer: &WriterHandle) -> (PublicationData, u64) {
    let (mut qos, version) = writer.qos().versioned();
    qos.representation = vec![match writer.encoding() {
        Ok(Encoding::Xcdr2) => DataRepresentation::Xcdr2,
        // Only an enabled writer is announced.
        Ok(Encoding::Xcdr1) | Err(_) => DataRepresentation::Xcdr1,
    }];
    let mut endpoint = EndpointData::new(writer.guid(), writer.topic_name(), writer.type_name());
    endpoint.type_information = writer.types.as_ref().map(|types| Arc::clone(types.information()));
    let version = version + writer.group().map_or(0, |group| group.describe(&mut endpoint));
    let version = version + writer.topic().map_or(0, |topic| topic.describe(&mut endpoint));
    (PublicationData { endpoint, qos }, version)
}

/// Lets the writer say with its samples what it announces, to readers that ask for that.
fn set_inline_qos(writer: &WriterHandle, data: &PublicationData) {
    let inline_qos = data.inline_qos();
    // A closed writer says nothing any more.
    let _ = Effects::scope(|effects| writer.cell().with(effects, |actor, _| actor.set_inline_qos(&inline_qos)));
}
