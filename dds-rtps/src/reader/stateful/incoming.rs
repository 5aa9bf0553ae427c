//! Submessages and local changes on their way into the reader: one method per kind.
//!
//! Each method finds the writer's proxy and checks the sequence number before it reads the payload. Then it updates
//! the deadlines of the reader ([`StatefulReader::finish`]).

use super::StatefulReader;
use crate::concurrent::{GroupPosition, PayloadSource};
use crate::history::{CacheChange, ChangeKind, PresentationInfo, ReceivedChange};
use crate::reader::assembly::in_place::{InPlaceFragment, InPlaceOutcome};
use crate::reader::assembly::{Assembled, FragmentOutcome};
use crate::reader::change_builder::{ChangeHeader, IncomingChange, SHARED_PARTS_MAX, expiry};
use crate::reader::change_facts::ChangeFacts;
use crate::reader::coherent::group_gate::GroupItem;
use crate::reader::config::Source;
use crate::reader::event::LossCause;
use crate::reader::proxy::ProxyState;
use crate::reader::proxy::reliable::NumberCheck;
use crate::types::{EntityId, Guid, InstanceHandle, Now, SequenceNumber, earliest};
use crate::wire::{Data, DataFrag, Gap, Heartbeat, HeartbeatFrag, InlineQos, SerializedPayload};
use std::hash::BuildHasher;

/// Result of a submessage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Handled {
    /// The reader used it.
    Accepted,
    /// It contained nothing new.
    Duplicate,
    /// The reader cannot use it now, and requests it again.
    Postponed,
    /// Its writer is not matched.
    Unmatched,
    /// It is for another reader, or for another kind of reader.
    NotForUs,
    /// It contradicts itself, an earlier one, or the limits.
    Malformed,
    /// Its payload does not match the type. Its number counts as lost.
    NotDecodable,
    /// Its numbers are implausible. The reader accepts them if the writer repeats them.
    Doubtful,
}

/// Result of a change of a local writer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LocalOutcome {
    /// The history has the change, or rejected it for good. The reader acknowledged it on the link.
    Accepted,
    /// There is no space for the change, or for an earlier one: the reader keeps nothing.
    ///
    /// Later the link names the first requested number, and
    /// [`StatefulReaderEvent::LocalSpace`](crate::reader::StatefulReaderEvent) tells the owner.
    Refused,
    /// The writer is not matched.
    Unmatched,
}

/// A change of a local writer, ready to be delivered.
struct LocalChange {
    received: ReceivedChange,
    is_decodable: bool,
    is_end_of_set: bool,
    passes_filter: bool,
}

impl StatefulReader {
    /// Index of the proxy that a submessage concerns, or why the reader does not handle it.
    fn find_proxy(&mut self, reader_id: EntityId, writer: Guid) -> Result<usize, Handled> {
        // EntityId::UNKNOWN addresses all readers.
        if reader_id != EntityId::UNKNOWN && reader_id != self.config.guid.entity_id {
            return Err(Handled::NotForUs);
        }
        match self.writers.find(writer) {
            Some(at) => Ok(at),
            None => {
                self.counters.unmatched += 1;
                Err(Handled::Unmatched)
            }
        }
    }

    /// Handles a DATA. `packet` shares its memory with large payloads.
    pub fn handle_data(&mut self, now: Now, source: &Source, data: &Data<'_>, packet: &dyn PayloadSource) -> Handled {
        let at = match self.find_proxy(data.reader_id, source.writer) {
            Ok(at) => at,
            Err(handled) => return handled,
        };
        // Before the checks: even a duplicate shows that the writer is alive.
        self.renew_lease(now, at);
        let len = match data.payload {
            SerializedPayload::None => 0,
            SerializedPayload::Data(bytes) | SerializedPayload::Key(bytes) => bytes.len(),
        };
        let content = if self.config.is_idempotent { Some(self.hash_content(data)) } else { None };
        // A duplicate is ignored before its payload costs anything.
        let mut is_contradiction = false;
        if let Some(handled) = self.reject_number(now, at, data.writer_sn, len) {
            is_contradiction = handled == Handled::Duplicate && self.contradicts(at, data.writer_sn, content);
            if !is_contradiction {
                return handled;
            }
        }
        let inline_qos = data.inline_qos.as_ref();
        // Most changes have no other parameters: then all further lookups are skipped.
        let (facts, special_qos) = match ChangeFacts::plain(inline_qos, source) {
            Some(facts) => (facts, None),
            None => (ChangeFacts::new(inline_qos, source), inline_qos),
        };
        // Directed writes and parameters that must be understood are rare, and found only in full inline QoS.
        let header = self.change_header(at, data.writer_sn, facts);
        let mut change = if data.non_standard_payload || !is_understood(special_qos) {
            IncomingChange::NotDecodable
        } else if special_qos.is_some_and(|qos| !qos.is_directed_to(self.config.guid)) {
            IncomingChange::Nothing
        } else {
            self.builder.build(now, &header, data.payload, packet)
        };
        if self.config.has_presentation() {
            // A DATA without payload ends a coherent set (RTPS 2.5, 8.7.5).
            let is_end = matches!(data.payload, SerializedPayload::None);
            self.count_filtered(at, &change);
            change = change.with_presentation(now, &header, presentation_of(inline_qos, source, is_end));
        }
        if is_contradiction {
            return self.deliver_contradiction(now, at, change);
        }
        if let (Some(content), Some(reliable)) = (content, self.writers.at_mut(at).proxy.reliable_mut()) {
            reliable.note_content(now.instant, data.writer_sn, content);
        }
        self.accept_change(now, at, data.writer_sn, change)
    }

