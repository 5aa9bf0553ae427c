//! Writes in async code: the task waits instead of the thread.

use crate::actor::Ticket;
use crate::infrastructure::{WaitSource, WakeTimer, WriteError, WriteErrorKind};
use crate::publication::WriterHandle;
use crate::publication::writer_handle::WriteAttempt;
use dds_rtps::types::{Duration, Instant, SequenceNumber};
use dds_rtps::writer::{NewChange, WriteRefused};
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

/// Future of [`DataWriter::write_async`](crate::DataWriter::write_async).
pub(super) struct AsyncWrite<'a> {
    writer: &'a WriterHandle,
    state: WriteState,
}

enum WriteState {
    /// The encoding failed.
    Failed(WriteErrorKind),
    Waiting(PendingWrite),
    Done,
}

struct PendingWrite {
    change: NewChange,
    /// Place in the queue for room.
    room_ticket: Option<Ticket>,
    /// Place in the queue of callers that wait until samples are sent, and the awaited sequence number.
    send_ticket: Option<Ticket>,
    awaited_number: Option<SequenceNumber>,
    /// The write waits until earlier samples are sent. `write` waits for its own sample instead, but a dropped future
    /// must not have written its sample.
    waits_for_earlier: bool,
    /// Set when the wait begins.
    limit: Option<WaitLimit>,
}

/// Time limit of a wait.
struct WaitLimit {
    started: Instant,
    /// `None` means no limit.
    deadline: Option<(Instant, WakeTimer)>,
}

impl PendingWrite {
    fn poll(&mut self, writer: &WriterHandle, waker: &Waker) -> Poll<Result<(), WriteErrorKind>> {
        loop {
            // The first try does not register the waker, because there is usually room.
            let mut attempt = self.attempt(writer, None)?;
            if matches!(attempt, WriteAttempt::Refused(WriteRefused::Full)) && writer.blocking_limit().is_some() {
                attempt = self.attempt(writer, Some(waker))?;
            }
            match attempt {
                WriteAttempt::Written(_, flushed) => {
                    if let Some(limit) = &self.limit {
                        writer.note_wait(writer.driver().now().instant.since(limit.started));
                    }
                    return Poll::Ready(writer.send_rest(flushed, false));
                }
                WriteAttempt::Refused(refused) => return Poll::Ready(Err(writer.refusal(refused))),
                WriteAttempt::Waiting => match self.overdue(writer, waker) {
                    Some(waited) => {
                        writer.note_wait(waited);
                        return Poll::Ready(Err(writer.timeout(waited)));
                    }
                    None => return Poll::Pending,
                },
                WriteAttempt::BehindLargeSample => {
                    debug_assert!(self.waits_for_earlier, "only a write that waits can be behind a large sample");
                    let clear = writer.poll_sent(&mut self.awaited_number, &mut self.send_ticket, waker.clone())?;
                    if !clear && self.overdue(writer, waker).is_none() {
                        return Poll::Pending;
                    }
                    // The wait for earlier samples is over, or took too long. Only room is awaited from here on.
                    writer.abandon_sent(&mut self.send_ticket);
                    self.waits_for_earlier = false;
                }
            }
        }
    }

    fn attempt(&mut self, writer: &WriterHandle, waker: Option<&Waker>) -> Result<WriteAttempt, WriteErrorKind> {
        if self.waits_for_earlier {
            writer.attempt_after_large_sample(&mut self.change, &mut self.room_ticket, waker)
        } else {
            writer.attempt(&mut self.change, &mut self.room_ticket, waker)
        }
    }

    /// Returns how long the write has waited if its time is over. Otherwise it sets a timer.
    fn overdue(&mut self, writer: &WriterHandle, waker: &Waker) -> Option<Duration> {
        let driver = writer.driver();
        // No thread blocks here, so the driver must receive the acknowledgment by itself.
        driver.attend();
        let limit = match &mut self.limit {
            Some(limit) => limit,
            // The time starts when the write first finds no room.
            None => {
                let started = driver.now().instant;
                let mut deadline = None;
                if let Some(at) = writer.blocking_limit().and_then(|time| started.after(time)) {
                    deadline = Some((at, WakeTimer::new(driver, at, waker)));
                }
                self.limit.insert(WaitLimit { started, deadline })
            }
        };
        let (deadline, timer) = limit.deadline.as_ref()?;
        timer.set_waker(waker);
        // Check the time after the waker is set. A timer that fired before had only an old waker to wake.
        let now = driver.now().instant;
        if now >= *deadline { Some(now.since(limit.started)) } else { None }
    }

    /// Leaves the queues. A wake that this write has received goes to the next in the queue.
    fn leave_queues(&mut self, writer: &WriterHandle) {
        writer.abandon_room(&mut self.room_ticket);
        writer.abandon_sent(&mut self.send_ticket);
    }
}

impl<'a> AsyncWrite<'a> {
    /// Creates a write of an encoded sample.
    pub(super) fn new(writer: &'a WriterHandle, encoded: Result<NewChange, WriteErrorKind>) -> Self {
        let state = match encoded {
            Ok(change) => WriteState::Waiting(PendingWrite {
                change,
                room_ticket: None,
                send_ticket: None,
                awaited_number: None,
                // A writer that never blocks writes behind fragments that wait.
                waits_for_earlier: writer.blocking_limit().is_some(),
                limit: None,
            }),
            Err(kind) => WriteState::Failed(kind),
        };
        Self { writer, state }
    }

    fn end(&mut self) {
        if let WriteState::Waiting(mut write) = mem::replace(&mut self.state, WriteState::Done) {
            // Its place in the queue would block the waiters behind it.
            write.leave_queues(self.writer);
        }
    }
}

impl Future for AsyncWrite<'_> {
    type Output = Result<(), WriteError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let written = match &mut this.state {
            WriteState::Waiting(write) => ready!(write.poll(this.writer, context.waker())),
            WriteState::Failed(kind) => Err(kind.clone()),
            WriteState::Done => Err(WriteErrorKind::Internal { message: "polled after it was ready" }),
        };
        this.end();
        Poll::Ready(this.writer.write_result(written))
    }
}

impl Drop for AsyncWrite<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
