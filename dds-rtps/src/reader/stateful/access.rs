//! Who waits for room in the history (RELIABILITY with HISTORY KEEP_ALL; DDS 1.4, 2.2.3.14), and who goes on when there is some.
//!
//! Room comes from everything that takes something out of the history: a take; a lifespan that is over, which also a read
//! or a look finds out; the end of an instance, which any other writer may bring. Where it came from does not matter: after
//! each call that may have done one of these, what lies in the history is compared with what lay there before.

use crate::history::{HistorySample, Occupancy, Operation, ReaderHistory, Selection, SelectionOrder};
use crate::reader::proxy::Following;
use crate::reader::stateful::StatefulReader;
use crate::reader::{ReaderEvent, delivery::Sink};
use crate::types::Now;

/// Whether some writer's change waits for room.
#[derive(Debug, Default)]
pub(crate) struct WaitingForRoom {
    any: bool,
    /// What the history held when somebody looked last. Of no use while nobody waits.
    seen: Occupancy,
}

impl WaitingForRoom {
    pub(crate) fn any(&self) -> bool {
        self.any
    }

    /// A change has found no room.
    pub(crate) fn note(&mut self, history: &ReaderHistory) {
        (self.any, self.seen) = (true, history.occupancy());
    }

    /// Whether there is less in the history than at the last look.
    fn look(&mut self, history: &ReaderHistory) -> bool {
        let now = history.occupancy();
        now.has_shrunk_since(&std::mem::replace(&mut self.seen, now))
    }
}

impl StatefulReader {
    /// Reads or takes; see [`ReaderHistory::select`]. Under ordered access beyond instances all comes in the order of arrival
    /// (DDS 1.4, 2.2.3.6), which for each writer is that of its numbers. Where that has made room, changes that waited for it follow.
    pub fn select(
        &mut self,
        now: Now,
        selection: &Selection<'_>,
        operation: Operation,
        into: &mut Vec<HistorySample>,
    ) -> usize {
        let count = if self.config.is_ordered() {
            let in_order = Selection { order: SelectionOrder::ByArrival, ..*selection };
            self.history.select(now, &in_order, operation, into)
        } else {
            self.history.select(now, selection, operation, into)
        };
        if self.waiting.any {
            let has_made_room = count > 0 && operation == Operation::Take;
            if has_made_room { self.resume(now) } else { self.resume_if_room(now) }
        }
        count
    }

    /// Whether there is anything of this kind to read; see [`ReaderHistory::has_matching`].
    pub fn has_matching(&mut self, now: Now, selection: &Selection<'_>) -> bool {
        let found = self.history.has_matching(now, selection);
        self.resume_if_room(now);
        found
    }

    /// Lets the writers go on whose changes wait, if something has left the history since the last look.
    #[inline]
    pub(crate) fn resume_if_room(&mut self, now: Now) {
        if self.waiting.any && self.waiting.look(&self.history) {
            self.resume(now);
        }
    }

    /// Lets the writers go on whose changes wait.
    pub(crate) fn resume(&mut self, now: Now) {
        while std::mem::take(&mut self.waiting.any) {
            self.waiting.seen = self.history.occupancy();
            self.try_again(now);
            // What was taken in may have ended an instance that another one waits for.
            if !self.waiting.look(&self.history) {
                return;
            }
        }
    }

    fn try_again(&mut self, now: Now) {
        let Self { history, proxies, tallies, intake, events, counters, agenda, waiting, .. } = self;
        for (at, (proxy, tally)) in proxies.iter_mut().zip(tallies).enumerate() {
            let writer = proxy.guid();
            match &mut proxy.following {
                Following::Reliable(reliable) if reliable.is_refused() => {
                    let mut sink = Sink { history, events, counters, tally, holds_back: true };
                    if reliable.resume(now, &mut sink) {
                        reliable.asking.due().into_iter().for_each(|due| agenda.bring_forward(at as u32, due));
                    }
                    waiting.any |= reliable.is_refused();
                    let next = reliable.next();
                    proxy.drop_assemblies_below(next, &intake.large, counters);
                }
                Following::Local(local) if local.refused => {
                    local.refused = false;
                    if let Some(link) = &local.link {
                        link.request_from(local.next);
                    }
                    events.push(ReaderEvent::LocalSpace { writer });
                }
                _ => {}
            }
        }
    }
}