    /// Hash of the content of an announcement. Its seed is secret.
    fn hash_content(&self, data: &Data<'_>) -> u64 {
        let (payload, is_key) = match data.payload {
            SerializedPayload::None => (&[][..], false),
            SerializedPayload::Data(bytes) => (bytes, false),
            SerializedPayload::Key(bytes) => (bytes, true),
        };
        let inline_qos = data.inline_qos.as_ref().map(|qos| qos.bytes);
        self.config.hash_seed.state().hash_one((payload, is_key, inline_qos))
    }

    /// Whether a change with this number arrived before that no HEARTBEAT has announced, and that was another one.
    fn contradicts(&mut self, at: usize, number: SequenceNumber, content: Option<u64>) -> bool {
        match (content, self.writers.at_mut(at).proxy.reliable_mut()) {
            (Some(content), Some(reliable)) => reliable.take_contradiction(number, content),
            _ => false,
        }
    }

    /// Delivers a change with the number of another one. One of the two is forged, and both are delivered.
    #[cold]
    fn deliver_contradiction(&mut self, now: Now, at: usize, change: IncomingChange) -> Handled {
        let IncomingChange::Change(change) = change else { return Handled::Duplicate };
        let (_, mut delivery, _) = self.proxy_and_delivery(at);
        delivery.tally.restart(1);
        // A history that is full rejects it for good: only KEEP_ALL readers try again.
        drop(delivery.deliver(now, change, true));
        self.finish(now, at);
        Handled::Accepted
    }

    /// Checks a sequence number. `Some`: it cannot be accepted now.
    fn reject_number(&mut self, now: Now, at: usize, number: SequenceNumber, len: usize) -> Option<Handled> {
        let Self { config, writers, counters, .. } = self;
        let proxy = &mut writers.at_mut(at).proxy;
        match proxy.check_number(now.instant, number, len, config) {
            NumberCheck::New => None,
            NumberCheck::Duplicate => {
                counters.duplicate += 1;
                Some(Handled::Duplicate)
            }
            NumberCheck::Implausible => {
                counters.doubtful += 1;
                Some(Handled::Doubtful)
            }
            NumberCheck::TooFar => {
                counters.out_of_window += 1;
                // Without a request, a writer that has sent everything would never send the change again.
                if let Some(reliable) = proxy.reliable_mut() {
                    reliable.note_postponed(now.instant);
                }
                writers.note_due(at);
                Some(Handled::Postponed)
            }
        }
    }

    fn change_header(&self, at: usize, sequence_number: SequenceNumber, facts: ChangeFacts) -> ChangeHeader {
        let proxy = &self.writers.at(at).proxy;
        // A change that waits should not keep a whole datagram in memory for a small payload.
        let piles_up = proxy.is_ahead(sequence_number) || self.history.len() >= SHARED_PARTS_MAX;
        ChangeHeader { writer: proxy.guid(), sequence_number, lifespan: proxy.config.lifespan, facts, piles_up }
    }

    /// Counts a change that the content filter rejected.
    fn count_filtered(&mut self, at: usize, change: &IncomingChange) {
        if matches!(change, IncomingChange::Filtered) {
            self.writers.at_mut(at).tally.undelivered.filtered += 1;
        }
    }

