//! Writers without the type of their samples.

use crate::infrastructure::Entity;
use crate::publication::DataWriter;
use std::any::Any;

/// A [`DataWriter`] of any type, for the listeners of publishers and participants.
///
/// The trait is sealed and object safe. [`downcast_ref`](trait.AnyWriter.html#method.downcast_ref) returns the typed
/// writer.
#[expect(private_bounds, reason = "sealed: only this crate has writers")]
pub trait AnyWriter: Entity + AsAnyWriter {
    /// Returns the name of the topic.
    fn topic_name(&self) -> &str;

    /// Returns the announced type name of the topic.
    fn type_name(&self) -> &str;
}

pub(crate) trait AsAnyWriter {
    fn as_any(&self) -> &dyn Any;
}

impl dyn AnyWriter + '_ {
    /// Returns the typed writer, as in `writer.downcast_ref::<DataWriter<Pose>>()`. `None` for another type.
    #[must_use]
    pub fn downcast_ref<R: 'static>(&self) -> Option<&R> {
        self.as_any().downcast_ref()
    }
}

impl<T: 'static> AnyWriter for DataWriter<T> {
    fn topic_name(&self) -> &str {
        DataWriter::topic_name(self)
    }

    fn type_name(&self) -> &str {
        DataWriter::type_name(self)
    }
}

impl<T: 'static> AsAnyWriter for DataWriter<T> {
    fn as_any(&self) -> &dyn Any {
        self
    }
}
