//! A gate that lends its owner the priority of who waits for it (feature `rt`).
//!
//! A low-priority thread that holds an ordinary lock may be kept from the processor by one of medium priority for as long
//! as that likes, and with it a high-priority thread that waits for the lock. The kernel resolves this for locks that tell
//! it who waits for whom: PTHREAD_PRIO_INHERIT (POSIX.1-2017, pthread_mutexattr_setprotocol).
//!
//! The gate protects no data: that lies in an ordinary mutex behind it, which therefore is never waited for. So the only
//! thing to be proved here is that the four calls are used as they should be.

#![allow(unsafe_code, reason = "no safe crate has a priority-inheriting lock that survives a fork; this is the door")]

use std::cell::UnsafeCell;
use std::fmt;
use std::mem::MaybeUninit;

/// The gate.
pub(super) struct Gate(Box<UnsafeCell<libc::pthread_mutex_t>>);

// SAFETY: a pthread mutex may be used by all threads of a process; it is reached only by the calls below.
unsafe impl Send for Gate {}
// SAFETY: as above.
unsafe impl Sync for Gate {}

/// Has passed the gate, and opens it again when dropped. Not `Send`: the thread that has locked must unlock.
pub(super) struct Passed<'a> {
    gate: &'a Gate,
    on_this_thread: std::marker::PhantomData<*const ()>,
}

impl Gate {
    pub(super) fn new() -> Self {
        let gate = Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER));
        let mut attributes = MaybeUninit::uninit();
        // SAFETY: the attributes are initialised by the first call before the others see them. The mutex is in a box, so it
        // has its final address, and nobody else knows it yet.
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
        // SAFETY: initialised in `new`, destroyed in `drop` only, and never moved.
        let result = unsafe { libc::pthread_mutex_lock(self.0.get()) };
        assert_eq!(result, 0, "no thread takes a gate twice");
        Passed { gate: self, on_this_thread: std::marker::PhantomData }
    }

    pub(super) fn try_pass(&self) -> Option<Passed<'_>> {
        // SAFETY: as in `pass`.
        let result = unsafe { libc::pthread_mutex_trylock(self.0.get()) };
        // Not `then_some`: a `Passed` that is made for nothing would unlock.
        (result == 0).then(|| Passed { gate: self, on_this_thread: std::marker::PhantomData })
    }
}

impl Drop for Passed<'_> {
    fn drop(&mut self) {
        // SAFETY: a `Passed` is made only for a locked mutex, stays on the thread that has locked it, and is dropped once.
        let result = unsafe { libc::pthread_mutex_unlock(self.gate.0.get()) };
        debug_assert_eq!(result, 0);
    }
}

impl Drop for Gate {
    fn drop(&mut self) {
        // A guard that was forgotten, or a thread that a fork has left behind, may still hold it: then it stays.
        if self.try_pass().is_none() {
            let leaked = std::mem::replace(&mut self.0, Box::new(UnsafeCell::new(libc::PTHREAD_MUTEX_INITIALIZER)));
            let _ = Box::leak(leaked);
        }
        // SAFETY: initialised and not locked, by the look above and because nobody else has a reference any more.
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
