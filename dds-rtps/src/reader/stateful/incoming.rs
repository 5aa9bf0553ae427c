//! Submessages on their way into the reader: one method per kind.
//!
//! Each of them finds the writer's proxy, asks whether the number is of use before it looks at the payload, and brings the
//! reader's summaries up to date afterwards.

use crate::concurrent::{GroupPosition, PayloadSource};
use crate::history::PresentationInfo;
use crate::reader::assembly::{Assembled, FragmentOutcome};
use crate::reader::change_facts::ChangeFacts;
use crate::reader::config::Source;
use crate::reader::delivery::Sink;
use crate::reader::event::LossCause;
use crate::reader::ledger::distance;
use crate::reader::ledger::tally::Tally;
use crate::reader::payload::{Envelope, Inbound, SHARED_PARTS_MAX};
use crate::reader::proxy::plausibility::JUMP_MAX;
use crate::reader::proxy::reliable::Fit;
use crate::reader::proxy::{Following, ProxyContext, WriterProxy};
use crate::reader::stateful::StatefulReader;
use crate::types::{EntityId, Guid, Now, SequenceNumber, earliest};
use crate::wire::{Data, DataFrag, Gap, Heartbeat, HeartbeatFrag, InlineQos, SerializedPayload};

/// What became of a submessage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Handled {
    /// It was of use.
    Accepted,
    /// It said nothing new.
    Duplicate,
    /// It cannot be used now; it will be asked for again.
    Postponed,
    /// Its writer is not matched.
    Unmatched,
    /// It is for another reader, or for readers of another kind.
    NotForUs,
    /// It contradicts itself, an earlier one, or the limits.
    Malformed,
    /// Its payload does not fit the type. Its number counts as lost.
    NotDecodable,
    /// It speaks of numbers far away from where its writer was; that is believed when the writer says it again.
    Doubtful,
}

impl StatefulReader {
    /// A submessage is for this reader if it names it, or nobody.
    fn is_addressed(&self, reader_id: EntityId) -> bool {
        reader_id == EntityId::UNKNOWN || reader_id == self.config.guid.entity_id
    }

    /// The proxy that a submessage concerns, or why there is none.
    fn addressee(&mut self, reader_id: EntityId, writer: Guid) -> Result<usize, Handled> {
        if !self.is_addressed(reader_id) {
            return Err(Handled::NotForUs);
        }
        self.find(writer).ok_or_else(|| {
            self.counters.unmatched += 1;
            Handled::Unmatched
        })
    }

    /// A DATA.
    pub fn handle_data(&mut self, now: Now, source: &Source, data: &Data<'_>, packet: &dyn PayloadSource) -> Handled {
        let at = match self.addressee(data.reader_id, source.writer) {
            Ok(at) => at,
            Err(handled) => return handled,
        };
        self.note_sign_of_life(now, at);
        let len = match data.payload {
            SerializedPayload::None => 0,
            SerializedPayload::Data(bytes) | SerializedPayload::Key(bytes) => bytes.len(),
        };
        if let Some(handled) = self.refuse(now, at, data.writer_sn, len) {
            return handled;
        }
        let inline_qos = data.inline_qos.as_ref();
        let plain = ChangeFacts::plain(inline_qos, source);
        let more = if plain.is_some() { None } else { inline_qos };
        let facts = plain.unwrap_or_else(|| ChangeFacts::new(inline_qos, source));
        let envelope = self.envelope(at, data.writer_sn, facts);
        let mut inbound = if data.non_standard_payload || !understands(more) {
            Inbound::NotDecodable
        } else if more.is_some_and(|qos| !qos.is_directed_to(self.config.guid)) {
            Inbound::Nothing
        } else {
            self.intake.receive(now, &envelope, data.payload, packet)
        };
        if self.config.presents() {
            let is_end = matches!(data.payload, SerializedPayload::None);
            self.tallies[at].filter(&inbound);
            inbound = inbound.presented(now, &envelope, presented(inline_qos, source, is_end));
        }
        self.take_in(now, at, data.writer_sn, inbound)
    }

