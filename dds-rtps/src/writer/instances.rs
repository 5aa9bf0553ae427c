//! The instances of a writer: which are registered, and the walk over those that are alive.

use super::config::WriteRefused;
use super::stateful::StatefulWriter;
use crate::concurrent::Payload;
use crate::history::KeyPayload;
use crate::types::InstanceHandle;

impl StatefulWriter {
    /// Registers an instance, whose serialized key is `key`. Nothing is sent. Known already: nothing changes.
    ///
    /// # Errors
    /// [`WriteRefused::InstancesMax`].
    pub fn register_instance(&mut self, instance: InstanceHandle, key: &Payload) -> Result<(), WriteRefused> {
        // An instance that has been unregistered may be gone by now.
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

    /// Whether the instance has been registered, or written, and not unregistered since.
    #[must_use]
    pub fn is_registered(&self, instance: InstanceHandle) -> bool {
        self.history.is_registered(instance)
    }

    /// Something from which the key of a registered instance can be decoded.
    #[must_use]
    pub fn instance_key_payload(&self, instance: InstanceHandle) -> Option<&KeyPayload> {
        self.history.instance_key_payload(instance)
    }

    /// The first instance at or behind a place of the instance table that is alive: it was written, and neither disposed of
    /// nor unregistered since. With it the place behind it, where a walk goes on, and where its key can be decoded from.
    ///
    /// A walk from place 0 on meets each instance once that is alive all the while. Those that come or go meanwhile it may
    /// meet or not.
    #[must_use]
    pub fn next_alive_instance(&self, from: usize) -> Option<(usize, InstanceHandle, Option<&KeyPayload>)> {
        self.history.next_alive_instance(from)
    }
}
