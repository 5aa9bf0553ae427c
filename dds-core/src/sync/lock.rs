//! A mutex without poison: standard, priority-inheriting (feature `rt`), or modelled.

#[cfg(all(feature = "rt", not(dds_loom)))]
pub(crate) use inheriting::{Lock, LockGuard};
#[cfg(dds_loom)]
pub(crate) use modelled::{Lock, LockGuard};
#[cfg(not(any(feature = "rt", dds_loom)))]
pub(crate) use real::{Lock, LockGuard};

#[cfg(not(any(feature = "rt", dds_loom)))]
mod real {
    use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

    /// Holds a [`Lock`].
    pub(crate) type LockGuard<'a, T> = MutexGuard<'a, T>;

    /// Mutual exclusion.
    #[derive(Debug, Default)]
    pub(crate) struct Lock<T>(Mutex<T>);

    impl<T> Lock<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(Mutex::new(value))
        }

        /// Waits until nobody else holds it.
        #[inline]
        pub(crate) fn lock(&self) -> LockGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// `None` if somebody holds it.
        #[inline]
        pub(crate) fn try_lock(&self) -> Option<LockGuard<'_, T>> {
            match self.0.try_lock() {
                Ok(guard) => Some(guard),
                Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => None,
            }
        }
    }
}

/// As the standard lock, behind a gate that lends its owner the priority of who waits.
#[cfg(all(feature = "rt", not(dds_loom)))]
mod inheriting {
    use crate::sync::priority_inheritance::{Gate, Passed};
    use std::ops::{Deref, DerefMut};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// Mutual exclusion.
    #[derive(Debug)]
    pub(crate) struct Lock<T> {
        gate: Gate,
        /// Only who has passed the gate takes it, so it is never waited for.
        value: Mutex<T>,
    }

    /// Holds a [`Lock`].
    pub(crate) struct LockGuard<'a, T> {
        /// Before the gate, so that it is given back first.
        value: MutexGuard<'a, T>,
        _passed: Passed<'a>,
    }

    impl<T> Lock<T> {
        pub(crate) fn new(value: T) -> Self {
            Self { gate: Gate::new(), value: Mutex::new(value) }
        }

        /// Waits until nobody else holds it.
        pub(crate) fn lock(&self) -> LockGuard<'_, T> {
            self.behind(self.gate.pass())
        }

        /// `None` if somebody holds it.
        pub(crate) fn try_lock(&self) -> Option<LockGuard<'_, T>> {
            self.gate.try_pass().map(|passed| self.behind(passed))
        }

        fn behind<'a>(&'a self, passed: Passed<'a>) -> LockGuard<'a, T> {
            LockGuard { value: self.value.lock().unwrap_or_else(PoisonError::into_inner), _passed: passed }
        }
    }

    impl<T: Default> Default for Lock<T> {
        fn default() -> Self {
            Self::new(T::default())
        }
    }

    impl<T> Deref for LockGuard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            &self.value
        }
    }

    impl<T> DerefMut for LockGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.value
        }
    }
}

#[cfg(dds_loom)]
mod modelled {
    use loom::sync::atomic::{AtomicBool, Ordering};
    use loom::sync::{Mutex, MutexGuard};
    use std::ops::{Deref, DerefMut};
    use std::sync::{PoisonError, TryLockError};

    /// Mutual exclusion.
    ///
    /// The word beside the mutex orders nothing. It makes locking and unlocking visible: loom does not count an unlock as a
    /// step, so it never tries to put somebody's `try_lock` just before one.
    #[derive(Debug, Default)]
    pub(crate) struct Lock<T> {
        mutex: Mutex<T>,
        step: AtomicBool,
    }

    /// Holds a [`Lock`].
    pub(crate) struct LockGuard<'a, T> {
        guard: MutexGuard<'a, T>,
        step: &'a AtomicBool,
    }

    impl<T> Lock<T> {
        pub(crate) fn new(value: T) -> Self {
            Self { mutex: Mutex::new(value), step: AtomicBool::new(false) }
        }

        pub(crate) fn lock(&self) -> LockGuard<'_, T> {
            let guard = self.mutex.lock().unwrap_or_else(PoisonError::into_inner);
            self.step.store(true, Ordering::Relaxed);
            LockGuard { guard, step: &self.step }
        }

        pub(crate) fn try_lock(&self) -> Option<LockGuard<'_, T>> {
            self.step.load(Ordering::Relaxed);
            let guard = match self.mutex.try_lock() {
                Ok(guard) => guard,
                Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
                Err(TryLockError::WouldBlock) => return None,
            };
            self.step.store(true, Ordering::Relaxed);
            Some(LockGuard { guard, step: &self.step })
        }
    }

    impl<T> Drop for LockGuard<'_, T> {
        fn drop(&mut self) {
            self.step.store(false, Ordering::Relaxed);
        }
    }

    impl<T> Deref for LockGuard<'_, T> {
        type Target = T;
        fn deref(&self) -> &T {
            &self.guard
        }
    }

    impl<T> DerefMut for LockGuard<'_, T> {
        fn deref_mut(&mut self) -> &mut T {
            &mut self.guard
        }
    }
}
