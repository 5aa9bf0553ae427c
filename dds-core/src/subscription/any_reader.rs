//! A reader whose type is not known at compile time.

use crate::infrastructure::Entity;
use crate::subscription::DataReader;
use std::any::Any;

/// A [`DataReader`] of some type: what the listeners of subscribers and participants are given.
///
/// The trait is sealed and object safe. [`downcast_ref`](trait.AnyReader.html#method.downcast_ref) leads back to the type.
#[expect(private_bounds, reason = "sealed: only this crate has readers")]
pub trait AnyReader: Entity + AsAny {
    /// The topic's name.
    fn topic_name(&self) -> &str;

    /// The topic's type, as it is announced.
    fn type_name(&self) -> &str;
}

pub(crate) trait AsAny {
    fn as_any(&self) -> &dyn Any;
}

impl dyn AnyReader + '_ {
    /// The reader with its type: `reader.downcast_ref::<DataReader<Pose>>()`. `None` if it has another one.
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

impl<T: 'static> AsAny for DataReader<T> {
    fn as_any(&self) -> &dyn Any {
        self
    }
}
