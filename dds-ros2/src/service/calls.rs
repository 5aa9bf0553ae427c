//! The calls of a client that wait for a reply.
//!
//! Life cycle of a call: [`begin`](Calls::begin), the write, [`sent`](Calls::sent), a reply, [`end`](Calls::end).
//! Bounds: [`CALLS_MAX`], and replies that overtake the return of their write, [`EARLY_MAX`].

use super::form::Form;
use super::message::RequestHeader;
use crate::graph::Prefix;
use crate::{Error, Result};
use dds_core::writer::SequenceNumber;
use std::collections::{BTreeMap, VecDeque};

/// Calls in flight.
pub(super) const CALLS_MAX: usize = 1024;

/// Replies that may arrive before the write of their request returns.
const EARLY_MAX: usize = 256;

/// The number of a call of a client, from 1.
pub(super) type CallNumber = i64;

pub(super) struct Calls<R> {
    next: CallNumber,
    calls: BTreeMap<CallNumber, InFlight<R>>,
    /// Calls by the sequence number of their request.
    by_sequence: BTreeMap<SequenceNumber, CallNumber>,
    /// Requests whose write has not returned, so that their sequence numbers are unknown.
    writing: usize,
    early: VecDeque<(SequenceNumber, Result<R, String>)>,
}

struct InFlight<R> {
    /// The form of the request. Its reply has the same.
    form: Form,
    sequence: Option<SequenceNumber>,
    reply: Option<Result<R, String>>,
    /// Participants whose server received the request.
    asked: Vec<Prefix>,
}

impl<R> Calls<R> {
    pub(super) fn new() -> Self {
        Self { next: 0, calls: BTreeMap::new(), by_sequence: BTreeMap::new(), writing: 0, early: VecDeque::new() }
    }

    /// Starts a call, before its write.
    pub(super) fn begin(&mut self, form: Form, asked: Vec<Prefix>) -> Result<CallNumber> {
        if self.calls.len() >= CALLS_MAX {
            return Err(Error::TooManyCalls { limit: CALLS_MAX });
        }
        self.next += 1;
        self.writing += 1;
        self.calls.insert(self.next, InFlight { form, sequence: None, reply: None, asked });
        Ok(self.next)
    }

    /// The write of a call has returned. `sequence` is `None` if it failed.
    pub(super) fn sent(&mut self, call: CallNumber, sequence: Option<SequenceNumber>) {
        self.writing = self.writing.saturating_sub(1);
        if let (Some(sequence), Some(in_flight)) = (sequence, self.calls.get_mut(&call)) {
            let early = self.early.iter().position(|(of, _)| *of == sequence);
            let early = early.and_then(|index| self.early.remove(index));
            // A reply with a header does not name the sequence number.
            if in_flight.form == Form::InlineQos {
                in_flight.sequence = Some(sequence);
                self.by_sequence.insert(sequence, call);
                if in_flight.reply.is_none() {
                    in_flight.reply = early.map(|(_, reply)| reply);
                }
            }
        }
        if self.writing == 0 {
            self.early.clear();
        }
    }

    /// Adds a reply that names the sequence number of its request.
    pub(super) fn receive(&mut self, sequence: SequenceNumber, reply: Result<R, String>) {
        match self.by_sequence.get(&sequence) {
            Some(call) => self.receive_for(*call, Form::InlineQos, reply),
            None if self.writing > 0 && self.early.len() < EARLY_MAX => self.early.push_back((sequence, reply)),
            None => {}
        }
    }

    /// Adds a reply that has a header with the number of its call.
    pub(super) fn receive_headed(&mut self, header: RequestHeader, reply: Result<R, String>) {
        self.receive_for(header.number, Form::Header, reply);
    }

    /// Keeps the first reply of a call that has the form of the request.
    fn receive_for(&mut self, call: CallNumber, form: Form, reply: Result<R, String>) {
        if let Some(in_flight) = self.calls.get_mut(&call).filter(|in_flight| in_flight.form == form) {
            in_flight.reply.get_or_insert(reply);
        }
    }

    /// The sequence number of the request of a call. `None` before the end of its write, and with a header.
    pub(super) fn sequence(&self, call: CallNumber) -> Option<SequenceNumber> {
        self.calls.get(&call)?.sequence
    }

    pub(super) fn take_reply(&mut self, call: CallNumber) -> Option<Result<R, String>> {
        self.calls.get_mut(&call)?.reply.take()
    }

    /// Whether one of the asked servers can still reply.
    pub(super) fn has_server(&self, call: CallNumber, can_reply: impl Fn(&Prefix) -> bool) -> bool {
        self.calls.get(&call).is_some_and(|in_flight| in_flight.asked.iter().any(can_reply))
    }

    pub(super) fn end(&mut self, call: CallNumber) {
        if let Some(sequence) = self.calls.remove(&call).and_then(|in_flight| in_flight.sequence) {
            self.by_sequence.remove(&sequence);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.calls.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: i64) -> SequenceNumber {
        (0..value).fold(SequenceNumber::ZERO, |number, _| number.next())
    }

    #[test]
    fn reply_before_the_end_of_its_write_is_kept() {
        let mut calls = Calls::new();
        let call = calls.begin(Form::InlineQos, vec![[1; 12]]).unwrap();
        calls.receive(number(1), Ok("early"));
        assert_eq!(calls.take_reply(call), None);
        calls.sent(call, Some(number(1)));
        assert_eq!(calls.take_reply(call), Some(Ok("early")));
    }

    #[test]
    fn only_the_first_reply_counts() {
        let mut calls = Calls::new();
        let call = calls.begin(Form::InlineQos, Vec::new()).unwrap();
        calls.sent(call, Some(number(1)));
        calls.receive(number(1), Ok(1));
        calls.receive(number(1), Ok(2));
        assert_eq!(calls.take_reply(call), Some(Ok(1)));
        calls.end(call);
        calls.receive(number(1), Ok(3));
        assert_eq!((calls.len(), calls.take_reply(call)), (0, None));
    }

    #[test]
    fn reply_in_the_other_form_is_ignored() {
        let mut calls = Calls::new();
        let headed = calls.begin(Form::Header, Vec::new()).unwrap();
        calls.receive(number(1), Ok("early"));
        calls.sent(headed, Some(number(1)));
        calls.receive(number(1), Ok("late"));
        assert_eq!(calls.take_reply(headed), None);
        calls.receive_headed(RequestHeader { client: 1, number: headed }, Ok("headed"));
        assert_eq!(calls.take_reply(headed), Some(Ok("headed")));
        let plain = calls.begin(Form::InlineQos, Vec::new()).unwrap();
        calls.sent(plain, Some(number(2)));
        calls.receive_headed(RequestHeader { client: 1, number: plain }, Ok("headed"));
        assert_eq!(calls.take_reply(plain), None);
    }

    #[test]
    fn replies_to_unknown_requests_are_bounded() {
        let mut calls = Calls::new();
        let call = calls.begin(Form::InlineQos, Vec::new()).unwrap();
        for value in 100..1000 {
            calls.receive(number(value), Ok(value));
        }
        assert_eq!(calls.early.len(), EARLY_MAX);
        calls.sent(call, Some(number(1)));
        assert_eq!(calls.early.len(), 0);
    }

    #[test]
    fn calls_in_flight_are_bounded() {
        let mut calls = Calls::<()>::new();
        for _ in 0..CALLS_MAX {
            calls.begin(Form::InlineQos, Vec::new()).unwrap();
        }
        assert!(matches!(calls.begin(Form::InlineQos, Vec::new()), Err(Error::TooManyCalls { limit: CALLS_MAX })));
    }
}
