//! Serves the timers of a driver whose own thread has ended.
//!
//! A closed participant exists until its last handle is dropped. Until then futures may still wait by its clock: for
//! conditions of other participants, or for the end of a long call. Without a thread their deadlines would never
//! arrive.
//!
//! Life cycle: the driver's thread calls [`Late::begin`] when it ends. From then on a thread is started whenever a
//! timer is set and no such thread runs. The thread ends when it finds no timer set. It checks when the next timer
//! would be due, and when the driver is dropped. No thread waits for it, because it has no work left for the
//! participant. Bound: one thread for each driver.

use super::DriverShared;
use crate::driver::thread::take_owner;
use crate::driver::{Parker, Role, take_role};
use crate::sync::{Arc, Lock, OnceLock, Weak};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Waker;

/// The late timers of one driver.
#[derive(Debug, Default)]
pub(super) struct Late {
    /// Set once the driver's own thread has ended.
    driver: OnceLock<Weak<DriverShared>>,
    server: Lock<Server>,
}

/// The thread that serves the timers.
#[derive(Debug, Default)]
enum Server {
    #[default]
    None,
    /// The thread has not checked the timers yet.
    Begins,
    /// The thread sleeps, or checks once more if it is woken earlier.
    Runs(Waker),
}

impl Late {
    /// Called when the driver's own thread fires no more timers.
    pub(super) fn begin(&self, driver: &Arc<DriverShared>) {
        // Only that thread calls this, once.
        let _ = self.driver.set(Arc::downgrade(driver));
        // A thread that set a timer earlier did not see the new state, but its timer is in the heap. Later ones see it.
        if driver.timers.next().is_some() {
            self.kick();
        }
    }

    /// Wakes the thread when the driver is dropped. It need not sleep until dropped timers would have been due.
    pub(super) fn look(&self) {
        if let Server::Runs(waker) = &*self.server.lock() {
            waker.wake_by_ref();
        }
    }

    /// Called when the earliest timer became earlier.
    pub(super) fn kick(&self) {
        let Some(driver) = self.driver.get().and_then(Weak::upgrade) else { return };
        let mut server = self.server.lock();
        match &*server {
            Server::None => *server = Server::Begins,
            Server::Begins => return,
            Server::Runs(waker) => return waker.wake_by_ref(),
        }
        // Release the lock before the thread starts, because the thread takes it first.
        drop(server);
        #[allow(clippy::disallowed_methods, reason = "this is the driver")]
        let spawned = std::thread::Builder::new().name("dds-late".to_owned()).spawn(move || run(&driver));
        if let Err(error) = spawned {
            *self.server.lock() = Server::None;
            tracing::error!(%error, "no thread for the time limits of waits that outlive their participant");
        }
    }
}

/// Body of the thread.
fn run(driver: &DriverShared) {
    take_role(Role::Driver);
    take_owner(driver.id);
    // A panic ends the call of one timer, which was already removed. The other timers are intact.
    while catch_unwind(AssertUnwindSafe(|| driver.serve_late())).is_err() {
        tracing::error!("panic in a thread of the runtime; please report this bug");
    }
}

impl DriverShared {
    /// Fires timers until none is set.
    fn serve_late(&self) {
        Parker::with_current(|parker| {
            loop {
                while self.timers.fire(self.clock.now().instant) {}
                let mut server = self.wake.late.server.lock();
                // A thread that sets a timer after this check takes the lock after this thread, and so finds `None`.
                let Some(next) = self.timers.next() else {
                    *server = Server::None;
                    return;
                };
                *server = Server::Runs(parker.waker().clone());
                drop(server);
                let left = next.as_nanos().saturating_sub(self.clock.now().instant.as_nanos());
                parker.park(Some(std::time::Duration::from_nanos(left)));
            }
        });
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use crate::actor::{Effects, Poke, Signals};
    use crate::driver::{Driver, OsDriver, Timer};
    use dds_rtps::types::Duration;
    use std::sync::{Arc, Mutex, Weak, mpsc};

    /// Records that its timer fires, and sets it again as often as requested.
    struct Again {
        driver: Arc<OsDriver>,
        timer: Mutex<Option<Timer>>,
        left: Mutex<u32>,
        fired: mpsc::Sender<u32>,
    }

    impl Again {
        fn set(&self) {
            let soon = self.driver.now().instant.after(Duration::from_millis(1));
            self.timer.lock().unwrap().as_ref().unwrap().set(soon);
        }
    }

    impl Poke for Again {
        fn poke(self: Arc<Self>, _: &mut Effects) {
            let mut left = self.left.lock().unwrap();
            self.fired.send(*left).unwrap();
            if *left > 0 {
                *left -= 1;
                self.set();
            }
        }
        fn resume(self: Arc<Self>, effects: &mut Effects) {
            self.poke(effects);
        }
        fn signal(&self, _: Signals) {}
    }

    /// Timers that were set before the shutdown and after it, and after the first late thread has ended.
    #[test]
    fn timers_fire_after_driver_shutdown() {
        let driver = OsDriver::new().unwrap();
        let (send, fired) = mpsc::channel();
        let again =
            Arc::new(Again { driver: Arc::clone(&driver), timer: Mutex::default(), left: Mutex::new(3), fired: send });
        let weak: Weak<dyn Poke> = Arc::downgrade(&again) as Weak<dyn Poke>;
        *again.timer.lock().unwrap() = Some(Timer::new(driver.timers(), weak));
        again.timer.lock().unwrap().as_ref().unwrap().set(driver.now().instant.after(Duration::from_secs(1)));
        driver.shutdown();
        assert_eq!((0..4).map(|_| fired.recv().unwrap()).collect::<Vec<_>>(), [3, 2, 1, 0]);
        for _ in 0..3 {
            again.set();
            assert_eq!(fired.recv().unwrap(), 0);
        }
        // Nothing else keeps the target of the timer alive.
        let timer = again.timer.lock().unwrap().take();
        drop(timer);
    }
}