    /// Hands a received change to its proxy.
    fn accept_change(&mut self, now: Now, at: usize, number: SequenceNumber, change: IncomingChange) -> Handled {
        let (proxy, mut delivery, context) = self.proxy_and_delivery(at);
        let (change, handled) = match change {
            // It counts as lost only if it is relevant for this reader. Only the first HEARTBEAT or GAP shows that.
            IncomingChange::Filtered | IncomingChange::NotDecodable if proxy.awaits_start() => {
                delivery.counters.out_of_window += 1;
                return Handled::Postponed;
            }
            IncomingChange::Change(change) => (Some(change), Handled::Accepted),
            IncomingChange::Nothing => (None, Handled::Accepted),
            IncomingChange::Filtered => {
                delivery.tally.undelivered.filtered += 1;
                (None, Handled::Accepted)
            }
            IncomingChange::NotDecodable => {
                delivery.counters.not_decodable += 1;
                delivery.lost(proxy.guid(), 1, LossCause::NotDecodable);
                (None, Handled::NotDecodable)
            }
        };
        proxy.accept(now, number, change, &mut delivery, &context);
        self.finish(now, at);
        handled
    }

    /// Updates the reader after a proxy has changed: waiting writers, progress of the group, deadlines.
    fn finish(&mut self, now: Now, at: usize) {
        // The change may have replaced or ended others, and so freed space.
        self.retry_if_space(now);
        if self.config.is_group() {
            self.update_group_progress(at);
        }
        // The proxy kept a change that did not fit: retry when the history has space.
        if self.writers.at(at).proxy.is_refused() {
            self.space.start(&self.history);
        }
        self.writers.note_due(at);
    }

    /// Handles a DATA_FRAG.
    pub fn handle_data_frag(&mut self, now: Now, source: &Source, fragment: &DataFrag<'_>) -> Handled {
        let at = match self.find_proxy(fragment.reader_id, source.writer) {
            Ok(at) => at,
            Err(handled) => return handled,
        };
        self.renew_lease(now, at);
        let number = fragment.writer_sn;
        if let Some(handled) = self.reject_number(now, at, number, fragment.sample_size as usize) {
            return handled;
        }
        let inline_qos = fragment.inline_qos.as_ref();
        if fragment.non_standard_payload || !is_understood(inline_qos) {
            return self.accept_change(now, at, number, IncomingChange::NotDecodable);
        }
        if inline_qos.is_some_and(|qos| !qos.is_directed_to(self.config.guid)) {
            let mut change = IncomingChange::Nothing;
            if self.config.has_presentation() {
                let header = self.change_header(at, number, ChangeFacts::new(inline_qos, source));
                change = change.with_presentation(now, &header, presentation_of(inline_qos, source, false));
            }
            return self.accept_change(now, at, number, change);
        }
        match self.add_fragment(now, at, source, fragment) {
            FragmentOutcome::Added => {
                self.finish_fragment(now, at, number);
                Handled::Accepted
            }
            FragmentOutcome::Duplicate => {
                self.counters.duplicate += 1;
                Handled::Duplicate
            }
            FragmentOutcome::Malformed => {
                self.counters.malformed += 1;
                Handled::Malformed
            }
            // The reader requests the fragment again, by the retry pause.
            FragmentOutcome::NoRoom => {
                self.counters.out_of_window += 1;
                self.finish_fragment(now, at, number);
                Handled::Postponed
            }
            FragmentOutcome::TooLarge => {
                // The reader can never accept the sample: otherwise it would request it forever.
                self.counters.malformed += 1;
                self.accept_change(now, at, number, IncomingChange::NotDecodable)
            }
            FragmentOutcome::Complete(assembled) => self.accept_assembled(now, at, number, assembled),
        }
    }

    /// Hands a complete fragmented sample to its proxy.
    fn accept_assembled(&mut self, now: Now, at: usize, number: SequenceNumber, assembled: Assembled) -> Handled {
        let header = self.change_header(at, number, assembled.facts);
        let mut change = self.builder.build_assembled(now, &header, assembled.payload, assembled.is_key);
        if self.config.has_presentation() {
            let presented = match assembled.presented {
                Some(presented) => *presented,
                None => PresentationInfo::default(),
            };
            self.count_filtered(at, &change);
            change = change.with_presentation(now, &header, presented);
        }
        self.accept_change(now, at, number, change)
    }

