//! Making and deleting endpoints: discovery, routes and topics hear of it in the right order.

use crate::actor::Effects;
use crate::cdr::Encoding;
use crate::domain::ParticipantHandle;
use crate::infrastructure::CreateErrorKind;
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
        if self.is_closed() {
            return Err(CreateErrorKind::Closed);
        }
        self.topics().acquire(name, type_name)
    }

    pub(crate) fn release_topic(&self, name: &str) {
        self.topics().release(name);
    }

    /// Announces a new reader. It is in the routes before others hear of it, so that nothing they send finds no one.
    pub(crate) fn add_reader(&self, reader: &ReaderHandle, topic_data: &[u8]) -> Result<(), CreateErrorKind> {
        let guid = reader.guid();
        let mut qos = reader.qos().clone();
        if qos.representation.is_empty() {
            qos.representation = DataRepresentation::READABLE.to_vec();
        }
        let mut endpoint = EndpointData::new(guid, reader.topic_name(), reader.type_name());
        endpoint.partition = reader.partition().to_vec();
        endpoint.topic_data = topic_data.to_vec();
        let data = SubscriptionData::new(endpoint, qos);
        self.routes().add_reader(guid.entity_id, Arc::clone(reader.cell()));
        self.announce(|participant, now| participant.add_reader(now, data))
    }

    /// Announces a new writer.
    pub(crate) fn add_writer(&self, writer: &WriterHandle, topic_data: &[u8]) -> Result<(), CreateErrorKind> {
        let guid = writer.guid();
        let mut qos = writer.qos().clone();
        qos.representation = vec![match writer.encoding() {
            Encoding::Xcdr1 => DataRepresentation::Xcdr1,
            Encoding::Xcdr2 => DataRepresentation::Xcdr2,
        }];
        let mut endpoint = EndpointData::new(guid, writer.topic_name(), writer.type_name());
        endpoint.partition = writer.partition().to_vec();
        endpoint.topic_data = topic_data.to_vec();
        let data = PublicationData { endpoint, qos };
        let inline_qos = data.inline_qos();
        // A new writer's cell is open.
        let _ = Effects::scope(|effects| writer.cell().with(effects, |actor, _| actor.set_inline_qos(&inline_qos)));
        self.routes().add_writer(guid.entity_id, Arc::clone(writer.cell()));
        self.announce(|participant, now| participant.add_writer(now, data))
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
        let actor = Effects::scope(|effects| {
            // A closed participant has withdrawn everything already.
            let _ = self.cell().with(effects, |actor, _| {
                actor.change(|participant, now| {
                    participant.remove_writer(now, id);
                });
            });
            self.carry_out_matches(effects);
            let mut actor = cell.close(effects);
            if let Some(actor) = &mut actor {
                actor.wake_everybody(effects);
            }
            actor
        });
        drop(actor);
        self.routes().remove_writer(id);
    }
}
