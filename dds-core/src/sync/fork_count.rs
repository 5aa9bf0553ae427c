//! Counts the forks of this process and its ancestors, since the first of them asked.
//!
//! The C library calls a function of this module in each child (`pthread_atfork`, POSIX.1-2017), which increments a
//! counter. The alternative, reading the process ID, costs a system call each time: 1.4 of them for each wait.

#![allow(unsafe_code, reason = "no safe crate counts forks; this is the door")]

use std::sync::atomic::{AtomicU32, Ordering};

static COUNT: AtomicU32 = AtomicU32::new(0);

/// Returns the count. `None` where forks are not counted. The first call registers the function.
pub(super) fn current() -> Option<u32> {
    if is_counted() { Some(known()) } else { None }
}

/// Returns the count, where forks are counted.
#[inline]
pub(super) fn known() -> u32 {
    // The counter guards no other memory: only its value matters, and `fork` itself orders parent and child.
    COUNT.load(Ordering::Relaxed)
}

#[cfg(unix)]
fn is_counted() -> bool {
    static COUNTED: std::sync::OnceLock<bool> = std::sync::OnceLock::new();

    extern "C" fn count() {
        COUNT.fetch_add(1, Ordering::Relaxed);
    }

    *COUNTED.get_or_init(|| {
        // SAFETY: `count` is a function of this program and stays at its address while the program runs. If a library
        // is unloaded, the C library forgets its functions. In the child of a process with several threads, the
        // function may only do what a signal handler may. It increments an atomic number, and cannot fail or unwind.
        let result = unsafe { libc::pthread_atfork(None, None, Some(count)) };
        // An error means that there was no memory for the registration.
        result == 0
    })
}

#[cfg(not(unix))]
fn is_counted() -> bool {
    false
}
