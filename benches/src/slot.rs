//! A channel of one slot from the receiving side to the main thread.
//!
//! It is std's on purpose: every id of a comparison pays the same for it, and it is what an application would write.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::time::Duration;

/// Longer than any sample may take; a lost one ends the run with a message instead of hanging it.
const LOST_AFTER: Duration = Duration::from_secs(10);

/// The receiving side's end.
#[derive(Debug, Clone)]
pub struct Announce(SyncSender<()>);

/// The main thread's end.
#[derive(Debug)]
pub struct Arrival(Receiver<()>);

/// Makes the two ends.
#[must_use]
pub fn slot() -> (Announce, Arrival) {
    let (sender, receiver) = sync_channel(1);
    (Announce(sender), Arrival(receiver))
}

impl Announce {
    /// Tells the main thread. Does not wait: if the slot is taken, the main thread is about to look anyway.
    pub fn announce(&self) {
        // Full means told already; disconnected means that the benchmark is over.
        let _ = self.0.try_send(());
    }
}

impl Arrival {
    /// Waits until the receiving side has announced a sample.
    ///
    /// # Panics
    ///
    /// If none comes within 10 s, or the receiving side is gone.
    pub fn wait(&self) {
        // The look without a clock first: where the sample is there already, reading the clock would cost as much as
        // the rest.
        match self.0.try_recv() {
            Ok(()) => {}
            Err(TryRecvError::Empty) => {
                self.0.recv_timeout(LOST_AFTER).expect("a sample arrives within 10 s");
            }
            Err(TryRecvError::Disconnected) => panic!("the receiving side is gone"),
        }
    }

    /// Waits for at most `limit`: false if nothing came.
    ///
    /// # Panics
    ///
    /// If the receiving side is gone.
    #[must_use]
    pub fn wait_for(&self, limit: Duration) -> bool {
        match self.0.recv_timeout(limit) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => panic!("the receiving side is gone"),
        }
    }
}
