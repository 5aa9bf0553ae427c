//! A writer whose changes are not for all of its readers: that of a service which stands in for others.
//!
//! Readers that do not look at who wrote a sample first would see twice what its own writer and the service send them. They get
//! what is kept when they come, and nothing after that ([`ReaderProxyConfig::live`](super::ReaderProxyConfig::live)). As soon as
//! there is one of them, every change goes to each of the others alone, in the way in which history goes to late joiners.

use super::stateful::StatefulWriter;
use crate::types::{Now, SequenceNumber};

impl StatefulWriter {
    /// Lets each reader be sent alone what waits to go out to all, if it is for that reader.
    pub(super) fn send_one_by_one(&mut self, now: Now) {
        let first = self.next;
        while self.has_more_to_send() {
            self.advance_to(self.next.next());
        }
        let last = self.next.previous();
        if last < first {
            return;
        }
        let unasked_max = self.config.unasked_max;
        for index in 0..self.proxies.len() {
            if let Some(proxy) = self.proxies.get_mut(index) {
                proxy.extend_backlog(first, last, unasked_max);
            }
            self.enqueue(now, index);
        }
        if self.expects_answer() {
            self.heartbeat.expect_answer(now.instant);
        }
    }

    /// Takes a change out of the history: it is not kept any more. Readers that still ask for it are told that it does not
    /// exist. `false`: it is not there.
    pub fn withdraw(&mut self, now: Now, number: SequenceNumber) -> bool {
        let removed = self.history.remove(number).is_some();
        if removed {
            self.settle(now);
        }
        removed
    }
}
