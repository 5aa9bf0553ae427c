//! The inbox of a cell: a bounded ring of mail, a set of signals, and a summary that can be read without a lock.
//!
//! Life cycle: the ring grows to the most mail that ever waited, and keeps that memory. Bound: [`Capacity`].

use super::{Actor, Signals};
use crate::sync::{AtomicU32, AtomicUsize, CacheLine, Lock, LockGuard, Mutation, Ordering, Process, mutated};
use std::collections::VecDeque;
use std::ops::ControlFlow;

/// Limit of the mail that waits in a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Capacity {
    /// Pieces of mail.
    pub entries: usize,
    /// Bytes, as [`Actor::mail_bytes`] counts them. An empty inbox accepts one piece of any size.
    pub bytes: usize,
}

impl Default for Capacity {
    /// 256 entries and 4 MiB.
    ///
    /// The entries bound the work that a visitor does for others on entry. The bytes hold a burst of one receive
    /// buffer.
    fn default() -> Self {
        Self { entries: 256, bytes: 4 << 20 }
    }
}

/// Error of a push. It contains the refused mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushError<M> {
    /// The inbox is full; see [`Capacity`].
    Full(M),
    /// The cell is closed.
    Closed(M),
}

impl<M> PushError<M> {
    /// Returns the mail.
    pub fn into_mail(self) -> M {
        match self {
            Self::Full(mail) | Self::Closed(mail) => mail,
        }
    }
}

/// Waiting mail of a cell.
#[derive(Debug)]
pub(super) struct Inbox<A: Actor> {
    ring: CacheLine<Lock<Ring<A::Mail>>>,
    /// On a separate cache line: visitors read it, and only pushers write it often.
    waiting: CacheLine<WaitingMail>,
    capacity: Capacity,
    process: Process,
}

#[derive(Debug)]
struct Ring<M> {
    mail: VecDeque<M>,
    bytes: usize,
    closed: bool,
}

#[derive(Debug, Default)]
struct WaitingMail {
    /// Length of the ring. Written under its lock.
    mail: AtomicUsize,
    signals: AtomicU32,
}

impl<A: Actor> Inbox<A> {
    pub(super) fn new(capacity: Capacity) -> Self {
        let ring = Ring { mail: VecDeque::new(), bytes: 0, closed: false };
        Self { ring: CacheLine(Lock::new(ring)), waiting: CacheLine::default(), capacity, process: Process::current() }
    }

    /// Whether mail or a signal waits. May be outdated at once; the fences of the cell make it reliable.
    #[inline]
    pub(super) fn has_any(&self) -> bool {
        self.waiting.mail.load(Ordering::Relaxed) != 0 || self.waiting.signals.load(Ordering::Relaxed) != 0
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.mail.load(Ordering::Relaxed)
    }

