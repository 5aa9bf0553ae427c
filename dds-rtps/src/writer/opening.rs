//! Initial handshake: tells a reader its first relevant sequence number.
//!
//! A volatile reader takes its first HEARTBEAT as the line between earlier changes and the changes that it must
//! receive. RTPS 2.5 does not define which number of the HEARTBEAT draws that line. Cyclone DDS takes the last one:
//! with a writer of another vendor it skips all changes up to there. Samples that were lost before that HEARTBEAT are
//! then acknowledged and never delivered. The same holds for samples that arrived before the reader was ready.
//!
//! So until a reader has answered, each HEARTBEAT to it follows another one that announces no change. That one has
//! first = the first relevant sequence number, and last = first - 1. Both numbers then draw the same line, whichever
//! datagram arrives first. It is addressed to that reader, but Cyclone DDS applies it to all readers of the
//! participant. So these readers share the lowest first relevant sequence number.
//!
//! A reader of this implementation delivers no sample before a HEARTBEAT names it
//! ([`WriterProxyConfig::names_first_relevant`](crate::reader::WriterProxyConfig::names_first_relevant)). It starts
//! with the first number of that HEARTBEAT. Each such reader has its own line, and a HEARTBEAT to it alone needs no
//! other one in front. The writer delays this HEARTBEAT while irrelevant changes wait to be sent. The reader would
//! accept those it receives at a shared locator, and the writer would not repair the others.

use super::layout::Layout;
use super::reader_proxy::ReaderProxy;
use super::stateful::StatefulWriter;
use crate::types::{Guid, GuidPrefix, Now, SequenceNumber};
use crate::wire::Heartbeat;

/// Most handshakes in a datagram with samples. Each takes 48 bytes of the space left for headers.
pub(super) const STRANGERS_BESIDE_SAMPLES_MAX: usize = 4;

/// Most handshakes in a datagram without samples: 48 000 bytes. More readers than that would have to match within one
/// RTT.
const STRANGERS_MAX: usize = 1000;

/// Datagrams with samples that carry a HEARTBEAT for silent readers, counted from the latest match.
const HELPS_MAX: u32 = 200;

impl StatefulWriter {
    /// Lays out the handshake HEARTBEAT for a reader, or for another reader of its participant.
    ///
    /// It is left out if the reader knows its line, or if the following HEARTBEAT up to `last_sn` draws it. A HEARTBEAT
    /// to a reader of this implementation always does.
    pub(super) fn lay_out_opening_for(&mut self, index: usize, last_sn: SequenceNumber, layout: &mut Layout<'_>) {
        let Some(proxy) = self.proxies.get(index).filter(|proxy| !proxy.is_ours()) else { return };
        let prefix = proxy.config.guid.prefix;
        let stranger = if proxy.is_stranger() { Some(proxy) } else { self.strangers_of(prefix).next() };
        if let Some(opening) = stranger.and_then(|stranger| self.opening(stranger, last_sn)) {
            let count = self.heartbeat.next_count();
            layout.opening(None, &Heartbeat { count, ..opening });
        }
    }

    /// Lays out the handshake HEARTBEATs of all readers that need one.
    pub(super) fn lay_out_openings(&mut self, last_sn: SequenceNumber, layout: &mut Layout<'_>) {
        let mut has_any = false;
        let mut room = STRANGERS_MAX;
        for index in 0..self.proxies.len() {
            let Some(proxy) = self.proxies.get(index).filter(|proxy| proxy.is_stranger() && room > 0) else { continue };
            room -= 1;
            // Without other readers, no other participant receives the message.
            let prefix = (self.proxies.len() > 1).then_some(proxy.config.guid.prefix);
            if let Some(opening) = self.opening(proxy, last_sn) {
                let count = self.heartbeat.next_count();
                layout.opening(prefix, &Heartbeat { count, ..opening });
                has_any |= prefix.is_some();
            }
        }
        if has_any {
            layout.everybody();
        }
    }

    /// Returns the first sequence number of a HEARTBEAT to this reader alone.
    ///
    /// A reader that lost its state continues after its acknowledged changes, unless it wants the history.
    pub(super) fn first_for(&self, proxy: &ReaderProxy) -> SequenceNumber {
        let from = match proxy.is_ours() {
            true if proxy.is_stranger() && !proxy.config.wants_history => {
                proxy.first_relevant.max(proxy.acknowledged.next())
            }
            true => proxy.first_relevant,
            false => proxy.stream_from,
        };
        self.first_available().max(from).min(self.next)
    }

    /// Returns whether the writer must delay the handshake with a reader.
    pub(super) fn is_too_early_for(&self, proxy: &ReaderProxy) -> bool {
        proxy.is_stranger() && proxy.is_ours() && !proxy.config.wants_history && self.next < proxy.first_relevant
    }

