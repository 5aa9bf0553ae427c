//! What goes to all readers of other processes: new changes, and the HEARTBEATs that ask about them.

use super::layout::{Layout, Sender};
use super::stateful::StatefulWriter;
use crate::output::Datagram;
use crate::types::{EntityId, Now, SequenceNumber};
use crate::wire::{Heartbeat, SET_BITS_MAX};

/// What [`StatefulWriter::lay_out_new`] has put into a datagram.
#[derive(Debug, Default)]
struct Laid {
    /// Changes that are out completely.
    samples: u32,
    /// They are not for all readers: this is the only one, and earlier than some reader.
    early: Option<SequenceNumber>,
}

impl StatefulWriter {
    /// Lays out the next datagram, with its destinations, in place of what `datagram` held. `false`: there is nothing to
    /// send now, and the datagram is empty. When it answers `true`, the datagram counts as sent.
    pub fn poll_transmit(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        let laid = self.transmit_next(now, datagram);
        if laid {
            self.counters.datagrams += 1;
        } else {
            datagram.clear();
        }
        laid
    }

    /// New changes and the queue of single readers take turns: neither can starve the other.
    fn transmit_next(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        let queue_first = std::mem::take(&mut self.queue_first);
        if queue_first && self.transmit_queued(now, datagram) {
            return true;
        }
        if self.next <= self.last && self.transmit_new(now, datagram) {
            self.queue_first = true;
            return true;
        }
        if !queue_first && self.transmit_queued(now, datagram) {
            return true;
        }
        (self.liveliness_due || self.heartbeat.is_due()) && self.transmit_heartbeat(now, datagram)
    }

    fn transmit_new(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        // Taken out for the time of the lay-out, so that the datagram may borrow from it.
        let inline_qos = std::mem::take(&mut self.config.inline_qos);
        let sender = Sender {
            guid: self.config.guid,
            keyed: self.config.keyed,
            inline_qos: if self.destinations.expects_inline_qos { &inline_qos } else { &[] },
        };
        let reader_id = self.destinations.reader_id;
        let mut layout = Layout::new(datagram, sender, reader_id, self.destinations.message_len_max());
        let laid = self.lay_out_new(now, &mut layout);
        if self.destinations.reliable_count > 0 && laid.samples > 0 {
            self.heartbeat.note_samples(now.instant, laid.samples);
            if self.expects_answer() && (self.unheard > 0 || self.heartbeat.pays_now(now.instant)) {
                layout.heartbeat(&self.heartbeat_for_all(now, reader_id, false));
            }
        }
        layout.finish_gaps();
        let has_content = layout.has_content();
        self.counters.gaps += layout.gaps();
        self.config.inline_qos = inline_qos;
        match laid.early {
            None => datagram.set_destinations(&self.destinations.locators),
            Some(number) => {
                let proxies = self.proxies.iter().filter(|proxy| proxy.first_relevant <= number);
                let locators = proxies.flat_map(|proxy| proxy.config.reachable_by());
                locators.for_each(|locator| datagram.add_destination(*locator));
            }
        }
        self.retire();
        has_content
    }

    /// Fills a message with new changes, and moves on behind them.
    fn lay_out_new(&mut self, now: Now, layout: &mut Layout<'_>) -> Laid {
        let mut laid = Laid::default();
        while self.next <= self.last {
            let found = self.next_sendable(now, self.next).unwrap_or(self.last.next());
            if found > self.next {
                if self.destinations.reliable_count > 0 {
                    layout.gap(self.next, found.previous());
                }
                self.advance_to(found);
                continue;
            }
            let early = self.next < self.destinations.relevant_from;
            if early && !self.proxies.iter().any(|proxy| proxy.first_relevant <= self.next) {
                // Those whom it was for have left.
                self.advance_to(self.next.next());
                continue;
            }
            let fragment_size = self.destinations.fragment_size;
            let Some(stored) = self.history.get_mut(self.next) else { break };
            if (early && layout.has_content()) || !layout.has_room_for(&stored.change) {
                break;
            }
            laid.early = early.then_some(self.next);
            let len = stored.change.payload.as_ref().map_or(0, |payload| payload.len());
            if stored.fragment_size == 0 && len > usize::from(fragment_size) {
                stored.fragment_size = fragment_size;
            }
            if stored.fragment_size == 0 {
                layout.change(&stored.change);
                laid.samples += 1;
                self.advance_to(self.next.next());
                if early {
                    break;
                }
                continue;
            }
            if !layout.has_content() {
                laid.samples += self.lay_out_new_fragments(layout).unwrap_or(0);
            }
            break;
        }
        laid
    }

