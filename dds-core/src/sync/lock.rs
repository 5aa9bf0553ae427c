//! A mutex without poison: standard, priority-inheriting (feature `rt`), or modeled.

#[cfg(all(feature = "rt", not(dds_loom)))]
pub(crate) use inheriting::{Lock, LockGuard};
#[cfg(dds_loom)]
pub(crate) use modeled::{Lock, LockGuard};
#[cfg(not(any(feature = "rt", dds_loom)))]
pub(crate) use real::{Lock, LockGuard};

#[cfg(not(any(feature = "rt", dds_loom)))]
mod real {
    use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

    /// Guard of a [`Lock`].
    pub(crate) type LockGuard<'a, T> = MutexGuard<'a, T>;

    /// Mutual exclusion.
    #[derive(Debug, Default)]
    pub(crate) struct Lock<T>(Mutex<T>);

    impl<T> Lock<T> {
        pub(crate) const fn new(value: T) -> Self {
            Self(Mutex::new(value))
        }

        /// Blocks until the lock is free.
        #[inline]
        pub(crate) fn lock(&self) -> LockGuard<'_, T> {
            self.0.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// Returns `None` if the lock is held.
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

/// Like the standard lock, behind a gate that lends its owner the priority of the waiting thread.
#[cfg(all(feature = "rt", not(dds_loom)))]
mod inheriting {
    use crate::sync::priority_inheritance::{Gate, Passed};
    use std::ops::{Deref, DerefMut};
    use std::sync::{Mutex, MutexGuard, PoisonError};

    /// Mutual exclusion.
    #[derive(Debug)]
    pub(crate) struct Lock<T> {
        gate: Gate,
        /// Locked only by a thread that has passed the gate, so it never blocks.
        value: Mutex<T>,
    }

    /// Guard of a [`Lock`].
    pub(crate) struct LockGuard<'a, T> {
        /// Declared before the gate, so that it is released first.
        value: MutexGuard<'a, T>,
        _passed: Passed<'a>,
    }

    impl<T> Lock<T> {
        pub(crate) fn new(value: T) -> Self {
            Self { gate: Gate::new(), value: Mutex::new(value) }
        }

        /// Blocks until the lock is free.
        pub(crate) fn lock(&self) -> LockGuard<'_, T> {
            self.behind(self.gate.pass())
        }

        /// Returns `None` if the lock is held.
        pub(crate) fn try_lock(&self) -> Option<LockGuard<'_, T>> {
            let passed = self.gate.try_pass()?;
            Some(self.behind(passed))
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
mod modeled {
    use loom::sync::atomic::{AtomicBool, Ordering};
    use loom::sync::{Mutex, MutexGuard};
    use std::ops::{Deref, DerefMut};
    use std::sync::{PoisonError, TryLockError};

    /// Mutual exclusion.
    ///
    /// The atomic beside the mutex orders nothing. It makes locking and unlocking visible to loom. Loom does not count
    /// an unlock as a step, so it would never run another thread's `try_lock` just before one.
    #[derive(Debug, Default)]
    pub(crate) struct Lock<T> {
        mutex: Mutex<T>,
        step: AtomicBool,
    }

    /// Guard of a [`Lock`].
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
            // A step that loom sees, so that it tries other threads between this lock and the work behind it.
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
