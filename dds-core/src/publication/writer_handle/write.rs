//! The paths of a write: encode, try, wait for room, and send the rest of a large sample.

use crate::actor::{Effects, Ticket, in_listener};
use crate::driver::{Flushed, block_on, role};
use crate::infrastructure::{WriteError, WriteErrorKind};
use crate::publication::loan::{LoanMemory, LoanedBytes, OnLoan};
use crate::publication::writer_actor::WriterActor;
use crate::publication::{WriteOptions, WriterHandle};
use crate::qos::{History, Reliability};
use dds_rtps::cdr::{Encode, Encoding, TypeInfo};
use dds_rtps::concurrent::BorrowedMut;
use dds_rtps::types::{Duration, Instant, SequenceNumber};
use dds_rtps::writer::{NewChange, ReaderLag, WriteRefused};
use std::sync::atomic::Ordering;
use std::task::{Context, Poll, Waker};

/// Time from which a wait for readers is worth a warning, and the time between two warnings.
const LONG_WAIT: Duration = Duration::from_millis(50);
const WARNINGS_APART: Duration = Duration::from_secs(5);

/// Least length of an encoded sample that is lent in shared memory. Below, its copy costs less.
const LENT_LEN_MIN: usize = 4 << 10;

/// Result of one attempt to write.
pub(crate) enum WriteAttempt {
    /// The change is written with this sequence number.
    Written(SequenceNumber, Flushed),
    Refused(WriteRefused),
    /// The caller waits in the queue for room.
    Waiting,
    /// The write was not tried, because an earlier large sample is still being sent.
    BehindLargeSample,
}

impl WriterHandle {
    /// Encodes a sample, outside of the cell because the encoder may be user code, and publishes it.
    ///
    /// Returns the sequence number.
    pub(crate) fn write<S: Encode + TypeInfo>(
        &self,
        sample: &S,
        options: WriteOptions,
        may_wait: bool,
    ) -> Result<SequenceNumber, WriteError> {
        // The options name the instance or the time, which the encoder does not know.
        let change = self.encode(sample).and_then(|change| options.apply_to(change));
        self.publish(self.write_result(change)?, may_wait)
    }

    /// Encodes a sample and computes its instance.
    pub(crate) fn encode<S: Encode + TypeInfo>(&self, sample: &S) -> Result<NewChange, WriteErrorKind> {
        let encoding = self.encoding()?;
        let expected = self.encoder.expected_long();
        if expected > 0 {
            if let Some(change) = self.encode_in_shared_memory(sample, encoding, expected)? {
                return Ok(change);
            }
        }
        self.encoder.encode(sample, encoding)
    }

    /// Encodes a sample of about `len` bytes where the readers of this host see it. `None` if that is impossible.
    #[cold]
    fn encode_in_shared_memory<S: Encode + TypeInfo>(
        &self,
        sample: &S,
        encoding: Encoding,
        len: usize,
    ) -> Result<Option<NewChange>, WriteErrorKind> {
        match self.lend(len) {
            Some(memory) => self.encoder.encode_into(memory, sample, encoding),
            None => Ok(None),
        }
    }

    /// Publishes a change and returns its sequence number.
    ///
    /// If `may_wait` is true and the QoS allows it, the call waits for room in the history.
    pub(crate) fn publish(&self, mut change: NewChange, may_wait: bool) -> Result<SequenceNumber, WriteError> {
        let attempt = match self.attempt(&mut change, &mut None, None) {
            Ok(attempt) => attempt,
            Err(kind) => return Err(self.write_error(kind)),
        };
        match attempt {
            WriteAttempt::Written(number, Flushed::Done) => Ok(number),
            WriteAttempt::Written(number, flushed) => {
                // Fragments wait for readers, because the kernel silently drops datagrams without buffer space.
                let may_wait = may_wait && caller_may_wait();
                self.write_result(self.send_rest(flushed, may_wait))?;
                Ok(number)
            }
            WriteAttempt::Refused(WriteRefused::Full) => match self.blocking_limit() {
                Some(limit) if may_wait && caller_may_wait() => self.publish_with_wait(&mut change, limit),
                _ => Err(self.write_error(self.refusal(WriteRefused::Full))),
            },
            WriteAttempt::Refused(refused) => Err(self.write_error(self.refusal(refused))),
            WriteAttempt::Waiting | WriteAttempt::BehindLargeSample => {
                debug_assert!(false, "an attempt without a waker never waits");
                Err(self.write_error(self.refusal(WriteRefused::Full)))
            }
        }
    }

