//! The bounded queue of messages to one client.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use tungstenite::Message;

/// Most messages that wait for a client, as in other servers of the protocol.
const MESSAGES_MAX: usize = 1024;
/// Most bytes that wait for a client.
const BYTES_MAX: usize = 64 << 20;

/// The messages that wait for a client. If it is too slow, the oldest samples are dropped and counted.
#[derive(Debug, Default)]
pub(crate) struct Outbox {
    state: Mutex<OutboxState>,
    has_changed: Condvar,
}

#[derive(Debug, Default)]
struct OutboxState {
    /// Each with whether it is a sample.
    messages: VecDeque<(bool, Message)>,
    bytes: usize,
    sent: u64,
    dropped: u64,
    is_closed: bool,
}

impl Outbox {
    fn lock(&self) -> MutexGuard<'_, OutboxState> {
        // A thread that panicked leaves a complete state.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a sample.
    pub(crate) fn push_sample(&self, message: Message) {
        self.add(true, message);
    }

    /// Adds a message that is no sample. A client for which too many of them wait is closed.
    pub(crate) fn push(&self, message: Message) {
        self.add(false, message);
    }

    fn add(&self, is_sample: bool, message: Message) {
        let mut state = self.lock();
        if state.is_closed {
            return;
        }
        state.bytes += message.len();
        state.messages.push_back((is_sample, message));
        while state.messages.len() > MESSAGES_MAX || state.bytes > BYTES_MAX {
            let Some(oldest) = state.messages.iter().position(|(is_sample, _)| *is_sample) else {
                state.is_closed = true;
                break;
            };
            if let Some((_, message)) = state.messages.remove(oldest) {
                state.bytes -= message.len();
                state.dropped += 1;
            }
        }
        drop(state);
        self.has_changed.notify_one();
    }

    /// Waits for the next message. `None` if the client is closed.
    pub(crate) fn pop(&self) -> Option<Message> {
        let mut state = self.lock();
        loop {
            if state.is_closed {
                return None;
            }
            if let Some((is_sample, message)) = state.messages.pop_front() {
                state.bytes -= message.len();
                state.sent += u64::from(is_sample);
                return Some(message);
            }
            state = self.has_changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Ends the threads of the client.
    pub(crate) fn close(&self) {
        self.lock().is_closed = true;
        self.has_changed.notify_all();
    }

    /// Returns the samples that were sent, and those that were dropped.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let state = self.lock();
        (state.sent, state.dropped)
    }
}

#[cfg(test)]
mod tests {
    use super::{BYTES_MAX, MESSAGES_MAX, Outbox};
    use tungstenite::Message;

    #[test]
    fn slow_client_loses_oldest_samples_only() {
        let outbox = Outbox::default();
        outbox.push(Message::text("first"));
        for number in 0..MESSAGES_MAX + 10 {
            outbox.push_sample(Message::text(number.to_string()));
        }
        assert_eq!(outbox.counts(), (0, 11));
        assert_eq!(outbox.pop(), Some(Message::text("first")));
        assert_eq!(outbox.pop(), Some(Message::text("11")));
        outbox.push_sample(Message::binary(vec![0; BYTES_MAX]));
        assert_eq!(outbox.pop().map(|message| message.len()), Some(BYTES_MAX));
    }

    #[test]
    fn flood_of_other_messages_closes_client() {
        let outbox = Outbox::default();
        for _ in 0..=MESSAGES_MAX {
            outbox.push(Message::text("status"));
        }
        assert_eq!(outbox.pop(), None);
    }
}
