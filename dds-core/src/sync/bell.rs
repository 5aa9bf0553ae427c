//! A descriptor that wakes a thread which waits in the system for sockets as well.

#[cfg(dds_loom)]
pub(crate) use modeled::Bell;
#[cfg(not(dds_loom))]
pub(crate) use real::Bell;

#[cfg(not(dds_loom))]
mod real {
    use nix::sys::eventfd::{EfdFlags, EventFd};
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};

    /// Readable from `ring` until `silence`.
    #[derive(Debug)]
    pub(crate) struct Bell(EventFd);

    impl Bell {
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Self(EventFd::from_value_and_flags(0, EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?))
        }

        pub(crate) fn ring(&self) {
            // Fails only if the counter is at its maximum, and then the bell rings already.
            let _ = self.0.write(1);
        }

        pub(crate) fn silence(&self) {
            // Fails if the bell does not ring.
            let _ = self.0.read();
        }
    }

    impl AsFd for Bell {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.0.as_fd()
        }
    }
}

#[cfg(dds_loom)]
mod modeled {
    use loom::sync::{Condvar, Mutex};

    #[derive(Debug, Default)]
    pub(crate) struct Bell {
        rings: Mutex<bool>,
        rung: Condvar,
    }

    impl Bell {
        pub(crate) fn ring(&self) {
            *self.rings.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = true;
            self.rung.notify_all();
        }

        /// Sleeps until the bell rings, and silences it.
        #[cfg(test)]
        pub(crate) fn wait(&self) {
            let mut rings = self.rings.lock().unwrap();
            while !*rings {
                rings = self.rung.wait(rings).unwrap();
            }
            *rings = false;
        }
    }
}
