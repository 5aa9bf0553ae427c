//! A gate that lends its owner the priority of the thread that waits for it (feature `rt`).
//!
//! A low-priority thread may hold an ordinary lock while a medium-priority thread occupies the processor. A
//! high-priority thread that waits for the lock then waits without a bound. The kernel prevents this for locks that
//! tell it which thread waits for which one: PTHREAD_PRIO_INHERIT (POSIX.1-2017, pthread_mutexattr_setprotocol).
//!
//! The gate protects no data. The data is in an ordinary mutex behind the gate, so that mutex never blocks. So the only
//! fact to prove here is that the four calls are used correctly.

#![allow(unsafe_code, reason = "no safe crate has a priority-inheriting lock that survives a fork; this is the door")]

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::MaybeUninit;

/// The gate.
pub(super) struct Gate(Box<UnsafeCell<libc::pthread_mutex_t>>);

// SAFETY: all threads of a process may use a pthread mutex. Only the calls below reach it.
unsafe impl Send for Gate {}
// SAFETY: as above.
unsafe impl Sync for Gate {}

/// Permission to hold the gate; its drop opens the gate. Not `Send`, because the locking thread must unlock.
pub(super) struct Passed<'a> {
    gate: &'a Gate,
    on_this_thread: std::marker::PhantomData<*const ()>,
}

impl Gate {
    pub(super) fn new() -> Self {
        let gate = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the first call initializes the attributes before the other calls read them. The mutex is in a box, so
        // it has its final address, and no other thread knows it yet.
        let results = unsafe {
            [
                libc::pthread_mutexattr_init(attributes.as_mut_ptr()),
                libc::pthread_mutexattr_setprotocol(attributes.as_mut_ptr(), libc::PTHREAD_PRIO_INHERIT),
                libc::pthread_mutex_init(gate.get(), attributes.as_ptr()),
                libc::pthread_mutexattr_destroy(attributes.as_mut_ptr()),
            ]
        };
        assert_eq!(results, [0; 4], "a system with PTHREAD_PRIO_INHERIT has memory for a lock");
        Self(gate)
    }

    pub(super) fn pass(&self) -> Passed<'_> {
        // SAFETY: initialized in `new`, destroyed only in `drop`, and never moved.
        let result = unsafe { libc::pthread_mutex_lock(self.0.get()) };
        assert_eq!(result, 0, "no thread takes a gate twice");
        Passed { gate: self, on_this_thread: std::marker::PhantomData }
    }

    pub(super) fn try_pass(&self) -> Option<Passed<'_>> {
        // SAFETY: as in `pass`.
        let result = unsafe { libc::pthread_mutex_trylock(self.0.get()) };
        // Build `Passed` only on success: its drop unlocks the gate.
        if result == 0 { Some(Passed { gate: self, on_this_thread: std::marker::PhantomData }) } else { None }
    }
}

impl Drop for Passed<'_> {
    fn drop(&mut self) {
        // SAFETY: a `Passed` exists only for a locked mutex, stays on the locking thread, and is dropped once.
        let result = unsafe { libc::pthread_mutex_unlock(self.gate.0.get()) };
        debug_assert_eq!(result, 0, "the thread that passed the gate leaves it");
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // A forgotten guard may still hold the mutex, or a thread that does not exist after a fork. Then the mutex is
        // leaked.
        if self.try_pass().is_none() {
            let leaked = std::mem::replace(&mut self.0, Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER)));
            let _ = Box::leak(leaked);
        }
        // SAFETY: initialized, and not locked: the check above shows it, and no other reference exists.
        unsafe { libc::pthread_mutex_destroy(self.0.get()) };
    }
}

impl fmt::Debug for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Gate").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_passes_at_a_time() {
        let gate = Gate::new();
        let passed = gate.pass();
        std::thread::scope(|scope| scope.spawn(|| assert!(gate.try_pass().is_none())).join().unwrap());
        drop(passed);
        std::thread::scope(|scope| scope.spawn(|| assert!(gate.try_pass().is_some())).join().unwrap());
    }

    #[test]
    fn a_forgotten_guard_does_not_make_the_drop_unsound() {
        let gate = Gate::new();
        std::mem::forget(gate.pass());
    }
}