    /// Locks the ring. Returns `None` in a forked child if a thread of the parent holds the lock.
    #[inline]
    fn ring(&self) -> Option<LockGuard<'_, Ring<A::Mail>>> {
        match self.ring.try_lock() {
            None if self.process.is_left() => None,
            None => Some(self.ring.lock()),
            ring => ring,
        }
    }

    pub(super) fn push(&self, mail: A::Mail) -> Result<(), PushError<A::Mail>> {
        self.push_into(mail, |_, _| ControlFlow::Break(false))
    }

    /// Like [`Inbox::push`], but waiting mail may absorb the new one.
    ///
    /// `takes_in` is called from the newest mail on until it breaks, with `true` if it has absorbed the new mail. The
    /// bytes stay unchanged then, and the new mail is dropped under the lock.
    #[inline]
    pub(super) fn push_into(
        &self,
        mail: A::Mail,
        mut takes_in: impl FnMut(&mut A::Mail, &A::Mail) -> ControlFlow<bool>,
    ) -> Result<(), PushError<A::Mail>> {
        let Some(mut ring) = self.ring() else { return Err(PushError::Closed(mail)) };
        if ring.closed {
            return Err(PushError::Closed(mail));
        }
        // From the newest: only mail behind which nothing else waits can absorb the new one and keep the order.
        for waiting in ring.mail.iter_mut().rev() {
            match takes_in(waiting, &mail) {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(true) => return Ok(()),
                ControlFlow::Break(false) => break,
            }
        }
        let bytes = A::mail_bytes(&mail);
        if self.is_full(&ring, bytes) {
            return Err(PushError::Full(mail));
        }
        self.append(&mut ring, mail, bytes);
        Ok(())
    }

    /// Like [`Inbox::push`], but a full inbox evicts the oldest mail that `replaces` selects.
    pub(super) fn push_over(
        &self,
        mail: A::Mail,
        mut replaces: impl FnMut(&A::Mail) -> bool,
    ) -> Result<Option<A::Mail>, PushError<A::Mail>> {
        let Some(mut ring) = self.ring() else { return Err(PushError::Closed(mail)) };
        if ring.closed {
            return Err(PushError::Closed(mail));
        }
        let bytes = A::mail_bytes(&mail);
        let mut evicted = None;
        if self.is_full(&ring, bytes) {
            let Some(index) = ring.mail.iter().position(&mut replaces) else {
                return Err(PushError::Full(mail));
            };
            evicted = ring.mail.remove(index);
            ring.bytes -= evicted.as_ref().map_or(0, A::mail_bytes);
        }
        self.append(&mut ring, mail, bytes);
        Ok(evicted)
    }

    fn is_full(&self, ring: &Ring<A::Mail>, bytes: usize) -> bool {
        // An empty inbox accepts one piece of any size, or that piece could never be delivered.
        let too_large = ring.bytes.saturating_add(bytes) > self.capacity.bytes && !ring.mail.is_empty();
        too_large || ring.mail.len() >= self.capacity.entries
    }

    fn append(&self, ring: &mut Ring<A::Mail>, mail: A::Mail, bytes: usize) {
        ring.bytes += bytes;
        ring.mail.push_back(mail);
        // Relaxed: the fence of the pusher comes between this store and its look at the cell's lock.
        self.waiting.mail.store(ring.mail.len(), Ordering::Relaxed);
    }

    pub(super) fn signal(&self, signals: Signals) {
        self.waiting.signals.fetch_or(signals.0, Ordering::AcqRel);
    }

    #[inline]
    pub(super) fn take_signals(&self) -> Signals {
        // The load is cheaper than a swap, and usually no signal is set.
        if self.waiting.signals.load(Ordering::Relaxed) == 0 {
            return Signals::default();
        }
        Signals(self.waiting.signals.swap(0, Ordering::AcqRel))
    }

    /// Moves the oldest mail into the empty `batch`, at most `limit` pieces.
    #[inline]
    pub(super) fn take_mail(&self, limit: usize, batch: &mut VecDeque<A::Mail>) {
        if self.waiting.mail.load(Ordering::Relaxed) == 0 {
            return;
        }
        let Some(mut ring) = self.ring() else { return };
        if ring.mail.len() <= limit {
            // The usual case: exchange the buffers without moving any mail. Both keep their memory.
            std::mem::swap(&mut ring.mail, batch);
            ring.bytes = 0;
        } else {
            batch.extend(ring.mail.drain(..limit));
            ring.bytes -= batch.iter().map(A::mail_bytes).sum::<usize>();
        }
        self.waiting.mail.store(ring.mail.len(), Ordering::Relaxed);
    }

    /// Refuses all further mail. Returns the waiting mail, which the caller drops where no lock is held.
    #[must_use]
    pub(super) fn close(&self) -> VecDeque<A::Mail> {
        // In a forked child the mail stays where it is: the thread that holds it belongs to the parent.
        let Some(mut ring) = self.ring() else { return VecDeque::new() };
        // Under the ring's lock: each push falls before this and is returned, or after it and is refused.
        ring.closed = !mutated(Mutation::OpenInbox);
        ring.bytes = 0;
        self.waiting.mail.store(0, Ordering::Relaxed);
        std::mem::take(&mut ring.mail)
    }
}
