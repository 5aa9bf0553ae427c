//! Writing from async code: where `write` would block, the task waits.

use crate::actor::Ticket;
use crate::cdr::{Encode, TypeInfo};
use crate::infrastructure::{Alarm, WaitSource, WriteError, WriteErrorKind};
use crate::publication::writer_handle::Attempt;
use crate::publication::{DataWriter, WriterHandle};
use dds_rtps::types::{Duration, Instant, SequenceNumber};
use dds_rtps::writer::{NewChange, WriteRefused};
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, Waker, ready};

impl<T> DataWriter<T> {
    /// As [`write`](DataWriter::write), but where that would block the thread, the task waits: for room in the history, at
    /// most `max_blocking_time`, and for an earlier, large sample to be on its way. Needs no particular runtime.
    ///
    /// The sample is encoded by this call, once. Dropping the future before it is ready publishes nothing. Tasks and
    /// threads that wait for room of one writer get it in the order in which they came: a future that was polled once and
    /// then is neither polled nor dropped holds up those behind it.
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
                room: None,
                way: None,
                way_up_to: None,
                goes_behind: self.handle.blocking_limit().is_some(),
                limit: None,
            }),
            Err(kind) => WriteState::Failed(kind),
        };
        AsyncWrite { writer: &self.handle, state }
    }
}

/// The future of [`DataWriter::write_async`].
struct AsyncWrite<'a> {
    writer: &'a WriterHandle,
    state: WriteState,
}

enum WriteState {
    /// It was not encoded.
    Failed(WriteErrorKind),
    Waiting(PendingWrite),
    Done,
}

struct PendingWrite {
    change: NewChange,
    /// Its place among those who wait for room.
    room: Option<Ticket>,
    /// Its place among those who wait for the way, and up to where that must be clear.
    way: Option<Ticket>,
    way_up_to: Option<SequenceNumber>,
    /// It waits until earlier samples are on their way. `write` waits for its own; but what is dropped must not have been
    /// written.
    goes_behind: bool,
    /// Once it waits.
    limit: Option<Limit>,
}

/// How long it waits.
struct Limit {
    started: Instant,
    /// `None`: for ever.
    deadline: Option<(Instant, Alarm)>,
}

impl PendingWrite {
    fn poll(&mut self, writer: &WriterHandle, waker: &Waker) -> Poll<Result<(), WriteErrorKind>> {
        loop {
            // The first try leaves the waker alone: mostly there is room.
            let mut attempt = self.attempt(writer, None)?;
            if matches!(attempt, Attempt::Refused(WriteRefused::Full)) && writer.blocking_limit().is_some() {
                attempt = self.attempt(writer, Some(waker))?;
            }
            match attempt {
                Attempt::Written(_, flushed) => return Poll::Ready(writer.send_rest(flushed, false)),
                Attempt::Refused(refused) => return Poll::Ready(Err(writer.refusal(refused))),
                Attempt::Waiting => match self.time_is_over(writer, waker) {
                    Some(waited) => return Poll::Ready(Err(writer.timeout(waited))),
                    None => return Poll::Pending,
                },
                Attempt::Behind => {
                    let clear = writer.is_way_clear(&mut self.way_up_to, &mut self.way, waker.clone())?;
                    if !clear && self.time_is_over(writer, waker).is_none() {
                        return Poll::Pending;
                    }
                    writer.abandon_way(&mut self.way);
                    self.goes_behind = false;
                }
            }
        }
    }

    fn attempt(&mut self, writer: &WriterHandle, waker: Option<&Waker>) -> Result<Attempt, WriteErrorKind> {
        match self.goes_behind {
            true => writer.attempt_behind(&mut self.change, &mut self.room, waker),
            false => writer.attempt(&mut self.change, &mut self.room, waker),
        }
    }

    /// How long it has waited, if that is too long; else it is woken when it will be.
    fn time_is_over(&mut self, writer: &WriterHandle, waker: &Waker) -> Option<Duration> {
        let driver = writer.driver();
        driver.attend();
        let limit = self.limit.get_or_insert_with(|| {
            let started = driver.now().instant;
            let deadline = writer.blocking_limit().and_then(|time| started.after(time));
            Limit { started, deadline: deadline.map(|at| (at, Alarm::new(driver, at, waker))) }
        });
        let (deadline, alarm) = limit.deadline.as_ref()?;
        alarm.set_waker(waker);
        // Looked at once the waker is in its place: an alarm that rang before had an old one to wake.
        let now = driver.now().instant;
        (now >= *deadline).then(|| now.since(limit.started))
    }

    /// Leaves the queues; a wake that it was given goes to the next.
    fn give_up(&mut self, writer: &WriterHandle) {
        writer.abandon_space(&mut self.room);
        writer.abandon_way(&mut self.way);
    }
}

impl AsyncWrite<'_> {
    fn end(&mut self) {
        if let WriteState::Waiting(mut write) = mem::replace(&mut self.state, WriteState::Done) {
            write.give_up(self.writer);
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
