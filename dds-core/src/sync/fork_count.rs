//! How many times this process and its ancestors were forked, since the first of them asked.
//!
//! The C library calls a function of ours in each child (`pthread_atfork`, POSIX.1-2017), which adds one to a number. To ask
//! for the process id instead costs a system call each time: 1.4 of them for each wait.

#![allow(unsafe_code, reason = "no safe crate counts forks; this is the door")]

use std::sync::atomic::{AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// The number; `None` where forks are not counted. The first call asks the system to count.
pub(super) fn current() -> Option<u32> {
    is_counted().then(known)
}

/// The number, where forks are counted.
#[inline]
pub(super) fn known() -> u32 {
    COUNT.load(Ordering::Relaxed)
}

#[cfg(unix)]
fn is_counted() -> bool {
    static COUNTED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();

    extern "C" fn count() {
        COUNT.fetch_add(1, Ordering::Relaxed);
    }

    *COUNTED.get_or_init(|| {
        // SAFETY: `count` is a function of this program, which stays where it is as long as the program runs (of a library
        // that is unloaded, the C library forgets the function). In the child of a process with several threads it may do
        // only what a signal handler may: it adds to an atomic number, and cannot fail or unwind.
        let result = unsafe { libc::pthread_atfork(None, None, Some(count)) };
        // Otherwise there was no memory for it.
        result == 0
    })
}

#[cfg(not(unix))]
fn is_counted() -> bool {
    false
}
