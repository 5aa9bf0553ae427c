//! The writer as an endpoint of any type.

use crate::endpoint::{AnyEndpoint, AsAny};
use crate::publication::DataWriter;
use std::any::Any;

impl<T: 'static> AnyEndpoint for DataWriter<T> {
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