    /// Adds a fragment to its assembly, with its presentation.
    fn add_fragment(&mut self, now: Now, at: usize, source: &Source, fragment: &DataFrag<'_>) -> FragmentOutcome {
        let presented = match &fragment.inline_qos {
            Some(inline_qos) if self.config.has_presentation() => {
                Some(Box::new(presentation_of(Some(inline_qos), source, false)))
            }
            _ => None,
        };
        let (proxy, delivery, context) = self.proxy_and_delivery(at);
        let mut outcome = proxy.add_fragment(now.instant, source, fragment, &context, delivery.counters);
        if let Some(presented) = presented {
            // The first fragment with inline QoS decides for the whole sample.
            match &mut outcome {
                FragmentOutcome::Complete(assembled) => {
                    assembled.presented.get_or_insert(presented);
                }
                FragmentOutcome::Added => proxy.assemblies.set_presented(fragment.writer_sn, presented),
                _ => {}
            }
        }
        outcome
    }

    /// Updates the reader after a fragment of an incomplete sample.
    fn finish_fragment(&mut self, now: Now, at: usize, number: SequenceNumber) {
        let Self { config, writers, .. } = self;
        let proxy = &mut writers.at_mut(at).proxy;
        proxy.note_fragments(now.instant, number, config);
        if proxy.is_best_effort() {
            self.next_stale = earliest(self.next_stale, now.instant.after(self.config.assembly_timeout));
        }
        self.finish(now, at);
    }

    /// Lends the memory of the fragment after `fragment`, which just arrived, if it is likely to arrive next.
    pub fn lend_next_fragment(
        &mut self,
        writer: Guid,
        number: SequenceNumber,
        fragment: u32,
    ) -> Option<InPlaceFragment> {
        let at = self.writers.find(writer)?;
        self.writers.at_mut(at).proxy.assemblies.lend(number, fragment.checked_add(1)?)
    }

    /// Handles a fragment that was received in place. Returns the memory of the next one, if it can be lent.
    ///
    /// The headers of its datagram equal those of the fragment before, except for the fragment number.
    pub fn handle_in_place(&mut self, now: Now, source: &Source, fragment: InPlaceFragment) -> Option<InPlaceFragment> {
        let Some(at) = self.writers.find(source.writer) else {
            self.counters.unmatched += 1;
            return None;
        };
        self.renew_lease(now, at);
        let number = fragment.sequence_number();
        if self.reject_number(now, at, number, fragment.sample_size() as usize).is_some() {
            return None;
        }
        let (proxy, delivery, context) = self.proxy_and_delivery(at);
        match proxy.assemblies.add_in_place(now.instant, fragment, context.slots) {
            InPlaceOutcome::Added(next) => {
                self.finish_fragment(now, at, number);
                next
            }
            InPlaceOutcome::Duplicate => {
                delivery.counters.duplicate += 1;
                None
            }
            InPlaceOutcome::Gone => None,
            InPlaceOutcome::Complete(assembled) => {
                self.accept_assembled(now, at, number, assembled);
                None
            }
        }
    }

    /// Handles a GAP.
    pub fn handle_gap(&mut self, now: Now, source: &Source, gap: &Gap) -> Handled {
        let at = match self.find_proxy(gap.reader_id, source.writer) {
            Ok(at) => at,
            Err(handled) => return handled,
        };
        if !gap.gap_start.is_valid() || gap.gap_list.base() < gap.gap_start {
            self.counters.malformed += 1;
            return Handled::Malformed;
        }
        let (proxy, mut delivery, context) = self.proxy_and_delivery(at);
        let handled = proxy.handle_gap(now, gap, &mut delivery, &context);
        // The reader requests a HEARTBEAT to verify the GAP, which changes the deadline.
        let requests_heartbeat = handled == Handled::Doubtful && proxy.reliable().is_some();
        if handled == Handled::Doubtful {
            self.counters.doubtful += 1;
        }
        if handled == Handled::Accepted || requests_heartbeat {
            self.finish(now, at);
        }
        handled
    }

