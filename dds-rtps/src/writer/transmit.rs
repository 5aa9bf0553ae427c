//! Data for all remote readers: new changes, and the HEARTBEATs that announce them.

use super::filtered::{Audience, Offer};
use super::layout::{Layout, Sender};
use super::opening::STRANGERS_BESIDE_SAMPLES_MAX;
use super::reader_proxy::ReaderProxy;
use super::stateful::StatefulWriter;
use crate::output::Datagram;
use crate::types::{EntityId, Now, SequenceNumber};
use crate::wire::{Heartbeat, SET_BITS_MAX};

/// Cost of a datagram in a receive buffer beside its bytes.
///
/// The kernel charges 1 KiB for its own record, and grants twice the requested buffer size.
pub(super) const DATAGRAM_COST: usize = 512;

/// Fewest bytes of whole samples that are added to the windows at a time. Each addition visits all readers.
const NOTED_MIN: usize = 8 << 10;

/// Fewest datagrams of a sample that is always followed by a HEARTBEAT. Readers then request its losses soon.
const LONG_SAMPLE: u32 = 8;

/// Content that [`StatefulWriter::lay_out_new`] has put into a datagram.
#[derive(Debug, Default)]
struct Laid {
    /// Number of changes that are laid out completely.
    samples: u32,
    /// The only change of the datagram, if it is relevant to the earlier readers only.
    early: Option<SequenceNumber>,
    /// The only change of the datagram passes the content filters of some readers. It goes to
    /// [`StatefulWriter::needed_locators`].
    is_for_some: bool,
    /// A HEARTBEAT must follow.
    asks: bool,
    /// A HEARTBEAT must ask a reader how much of a large change has left its receive buffer.
    probes: bool,
}

/// Further purposes of a HEARTBEAT for all readers.
#[derive(Debug, Clone, Copy, Default)]
struct Ask {
    /// It asserts the liveliness of the writer.
    liveliness: bool,
    /// Readers must answer it even if they acknowledged all changes.
    probes: bool,
}

impl StatefulWriter {
    /// Lays out the next datagram with its destinations, and replaces the content of `datagram`.
    ///
    /// Returns `false` and an empty datagram if there is no data to send now. With `true`, the datagram counts as sent.
    pub fn poll_transmit(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        let laid = self.transmit_next(now, datagram);
        if laid {
            self.counters.datagrams += 1;
        } else {
            datagram.clear();
        }
        laid
    }

    /// Serves new changes and the queue of single readers in turns, so that neither starves the other.
    fn transmit_next(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        // Some readers must not receive live changes, so each reader gets its changes alone.
        if self.destinations.one_by_one {
            self.send_one_by_one(now);
        }
        let queue_first = std::mem::take(&mut self.queue_first);
        if queue_first && self.transmit_queued(now, datagram) {
            return true;
        }
        if self.has_more_to_send() && self.transmit_new(now, datagram) {
            self.queue_first = true;
            return true;
        }
        if !queue_first && self.transmit_queued(now, datagram) {
            return true;
        }
        (self.liveliness_due || self.heartbeat.is_due()) && self.transmit_heartbeat(now, datagram)
    }

    fn transmit_new(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        // Moved out during the layout, so that the datagram may borrow from it.
        let inline_qos = std::mem::take(&mut self.config.inline_qos);
        let hashed_type = self.config.hashed_type.clone();
        let sender = Sender {
            guid: self.config.guid,
            keyed: self.config.keyed,
            hashed_type: hashed_type.as_ref(),
            inline_qos: if self.destinations.expects_inline_qos { &inline_qos } else { &[] },
        };
        let reader_id = self.destinations.reader_id;
        let mut layout = Layout::new(datagram, sender, reader_id, self.destinations.message_len_max());
        let (before, was_early) = (self.next, self.next < self.destinations.relevant_from);
        let mut laid = self.lay_out_new(now, &mut layout);
        // Only reliable readers acknowledge samples.
        if self.destinations.reliable_count > 0 && laid.samples > 0 {
            self.heartbeat.note_samples(now.instant, laid.samples);
            laid.asks |= self.expects_answer() && (self.helps_to_ask() || self.heartbeat.pays_now(now.instant));
        }
        if laid.samples > 0 {
            laid.probes |= self.note_samples(layout.datagram().len());
        }
        if laid.asks || laid.probes {
            let ask = Ask { probes: laid.probes, liveliness: false };
            self.lay_out_ask(now, ask, &mut layout);
        }
        layout.finish_gaps();
        let has_content = layout.has_content();
        // The datagram may hold no other content than these GAPs.
        self.counters.gaps += layout.gaps();
        self.config.inline_qos = inline_qos;
        // The advance may have reached the first relevant sequence number of a reader.
        if was_early && self.strangers > 0 {
            self.tell_who_begins(now, before);
        }
        match laid.early {
            None if laid.is_for_some => {
                self.needed_locators().for_each(|locator| datagram.add_destination(locator));
            }
            None => datagram.set_destinations(self.destinations.locators(&self.proxies)),
            Some(number) => {
                let proxies = self.proxies.iter().filter(|proxy| proxy.first_relevant <= number);
                let locators = proxies.flat_map(|proxy| proxy.config.reachable_by());
                locators.for_each(|locator| datagram.add_destination(*locator));
            }
        }
        // Without reliable readers, a sent change is finished at once.
        self.retire();
        has_content
    }

