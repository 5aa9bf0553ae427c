//! A mutex without poison, standard or modelled.

#[cfg(dds_loom)]
pub(crate) use modelled::{Lock, LockGuard};
#[cfg(not(dds_loom))]
pub(crate) use real::{Lock, LockGuard};

#[cfg(not(dds_loom))]
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
