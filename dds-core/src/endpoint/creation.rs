//! Creation of an endpoint: the steps that readers and writers have in common.

use crate::actor::Poke;
use crate::context::{EndpointGroup, GroupedEndpoint, NewListener, ParticipantContext};
use crate::endpoint::{Endpoint, EndpointActor, EndpointPolicies};
use crate::infrastructure::{CreateErrorKind, Delivery, Subject};
use crate::topic::{TopicHandle, TopicRef};
use dds_rtps::discovery::data::DataTags;
use dds_rtps::types::{EntityKind, Guid};
use dds_rtps::xtypes::TypeGraph;
use std::any::TypeId;
use std::sync::{Arc, Weak};

/// Properties of a new endpoint.
pub(crate) struct NewEndpoint<E: Endpoint> {
    pub(crate) participant: Arc<E::Context>,
    pub(crate) subject: Arc<Subject>,
    pub(crate) type_name: String,
    /// Rust type of the samples.
    pub(crate) sample_type: TypeId,
    /// Announced description of the type. `None` announces only its name.
    pub(crate) types: Option<Arc<TypeGraph>>,
    pub(crate) qos: <E as GroupedEndpoint>::Qos,
    pub(crate) group: Option<Arc<EndpointGroup<E>>>,
    /// Topic, if the endpoint is created from a [`Topic`](crate::Topic).
    pub(crate) topic: Option<Arc<TopicHandle>>,
    pub(crate) span: tracing::Span,
    pub(crate) delivery: Delivery,
    /// Names and values, on which permissions decide.
    pub(crate) data_tags: DataTags,
}

/// Returns the identity of a new endpoint.
pub(crate) fn new_subject<P: ParticipantContext + ?Sized>(
    participant: &P,
    entity: &'static str,
    topic: &str,
    kind: EntityKind,
) -> Arc<Subject> {
    let core = participant.core();
    Subject::new(entity, topic, Guid::new(core.prefix(), core.new_entity_id(kind)))
}

/// Checks the QoS of a new endpoint of `topic`.
pub(crate) fn check_qos<Q: EndpointPolicies, T>(
    qos: Result<Q, CreateErrorKind>,
    topic: &TopicRef<'_, T>,
) -> Result<Q, CreateErrorKind> {
    let qos = qos?;
    // The error of a profile comes before that of its policies.
    qos.check().map_err(CreateErrorKind::InconsistentQos)?;
    match topic.handle() {
        Some(topic) if topic.is_closed() => Err(CreateErrorKind::Closed),
        _ => Ok(qos),
    }
}

/// Starts a new endpoint: its listener, its group, its participant, and enabling.
///
/// On an error the caller drops the endpoint, which reverts the steps so far.
pub(crate) fn start<E: Endpoint>(endpoint: &Arc<E>, listener: Option<NewListener>) -> Result<(), CreateErrorKind> {
    // Weak, because the actor inside of the cell holds it.
    let poke = Arc::downgrade(endpoint.cell()) as Weak<dyn Poke>;
    let attached = endpoint.visit_cell(|actor, _| actor.endpoint().attach(poke));
    debug_assert!(attached.is_ok(), "a new cell is open");
    let core = endpoint.core();
    // The listener first, so that it misses no event of the first match.
    core.set_listener(endpoint.listener(), listener, endpoint.ending(), || core.is_closed(), || ())?;
    // In the group before the participant knows the endpoint, so that closing the group closes it as well.
    if let Some(group) = endpoint.group() {
        group.add(endpoint)?;
    }
    E::enter(endpoint)?;
    // Last, because the first match may call the listener at once.
    if endpoint.is_autoenabled() {
        endpoint.enable()?;
    }
    tracing::info!(parent: endpoint.span(), "{} created", endpoint.subject().entity);
    Ok(())
}
