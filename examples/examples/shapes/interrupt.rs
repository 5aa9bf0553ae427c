//! SIGINT ends the program after the present round: the participant leaves, and the last line is printed.

use std::io;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// The SIGINT that ends the program.
pub(crate) struct Interrupt(Receiver<()>);

impl Interrupt {
    /// Catches SIGINT from now on.
    pub(crate) fn catch() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let (caught, interrupt) = mpsc::channel();
        thread::Builder::new().name("interrupt".to_owned()).spawn(move || {
            if runtime.block_on(tokio::signal::ctrl_c()).is_ok() {
                // If the program has ended its rounds, the signal has no receiver.
                let _ = caught.send(());
            }
        })?;
        Ok(Self(interrupt))
    }

    /// Sleeps for this time. Returns whether SIGINT has arrived.
    pub(crate) fn arrives_within(&self, time: Duration) -> bool {
        match self.0.recv_timeout(time) {
            Ok(()) => true,
            Err(RecvTimeoutError::Timeout) => false,
            // The signal could not be caught, so it ends the program by itself.
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(time);
                false
            }
        }
    }
}
