//! The bounded queue of requests from all connections to the thread of the command.

use super::server::ClientRequest;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// Most requests that wait for the command. More of them hold back their connections.
const REQUESTS_MAX: usize = 1024;
/// Most bytes of these requests. One request may exceed it if no other waits.
const BYTES_MAX: usize = 32 << 20;

/// The requests that wait for the command.
#[derive(Clone, Default)]
pub(crate) struct RequestQueue {
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<QueueState>,
    has_room: Condvar,
}

#[derive(Default)]
struct QueueState {
    /// Each with its bytes.
    requests: VecDeque<(usize, ClientRequest)>,
    bytes: usize,
    is_closed: bool,
}

/// The command has ended, so no request has an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct QueueClosed;

impl RequestQueue {
    fn lock(&self) -> MutexGuard<'_, QueueState> {
        // A thread that panicked leaves a complete state.
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a request that holds `bytes` of memory. Waits for room.
    pub(crate) fn push(&self, bytes: usize, request: ClientRequest) -> Result<(), QueueClosed> {
        let mut state = self.lock();
        while !state.is_closed && !state.has_room_for(bytes) {
            state = self.shared.has_room.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        if state.is_closed {
            return Err(QueueClosed);
        }
        state.bytes += bytes;
        state.requests.push_back((bytes, request));
        Ok(())
    }

    /// Returns the next request, if one waits.
    pub(crate) fn pop(&self) -> Option<ClientRequest> {
        let mut state = self.lock();
        let (bytes, request) = state.requests.pop_front()?;
        state.bytes -= bytes;
        drop(state);
        // The waiting requests differ in size, so each thread looks for itself.
        self.shared.has_room.notify_all();
        Some(request)
    }

    /// Drops all requests, and refuses further ones.
    pub(crate) fn close(&self) {
        let mut state = self.lock();
        state.is_closed = true;
        let dropped = std::mem::take(&mut state.requests);
        drop(state);
        self.shared.has_room.notify_all();
        // Each dropped answer wakes a connection. It must not wait for the lock.
        drop(dropped);
    }
}

impl QueueState {
    fn has_room_for(&self, bytes: usize) -> bool {
        self.requests.is_empty() || (self.requests.len() < REQUESTS_MAX && self.bytes + bytes <= BYTES_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::{BYTES_MAX, QueueClosed, REQUESTS_MAX, RequestQueue};
    use crate::live_view::server::ClientRequest;
    use std::time::Duration;

    const fn request(client: u64) -> ClientRequest {
        ClientRequest::Disconnected { client }
    }

    fn client_of(request: Option<ClientRequest>) -> Option<u64> {
        match request? {
            ClientRequest::Disconnected { client } => Some(client),
            _ => None,
        }
    }

    /// Fills the queue, and checks that a further request waits for a `pop`.
    fn assert_waits(queue: &RequestQueue, bytes: usize) {
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.push(bytes, request(99)));
            std::thread::sleep(Duration::from_millis(100));
            assert!(!waiting.is_finished());
            assert!(queue.pop().is_some());
            assert_eq!(waiting.join().unwrap(), Ok(()));
        });
    }

    #[test]
    fn large_requests_wait_for_room() {
        let queue = RequestQueue::default();
        for client in 0..2 {
            queue.push(BYTES_MAX / 2, request(client)).unwrap();
        }
        assert_waits(&queue, 1);
        assert_eq!((client_of(queue.pop()), client_of(queue.pop())), (Some(1), Some(99)));
        assert!(queue.pop().is_none());
        // A request above the limit passes alone.
        queue.push(2 * BYTES_MAX, request(3)).unwrap();
        assert_waits(&queue, 1);
    }

    #[test]
    fn many_requests_wait_for_room() {
        let queue = RequestQueue::default();
        for client in 0..REQUESTS_MAX as u64 {
            queue.push(1, request(client)).unwrap();
        }
        assert_waits(&queue, 0);
    }

    #[test]
    fn closed_queue_releases_waiting_requests() {
        let queue = RequestQueue::default();
        queue.push(BYTES_MAX, request(1)).unwrap();
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| queue.push(1, request(2)));
            queue.close();
            assert_eq!(waiting.join().unwrap(), Err(QueueClosed));
        });
        assert_eq!(queue.push(0, request(3)), Err(QueueClosed));
        assert!(queue.pop().is_none());
    }
}
