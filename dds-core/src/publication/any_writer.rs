//! A writer whose type is not known at compile time.

use crate::infrastructure::Entity;
use crate::publication::DataWriter;
use std::any::Any;

/// A [`DataWriter`] of some type: what the listeners of publishers and participants are given.
///
/// The trait is sealed and object safe. [`downcast_ref`](trait.AnyWriter.html#method.downcast_ref) leads back to the type.
#[expect(private_bounds, reason = "sealed: only this crate has writers")]
pub trait AnyWriter: Entity + AsAny {
    /// The topic's name.
    fn topic_name(&self) -> &str;

    /// The topic's type, as it is announced.
    fn type_name(&self) -> &str;
}

pub(crate) trait AsAny {
    fn as_any(&self) -> &dyn Any;
}

impl dyn AnyWriter + '_ {
    /// The writer with its type: `writer.downcast_ref::<DataWriter<Pose>>()`. `None` if it has another one.
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

impl<T: 'static> AsAny for DataWriter<T> {
    fn as_any(&self) -> &dyn Any {
        self
    }
}
