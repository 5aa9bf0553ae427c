//! The wait for the description of a type that another participant has (XTYPES 1.3, 7.6.3.3).

use crate::actor::{Effects, Ticket};
use crate::context::ParticipantRef;
use crate::driver::Driver;
use crate::infrastructure::{Awaited, Missing, Subject, WaitErrorKind, WaitSource, Waiting};
use crate::participant::{DomainParticipant, ParticipantHandle};
use dds_rtps::participant::{Participant, TypeResolution};
use dds_rtps::types::Guid;
use dds_rtps::xtypes::{TypeIdentifier, TypeObject};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Poll, Waker};

/// Description of a topic's type by one of its endpoints: complete TypeObjects with their identifiers.
///
/// [`discover_type_objects`](crate::DomainParticipant::discover_type_objects) returns it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DiscoveredType {
    /// Type name that the endpoint announces.
    pub type_name: String,
    /// Identifier of the topic's type.
    pub root: TypeIdentifier,
    /// The object of the topic's type, and those of all types that it uses.
    pub objects: BTreeMap<TypeIdentifier, Arc<TypeObject>>,
}

impl DomainParticipant {
    /// Waits for an endpoint of `topic` that describes its type, and returns the description.
    ///
    /// The participant requests unknown types from the participant of that endpoint. Endpoints without a description
    /// are ignored: those of raw topics, and those of participants without the TypeLookup service (XTYPES 1.3,
    /// 7.6.3.3).
    ///
    /// ```
    /// use dds_core::{DdsType, DomainParticipant, Scope};
    ///
    /// #[derive(DdsType)]
    /// struct Pose {
    ///     x: f64,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let builder = DomainParticipant::builder(0).scope(Scope::Host);
    /// # let builder = builder.domain_tag(format!("type-objects-{}", std::process::id()));
    /// let participant = builder.build()?;
    /// let _writer = participant.writer::<Pose>("robot/pose")?;
    /// let found = participant.discover_type_objects("robot/pose").block()?;
    /// assert_eq!(found.type_name, "Pose");
    /// assert!(found.objects.contains_key(&found.root));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The wait fails with [`WaitErrorKind::Closed`](crate::error::WaitErrorKind::Closed). It times out if no endpoint
    /// describes the type.
    pub fn discover_type_objects(&self, topic: &str) -> Waiting<'_, DiscoveredType> {
        Waiting::of_own(Box::new(DiscoverType::new(self.handle(), topic, Some)), Awaited::TopicType)
    }
}

impl ParticipantHandle {
    /// Returns the first accepted description of a topic's type, or registers the waiter.
    fn discover_type<T>(
        &self,
        topic: &str,
        accept: fn(DiscoveredType) -> Option<T>,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Result<Option<T>, WaitErrorKind> {
        // Cloned outside of the cell, because a waker is user code.
        let waker = waker.clone();
        let looked = Effects::scope(|effects| {
            let looked = self.discovery().cell().with(effects, |actor, effects| {
                // From now on each announced endpoint wakes this wait.
                actor.observe_endpoints();
                let mut found = None;
                for (guid, type_name) in endpoints_of(actor.rtps(), topic) {
                    // Asks for a description that is not here yet. Its answer wakes this wait as well.
                    let resolution = actor.change(|participant, now| participant.resolve_type(now, guid));
                    if let TypeResolution::Known { root, types } = resolution {
                        found = accept(DiscoveredType { type_name, root, objects: types });
                    }
                    if found.is_some() {
                        break;
                    }
                }
                if found.is_none() {
                    actor.finders().register(ticket, waker, effects);
                } else {
                    actor.finders().finish(ticket, effects);
                    effects.discard(waker);
                }
                found
            });
            // The request may reveal a participant that does not describe its types. Its endpoints then match by name.
            self.carry_out_matches(effects);
            looked
        });
        looked.or(Err(WaitErrorKind::Closed))
    }
}

/// Returns the endpoints of a topic with their type names: remote before local, writers before readers.
fn endpoints_of(rtps: &Participant, topic: &str) -> Vec<(Guid, String)> {
    let matching = rtps.matching();
    let (mut remote, mut local) = (Vec::new(), Vec::new());
    for writer in matching.writers_of(topic) {
        let list = if writer.is_local { &mut local } else { &mut remote };
        list.push((writer.data.endpoint.guid, writer.data.endpoint.type_name.clone()));
    }
    for reader in matching.readers_of(topic) {
        let list = if reader.is_local { &mut local } else { &mut remote };
        list.push((reader.data.endpoint.guid, reader.data.endpoint.type_name.clone()));
    }
    // The application knows its own types, and asks for those of others.
    remote.append(&mut local);
    remote
}

/// A search for the type of a topic, in the form that the application needs.
pub(crate) struct DiscoverType<T> {
    participant: ParticipantRef<ParticipantHandle>,
    subject: Arc<Subject>,
    /// `None` for a type that cannot be had in that form.
    accept: fn(DiscoveredType) -> Option<T>,
}

impl<T> DiscoverType<T> {
    pub(crate) fn new(
        participant: &Arc<ParticipantHandle>,
        topic: &str,
        accept: fn(DiscoveredType) -> Option<T>,
    ) -> Self {
        let subject = Subject::new("topic", topic, Guid::UNKNOWN);
        Self { participant: ParticipantRef::new(participant), subject, accept }
    }
}

impl<T> WaitSource<T> for DiscoverType<T> {
    fn poll_wait(
        &self,
        _awaited: Awaited,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<Result<T, WaitErrorKind>> {
        // A disabled participant discovers nothing, so the wait could not end.
        if !self.participant.core.is_enabled() {
            return Poll::Ready(Err(WaitErrorKind::NotEnabled));
        }
        match self.participant.discover_type(&self.subject.topic, self.accept, ticket, waker) {
            Ok(Some(found)) => Poll::Ready(Ok(found)),
            Ok(None) => Poll::Pending,
            Err(kind) => Poll::Ready(Err(kind)),
        }
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
        let endpoints = discovery.know(|rtps| endpoints_of(rtps, &self.subject.topic).len());
        match (endpoints, discovery.discovered_participants().len()) {
            (0, 0) => self.participant.core.missing_participants(),
            (0, participants) => Missing::Topic { participants },
            _ => Missing::Description { endpoints },
        }
    }

    fn complain(&self, _awaited: Awaited) {
        let topic = &self.subject.topic;
        tracing::warn!(
            parent: self.participant.core.span(),
            topic,
            "still waiting for a type: no endpoint of the topic describes it"
        );
    }
}
