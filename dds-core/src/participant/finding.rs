//! The wait for a topic that any participant has (DDS 1.4, 2.2.2.2.1.11).

use crate::actor::Ticket;
use crate::context::ParticipantRef;
use crate::driver::Driver;
use crate::infrastructure::{Awaited, CreateErrorKind, Missing, Subject, WaitErrorKind, WaitSource};
use crate::participant::ParticipantHandle;
use crate::qos::TopicQos;
use crate::topic::{Topic, TopicBuiltinTopicData, topic_qos_of_reader, topic_qos_of_writer};
use dds_rtps::cdr::DdsType;
use dds_rtps::participant::Participant;
use dds_rtps::types::Guid;
use std::marker::PhantomData;
use std::sync::Arc;
use std::task::{Poll, Waker};

impl ParticipantHandle {
    /// Returns the QoS of a topic with this type, or registers the waiter.
    fn find_topic(
        &self,
        name: &str,
        type_name: &str,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Result<Option<TopicQos>, WaitErrorKind> {
        let waker = waker.clone();
        let looked = self.discovery().cell().visit(|actor, effects| {
            // From now on each announced endpoint wakes this wait.
            actor.observe_endpoints();
            let here = self.topics().type_of(name).map(str::to_owned);
            let known = known_topic(actor.rtps(), name, type_name);
            if here.is_none() && known.is_none() {
                actor.finders().register(ticket, waker, effects);
            } else {
                actor.finders().finish(ticket, effects);
                effects.discard(waker);
            }
            (here, known)
        });
        let Ok((here, known)) = looked else { return Err(WaitErrorKind::Closed) };
        match here {
            None => Ok(known),
            Some(existing) if existing != type_name => Err(WaitErrorKind::OtherType { existing }),
            // The participant's own topic comes before that of a peer.
            Some(_) => match self.contained().topics_named(name).first() {
                Some(topic) => Ok(Some(topic.qos())),
                None => Ok(Some(known.unwrap_or_default())),
            },
        }
    }
}

/// Returns the QoS of a topic, from one of its endpoints.
fn known_topic(rtps: &Participant, name: &str, type_name: &str) -> Option<TopicQos> {
    // Writers first, because their QoS has all policies of a topic.
    for writer in rtps.matching().writers_of(name) {
        if writer.data.endpoint.type_name == type_name {
            let qos = topic_qos_of_writer(&writer.data.qos);
            return Some(TopicBuiltinTopicData::new(&writer.data.endpoint, qos).qos);
        }
    }
    for reader in rtps.matching().readers_of(name) {
        if reader.data.endpoint.type_name == type_name {
            let qos = topic_qos_of_reader(&reader.data.qos);
            return Some(TopicBuiltinTopicData::new(&reader.data.endpoint, qos).qos);
        }
    }
    None
}

/// A search for a topic of the type `T`.
pub(crate) struct FindTopic<T> {
    participant: ParticipantRef<ParticipantHandle>,
    subject: Arc<Subject>,
    marker: PhantomData<fn() -> T>,
}

impl<T> FindTopic<T> {
    pub(crate) fn new(participant: &Arc<ParticipantHandle>, name: &str) -> Self {
        let subject = Subject::new("topic", name, Guid::UNKNOWN);
        Self { participant: ParticipantRef::new(participant), subject, marker: PhantomData }
    }
}

impl<T> FindTopic<T> {
    /// Returns the types that other participants have for the topic.
    fn other_types(&self) -> Vec<String> {
        let mut types = Vec::new();
        for other in self.participant.discovery().discovered_topics() {
            if other.name == self.subject.topic {
                types.push(other.type_name);
            }
        }
        types
    }
}

impl<T: DdsType> WaitSource<Topic<T>> for FindTopic<T> {
    fn poll_wait(
        &self,
        _awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<Topic<T>, WaitErrorKind>> {
        if !self.participant.core.is_enabled() {
            return Poll::Ready(Err(WaitErrorKind::NotEnabled));
        }
        let name = &self.subject.topic;
        let qos = match self.participant.find_topic(name, T::TYPE_NAME, ticket, waker) {
            Ok(Some(qos)) => qos,
            Ok(None) => return Poll::Pending,
            Err(kind) => return Poll::Ready(Err(kind)),
        };
        let context = self.participant.as_topic_context();
        let error = match Topic::new(&context, name, T::TYPE_NAME, Some(T::DESCRIPTION.into()), qos) {
            Ok(topic) => return Poll::Ready(Ok(topic)),
            Err(error) => error,
        };
        Poll::Ready(Err(match error.kind() {
            CreateErrorKind::TypeConflict { existing, .. } => WaitErrorKind::OtherType { existing: existing.clone() },
            // The name, type and QoS are in use already, so creating the topic fails only if the participant is closed.
            _ => WaitErrorKind::Closed,
        }))
    }

    fn abandon(&self, _awaited: Awaited, ticket: Ticket) {
        // A closed participant has no waiters.
        self.participant.discovery().abandon_finder(ticket);
    }

    fn driver(&self) -> &dyn Driver {
        &**self.participant.core.driver()
    }

    fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    fn missing_at_a_glance(&self, _awaited: Awaited) -> Missing {
        let discovery = self.participant.discovery();
        match (self.other_types(), discovery.discovered_participants().len()) {
            (types, _) if !types.is_empty() => Missing::TopicOfType { types },
            (_, 0) => self.participant.core.missing_participants(),
            (_, participants) => Missing::Topic { participants },
        }
    }

    fn complain(&self, _awaited: Awaited) {
        let (topic, others) = (&self.subject.topic, self.other_types());
        let wanted = T::TYPE_NAME;
        tracing::warn!(
            parent: self.participant.core.span(),
            topic,
            wanted,
            ?others,
            "still waiting for a topic of this type; other participants have it with these types"
        );
    }
}
