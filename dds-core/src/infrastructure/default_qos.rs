//! Default QoS that a factory gives to entities without a QoS (DDS 1.4, 2.2.2.2.1.20 and similar).

use std::sync::{Mutex, PoisonError};

/// The default that the application has set. `None` means the default of the specification.
#[derive(Debug)]
pub(crate) struct DefaultQos<Q>(Mutex<Option<Q>>);

impl<Q> Default for DefaultQos<Q> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<Q: Clone + Default> DefaultQos<Q> {
    pub(crate) fn get(&self) -> Q {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    pub(crate) fn set(&self, qos: Q) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(qos);
    }
}