    /// Owes the handshake HEARTBEAT to readers whose first relevant change comes next.
    ///
    /// New changes were sent, from `before` on.
    pub(super) fn tell_who_begins(&mut self, now: Now, before: SequenceNumber) {
        for index in 0..self.proxies.len() {
            // A HEARTBEAT to this reader alone announces its first relevant sequence number.
            let begins = |proxy: &&ReaderProxy| {
                before < proxy.first_relevant && proxy.is_stranger() && !self.is_too_early_for(proxy)
            };
            if self.proxies.get(index).filter(begins).is_some() {
                self.owe_heartbeat(now, index);
            }
        }
    }

    fn owe_heartbeat(&mut self, now: Now, index: usize) {
        if let Some(proxy) = self.proxies.get_mut(index) {
            proxy.heartbeat_owed = true;
            self.enqueue(now, index);
        }
    }

    /// Creates a handshake HEARTBEAT. `None` if the HEARTBEAT up to `last_sn` suffices, or if it is too early.
    fn opening(&self, stranger: &ReaderProxy, last_sn: SequenceNumber) -> Option<Heartbeat> {
        if self.is_too_early_for(stranger) {
            return None;
        }
        // Cyclone DDS applies the message to all readers of the participant, so it must cover the lowest line.
        let (start, first_sn) = if stranger.is_ours() {
            let start = self.first_for(stranger);
            (start, start)
        } else {
            let starts = self.strangers_of(stranger.config.guid.prefix).map(|proxy| proxy.acknowledged.next());
            let start = starts.min().filter(|&start| start <= last_sn)?;
            (start, self.first_available().max(stranger.stream_from).min(start))
        };
        Some(Heartbeat {
            reader_id: stranger.config.guid.entity_id,
            writer_id: self.config.guid.entity_id,
            first_sn,
            last_sn: start.previous(),
            count: 0,
            // The next HEARTBEAT requires the answer.
            is_final: true,
            liveliness: false,
            group_info: None,
        })
    }

    /// Counts the readers that never answered, and those with an incomplete handshake.
    pub(super) fn count_strangers(&mut self) {
        let before = self.unheard + self.strangers;
        self.unheard = self.proxies.iter().filter(|proxy| proxy.is_unheard()).count();
        self.strangers = self.proxies.iter().filter(|proxy| proxy.is_stranger()).count();
        if self.unheard + self.strangers > before {
            self.helps_left = HELPS_MAX;
        }
    }

    /// Adds a reader that has just matched to these counts.
    pub(super) fn count_stranger(&mut self, index: usize) {
        let Some(proxy) = self.proxies.get(index) else { return };
        self.unheard += usize::from(proxy.is_unheard());
        self.strangers += usize::from(proxy.is_stranger());
        self.helps_left = HELPS_MAX;
    }

    /// Returns whether each datagram with samples should carry a HEARTBEAT.
    ///
    /// It reaches readers without an answer or a handshake soonest. The number is limited: all other readers must
    /// answer too, and some readers never answer.
    pub(super) fn helps_to_ask(&mut self) -> bool {
        let helps = (1..=STRANGERS_BESIDE_SAMPLES_MAX).contains(&self.strangers) || self.unheard > 0;
        let helps = helps && self.helps_left > 0;
        self.helps_left -= u32::from(helps);
        helps
    }

    /// Repeats the HEARTBEAT to a remote reader that has never answered.
    ///
    /// The caller has received a sign of life from its participant.
    pub fn ask_again(&mut self, now: Now, reader: Guid) {
        let Some(index) = self.reliable_proxy(reader) else { return };
        let (last, pace) = (self.next.previous(), self.heartbeat.pace());
        let is_due = |proxy: &&ReaderProxy| !proxy.heard && proxy.may_be_asked(now.instant, last, pace);
        if self.proxies.get(index).filter(is_due).is_some() {
            self.owe_heartbeat(now, index);
        }
    }

    /// Records whether all readers that owe an answer have never given one.
    pub(super) fn note_who_owes(&mut self) {
        let last = self.next.previous();
        let owes = |proxy: &ReaderProxy| proxy.reliable && proxy.heard && proxy.acknowledged < last;
        self.heartbeat.set_only_strangers(self.unheard > 0 && !self.proxies.iter().any(owes));
    }

    /// Sets the lowest sequence number of HEARTBEATs for a new reader and for others of its participant.
    pub(super) fn settle_in(&mut self, newcomer: &mut ReaderProxy) {
        let prefix = newcomer.config.guid.prefix;
        let newcomer_first = newcomer.first_relevant;
        for proxy in self.proxies.iter_mut().filter(|proxy| proxy.reliable && proxy.config.guid.prefix == prefix) {
            newcomer.stream_from = newcomer.stream_from.min(proxy.first_relevant);
            proxy.stream_from = proxy.stream_from.min(newcomer_first);
        }
    }

    fn strangers_of(&self, prefix: GuidPrefix) -> impl Iterator<Item = &ReaderProxy> {
        let strangers = self.proxies.iter().filter(move |proxy| proxy.config.guid.prefix == prefix);
        strangers.filter(|proxy| proxy.is_stranger())
    }
}