    /// The next fragments of the change that is being sent. If these were its last: for how many samples it counts, one
    /// for each datagram that it took. A long sample that lost its tail must not wait for the timer to be asked about.
    fn lay_out_new_fragments(&mut self, layout: &mut Layout<'_>) -> Option<u32> {
        let stored = self.history.get(self.next)?;
        let first = self.next_fragment;
        let fragments = self.fragments_of(stored);
        let per_datagram = u32::from(self.fragments_per_datagram(stored.fragment_size)).max(1);
        let count = per_datagram.min(fragments.saturating_sub(first - 1));
        layout.fragments(&stored.change, stored.fragment_size, first, count as u16);
        let end = first + count;
        if end > fragments {
            self.advance_to(self.next.next());
            return Some(fragments.div_ceil(per_datagram));
        }
        // A long change takes a while: tell reliable readers how far it has come, so that they need not wait for its end to
        // ask for what they miss. As often as one NACK_FRAG can speak of all since.
        if self.destinations.reliable_count > 0 && (first - 1) / SET_BITS_MAX != (end - 1) / SET_BITS_MAX {
            let count = self.heartbeat.next_fragment_count();
            layout.heartbeat_frag(self.next, end - 1, count);
        }
        self.next_fragment = end;
        None
    }

    fn transmit_heartbeat(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        let liveliness = std::mem::take(&mut self.liveliness_due);
        let last = self.next.previous();
        let owes = |proxy: &&super::reader_proxy::ReaderProxy| {
            liveliness || (proxy.reliable && (!proxy.heard || proxy.acknowledged < last))
        };
        let mut asked = self.proxies.iter().filter(owes);
        let (reader_id, prefix, first_relevant) = match (asked.next(), asked.next()) {
            (None, _) => {
                self.heartbeat.note_answer(now.instant, false);
                return false;
            }
            (Some(proxy), None) => (proxy.config.guid.entity_id, Some(proxy.config.guid.prefix), proxy.first_relevant),
            (Some(_), Some(_)) => (EntityId::UNKNOWN, None, SequenceNumber::FIRST),
        };
        let sender = Sender { guid: self.config.guid, keyed: self.config.keyed, inline_qos: &[] };
        let mut layout = Layout::new(datagram, sender, reader_id, 0);
        if let Some(prefix) = prefix {
            layout.participant(prefix);
        }
        let locators = self.proxies.iter().filter(owes).flat_map(|proxy| proxy.config.reachable_by());
        locators.for_each(|locator| layout.datagram().add_destination(*locator));
        let mut heartbeat = self.heartbeat_for_all(now, reader_id, liveliness);
        heartbeat.first_sn = heartbeat.first_sn.max(first_relevant).min(self.next);
        layout.heartbeat(&heartbeat);
        true
    }

    /// A HEARTBEAT that counts as asking everybody.
    fn heartbeat_for_all(&mut self, now: Now, reader_id: EntityId, liveliness: bool) -> Heartbeat {
        let pending = self.expects_answer();
        self.counters.heartbeats += 1;
        Heartbeat {
            reader_id,
            writer_id: self.config.guid.entity_id,
            first_sn: self.first_available(),
            last_sn: self.next.previous(),
            count: self.heartbeat.send(now.instant, pending),
            is_final: !pending,
            liveliness,
            group_info: None,
        }
    }

    fn advance_to(&mut self, sequence_number: SequenceNumber) {
        self.next = sequence_number;
        self.next_fragment = 1;
    }
}