    /// Fills a message with new changes, and advances past them.
    fn lay_out_new(&mut self, now: Now, layout: &mut Layout<'_>) -> Laid {
        let mut laid = Laid::default();
        while self.has_more_to_send() {
            // In most cases the next change exists. Only search if it is gone.
            let is_there = self.sendable(now, self.next).is_some();
            let found =
                if is_there { self.next } else { self.next_sendable(now, self.next).unwrap_or(self.last.next()) };
            if found > self.next {
                if self.destinations.reliable_count > 0 {
                    layout.gap(self.next, found.previous());
                }
                self.advance_to(found);
                continue;
            }
            let early = self.next < self.destinations.relevant_from;
            if early && !self.proxies.iter().any(|proxy| proxy.first_relevant <= self.next) {
                // All readers of this early change have left.
                self.advance_to(self.next.next());
                continue;
            }
            let fragment_size = self.destinations.fragment_size;
            // An early change needs a datagram of its own, because its destinations differ.
            if self.destinations.filtered > 0 {
                if early && layout.has_content() {
                    break;
                }
                match self.offer(now, early, layout) {
                    Offer::To(audience) => laid.is_for_some = audience == Audience::Some,
                    Offer::After(audience) => {
                        laid.is_for_some = audience == Audience::Some;
                        break;
                    }
                    Offer::Declined => continue,
                    Offer::Postponed => break,
                }
            }
            // The check visits all readers, so it runs only if a window may be full.
            if self.way_is_full && !self.may_send(now) {
                break;
            }
            let Some(stored) = self.history.get_mut(self.next) else { break };
            if (early && layout.has_content()) || !layout.has_room_for(&stored.change) {
                break;
            }
            laid.early = early.then_some(self.next);
            let len = stored.change.payload.as_ref().map_or(0, |payload| payload.len());
            // The fragment size of a change stays fixed, because readers refer to its fragments by number.
            if stored.fragment_size == 0 && len > usize::from(fragment_size) {
                stored.fragment_size = fragment_size;
            }
            if stored.fragment_size == 0 {
                layout.change(&stored.change);
                laid.samples += 1;
                self.advance_to(self.next.next());
                if early || laid.is_for_some {
                    break;
                }
                continue;
            }
            // Fragments are large, so they check the windows each time.
            if !layout.has_content() && self.may_send(now) {
                self.lay_out_new_fragments(layout, &mut laid);
            }
            break;
        }
        laid
    }

    /// Returns whether the writer may send more data to all readers.
    ///
    /// Some reliable reader must have room in its window. Without reliable readers, the pacer decides. A slow reader
    /// does not delay a faster one.
    fn may_send(&mut self, now: Now) -> bool {
        let rate = self.destinations.rate;
        let (is_open, until) = if self.destinations.reliable_count > 0 {
            let reliable = || self.proxies.iter().filter(|proxy| proxy.reliable);
            // Best-effort readers do not wait for repairs of other readers.
            let only_reliable = self.destinations.reliable_count == self.proxies.len();
            let catches_up = |proxy: &ReaderProxy| match only_reliable {
                true => proxy.catches_up_until(now.instant, self.next),
                false => None,
            };
            let is_open = reliable().any(|proxy| proxy.flow.is_open() && catches_up(proxy).is_none());
            let until = reliable().filter_map(|proxy| proxy.flow.deadline()).chain(reliable().filter_map(catches_up));
            (is_open, until.min())
        } else {
            (self.pace.is_open(now.instant, rate), self.pace.opens_at(rate))
        };
        self.way_is_full &= !is_open;
        if !is_open {
            self.counters.paced += 1;
            until.into_iter().for_each(|until| self.wait_until(until));
        }
        is_open
    }

