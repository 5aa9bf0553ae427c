//! A channel of one slot from the receiving side to the main thread.
//!
//! All contenders use this channel of std, as an application would, so its cost is the same for each.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::time::Duration;

/// Longest wait for a sample. A lost sample then ends the run with a message.
const LOST_AFTER: Duration = Duration::from_secs(10);

/// The end of the receiving side.
#[derive(Debug, Clone)]
pub struct Announce(SyncSender<()>);

/// The end of the main thread.
#[derive(Debug)]
pub struct Arrival(Receiver<()>);

/// Creates the two ends.
#[must_use]
pub fn slot() -> (Announce, Arrival) {
    let (sender, receiver) = sync_channel(1);
    (Announce(sender), Arrival(receiver))
}

impl Announce {
    /// Notifies the main thread without a wait: if the slot is full, the main thread is notified already.
    pub fn announce(&self) {
        // Full: the main thread is notified already. Disconnected: the benchmark is over.
        let _ = self.0.try_send(());
    }
}

impl Arrival {
    /// Waits until the receiving side announces a sample.
    ///
    /// # Panics
    ///
    /// Panics if no sample arrives within 10 s, or if the receiving side has ended.
    pub fn wait(&self) {
        // `try_recv` first: if the sample has arrived, reading the clock would cost as much as the rest.
        match self.0.try_recv() {
            Ok(()) => {}
            Err(TryRecvError::Empty) => {
                self.0.recv_timeout(LOST_AFTER).expect("a sample arrives within 10 s");
            }
            Err(TryRecvError::Disconnected) => panic!("the receiving side has ended"),
        }
    }

    /// Waits for at most `limit`. Returns `false` if no sample arrives.
    ///
    /// # Panics
    ///
    /// Panics if the receiving side has ended.
    #[must_use]
    pub fn wait_for(&self, limit: Duration) -> bool {
        match self.0.recv_timeout(limit) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => false,
            Err(RecvTimeoutError::Disconnected) => panic!("the receiving side has ended"),
        }
    }
}
