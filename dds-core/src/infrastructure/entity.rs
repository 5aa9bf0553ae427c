//! What all entities can do (DDS 1.4, 2.2.2.1.1).

use crate::infrastructure::{CreateError, StatusCondition, StatusMask, Waiting};
use dds_rtps::types::{Guid, InstanceHandle};

pub(crate) trait Sealed {}

/// An entity: a participant, a topic, a publisher, a subscriber, a writer or a reader (DDS 1.4, 2.2.2.1.1).
///
/// The trait is sealed and object safe: `&[&dyn Entity]` and `Vec<Box<dyn Entity>>` work.
///
/// ```
/// use dds_core::{DdsType, DomainParticipant, Entity, Scope};
///
/// #[derive(DdsType)]
/// struct Pose {
///     x: f64,
/// }
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let node: Vec<Box<dyn Entity>> =
///     vec![Box::new(participant.writer::<Pose>("node/pose")?), Box::new(participant.reader::<Pose>("node/pose")?)];
/// assert!(node.iter().all(|entity| participant.contains_entity(entity.instance_handle())));
/// for entity in &node {
///     entity.close();
///     entity.closed().block()?;
/// }
/// assert!(node.iter().all(|entity| entity.is_closed()));
/// # Ok(())
/// # }
/// ```
#[expect(private_bounds, reason = "sealed: only this crate has entities")]
pub trait Entity: Sealed + Send + Sync {
    /// The name of the entity in the whole domain.
    fn guid(&self) -> Guid;

    /// The same as a handle, as built-in topics and statuses show it.
    #[doc(alias = "get_instance_handle")]
    fn instance_handle(&self) -> InstanceHandle {
        InstanceHandle::from(self.guid())
    }

    /// Lets the entity take part: only now is it announced, and only from now on do its operations work that concern others.
    /// Does nothing for one that is enabled, which is how entities are made unless ENTITY_FACTORY
    /// ([`EntityFactory`](crate::qos::EntityFactory)) of what they are made with says otherwise, or that is not enabled itself.
    ///
    /// Before it, an entity answers `NotEnabled` except to this, to its QoS, listeners and statuses, and to what makes, looks
    /// up and closes entities; its QoS may change in every policy. Streams and iterators of samples wait for it. Enabling a
    /// participant, publisher or subscriber enables what was made with it, if its ENTITY_FACTORY says so (DDS 1.4, 2.2.2.1.1.7).
    ///
    /// ```
    /// use dds_core::qos::{EntityFactory, History, PublisherQos};
    /// use dds_core::{DdsType, DomainParticipant, Entity, Scope, WriteErrorKind};
    ///
    /// #[derive(DdsType)]
    /// struct Pose {
    ///     x: f64,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let mut qos = PublisherQos::default();
    /// qos.entity_factory = EntityFactory { autoenable_created_entities: false };
    /// let writer = participant.publisher(qos)?.writer::<Pose>("enabled/pose")?;
    /// assert_eq!(writer.write(&Pose { x: 1.0 }).unwrap_err().kind(), &WriteErrorKind::NotEnabled);
    /// writer.set_qos(writer.qos().keep_last(10))?;
    /// writer.enable()?;
    /// writer.write(&Pose { x: 1.0 })?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`CreateErrorKind::FactoryNotEnabled`](crate::CreateErrorKind::FactoryNotEnabled) if what it was made with is not
    /// enabled, [`CreateErrorKind::Closed`](crate::CreateErrorKind::Closed), or, of a participant,
    /// [`CreateErrorKind::Thread`](crate::CreateErrorKind::Thread).
    fn enable(&self) -> Result<(), CreateError>;

    /// Whether the entity is enabled; it stays so.
    fn is_enabled(&self) -> bool;

    /// The condition that a status of the entity has changed, for a [`WaitSet`](crate::WaitSet). There is one for all handles
    /// of the entity. Participants and publishers have no status of their own: theirs is never triggered.
    #[doc(alias = "get_statuscondition")]
    fn status_condition(&self) -> StatusCondition;

    /// The statuses that have changed since they were last read; none after [`close`](Entity::close).
    #[doc(alias = "get_status_changes")]
    fn status_changes(&self) -> StatusMask {
        self.status_condition().changes()
    }

    /// Whether the entity has been closed, through whichever handle.
    fn is_closed(&self) -> bool;

    /// Deletes the entity now, whatever handles are left: their calls answer `Closed`, blocked waits and iterators end.
    /// Does not wait, may be called from anywhere, and does nothing the second time.
    ///
    /// No call of a listener of the entity begins afterwards; one that is in flight ends, then the listener is dropped.
    #[doc(alias = "delete_datareader")]
    #[doc(alias = "delete_datawriter")]
    #[doc(alias = "delete_publisher")]
    #[doc(alias = "delete_subscriber")]
    #[doc(alias = "delete_participant")]
    fn close(&self);

    /// Waits until the entity is closed, no call of its own listeners is in flight any more, and they have been dropped.
    ///
    /// Does not close it. In a listener of the entity itself the wait ends with
    /// [`WaitErrorKind::WouldDeadlock`](crate::WaitErrorKind::WouldDeadlock).
    fn closed(&self) -> Waiting<'_, ()>;
}
