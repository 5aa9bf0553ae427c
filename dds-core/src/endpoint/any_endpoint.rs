//! Readers and writers without the type of their samples.

use crate::infrastructure::Entity;
use std::any::Any;

/// A [`DataReader`](crate::DataReader) or [`DataWriter`](crate::DataWriter) of any type, for the listeners of groups
/// and participants.
///
/// The trait is sealed and object safe. [`downcast_ref`](trait.AnyEndpoint.html#method.downcast_ref) returns the typed
/// endpoint.
#[expect(private_bounds, reason = "sealed: only this crate has endpoints")]
pub trait AnyEndpoint: Entity + AsAny {
    /// Returns the name of the topic.
    fn topic_name(&self) -> &str;

    /// Returns the announced type name of the topic.
    fn type_name(&self) -> &str;
}

pub(crate) trait AsAny {
    fn as_any(&self) -> &dyn Any;
}

impl dyn AnyEndpoint + '_ {
    /// Returns the typed endpoint, as in `reader.downcast_ref::<DataReader<Pose>>()`. `None` for another type.
    #[must_use]
    pub fn downcast_ref<E: 'static>(&self) -> Option<&E> {
        self.as_any().downcast_ref()
    }
}