    /// Tries to write once. If there is no room and a waker is given, the caller is put into the queue for room.
    pub(crate) fn attempt(
        &self,
        change: &mut NewChange,
        ticket: &mut Option<Ticket>,
        waker: Option<&Waker>,
    ) -> Result<WriteAttempt, WriteErrorKind> {
        // Cloned before the visit, because a waker is user code.
        let waker = waker.cloned();
        Ok(self.visit_inlined(|actor, effects| attempt_in_cell(actor, change, ticket, waker, effects))?)
    }

    /// As [`WriterHandle::attempt`], but does not write while an earlier large sample is being sent.
    pub(crate) fn attempt_after_large_sample(
        &self,
        change: &mut NewChange,
        ticket: &mut Option<Ticket>,
        waker: Option<&Waker>,
    ) -> Result<WriteAttempt, WriteErrorKind> {
        let waker = waker.cloned();
        Ok(self.visit_inlined(|actor, effects| {
            if actor.is_paced(false) {
                // A write now would send its change behind fragments that wait for readers.
                return WriteAttempt::BehindLargeSample;
            }
            attempt_in_cell(actor, change, ticket, waker, effects)
        })?)
    }

    fn publish_with_wait(&self, change: &mut NewChange, limit: Duration) -> Result<SequenceNumber, WriteError> {
        let driver = self.core().driver();
        let started = driver.now().instant;
        let mut ticket = None;
        // A ticket keeps the place in the queue between the polls.
        let outcome = block_on(&**driver, started.after(limit), |context| {
            match self.attempt(change, &mut ticket, Some(context.waker())) {
                Ok(WriteAttempt::Written(number, flushed)) => Poll::Ready(Ok((number, flushed))),
                Ok(WriteAttempt::Refused(refused)) => Poll::Ready(Err(self.refusal(refused))),
                Ok(WriteAttempt::Waiting | WriteAttempt::BehindLargeSample) => Poll::Pending,
                Err(kind) => Poll::Ready(Err(kind)),
            }
        });
        // A successful write has left the queue already. A write that was refused for another reason than room has not.
        self.abandon_room(&mut ticket);
        let waited = driver.now().instant.since(started);
        self.note_wait(waited);
        let outcome = match outcome {
            Some(outcome) => outcome,
            None => Err(self.timeout(waited)),
        };
        let (number, flushed) = self.write_result(outcome)?;
        self.write_result(self.send_rest(flushed, true))?;
        Ok(number)
    }

    /// Leaves the queue for room.
    pub(crate) fn abandon_room(&self, ticket: &mut Option<Ticket>) {
        if ticket.is_some() {
            // Ignore the error, because a closed writer has no queue.
            let _ = self.visit(|actor, effects| actor.abandon_room(ticket, effects));
        }
    }

    /// Sends the rest of a large sample in several visits, so that acknowledgments are processed in between.
    ///
    /// A paced rest is sent whether the caller waits or not. A caller that waits cannot write faster than the readers
    /// receive.
    pub(crate) fn send_rest(&self, mut flushed: Flushed, may_wait: bool) -> Result<(), WriteErrorKind> {
        while flushed == Flushed::More {
            flushed = self.visit_inlined(WriterActor::send_on)?;
        }
        if may_wait && flushed == Flushed::Paced {
            if let Some(limit) = self.blocking_limit() {
                self.wait_until_sent(limit);
            }
        }
        if flushed == Flushed::Forked { Err(WriteErrorKind::Forked) } else { Ok(()) }
    }

