//! The QoS of an enabled entity: what must stay is read without a lock, what may change behind one.

use crate::qos::QosErrorKind;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A QoS that may change, with a version that grows with each change: who announces an old one notices.
#[derive(Debug)]
pub(crate) struct LiveQos<Q> {
    made_with: Q,
    present: Mutex<(Q, u64)>,
}

impl<Q: Clone> LiveQos<Q> {
    pub(crate) fn new(qos: Q) -> Self {
        Self { made_with: qos.clone(), present: Mutex::new((qos, 0)) }
    }

    /// Held for some lines without a call of anybody else.
    fn present(&self) -> MutexGuard<'_, (Q, u64)> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The QoS that the entity was made with: only for policies that cannot change.
    pub(crate) fn fixed(&self) -> &Q {
        &self.made_with
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

    /// Takes over another QoS, if `check` allows the change from the present one.
    pub(crate) fn change(
        &self,
        new: Q,
        check: impl FnOnce(&Q, &Q) -> Result<(), QosErrorKind>,
    ) -> Result<(), QosErrorKind> {
        let mut present = self.present();
        check(&present.0, &new)?;
        *present = (new, present.1 + 1);
        Ok(())
    }
}