    /// Lays out the next fragments of the present change.
    ///
    /// The last fragments count as as many samples as the change took datagrams. So a long sample that lost its tail
    /// need not wait for the timer's HEARTBEAT.
    fn lay_out_new_fragments(&mut self, layout: &mut Layout<'_>, laid: &mut Laid) {
        let Some(stored) = self.history.get(self.next) else { return };
        let first = self.next_fragment;
        let fragments = self.fragments_of(stored);
        let per_datagram = u32::from(self.fragments_per_datagram(stored.fragment_size)).max(1);
        let count = per_datagram.min(fragments.saturating_sub(first - 1));
        let len = layout.fragments(&stored.change, stored.fragment_size, first, count as u16);
        laid.probes = self.note_fragments(len);
        if first == 1 {
            // Keep the change in the history until all of its fragments are sent.
            let dropped = self.history.pin(self.next);
            let acknowledged = self.acknowledged();
            self.counters.overwritten_unacknowledged += u64::from(dropped.is_some_and(|number| number > acknowledged));
        }
        let end = first + count;
        if end > fragments {
            self.advance_to(self.next.next());
            laid.samples += fragments.div_ceil(per_datagram);
            laid.probes |= self.destinations.reliable_count > 0 && fragments.div_ceil(per_datagram) >= LONG_SAMPLE;
            return;
        }
        // Sending a long change takes time. A HEARTBEAT_FRAG lets reliable readers request losses before the end of the
        // change. One NACK_FRAG must be able to cover all fragments since the last one. On a long path, every HEARTBEAT
        // gets one, because the share of losses controls the window.
        let is_long = self.destinations.reliable_count > 0 && (first - 1) / SET_BITS_MAX != (end - 1) / SET_BITS_MAX;
        let is_far = laid.probes && self.proxies.iter().any(|proxy| proxy.reliable && proxy.flow.is_long());
        if (is_long && !laid.probes) || is_far {
            let count = self.heartbeat.next_fragment_count();
            layout.heartbeat_frag(self.next, end - 1, count);
        }
        self.next_fragment = end;
    }

    /// Counts fragments of the present change. Returns whether a HEARTBEAT must probe a reader.
    fn note_fragments(&mut self, len: usize) -> bool {
        self.counters.fragment_bytes += len as u64;
        self.note_under_way(len)
    }

    /// Counts whole changes in a datagram of `len` bytes. Returns whether a HEARTBEAT must probe a reader.
    fn note_samples(&mut self, len: usize) -> bool {
        if self.destinations.reliable_count == 0 && !self.batch.is_on() {
            // Whole changes to best-effort readers are not paced: the application sets their rate.
            return false;
        }
        self.not_noted += len + DATAGRAM_COST;
        if self.not_noted < NOTED_MIN {
            return false;
        }
        let len = std::mem::take(&mut self.not_noted);
        let probes = self.note_under_way(len);
        let number = self.next.previous();
        self.proxies.iter_mut().filter(|proxy| proxy.reliable).for_each(|proxy| proxy.flow.mark(number));
        // The added bytes may have filled a window.
        self.way_is_full = true;
        probes
    }

    fn note_under_way(&mut self, len: usize) -> bool {
        if self.destinations.reliable_count == 0 {
            self.pace.note_sent(len);
            return false;
        }
        let number = self.next;
        let concerned = |proxy: &&mut ReaderProxy| proxy.reliable && proxy.first_relevant <= number;
        let mut probes = false;
        for proxy in self.proxies.iter_mut().filter(concerned) {
            proxy.flow.note_sent(len);
            probes |= proxy.flow.wants_probe();
        }
        probes
    }