    /// Handles a HEARTBEAT. To a best-effort reader it only shows that the writer is alive.
    pub fn handle_heartbeat(&mut self, now: Now, source: &Source, heartbeat: &Heartbeat) -> Handled {
        let at = match self.find_proxy(heartbeat.reader_id, source.writer) {
            Ok(at) => at,
            Err(handled) => return handled,
        };
        if !heartbeat.first_sn.is_valid() || heartbeat.last_sn < heartbeat.first_sn.previous() {
            self.counters.malformed += 1;
            return Handled::Malformed;
        }
        if heartbeat.liveliness || self.writers.at(at).proxy.lease.is_automatic() {
            self.renew_lease(now, at);
        }
        let (proxy, mut delivery, context) = self.proxy_and_delivery(at);
        let ProxyState::Reliable(reliable) = &mut proxy.state else { return Handled::NotForUs };
        if !reliable.is_plausible(now.instant, heartbeat.last_sn) {
            delivery.counters.doubtful += 1;
            self.finish(now, at);
            return Handled::Doubtful;
        }
        if !reliable.handle_heartbeat(now, heartbeat, &mut delivery, context.config) {
            delivery.counters.duplicate_heartbeats += 1;
            return Handled::Duplicate;
        }
        // Only the last HEARTBEAT that counted decides where answers go.
        proxy.reply = source.reply;
        let (next, has_begun) = (reliable.next(), !reliable.awaits_start());
        // The writer no longer has the samples below, so their fragments never arrive.
        proxy.drop_assemblies_below(next, context.slots, delivery.counters);
        if has_begun && self.config.is_group() {
            self.note_group_announcement(at, heartbeat);
        }
        self.finish(now, at);
        Handled::Accepted
    }

    /// Handles a HEARTBEAT_FRAG. A best-effort reader has no use for it.
    pub fn handle_heartbeat_frag(&mut self, now: Now, source: &Source, heartbeat: &HeartbeatFrag) -> Handled {
        let at = match self.find_proxy(heartbeat.reader_id, source.writer) {
            Ok(at) => at,
            Err(handled) => return handled,
        };
        let proxy = &mut self.writers.at_mut(at).proxy;
        let handled = proxy.handle_heartbeat_frag(now.instant, heartbeat, source.reply, &self.config);
        match handled {
            Handled::Accepted => self.finish(now, at),
            Handled::Duplicate => self.counters.duplicate_heartbeats += 1,
            _ => {}
        }
        handled
    }

    /// Handles a change of a local writer. The reader takes its payload out of `change` and shares it.
    ///
    /// `previous`: number of the change that the writer handed over before. Numbers in between do not exist any more. A
    /// reliable reader refuses all changes that follow a refused one, so that the order stays.
    pub fn handle_local(&mut self, now: Now, change: &mut CacheChange, previous: SequenceNumber) -> LocalOutcome {
        let Some(at) = self.writers.find(change.writer) else {
            self.counters.unmatched += 1;
            return LocalOutcome::Unmatched;
        };
        let proxy = &self.writers.at(at).proxy;
        let ProxyState::Local(local) = &proxy.state else {
            debug_assert!(false, "only a writer of this participant hands changes over");
            return LocalOutcome::Unmatched;
        };
        if change.sequence_number < local.next() {
            self.counters.duplicate += 1;
            return LocalOutcome::Accepted;
        }
        // Mail and redelivery can interleave: a change must not overtake one that was refused.
        if local.is_reliable() && previous >= local.next() {
            return LocalOutcome::Refused;
        }
        // A change of a durability service keeps the lifespan of its original writer.
        let lifespan = match &change.origin {
            Some(origin) => origin.lifespan,
            None => proxy.config.lifespan,
        };
        let expires = if change.kind == ChangeKind::Alive { expiry(now, change, lifespan) } else { None };
        let local_change = self.prepare_local(now, change, expires);
        let outcome = self.deliver_local(now, at, local_change);
        if outcome == LocalOutcome::Refused {
            self.space.start(&self.history);
        } else {
            self.retry_if_space(now);
        }
        outcome
    }

    /// Finds the instance of a local change and applies the content filter.
    fn prepare_local(
        &mut self,
        now: Now,
        change: &mut CacheChange,
        expires: Option<crate::types::Instant>,
    ) -> LocalChange {
        let is_end_of_set = change.is_end_of_set();
        let mut has_data = change.kind == ChangeKind::Alive;
        let instance: Option<InstanceHandle> =
            if is_end_of_set { Some(change.instance) } else { self.builder.instance_of_local(change) };
        if let Some(instance) = instance {
            change.instance = instance;
        }
        let passes_filter = is_end_of_set || self.builder.passes_filter_local(change);
        if !passes_filter {
            // The blank change still shows where a coherent set continues.
            (change.kind, change.payload) = (ChangeKind::Alive, None);
            has_data = false;
        }
        let received = ReceivedChange { change: change.take(), has_data, expires, reception_timestamp: now.time };
        LocalChange { received, is_decodable: instance.is_some(), is_end_of_set, passes_filter }
    }

