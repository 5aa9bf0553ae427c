//! The requests of a requester that are not done, with the replies that the application has not read.
//!
//! Life cycle of a request: a [`Reservation`], its write ([`Reservation::send`]), replies, then
//! [`end`](CallsInFlight::end). Bounds: `Limits`, and replies that overtake the return of their write, [`EARLY_MAX`].

use crate::actor::{Effects, Ticket, Wakers};
use crate::infrastructure::WaitErrorKind;
use dds_rtps::types::{Guid, GuidPrefix, SequenceNumber};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};

/// Replies that may arrive before the write of their request returns.
const EARLY_MAX: usize = 256;

/// Bounds of the memory of a requester.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits {
    /// Requests in flight.
    pub(super) requests: usize,
    /// Replies of one request that the application has not read.
    pub(super) replies: usize,
}

/// A received reply, or why it has no value.
pub(super) type ReceivedReply<R> = Result<R, WaitErrorKind>;

/// The requests of one requester. Its reader's listener adds replies, and calls take them.
pub(super) struct CallsInFlight<R> {
    limits: Limits,
    /// Locked for a few lines that call no foreign code.
    state: Mutex<CallsState<R>>,
}

struct CallsState<R> {
    calls: BTreeMap<SequenceNumber, Call<R>>,
    /// Requests that are not sent yet.
    reserved: usize,
    /// Requests whose write has not returned, so that their numbers are unknown.
    writing: usize,
    /// Replies that may belong to these.
    early: VecDeque<(SequenceNumber, ReceivedReply<R>)>,
    /// Calls that wait for a replier.
    matching: Wakers,
    /// Requests that were ever sent.
    sent: u64,
}

struct Call<R> {
    replies: VecDeque<ReceivedReply<R>>,
    waiters: Wakers,
    /// Participants with a replier that received the request and may still answer.
    asked: Vec<GuidPrefix>,
    /// How many requests were sent before this one.
    order: u64,
    /// A reply was dropped because the application does not read.
    has_overflowed: bool,
}

impl<R> Call<R> {
    fn retain_repliers(&mut self, back: &[Guid], effects: &mut Effects) {
        self.asked.retain(|asked| back.iter().any(|writer| writer.prefix == *asked));
        if self.asked.is_empty() {
            self.waiters.wake_all(effects);
        }
    }
}

/// The place of a request that is not sent yet.
pub(super) struct Reservation<R> {
    calls: Arc<CallsInFlight<R>>,
}

impl<R> Reservation<R> {
    /// # Errors
    /// Too many requests are in flight.
    pub(super) fn new(calls: &Arc<CallsInFlight<R>>) -> Result<Self, WaitErrorKind> {
        let mut state = calls.state();
        // Reserved before the write, so that a sent request always has its place.
        let limit = calls.limits.requests;
        if state.calls.len() + state.reserved >= limit {
            return Err(WaitErrorKind::OutOfResources { limit: "max_requests", value: limit as u64 });
        }
        state.reserved += 1;
        drop(state);
        Ok(Self { calls: Arc::clone(calls) })
    }

    /// Tries to write the request to `asked`. `write` returns its sequence number, or `None` if it has to wait.
    pub(super) fn send<E>(
        &self,
        asked: Vec<GuidPrefix>,
        write: impl FnOnce() -> Result<Option<SequenceNumber>, E>,
    ) -> Result<Option<SequenceNumber>, E> {
        // A replier of this process may answer inside of the write. Such replies are early.
        self.calls.state().writing += 1;
        let mut end = EndOfWrite { calls: &self.calls, number: None, asked };
        let written = write();
        if let Ok(Some(number)) = &written {
            end.number = Some(*number);
        }
        written
    }
}

impl<R> Drop for Reservation<R> {
    fn drop(&mut self) {
        let mut state = self.calls.state();
        debug_assert!(state.reserved > 0, "each reservation is counted");
        state.reserved = state.reserved.saturating_sub(1);
    }
}

/// Notes the end of a write, even if the write panics.
struct EndOfWrite<'a, R> {
    calls: &'a CallsInFlight<R>,
    number: Option<SequenceNumber>,
    asked: Vec<GuidPrefix>,
}

