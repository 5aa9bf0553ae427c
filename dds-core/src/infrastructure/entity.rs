//! What all entities can do (DDS 1.4, 2.2.2.1.1).

use dds_rtps::types::{Guid, InstanceHandle};

pub(crate) trait Sealed {}

/// An entity: a participant, a publisher, a subscriber, a writer or a reader (DDS 1.4, 2.2.2.1.1).
///
/// The trait is sealed and object safe: `&[&dyn Entity]` works.
#[expect(private_bounds, reason = "sealed: only this crate has entities")]
pub trait Entity: Sealed + Send + Sync {
    /// The name of the entity in the whole domain.
    fn guid(&self) -> Guid;

    /// The same as a handle, as built-in topics and statuses show it.
    #[doc(alias = "get_instance_handle")]
    fn instance_handle(&self) -> InstanceHandle {
        InstanceHandle::from_guid(self.guid())
    }

    /// Whether the entity has been closed, through whichever handle.
    fn is_closed(&self) -> bool;

    /// Deletes the entity now, whatever handles are left: their calls answer `Closed`, blocked waits and iterators end.
    /// Does not wait, may be called from anywhere, and does nothing the second time.
    #[doc(alias = "delete_datareader")]
    #[doc(alias = "delete_datawriter")]
    #[doc(alias = "delete_publisher")]
    #[doc(alias = "delete_subscriber")]
    #[doc(alias = "delete_participant")]
    fn close(&self);
}