    /// Says no to a number that cannot be taken in.
    pub(crate) fn refuse(&mut self, now: Now, at: usize, number: SequenceNumber, len: usize) -> Option<Handled> {
        let proxy = &mut self.proxies[at];
        match proxy.fit(number, len, &self.config) {
            Fit::Fits => None,
            Fit::Duplicate => {
                self.counters.duplicate += 1;
                Some(Handled::Duplicate)
            }
            Fit::Doubtful => {
                self.counters.doubtful += 1;
                Some(Handled::Doubtful)
            }
            Fit::TooFar => {
                self.counters.out_of_window += 1;
                if let Following::Reliable(reliable) = &mut proxy.following {
                    reliable.note_postponed(now.instant);
                }
                self.note_due(at);
                Some(Handled::Postponed)
            }
        }
    }

    fn envelope(&self, at: usize, sequence_number: SequenceNumber, facts: ChangeFacts) -> Envelope {
        let WriterProxy { config: writer, following, .. } = &self.proxies[at];
        let is_early = matches!(following, Following::Reliable(reliable) if sequence_number > reliable.next());
        let piles_up = is_early || self.history.len() >= SHARED_PARTS_MAX;
        Envelope { writer: writer.guid, sequence_number, lifespan: writer.lifespan, facts, piles_up }
    }

    /// Hands what has come to its proxy.
    fn take_in(&mut self, now: Now, at: usize, number: SequenceNumber, inbound: Inbound) -> Handled {
        let Self { config, history, proxies, tallies, intake, events, counters, .. } = self;
        let proxy = &mut proxies[at];
        let mut sink = Sink { history, events, counters, tally: &mut tallies[at], holds_back: config.holds_back() };
        let (change, handled) = match inbound {
            // What is to be counted counts if it is for this reader, which the writer will say.
            Inbound::Filtered | Inbound::NotDecodable if proxy.awaits_beginning() => {
                sink.counters.out_of_window += 1;
                return Handled::Postponed;
            }
            Inbound::Change(change) => (Some(change), Handled::Accepted),
            Inbound::Nothing => (None, Handled::Accepted),
            Inbound::Filtered => {
                sink.tally.filter(&inbound);
                (None, Handled::Accepted)
            }
            Inbound::NotDecodable => {
                sink.counters.not_decodable += 1;
                sink.lost(proxy.guid(), 1, LossCause::NotDecodable);
                (None, Handled::NotDecodable)
            }
        };
        let context = ProxyContext { config, large: &intake.large };
        proxy.accept(now, number, change, &mut sink, &context);
        self.after(now, at);
        handled
    }

    /// Brings the summaries up to date with a proxy that has changed.
    fn after(&mut self, now: Now, at: usize) {
        self.resume_if_room(now);
        if self.config.is_group() {
            self.look_at_group(at);
        }
        let proxy = &self.proxies[at];
        if matches!(&proxy.following, Following::Reliable(reliable) if reliable.is_refused()) {
            self.waiting.note(&self.history);
        }
        self.note_due(at);
    }