impl<R> Drop for EndOfWrite<'_, R> {
    fn drop(&mut self) {
        self.calls.end_write(self.number, std::mem::take(&mut self.asked));
    }
}

impl<R> CallsInFlight<R> {
    pub(super) fn new(limits: Limits) -> Self {
        let state = CallsState {
            calls: BTreeMap::new(),
            reserved: 0,
            writing: 0,
            early: VecDeque::new(),
            matching: Wakers::new(),
            sent: 0,
        };
        Self { limits, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, CallsState<R>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers a call that waits for a replier.
    pub(super) fn register_matching(&self, ticket: &mut Option<Ticket>, waker: &Waker) {
        // Cloning runs code of the application, so it comes before the lock.
        let waker = waker.clone();
        Effects::scope(|effects| self.state().matching.register(ticket, waker, effects));
    }

    /// Removes a call that waited for a replier.
    pub(super) fn leave_matching(&self, ticket: &mut Option<Ticket>) {
        Effects::scope(|effects| self.state().matching.finish(ticket, effects));
    }

    /// Wakes the calls that wait for a replier.
    pub(super) fn wake_matching(&self) {
        Effects::scope(|effects| self.state().matching.wake_all(effects));
    }

    /// Notes the end of a write. `number` is the sequence number of the request, or `None` if it was not written.
    fn end_write(&self, number: Option<SequenceNumber>, asked: Vec<GuidPrefix>) {
        // The lock covers the move of early replies, or one that arrives now would overtake them.
        let mut guard = self.state();
        let state = &mut *guard;
        debug_assert!(state.writing > 0, "each write has a beginning");
        state.writing = state.writing.saturating_sub(1);
        debug_assert!(state.early.len() <= EARLY_MAX, "`receive` drops replies beyond the limit");
        let mut unread = Vec::new();
        if let Some(number) = number {
            let mut call = Call {
                replies: VecDeque::new(),
                waiters: Wakers::new(),
                asked,
                order: state.sent,
                has_overflowed: false,
            };
            // After the order of this call, so that `rematch` recognizes calls newer than its list.
            state.sent += 1;
            let early = std::mem::take(&mut state.early);
            for (of, reply) in early {
                if of != number {
                    state.early.push_back((of, reply));
                } else if call.replies.len() < self.limits.replies {
                    call.replies.push_back(reply);
                } else {
                    call.has_overflowed = true;
                }
            }
            state.calls.insert(number, call);
        }
        // The other early replies can only belong to a write that has not returned.
        if state.writing == 0 {
            unread.extend(state.early.drain(..));
        }
        // Dropping a reply runs code of the application.
        drop(guard);
        drop(unread);
    }

    /// Forgets a request. Later replies to it are ignored.
    pub(super) fn end(&self, number: SequenceNumber) {
        // Unread replies are dropped outside of the lock, because that runs code of the application.
        let ended = self.state().calls.remove(&number);
        drop(ended);
    }

    /// Returns whether the application waits for replies to this request.
    pub(super) fn awaits(&self, number: SequenceNumber) -> bool {
        let state = self.state();
        state.writing > 0 || state.calls.contains_key(&number)
    }

    /// Adds a reply to the request with this number.
    pub(super) fn receive(&self, number: SequenceNumber, reply: ReceivedReply<R>) {
        let refused = Effects::scope(|effects| {
            let mut state = self.state();
            if let Some(call) = state.calls.get_mut(&number) {
                if call.replies.len() >= self.limits.replies {
                    call.has_overflowed = true;
                    return Some(reply);
                }
                call.replies.push_back(reply);
                call.waiters.wake_all(effects);
                return None;
            }
            if state.writing == 0 || state.early.len() >= EARLY_MAX {
                // The request is done, or of an earlier requester.
                return Some(reply);
            }
            // Of a write that has not returned yet, so its number is not known here.
            state.early.push_back((number, reply));
            None
        });
        // Dropping a reply runs code of the application.
        drop(refused);
    }

    /// Notes that the matches have changed. `back` returns the writers that match the reader of the replies.
    ///
    /// These decide whether a reply may still arrive. A replier may have deleted its reader of requests before.
    pub(super) fn rematch(&self, back: impl FnOnce() -> Vec<Guid>) {
        // The list may be old by the time that it is used. It is no news for requests that were sent after it was made.
        let order = self.state().sent;
        // Without the lock, because it enters the cell of the reader.
        let back = back();
        Effects::scope(|effects| {
            let mut state = self.state();
            state.matching.wake_all(effects);
            for call in state.calls.values_mut() {
                if call.order < order {
                    call.retain_repliers(&back, effects);
                }
            }
        });
    }

    /// Forgets the repliers of one request whose writers of replies are not in `back`.
    pub(super) fn retain_repliers(&self, number: SequenceNumber, back: &[Guid]) {
        Effects::scope(|effects| {
            if let Some(call) = self.state().calls.get_mut(&number) {
                call.retain_repliers(back, effects);
            }
        });
    }

    /// Takes the next reply of a request, or registers the waiter.
    pub(super) fn poll(
        &self,
        number: SequenceNumber,
        ticket: &mut Option<Ticket>,
        waker: &Waker,
    ) -> Poll<ReceivedReply<R>> {
        let waker = waker.clone();
        let value = self.limits.replies as u64;
        Effects::scope(|effects| {
            let mut state = self.state();
            let Some(call) = state.calls.get_mut(&number) else {
                debug_assert!(false, "a call is polled between `sent` and `end`");
                effects.discard(waker);
                return Poll::Ready(Err(WaitErrorKind::Closed));
            };
            // Replies that are here come before the end: a replier may have left after its last one.
            let ready = if let Some(reply) = call.replies.pop_front() {
                Some(reply)
            } else if std::mem::take(&mut call.has_overflowed) {
                Some(Err(WaitErrorKind::OutOfResources { limit: "max_replies", value }))
            } else if call.asked.is_empty() {
                Some(Err(WaitErrorKind::RepliersGone))
            } else {
                None
            };
            match ready {
                Some(ready) => {
                    call.waiters.finish(ticket, effects);
                    effects.discard(waker);
                    Poll::Ready(ready)
                }
                None => {
                    call.waiters.register(ticket, waker, effects);
                    Poll::Pending
                }
            }
        })
    }

    /// Removes a waiter that gives up.
    pub(super) fn abandon(&self, number: Option<SequenceNumber>, ticket: Ticket) {
        Effects::scope(|effects| {
            let mut state = self.state();
            let ticket = &mut Some(ticket);
            match number {
                None => state.matching.abandon(ticket, effects),
                Some(number) => {
                    if let Some(call) = state.calls.get_mut(&number) {
                        call.waiters.abandon(ticket, effects);
                    }
                }
            }
        });
    }

    /// Returns how many requests are in flight.
    pub(super) fn len(&self) -> usize {
        let state = self.state();
        state.calls.len() + state.reserved
    }

    /// Returns how many participants may still answer a request.
    pub(super) fn asked(&self, number: SequenceNumber) -> usize {
        match self.state().calls.get(&number) {
            Some(call) => call.asked.len(),
            None => 0,
        }
    }
}

#[cfg(test)]
#[cfg(not(dds_loom))]
#[allow(clippy::unwrap_used, reason = "a test may; the lint sees tests only where they are marked")]
mod tests {
    use super::*;

    const ONE: SequenceNumber = SequenceNumber(1);

    fn calls(requests: usize, replies: usize) -> Arc<CallsInFlight<u32>> {
        Arc::new(CallsInFlight::new(Limits { requests, replies }))
    }

    /// Sends the request with this number.
    fn send(calls: &Arc<CallsInFlight<u32>>, number: SequenceNumber) {
        let sent = Reservation::new(calls).unwrap().send(asked(), || Ok::<_, ()>(Some(number)));
        assert_eq!(sent, Ok(Some(number)));
    }

    fn asked() -> Vec<GuidPrefix> {
        vec![Guid::from_bytes([1; 16]).prefix]
    }

    fn poll(calls: &CallsInFlight<u32>, number: SequenceNumber) -> Poll<ReceivedReply<u32>> {
        calls.poll(number, &mut None, Waker::noop())
    }

    #[test]
    fn request_above_the_limit_is_refused() {
        let calls = calls(2, 1);
        send(&calls, ONE);
        let waiting = Reservation::new(&calls).unwrap();
        let refused = WaitErrorKind::OutOfResources { limit: "max_requests", value: 2 };
        assert_eq!(Reservation::new(&calls).err(), Some(refused));
        calls.end(ONE);
        assert!(Reservation::new(&calls).is_ok());
        assert_eq!(calls.len(), 1);
        drop(waiting);
        assert_eq!(calls.len(), 0);
    }

    #[test]
    fn reply_before_the_write_returns_is_kept() {
        let calls = calls(2, 4);
        let sent = Reservation::new(&calls).unwrap().send(asked(), || {
            calls.receive(ONE, Ok(7));
            calls.receive(SequenceNumber(9), Ok(8));
            Ok::<_, ()>(Some(ONE))
        });
        assert_eq!(sent, Ok(Some(ONE)));
        assert_eq!(poll(&calls, ONE), Poll::Ready(Ok(7)));
        assert_eq!(poll(&calls, ONE), Poll::Pending);
        assert!(calls.state().early.is_empty(), "the other reply belongs to no request");
    }

    #[test]
    fn unread_replies_above_the_limit_are_an_error() {
        let calls = calls(2, 2);
        send(&calls, ONE);
        (0..3).for_each(|reply| calls.receive(ONE, Ok(reply)));
        assert_eq!(poll(&calls, ONE), Poll::Ready(Ok(0)));
        assert_eq!(poll(&calls, ONE), Poll::Ready(Ok(1)));
        let overflow = WaitErrorKind::OutOfResources { limit: "max_replies", value: 2 };
        assert_eq!(poll(&calls, ONE), Poll::Ready(Err(overflow)));
        assert_eq!(poll(&calls, ONE), Poll::Pending);
    }

    #[test]
    fn call_ends_when_the_last_asked_replier_leaves() {
        let calls = calls(2, 2);
        send(&calls, ONE);
        calls.rematch(|| vec![Guid::from_bytes([1; 16])]);
        assert_eq!(poll(&calls, ONE), Poll::Pending);
        calls.receive(ONE, Ok(7));
        // A replier that came later does not know the request.
        calls.rematch(|| vec![Guid::from_bytes([2; 16])]);
        assert_eq!(poll(&calls, ONE), Poll::Ready(Ok(7)), "its reply was faster");
        assert_eq!(poll(&calls, ONE), Poll::Ready(Err(WaitErrorKind::RepliersGone)));
    }

    #[test]
    fn old_list_of_matches_ends_no_later_call() {
        let calls = calls(2, 2);
        calls.rematch(|| {
            // Made before the match with the replier that receives this request.
            let old = Vec::new();
            send(&calls, ONE);
            old
        });
        assert_eq!(poll(&calls, ONE), Poll::Pending);
    }

    #[test]
    fn panic_of_a_write_leaves_no_reservation() {
        let calls = calls(1, 1);
        let reservation = Reservation::new(&calls).unwrap();
        let write = || reservation.send(asked(), || -> Result<_, ()> { panic!("a planted panic") });
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(write)).is_err());
        assert!(!calls.awaits(ONE), "no write is running");
        drop(reservation);
        assert_eq!(calls.len(), 0);
    }

    /// A request that waits for room is not sent, so early replies are not its own.
    #[test]
    fn reply_while_a_request_waits_for_room_is_dropped() {
        let calls = calls(2, 2);
        let waiting = Reservation::new(&calls).unwrap();
        assert_eq!(waiting.send(asked(), || Ok::<_, ()>(None)), Ok(None));
        calls.receive(ONE, Ok(7));
        assert_eq!((calls.len(), calls.state().early.len()), (1, 0));
    }

    #[test]
    fn reply_to_an_ended_request_is_dropped() {
        let calls = calls(2, 2);
        send(&calls, ONE);
        calls.end(ONE);
        calls.receive(ONE, Ok(7));
        assert_eq!((calls.len(), calls.state().early.len()), (0, 0));
    }
}
