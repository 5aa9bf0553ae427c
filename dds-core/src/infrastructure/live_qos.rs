//! The QoS of an entity. Fixed policies are read without a lock, changeable ones behind a lock.

use dds_rtps::qos::QosErrorKind;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

/// A QoS that may change. Each change raises the version, so that an outdated announcement is noticed.
#[derive(Debug)]
pub(crate) struct LiveQos<Q> {
    /// Set when the entity is enabled.
    settled: OnceLock<Q>,
    present: Mutex<(Q, u64)>,
}

impl<Q: Clone> LiveQos<Q> {
    pub(crate) fn new(qos: Q) -> Self {
        Self { settled: OnceLock::new(), present: Mutex::new((qos, 0)) }
    }

    /// Locked for a few lines that call no foreign code.
    fn present(&self) -> MutexGuard<'_, (Q, u64)> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the QoS at the time of enabling.
    ///
    /// Only for policies that cannot change afterward, and only after the entity is enabled.
    pub(crate) fn fixed(&self) -> &Q {
        self.settled.get_or_init(|| self.get())
    }

    /// Fixes the policies that cannot change after enabling. Returns true if the QoS has changed since creation.
    pub(crate) fn settle(&self) -> bool {
        let present = self.present();
        // A second `enable` finds the value of the first.
        self.settled.get_or_init(|| present.0.clone());
        present.1 > 0
    }

    /// Returns the present QoS.
    pub(crate) fn get(&self) -> Q {
        self.present().0.clone()
    }

    /// Runs `look` on the present QoS. `look` must not call code of the application or enter a cell.
    pub(crate) fn read<R>(&self, look: impl FnOnce(&Q) -> R) -> R {
        look(&self.present().0)
    }

    /// Returns the present QoS and its version.
    pub(crate) fn versioned(&self) -> (Q, u64) {
        self.present().clone()
    }

    pub(crate) fn version(&self) -> u64 {
        self.present().1
    }

    /// Replaces the QoS (DDS 1.4, 2.2.3).
    ///
    /// After enabling, `check_change` must allow the change. Before enabling, `check` must accept the new QoS.
    pub(crate) fn change(
        &self,
        new: Q,
        check_change: impl FnOnce(&Q, &Q) -> Result<(), QosErrorKind>,
        check: impl FnOnce(&Q) -> Result<(), QosErrorKind>,
    ) -> Result<(), QosErrorKind> {
        let mut present = self.present();
        // Under the lock that `settle` takes, so that enabling falls before or after this change.
        match self.settled.get() {
            Some(_) => check_change(&present.0, &new)?,
            None => check(&new)?,
        }
        // The version rises with the value under one lock, so that a reader of both sees them agree.
        *present = (new, present.1 + 1);
        Ok(())
    }
}
