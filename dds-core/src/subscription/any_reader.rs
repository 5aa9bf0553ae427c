//! Readers without the type of their samples.

use crate::infrastructure::Entity;
use crate::subscription::DataReader;
use std::any::Any;

/// A [`DataReader`] of any type, for the listeners of subscribers and participants.
///
/// The trait is sealed and object safe. [`downcast_ref`](trait.AnyReader.html#method.downcast_ref) returns the typed
/// reader.
#[expect(private_bounds, reason = "sealed: only this crate has readers")]
pub trait AnyReader: Entity + AsAnyReader {
    /// Returns the name of the topic.
    fn topic_name(&self) -> &str;

    /// Returns the announced type name of the topic.
    fn type_name(&self) -> &str;
}

pub(crate) trait AsAnyReader {
    fn as_any(&self) -> &dyn Any;
}

impl dyn AnyReader + '_ {
    /// Returns the typed reader, as in `reader.downcast_ref::<DataReader<Pose>>()`. `None` for another type.
    #[must_use]
    pub fn downcast_ref<R: 'static>(&self) -> Option<&R> {
        self.as_any().downcast_ref()
    }
}

impl<T: 'static> AnyReader for DataReader<T> {
    fn topic_name(&self) -> &str {
        DataReader::topic_name(self)
    }

    fn type_name(&self) -> &str {
        DataReader::type_name(self)
    }
}

impl<T: 'static> AsAnyReader for DataReader<T> {
    fn as_any(&self) -> &dyn Any {
        self
    }
}