    fn transmit_heartbeat(&mut self, now: Now, datagram: &mut Datagram) -> bool {
        let liveliness = std::mem::take(&mut self.liveliness_due);
        let last = self.next.previous();
        let owes = |proxy: &ReaderProxy| proxy.reliable && (!proxy.heard || proxy.acknowledged < last);
        // The number of owing readers sets the pause between HEARTBEATs.
        self.heartbeat.set_owing(self.proxies.iter().filter(|proxy| owes(proxy)).count());
        let pace = self.heartbeat.pace();
        // A liveliness assertion must reach best-effort readers as well.
        let is_asked = |proxy: &ReaderProxy| liveliness || (owes(proxy) && proxy.may_be_asked(now.instant, last, pace));
        let mut asked = self.proxies.iter().enumerate().filter(|(_, proxy)| is_asked(proxy));
        let (first, second) = (asked.next(), asked.next());
        let Some((index, proxy)) = first else {
            match self.proxies.iter().any(owes) {
                true => self.heartbeat.postpone(now.instant),
                false => self.heartbeat.note_answer(now.instant, false),
            }
            return false;
        };
        // A HEARTBEAT for a single reader names it, so that no other reader answers.
        let only = second.is_none().then_some(index).filter(|_| !self.is_too_early_for(proxy));
        let (reader_id, prefix, first_sn) = match only {
            Some(_) => (proxy.config.guid.entity_id, Some(proxy.config.guid.prefix), self.first_for(proxy)),
            None => (EntityId::UNKNOWN, None, SequenceNumber::FIRST),
        };
        let hashed_type = self.config.hashed_type.clone();
        let sender = Sender {
            guid: self.config.guid,
            keyed: self.config.keyed,
            hashed_type: hashed_type.as_ref(),
            inline_qos: &[],
        };
        let mut layout = Layout::new(datagram, sender, reader_id, 0);
        if let Some(prefix) = prefix {
            layout.participant(prefix);
        }
        let locators =
            self.proxies.iter().filter(|proxy| is_asked(proxy)).flat_map(|proxy| proxy.config.reachable_by());
        locators.for_each(|locator| layout.datagram().add_destination(*locator));
        if self.strangers > 0 {
            match only {
                Some(index) => self.lay_out_opening_for(index, last, &mut layout),
                None => self.lay_out_openings(last, &mut layout),
            }
        }
        let mut heartbeat = self.heartbeat_for(now, reader_id, Ask { liveliness, probes: false }, is_asked);
        // A reader skips all changes below `first_sn`, so it must not exceed the next change.
        heartbeat.first_sn = heartbeat.first_sn.max(first_sn).min(self.next);
        layout.heartbeat(&heartbeat);
        true
    }

    /// Lays out a HEARTBEAT beside samples.
    ///
    /// If many readers lack the initial handshake, each receives a HEARTBEAT of its own instead.
    fn lay_out_ask(&mut self, now: Now, ask: Ask, layout: &mut Layout<'_>) {
        if self.strangers > STRANGERS_BESIDE_SAMPLES_MAX {
            self.heartbeat.send(now.instant, self.expects_answer());
            for index in 0..self.proxies.len() {
                if let Some(proxy) = self.proxies.get_mut(index).filter(|proxy| proxy.reliable) {
                    proxy.heartbeat_owed = true;
                    self.enqueue(now, index);
                }
            }
            return;
        }
        if self.strangers > 0 {
            self.lay_out_openings(self.next.previous(), layout);
        }
        layout.heartbeat(&self.heartbeat_for(now, self.destinations.reader_id, ask, |_| true));
    }

    /// Creates a HEARTBEAT that counts as sent to all readers. It is noted with those that `is_asked` selects.
    fn heartbeat_for(
        &mut self,
        now: Now,
        reader_id: EntityId,
        ask: Ask,
        is_asked: impl Fn(&ReaderProxy) -> bool,
    ) -> Heartbeat {
        let pending = self.expects_answer();
        self.note_who_owes();
        self.counters.heartbeats += 1;
        // A HEARTBEAT without an expected answer yields no RTT sample.
        if pending || ask.probes {
            let (last, fragments) = (self.next.previous(), self.next_fragment - 1);
            let asked = self.proxies.iter_mut().filter(|proxy| is_asked(proxy));
            asked.for_each(|proxy| proxy.note_heartbeat(now.instant, last, fragments));
            let deadlines =
                self.proxies.iter().filter(|proxy| proxy.reliable).filter_map(|proxy| proxy.flow.deadline());
            deadlines.min().into_iter().for_each(|deadline| self.wait_until(deadline));
        }
        Heartbeat {
            reader_id,
            writer_id: self.config.guid.entity_id,
            first_sn: self.first_available(),
            last_sn: self.next.previous(),
            count: self.heartbeat.send(now.instant, pending),
            is_final: !pending && !ask.probes,
            liveliness: ask.liveliness,
            group_info: self.group_info(),
        }
    }

    pub(super) fn advance_to(&mut self, sequence_number: SequenceNumber) {
        self.next = sequence_number;
        self.next_fragment = 1;
    }
}
