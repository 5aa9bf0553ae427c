//! SIGINT ends the program after the present round: the participant leaves, and the last line is printed.

use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::task::Poll;
use std::thread;
use std::time::Duration;

/// The SIGINT that ends the program.
pub(crate) struct Interrupt(Receiver<()>);

impl Interrupt {
    /// Catches SIGINT from now on.
    pub(crate) fn catch() -> io::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build()?;
        let (caught, interrupt) = mpsc::channel();
        let (prepared, is_prepared) = mpsc::channel();
        thread::Builder::new().name("interrupt".to_owned()).spawn(move || {
            runtime.block_on(async {
                let mut signal = pin!(tokio::signal::ctrl_c());
                // The first poll registers the handler. A signal before it would end the program.
                let first = poll_fn(|context| Poll::Ready(signal.as_mut().poll(context))).await;
                // The receivers live as long as the program needs them.
                let _ = prepared.send(());
                let outcome = match first {
                    Poll::Ready(outcome) => outcome,
                    Poll::Pending => signal.await,
                };
                if outcome.is_ok() {
                    let _ = caught.send(());
                }
            });
        })?;
        // If the thread has ended, the signal ends the program by itself.
        let _ = is_prepared.recv();
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
