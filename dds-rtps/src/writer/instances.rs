//! Instances of a writer: the registered ones, and the walk over those that are alive.

use super::config::WriteRefused;
use super::stateful::StatefulWriter;
use crate::concurrent::Payload;
use crate::history::KeyPayload;
use crate::types::InstanceHandle;

impl StatefulWriter {
    /// Registers an instance with the serialized `key`. Sends nothing, and has no effect if the instance is known.
    ///
    /// # Errors
    /// [`WriteRefused::InstancesMax`].
    pub fn register_instance(&mut self, instance: InstanceHandle, key: &Payload) -> Result<(), WriteRefused> {
        // Retiring frees the places of instances that were unregistered.
        let acknowledged = self.acknowledged();
        self.history.retire(self.finished_up_to(self.received(acknowledged)));
        let registered = match self.history.register(instance, key) {
            Err(_) if self.forget_absent() => self.history.register(instance, key),
            outcome => outcome,
        };
        registered.map_err(|_| {
            self.counters.refused += 1;
            WriteRefused::InstancesMax
        })
    }

    /// Returns whether the instance was registered or written, and not unregistered since.
    #[must_use]
    pub fn is_registered(&self, instance: InstanceHandle) -> bool {
        self.history.is_registered(instance)
    }

    /// Returns a payload that contains the key of a registered instance.
    #[must_use]
    pub fn instance_key_payload(&self, instance: InstanceHandle) -> Option<&KeyPayload> {
        self.history.instance_key_payload(instance)
    }

    /// Returns the first alive instance at or after the place `from` of the instance table.
    ///
    /// An alive instance was written, and neither disposed nor unregistered since. The result also has the next place
    /// of the walk, and the payload that contains the key.
    ///
    /// A walk from place 0 visits each instance once that stays alive. It may skip or visit instances that come or go
    /// during the walk.
    #[must_use]
    pub fn next_alive_instance(&self, from: usize) -> Option<(usize, InstanceHandle, Option<&KeyPayload>)> {
        self.history.next_alive_instance(from)
    }
}