    /// A DATA_FRAG.
    pub fn handle_data_frag(&mut self, now: Now, source: &Source, fragment: &DataFrag<'_>) -> Handled {
        let at = match self.addressee(fragment.reader_id, source.writer) {
            Ok(at) => at,
            Err(handled) => return handled,
        };
        self.note_sign_of_life(now, at);
        let number = fragment.writer_sn;
        if let Some(handled) = self.refuse(now, at, number, fragment.sample_size as usize) {
            return handled;
        }
        let inline_qos = fragment.inline_qos.as_ref();
        if fragment.non_standard_payload || !understands(inline_qos) {
            return self.take_in(now, at, number, Inbound::NotDecodable);
        }
        if inline_qos.is_some_and(|qos| !qos.is_directed_to(self.config.guid)) {
            let mut inbound = Inbound::Nothing;
            if self.config.presents() {
                let envelope = self.envelope(at, number, ChangeFacts::new(inline_qos, source));
                inbound = inbound.presented(now, &envelope, presented(inline_qos, source, false));
            }
            return self.take_in(now, at, number, inbound);
        }
        match self.add_fragment(now, at, source, fragment) {
            FragmentOutcome::Added => {
                self.fragment_added(now, at, number);
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
            FragmentOutcome::NoRoom => {
                self.counters.out_of_window += 1;
                self.fragment_added(now, at, number);
                Handled::Postponed
            }
            FragmentOutcome::TooLarge => {
                // It never can be received: asking for it again would be asking for ever.
                self.counters.malformed += 1;
                self.take_in(now, at, number, Inbound::NotDecodable)
            }
            FragmentOutcome::Complete(whole) => self.take_in_assembled(now, at, number, whole),
        }
    }

    /// A sample is whole.
    pub(crate) fn take_in_assembled(
        &mut self,
        now: Now,
        at: usize,
        number: SequenceNumber,
        whole: Assembled,
    ) -> Handled {
        let envelope = self.envelope(at, number, whole.facts);
        let mut inbound = self.intake.receive_assembled(now, &envelope, whole.payload, whole.is_key);
        if self.config.presents() {
            let presented = whole.presented.map(|presented| *presented).unwrap_or_default();
            self.tallies[at].filter(&inbound);
            inbound = inbound.presented(now, &envelope, presented);
        }
        self.take_in(now, at, number, inbound)
    }

    fn add_fragment(&mut self, now: Now, at: usize, source: &Source, fragment: &DataFrag<'_>) -> FragmentOutcome {
        let limits = self.config.assembly_limits();
        let Self { proxies, intake, counters, .. } = self;
        let proxy = &mut proxies[at];
        let facts = || ChangeFacts::new(fragment.inline_qos.as_ref(), source);
        let presented = match &fragment.inline_qos {
            // The first fragment speaks for the whole sample.
            Some(inline_qos) if self.config.presents() => Some(Box::new(presented(Some(inline_qos), source, false))),
            _ => None,
        };
        let pool = &intake.large;
        let outcome = loop {
            match proxy.assemblies.add(now.instant, fragment, limits, pool, facts) {
                FragmentOutcome::NoRoom
                    if !proxy.assemblies.contains(fragment.writer_sn)
                        && proxy.evict(fragment.writer_sn, pool, counters) => {}
                outcome => break outcome,
            }
        };
        match (presented, outcome) {
            (Some(presented), FragmentOutcome::Complete(mut whole)) => {
                whole.presented.get_or_insert(presented);
                FragmentOutcome::Complete(whole)
            }
            (Some(presented), FragmentOutcome::Added) => {
                proxy.assemblies.note_presented(fragment.writer_sn, presented);
                FragmentOutcome::Added
            }
            (_, outcome) => outcome,
        }
    }

    pub(crate) fn fragment_added(&mut self, now: Now, at: usize, number: SequenceNumber) {
        let proxy = &mut self.proxies[at];
        proxy.ask_on(now.instant, number, &self.config);
        if let Following::BestEffort { .. } = proxy.following {
            let stale = now.instant.after(self.config.assembly_timeout);
            self.next_stale = earliest(self.next_stale, stale);
        }
        self.after(now, at);
    }

    /// A GAP.
    pub fn handle_gap(&mut self, now: Now, source: &Source, gap: &Gap) -> Handled {
        let at = match self.addressee(gap.reader_id, source.writer) {
            Ok(at) => at,
            Err(handled) => return handled,
        };
        if !gap.gap_start.is_valid() || gap.gap_list.base() < gap.gap_start {
            self.counters.malformed += 1;
            return Handled::Malformed;
        }
        let Self { config, history, proxies, tallies, intake, events, counters, .. } = self;
        let proxy = &mut proxies[at];
        let mut sink = Sink { history, events, counters, tally: &mut tallies[at], holds_back: config.holds_back() };
        let next = match &mut proxy.following {
            Following::Reliable(reliable) => {
                if !reliable.believes(now.instant, gap.gap_list.base().previous()) {
                    return self.doubt(now, at);
                }
                let (filtered, before) = (filtered_by_writer(gap), sink.tally.not_received.irrelevant);
                excuse_filtered(gap, filtered, sink.tally);
                reliable.handle_gap(now, gap, &mut sink, config);
                sink.tally.note_filtered(before, filtered);
                reliable.next()
            }
            Following::BestEffort { next: Some(next), .. } => {
                let end = gap.gap_list.base().max(*next);
                if distance(*next, end) > JUMP_MAX {
                    // What follows will tell; a GAP alone is not enough to leave out so much.
                    counters.doubtful += 1;
                    return Handled::Doubtful;
                }
                if gap.gap_start <= *next {
                    let (filtered, before) = (filtered_by_writer(gap), sink.tally.not_received.irrelevant);
                    excuse_filtered(gap, filtered, sink.tally);
                    sink.tally.pass(distance(*next, end));
                    sink.tally.note_filtered(before, filtered);
                    *next = end;
                }
                *next
            }
            Following::BestEffort { next: None, .. } | Following::Local(_) => return Handled::NotForUs,
        };
        proxy.drop_assemblies_below(next, &intake.large, counters);
        self.after(now, at);
        Handled::Accepted
    }

    /// A HEARTBEAT. To a best-effort reader it only says that the writer is alive.
    pub fn handle_heartbeat(&mut self, now: Now, source: &Source, heartbeat: &Heartbeat) -> Handled {
        let at = match self.addressee(heartbeat.reader_id, source.writer) {
            Ok(at) => at,
            Err(handled) => return handled,
        };
        if !heartbeat.first_sn.is_valid() || heartbeat.last_sn < heartbeat.first_sn.previous() {
            self.counters.malformed += 1;
            return Handled::Malformed;
        }
        self.note_heartbeat_of(now, at, heartbeat.liveliness);
        let Self { config, history, proxies, tallies, intake, events, counters, .. } = self;
        let proxy = &mut proxies[at];
        let Following::Reliable(reliable) = &mut proxy.following else { return Handled::NotForUs };
        if !reliable.believes(now.instant, heartbeat.last_sn) {
            return self.doubt(now, at);
        }
        let mut sink = Sink { history, events, counters, tally: &mut tallies[at], holds_back: config.holds_back() };
        if !reliable.handle_heartbeat(now, heartbeat, &mut sink, config) {
            self.counters.duplicate_heartbeats += 1;
            return Handled::Duplicate;
        }
        proxy.reply = source.reply;
        let (next, has_begun) = (reliable.next(), !reliable.awaits_beginning());
        proxy.drop_assemblies_below(next, &intake.large, counters);
        if self.config.is_group() && has_begun {
            self.note_group_info(at, heartbeat);
        }
        self.after(now, at);
        Handled::Accepted
    }

    /// A writer is asked whether it has said what was said in its name.
    fn doubt(&mut self, now: Now, at: usize) -> Handled {
        self.counters.doubtful += 1;
        self.after(now, at);
        Handled::Doubtful
    }

    /// A HEARTBEAT_FRAG. A best-effort reader has no use for it.
    pub fn handle_heartbeat_frag(&mut self, now: Now, source: &Source, heartbeat: &HeartbeatFrag) -> Handled {
        let at = match self.addressee(heartbeat.reader_id, source.writer) {
            Ok(at) => at,
            Err(handled) => return handled,
        };
        let proxy = &mut self.proxies[at];
        let Following::Reliable(reliable) = &mut proxy.following else { return Handled::NotForUs };
        if !reliable.is_new(heartbeat) {
            self.counters.duplicate_heartbeats += 1;
            return Handled::Duplicate;
        }
        proxy.reply = source.reply;
        if proxy.assemblies.announce(heartbeat.writer_sn, heartbeat.last_fragment_num) {
            reliable.asking.fragments_announced(now.instant, &self.config);
        } else if heartbeat.writer_sn >= reliable.next() {
            // Nothing of the sample is here: a HEARTBEAT will tell, or the timer.
            reliable.asking.schedule_retry(now.instant);
        }
        self.after(now, at);
        Handled::Accepted
    }
}

/// How many numbers of a GAP the writer's filter has left out (RTPS 2.5, 8.3.8.4): all of them or none. One that only partly comes
/// from a filter does not say which numbers.
fn filtered_by_writer(gap: &Gap) -> u64 {
    let Some(filtered) = gap.filtered_count.and_then(|count| u64::try_from(count).ok()) else { return 0 };
    let count = distance(gap.gap_start, gap.gap_list.base()) + gap.gap_list.iter().count() as u64;
    if filtered >= count { count } else { 0 }
}

/// What a filter has left out is no hole in a coherent set.
fn excuse_filtered(gap: &Gap, filtered: u64, tally: &mut Tally) {
    if let Some(sets) = tally.sets.as_mut().filter(|_| filtered > 0) {
        sets.excuse(gap.gap_start, gap.gap_list.base());
        gap.gap_list.iter().for_each(|number| sets.excuse(number, number.next()));
    }
}

/// What a change is presented together with (RTPS 2.5, 9.6.4.2 to 9.6.4.5). Numbers that are none count as absent.
#[cold]
fn presented(inline_qos: Option<&InlineQos<'_>>, source: &Source, is_end: bool) -> PresentationInfo {
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

/// Whether nothing in the inline QoS must be understood that is not.
fn understands(inline_qos: Option<&InlineQos<'_>>) -> bool {
    inline_qos.is_none_or(|qos| qos.unknown_must_understand().is_none())
}
