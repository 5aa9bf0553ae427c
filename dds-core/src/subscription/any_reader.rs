//! The reader as an endpoint of any type.

use crate::endpoint::{AnyEndpoint, AsAny};
use crate::subscription::DataReader;
use std::any::Any;

impl<T: 'static> AnyEndpoint for DataReader<T> {
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
