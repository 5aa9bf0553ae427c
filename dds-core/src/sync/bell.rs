//! What wakes a thread that waits in the system for something else as well: a descriptor that can be waited for beside sockets.

#[cfg(dds_loom)]
pub(crate) use modelled::Bell;
#[cfg(not(dds_loom))]
pub(crate) use real::Bell;

#[cfg(not(dds_loom))]
mod real {
    use nix::sys::eventfd::{EfdFlags, EventFd};
    use std::io;
    use std::os::fd::{AsFd, BorrowedFd};

    /// Rings until it is silenced.
    #[derive(Debug)]
    pub(crate) struct Bell(EventFd);

    impl Bell {
        pub(crate) fn new() -> io::Result<Self> {
            Ok(Self(EventFd::from_value_and_flags(0, EfdFlags::EFD_CLOEXEC | EfdFlags::EFD_NONBLOCK)?))
        }

        pub(crate) fn ring(&self) {
            // Refused only when it rings already, and has been rung 2^64 times.
            let _ = self.0.write(1);
        }

        pub(crate) fn silence(&self) {
            // Refused if it does not ring.
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
mod modelled {
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

        /// Sleeps until it rings, and silences it.
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