    /// Sends the samples that wait to share a datagram. If a socket is full, they follow as soon as it has room.
    pub(crate) fn flush(&self) -> Result<(), WriteErrorKind> {
        let flushed = self.visit(WriterActor::flush)?;
        self.send_rest(flushed, false)
    }

    /// Waits until the written samples are sent, at most `limit`. The samples count as written in any case.
    fn wait_until_sent(&self, limit: Duration) {
        let driver = self.core().driver();
        let (mut number, mut ticket) = (None, None);
        let poll = |context: &mut Context<'_>| {
            let waker = context.waker().clone();
            match self.poll_sent(&mut number, &mut ticket, waker) {
                Ok(false) => Poll::Pending,
                Ok(true) | Err(_) => Poll::Ready(()),
            }
        };
        let started = driver.now().instant;
        if block_on(&**driver, started.after(limit), poll).is_none() {
            // Only a wait that timed out is still in the queue.
            self.abandon_sent(&mut ticket);
        }
        self.note_wait(driver.now().instant.since(started));
    }

    /// Reports a long wait of a write: by the event and status of slow readers, and in the log.
    pub(crate) fn note_wait(&self, waited: Duration) {
        if waited < LONG_WAIT {
            return;
        }
        // A closed writer reports nothing.
        let _ = self.visit(WriterActor::note_slowest);
        self.warn_of_slow_reader(waited);
    }

    /// Names the reader that held up a write, but not for each write.
    #[cold]
    fn warn_of_slow_reader(&self, waited: Duration) {
        let now = self.core().driver().now().instant;
        let before = self.warned_at.load(Ordering::Relaxed);
        if before != 0 && now.since(Instant::from_nanos(before)) < WARNINGS_APART {
            return;
        }
        self.warned_at.store(now.as_nanos(), Ordering::Relaxed);
        if let Some(ReaderLag { reader, samples, .. }) = self.slowest_reader() {
            tracing::warn!(
                parent: self.span(),
                %reader,
                behind = samples,
                ?waited,
                "a write waited for a reader that receives too slowly"
            );
        }
    }

    /// Returns whether the changes up to `number`, or up to now, are sent. Registers the waker if they are not.
    pub(crate) fn poll_sent(
        &self,
        number: &mut Option<SequenceNumber>,
        ticket: &mut Option<Ticket>,
        waker: Waker,
    ) -> Result<bool, WriteErrorKind> {
        Ok(self.visit(|actor, effects| actor.wait_until_sent(number, ticket, waker, effects))?)
    }

    /// Leaves the queue of callers that wait until samples are sent.
    pub(crate) fn abandon_sent(&self, ticket: &mut Option<Ticket>) {
        if ticket.is_some() {
            // Ignore the error, because a closed writer has no queue.
            let _ = self.visit(|actor, effects| actor.abandon_sent(ticket, effects));
        }
    }

    /// Returns how long a write may wait for room, or for a large sample to be sent. `None` means that it never waits.
    ///
    /// Only a reliable writer that keeps all samples waits. A writer that keeps the last samples never waits for a
    /// reader, and replaces samples that it has not sent yet.
    pub(crate) fn blocking_limit(&self) -> Option<Duration> {
        if !self.is_enabled() {
            // The writer writes nothing, and its QoS may still change.
            return None;
        }
        let qos = self.qos().fixed();
        match qos.reliability {
            Reliability::Reliable { max_blocking_time } if qos.history == History::KeepAll => Some(max_blocking_time),
            _ => None,
        }
    }

    /// Error of a write that waited for room for `waited`.
    pub(crate) fn timeout(&self, waited: Duration) -> WriteErrorKind {
        let (slowest, behind) = self.slowest_reader().map(|lag| (lag.reader, lag.samples)).unzip();
        WriteErrorKind::Timeout { waited, slowest, behind: behind.unwrap_or_default() }
    }

    /// Reader that holds the oldest sample in the history.
    fn slowest_reader(&self) -> Option<ReaderLag> {
        self.visit(|actor, _| actor.rtps().slowest_reader()).ok()?
    }

    pub(crate) fn refusal(&self, refused: WriteRefused) -> WriteErrorKind {
        let limits = self.qos().fixed().resource_limits;
        match refused {
            WriteRefused::Full => {
                let (slowest, behind) = self.slowest_reader().map(|lag| (lag.reader, lag.samples)).unzip();
                WriteErrorKind::Full { slowest, behind: behind.unwrap_or_default() }
            }
            // No wait can help with these: only the application frees samples and instances.
            WriteRefused::SamplesMax => {
                WriteErrorKind::OutOfResources { limit: "max_samples", value: limit_value(limits.max_samples) }
            }
            WriteRefused::InstancesMax => {
                WriteErrorKind::OutOfResources { limit: "max_instances", value: limit_value(limits.max_instances) }
            }
            WriteRefused::UnknownInstance => WriteErrorKind::UnknownInstance,
            WriteRefused::TooLarge => {
                WriteErrorKind::OutOfResources { limit: "the size of a sample", value: u64::from(u32::MAX) }
            }
        }
    }

    /// Counts a new loan.
    pub(crate) fn take_loan(&self) -> Result<OnLoan<'_>, WriteErrorKind> {
        self.encoding()?;
        if self.is_closed() { Err(WriteErrorKind::Closed) } else { self.loans.take() }
    }

    /// Lends the memory of an encoded sample of `len` bytes.
    pub(crate) fn loan_encoded(&self, encoding: Encoding, len: usize) -> Result<LoanedBytes<'_>, WriteErrorKind> {
        let offered = self.encoding()?;
        if encoding != offered {
            return Err(WriteErrorKind::OtherEncoding { offered, given: encoding });
        }
        if u32::try_from(len).is_err() {
            return Err(WriteErrorKind::OutOfResources { limit: "the size of a sample", value: u64::from(u32::MAX) });
        }
        let on_loan = self.take_loan()?;
        let memory = match self.lend(len) {
            Some(lent) => LoanMemory::Shared(lent),
            None => LoanMemory::Slot(self.encoder.with_buffers(|buffers| buffers.slots.acquire())),
        };
        // From here on the loan returns the memory on every path.
        let mut loan = LoanedBytes::new(self, memory, on_loan);
        loan.set_len(len)?;
        self.encoder.put_header(&mut loan, encoding)?;
        Ok(loan)
    }

    /// Lends shared memory for an encoded sample of `len` bytes, if that saves a copy.
    fn lend(&self, len: usize) -> Option<BorrowedMut> {
        if len < LENT_LEN_MIN {
            return None;
        }
        self.visit(|actor, _| actor.lend(len)).ok()?
    }
}

/// An unlimited resource counts as the largest number.
fn limit_value(limit: Option<u32>) -> u64 {
    limit.map_or(u64::MAX, u64::from)
}

/// Returns whether a write on the calling thread may block.
fn caller_may_wait() -> bool {
    role().may_wait() && !in_listener()
}

#[inline]
fn attempt_in_cell(
    actor: &mut WriterActor,
    change: &mut NewChange,
    ticket: &mut Option<Ticket>,
    waker: Option<Waker>,
    effects: &mut Effects,
) -> WriteAttempt {
    match actor.write(change, ticket, effects) {
        Ok(flushed) => WriteAttempt::Written(actor.last_sequence_number(), flushed),
        Err(WriteRefused::Full) => match waker {
            // In the same visit, so that no room appears between the refusal and the registration.
            Some(waker) => {
                actor.wait_for_room(ticket, waker, effects);
                WriteAttempt::Waiting
            }
            None => WriteAttempt::Refused(WriteRefused::Full),
        },
        Err(refused) => WriteAttempt::Refused(refused),
    }
}
