//! The QoS of an entity: what must stay once it is enabled is read without a lock, what may change behind one.

use crate::qos::QosErrorKind;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A QoS that may change, with a version that grows with each change: who announces an old one notices.
#[derive(Debug)]
pub(crate) struct LiveQos<Q> {
    /// There once the entity is enabled.
    settled: OnceLock<Q>,
    present: Mutex<(Q, u64)>,
}

impl<Q: Clone> LiveQos<Q> {
    pub(crate) fn new(qos: Q) -> Self {
        Self { settled: OnceLock::new(), present: Mutex::new((qos, 0)) }
    }

    /// Held for some lines without a call of anybody else.
    fn present(&self) -> MutexGuard<'_, (Q, u64)> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The QoS that the entity was enabled with: only for policies that cannot change after that, and only of an entity that is
    /// enabled.
    pub(crate) fn fixed(&self) -> &Q {
        self.settled.get_or_init(|| self.get())
    }

    /// The entity is being enabled: from now on some policies must stay. True if the QoS has changed since the entity was
    /// made.
    pub(crate) fn settle(&self) -> bool {
        let present = self.present();
        self.settled.get_or_init(|| present.0.clone());
        present.1 > 0
    }

    /// The QoS as it is now.
    pub(crate) fn get(&self) -> Q {
        self.present().0.clone()
    }

    /// Looks at the QoS as it is now. `look` is no user code, and enters nothing.
    pub(crate) fn read<R>(&self, look: impl FnOnce(&Q) -> R) -> R {
        look(&self.present().0)
    }

    /// The QoS as it is now, and its version.
    pub(crate) fn versioned(&self) -> (Q, u64) {
        self.present().clone()
    }

    pub(crate) fn version(&self) -> u64 {
        self.present().1
    }

    /// Takes over another QoS: if `check_change` allows the change from the present one, or, before the entity is enabled,
    /// if `check` finds the new one in order (DDS 1.4, 2.2.3).
    pub(crate) fn change(
        &self,
        new: Q,
        check_change: impl FnOnce(&Q, &Q) -> Result<(), QosErrorKind>,
        check: impl FnOnce(&Q) -> Result<(), QosErrorKind>,
    ) -> Result<(), QosErrorKind> {
        let mut present = self.present();
        match self.settled.get() {
            Some(_) => check_change(&present.0, &new)?,
            None => check(&new)?,
        }
        *present = (new, present.1 + 1);
        Ok(())
    }
}
