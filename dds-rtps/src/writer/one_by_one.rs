//! Changes that are not for all readers: the writer of a durability service, which forwards changes of other writers.
//!
//! A reader that ignores the original writer would receive samples twice, from that writer and from the service. So it
//! receives the kept samples at its match, and none after that
//! ([`ReaderProxyConfig::live`](super::ReaderProxyConfig::live)). With one such reader, every change goes to each other
//! reader alone, as history goes to late joiners.

use super::stateful::StatefulWriter;
use crate::types::{Now, SequenceNumber};

impl StatefulWriter {
    /// Schedules the unsent changes for each reader alone, if they are relevant to it.
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
        // No datagram for all readers starts the heartbeat schedule, so it starts here.
        if self.expects_answer() {
            self.heartbeat.expect_answer(now.instant);
        }
    }

    /// Removes a change from the history. Returns `false` if it is not there.
    ///
    /// A GAP answers later requests for it.
    pub fn withdraw(&mut self, now: Now, number: SequenceNumber) -> bool {
        let removed = self.history.remove(number).is_some();
        if removed {
            self.settle(now);
        }
        removed
    }
}
