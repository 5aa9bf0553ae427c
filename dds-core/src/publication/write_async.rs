//! Writes in async code: the task waits instead of the thread.

use crate::actor::Ticket;
use crate::cdr::{Encode, TypeInfo};
use crate::infrastructure::{Alarm, WaitSource, WriteError, WriteErrorKind};
use crate::publication::writer_handle::WriteAttempt;
use crate::publication::{DataWriter, WriterHandle};
use dds_rtps::types::{Duration, Instant, SequenceNumber};
use dds_rtps::writer::{NewChange, WriteRefused};
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

impl<T> DataWriter<T> {
    /// As [`write`](DataWriter::write), but the task waits instead of the thread.
    ///
    /// It waits for room in the history, at most `max_blocking_time`, and until an earlier large sample is sent. It
    /// needs no particular runtime.
    ///
    /// The call encodes the sample once. Dropping the future before it is ready publishes nothing.
    ///
    /// Tasks and threads that wait for room get it in the order of their arrival. A future that was polled must be
    /// polled again or dropped. Otherwise it blocks those behind it.
    ///
    /// # Errors
    /// As [`write`](DataWriter::write).
    pub fn write_async<'a>(&'a self, sample: &'a T) -> impl Future<Output = Result<(), WriteError>> + Send + 'a
    where
        T: Encode + TypeInfo,
    {
        let state = match self.handle.encode(sample) {
            Ok(change) => WriteState::Waiting(PendingWrite {
                change,
                room_ticket: None,
                send_ticket: None,
                awaited_number: None,
                waits_for_earlier: self.handle.blocking_limit().is_some(),
                limit: None,
            }),
            Err(kind) => WriteState::Failed(kind),
        };
        AsyncWrite { writer: &self.handle, state }
    }
}

/// Future of [`DataWriter::write_async`].
struct AsyncWrite<'a> {
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
    deadline: Option<(Instant, Alarm)>,
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
                WriteAttempt::Written(_, flushed) => return Poll::Ready(writer.send_rest(flushed, false)),
                WriteAttempt::Refused(refused) => return Poll::Ready(Err(writer.refusal(refused))),
                WriteAttempt::Waiting => match self.overdue(writer, waker) {
                    Some(waited) => return Poll::Ready(Err(writer.timeout(waited))),
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
        driver.attend();
        let limit = self.limit.get_or_insert_with(|| {
            let started = driver.now().instant;
            let deadline = writer.blocking_limit().and_then(|time| started.after(time));
            WaitLimit { started, deadline: deadline.map(|at| (at, Alarm::new(driver, at, waker))) }
        });
        let (deadline, alarm) = limit.deadline.as_ref()?;
        alarm.set_waker(waker);
        // Check the time after the waker is set. A timer that fired before had only an old waker to wake.
        let now = driver.now().instant;
        (now >= *deadline).then(|| now.since(limit.started))
    }

    /// Leaves the queues. A wake that this write has received goes to the next in the queue.
    fn leave_queues(&mut self, writer: &WriterHandle) {
        writer.abandon_room(&mut self.room_ticket);
        writer.abandon_sent(&mut self.send_ticket);
    }
}

impl AsyncWrite<'_> {
    fn end(&mut self) {
        if let WriteState::Waiting(mut write) = mem::replace(&mut self.state, WriteState::Done) {
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
        Poll::Ready(written.map_err(|kind| this.writer.write_error(kind)))
    }
}

impl Drop for AsyncWrite<'_> {
    fn drop(&mut self) {
        self.end();
    }
}