    /// Delivers a local change and acknowledges it, unless the history has no space.
    fn deliver_local(&mut self, now: Now, at: usize, local_change: LocalChange) -> LocalOutcome {
        let LocalChange { received, is_decodable, is_end_of_set, passes_filter } = local_change;
        let (writer, number) = (received.change.writer, received.change.sequence_number);
        let (proxy, mut delivery, _) = self.proxy_and_delivery(at);
        let ProxyState::Local(local) = &mut proxy.state else {
            debug_assert!(false, "`handle_local` found a local proxy at this index");
            return LocalOutcome::Unmatched;
        };
        // A best-effort writer does not repeat a change, so the reader does not refuse it.
        delivery.withholds_acknowledgment &= local.is_reliable();
        let has_sets = delivery.sets.is_some();
        if !is_decodable {
            delivery.counters.not_decodable += 1;
            delivery.lost(writer, 1, LossCause::NotDecodable);
        } else if is_end_of_set && !has_sets {
            // This reader does not present changes in sets.
            delivery.tally.count_irrelevant(1);
        } else if (passes_filter || has_sets) && delivery.deliver(now, received, false).is_err() {
            local.note_refused();
            return LocalOutcome::Refused;
        }
        if is_decodable && !passes_filter {
            delivery.tally.undelivered.filtered += 1;
        }
        local.acknowledge(writer, number, &mut delivery);
        LocalOutcome::Accepted
    }

    /// The writer of a proxy asserted its liveliness.
    #[inline]
    fn renew_lease(&mut self, now: Now, at: usize) {
        let lease = &mut self.writers.at_mut(at).proxy.lease;
        // Most writers offer an infinite lease: no store for them.
        if lease.is_limited() && lease.renew(now.instant) {
            self.change_liveliness(now, at, true);
        }
    }

    /// A HEARTBEAT announced the progress of a group.
    fn note_group_announcement(&mut self, at: usize, heartbeat: &Heartbeat) {
        let Some(info) = heartbeat.group_info else { return };
        // Invalid group numbers of a peer count as absent.
        if info.current_gsn < SequenceNumber::ZERO || info.current_gsn >= SequenceNumber::MAX {
            return;
        }
        let writer = self.writers.at_mut(at);
        if let Some(group) = writer.sets.as_mut().and_then(|sets| sets.group_mut()) {
            group.announce(heartbeat.last_sn, info.current_gsn);
            self.events.push_group(writer.proxy.guid(), GroupItem::ReportsProgress);
        }
    }

    /// Notifies the gate of the subscriber once all changes arrived that a HEARTBEAT announced.
    fn update_group_progress(&mut self, at: usize) {
        let writer = self.writers.at_mut(at);
        let Some(reliable) = writer.proxy.reliable() else { return };
        if reliable.awaits_start() {
            return;
        }
        let next = reliable.next();
        let Some(group) = writer.sets.as_mut().and_then(|sets| sets.group_mut()) else { return };
        if let Some(reached) = group.advance_to(next) {
            self.events.push_group(writer.proxy.guid(), GroupItem::Reached(reached));
        }
    }
}

/// Presentation of a change (RTPS 2.5, 9.6.4.2 to 9.6.4.5). Invalid numbers count as absent.
#[cold]
fn presentation_of(inline_qos: Option<&InlineQos<'_>>, source: &Source, is_end: bool) -> PresentationInfo {
    let Some(inline_qos) = inline_qos else { return PresentationInfo { is_end, ..PresentationInfo::default() } };
    let valid = |number: &SequenceNumber| number.is_valid() && *number < SequenceNumber::MAX;
    let number = inline_qos.group_sequence_number(source.vendor).filter(valid);
    let group_set = inline_qos.group_coherent_set(source.vendor).filter(valid);
    let group = number.map(|number| GroupPosition {
        number,
        set: group_set.filter(|&first| first <= number),
        writers: inline_qos.writer_group_info().unwrap_or_default(),
    });
    PresentationInfo { set: inline_qos.coherent_set().filter(valid), group, is_end }
}

/// Whether the reader knows all parameters of the inline QoS that must be understood.
fn is_understood(inline_qos: Option<&InlineQos<'_>>) -> bool {
    inline_qos.is_none_or(|qos| qos.unknown_must_understand().is_none())
}
