//! Operations of all entities (DDS 1.4, 2.2.2.1.1).

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
    /// Returns the GUID, which is unique in the domain.
    fn guid(&self) -> Guid;

    /// Returns the GUID as an instance handle, as built-in topics and statuses contain it.
    #[doc(alias = "get_instance_handle")]
    fn instance_handle(&self) -> InstanceHandle {
        InstanceHandle::from(self.guid())
    }

    /// Enables the entity: announces it, and allows all its operations.
    ///
    /// Does nothing if the entity is enabled already. Entities are enabled on creation by default. ENTITY_FACTORY
    /// ([`EntityFactory`](crate::qos::EntityFactory)) of the parent can change that. A child of a parent that is not
    /// enabled is not enabled either.
    ///
    /// Most operations of a disabled entity fail with `NotEnabled`. Exceptions: `enable`, the QoS, listeners and
    /// statuses, and creating, finding and closing entities. All policies of its QoS may change. Streams and iterators
    /// of samples wait until it is enabled. Enabling a participant, publisher or subscriber also enables its children,
    /// if its ENTITY_FACTORY requests that (DDS 1.4, 2.2.2.1.1.7).
    ///
    /// ```
    /// use dds_core::qos::{EntityFactory, History, PublisherQos};
    /// use dds_core::{DdsType, DomainParticipant, Entity, Scope};
    /// use dds_core::error::WriteErrorKind;
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
    /// qos.entity_factory = EntityFactory::MANUAL;
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
    /// [`CreateErrorKind::FactoryNotEnabled`](crate::error::CreateErrorKind::FactoryNotEnabled) if the parent is not
    /// enabled. [`CreateErrorKind::Closed`](crate::error::CreateErrorKind::Closed). For a participant,
    /// [`CreateErrorKind::Thread`](crate::error::CreateErrorKind::Thread).
    fn enable(&self) -> Result<(), CreateError>;

    /// Returns whether the entity is enabled. An enabled entity stays enabled.
    fn is_enabled(&self) -> bool;

    /// Returns the condition for changes of the entity's statuses, for a [`WaitSet`](crate::condition::WaitSet).
    ///
    /// All handles of the entity share one condition. Participants and publishers have no status of their own. Their
    /// condition is never triggered.
    #[doc(alias = "get_statuscondition")]
    fn status_condition(&self) -> StatusCondition;

    /// Returns the statuses that have changed since they were last read.
    ///
    /// Returns no status after [`close`](Entity::close).
    #[doc(alias = "get_status_changes")]
    fn status_changes(&self) -> StatusMask {
        self.status_condition().changes()
    }

    /// Returns whether the entity is closed, through any handle.
    fn is_closed(&self) -> bool;

    /// Deletes the entity now, even if other handles exist.
    ///
    /// Operations of those handles fail with `Closed`. Blocked waits and iterators end. Never blocks. May be called
    /// from anywhere. The second call has no effect.
    ///
    /// No call of a listener of the entity begins afterward. A running call ends, then the listener is dropped.
    #[doc(alias = "delete_datareader")]
    #[doc(alias = "delete_datawriter")]
    #[doc(alias = "delete_publisher")]
    #[doc(alias = "delete_subscriber")]
    #[doc(alias = "delete_participant")]
    fn close(&self);

    /// Waits until the entity is closed and its listeners are dropped.
    ///
    /// No call of its own listeners runs then. Does not close the entity. In a listener of the entity itself, the wait
    /// fails with [`WaitErrorKind::WouldDeadlock`](crate::error::WaitErrorKind::WouldDeadlock).
    fn closed(&self) -> Waiting<'_, ()>;
}

/// Defines the methods of [`Entity`] on a handle, so that programs need not import the trait.
macro_rules! entity_methods {
    ($handle:ident $(<$ty:ident>)?, $of:literal) => {
        /// Operations of all entities. [`Entity`](crate::Entity) has them as well, for entities of different kinds.
        impl $(<$ty>)? $handle $(<$ty>)? {
            #[doc = concat!("Returns the GUID of the ", $of, ", which is unique in the domain.")]
            #[must_use]
            pub fn guid(&self) -> dds_rtps::types::Guid {
                crate::infrastructure::Entity::guid(self)
            }

            /// Returns the GUID as an instance handle, as built-in topics and statuses contain it.
            #[must_use]
            pub fn instance_handle(&self) -> dds_rtps::types::InstanceHandle {
                crate::infrastructure::Entity::instance_handle(self)
            }

            #[doc = concat!("Enables the ", $of, " if it was created disabled. See [`Entity::enable`](crate::infrastructure::Entity::enable).")]
            ///
            /// # Errors
            /// As [`Entity::enable`](crate::Entity::enable).
            pub fn enable(&self) -> Result<(), crate::infrastructure::CreateError> {
                crate::infrastructure::Entity::enable(self)
            }

            #[doc = concat!("Returns whether the ", $of, " is enabled.")]
            #[must_use]
            pub fn is_enabled(&self) -> bool {
                crate::infrastructure::Entity::is_enabled(self)
            }

            #[doc = concat!("Returns whether the ", $of, " is closed, through any handle.")]
            #[must_use]
            pub fn is_closed(&self) -> bool {
                crate::infrastructure::Entity::is_closed(self)
            }

            #[doc = concat!("Deletes the ", $of, " now, even if other handles exist. Never blocks.")]
            ///
            /// Operations of other handles then fail with `Closed`. See [`Entity::close`](crate::Entity::close).
            pub fn close(&self) {
                crate::infrastructure::Entity::close(self);
            }

            #[doc = concat!("Waits until the ", $of, " is closed and its listeners are dropped. Does not close it.")]
            pub fn closed(&self) -> crate::infrastructure::Waiting<'_, ()> {
                crate::infrastructure::Entity::closed(self)
            }
        }
    };
    ($handle:ident $(<$ty:ident>)?, $of:literal, with statuses) => {
        $crate::infrastructure::entity_methods!($handle $(<$ty>)?, $of);

        impl $(<$ty>)? $handle $(<$ty>)? {
            #[doc = concat!("Returns the condition for changes of the statuses of the ", $of, ".")]
            #[must_use]
            pub fn status_condition(&self) -> crate::infrastructure::StatusCondition {
                crate::infrastructure::Entity::status_condition(self)
            }

            /// Returns the statuses that changed since they were last read. Empty after `close`.
            #[must_use]
            pub fn status_changes(&self) -> crate::infrastructure::StatusMask {
                crate::infrastructure::Entity::status_changes(self)
            }
        }
    };
}

pub(crate) use entity_methods;
