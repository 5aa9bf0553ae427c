//! Where the samples begin that a reader is to get.
//!
//! A volatile reader takes the first HEARTBEAT for the line between what was written before it came and what it is to get. RTPS
//! 2.5 does not say which of the two numbers in it draws that line. Cyclone DDS takes the last one: of a writer of another
//! vendor it skips everything up to there, so samples that were lost before that HEARTBEAT came, or that came before the reader
//! was ready, are acknowledged and never delivered.
//!
//! So until a reader has answered a HEARTBEAT, it finds in front of each one another that announces nothing: first = where it
//! begins, last = first - 1. Whichever datagram arrives first, both numbers then say the same. It is addressed to that reader;
//! Cyclone DDS takes it in for all readers of its participant, and so those have one beginning, the lowest.
//!
//! A reader of ours delivers nothing before it was told by name ([`WriterProxyConfig::names_first_relevant`](crate::reader::WriterProxyConfig::names_first_relevant)), and
//! then begins with the first number of that HEARTBEAT: each has its own line, and a HEARTBEAT to it alone needs none in front. It is not
//! told as long as there is something to be sent that it is not to get: it would take that in where it shares a locator with others, and
//! what it missed of it nobody would repair.

use super::layout::Layout;
use super::reader_proxy::ReaderProxy;
use super::stateful::StatefulWriter;
use crate::types::{Guid, GuidPrefix, Now, SequenceNumber};
use crate::wire::Heartbeat;

/// So many strangers are told in a datagram with samples: each takes 48 bytes of what is left for headers.
pub(super) const STRANGERS_BESIDE_SAMPLES_MAX: usize = 4;

/// … and in one that holds nothing else: 48 000 bytes. More than that have to come within one round trip.
const STRANGERS_MAX: usize = 1000;

/// So many datagrams with samples ask for the sake of readers that have not answered, since one was new among them.
const HELPS_MAX: u32 = 200;

impl StatefulWriter {
    /// Tells a reader, or another one of its participant, where it begins, if it does not know and the HEARTBEAT to it that is to
    /// follow, up to `last_sn`, does not say so: to one of ours that says it.
    pub(super) fn lay_out_opening_for(&mut self, index: usize, last_sn: SequenceNumber, layout: &mut Layout<'_>) {
        let Some(proxy) = self.proxies.get(index).filter(|proxy| !proxy.is_ours()) else { return };
        let prefix = proxy.config.guid.prefix;
        let stranger = if proxy.is_stranger() { Some(proxy) } else { self.strangers_of(prefix).next() };
        if let Some(opening) = stranger.and_then(|stranger| self.opening(stranger, last_sn)) {
            let count = self.heartbeat.next_count();
            layout.opening(None, &Heartbeat { count, ..opening });
        }
    }

    /// Tells all readers where they begin that do not know.
    pub(super) fn lay_out_openings(&mut self, last_sn: SequenceNumber, layout: &mut Layout<'_>) {
        let mut has_any = false;
        let mut room = STRANGERS_MAX;
        for index in 0..self.proxies.len() {
            let Some(proxy) = self.proxies.get(index).filter(|proxy| proxy.is_stranger() && room > 0) else { continue };
            room -= 1;
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

    /// Where a HEARTBEAT to this reader alone begins. One that has lost its state goes on where it had got to, unless it wants history.
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

    /// Whether a reader is not to be told yet where it begins.
    pub(super) fn is_too_early_for(&self, proxy: &ReaderProxy) -> bool {
        proxy.is_stranger() && proxy.is_ours() && !proxy.config.wants_history && self.next < proxy.first_relevant
    }

    /// New changes have been sent, from `before` on: who begins behind them is told now.
    pub(super) fn tell_who_begins(&mut self, now: Now, before: SequenceNumber) {
        for index in 0..self.proxies.len() {
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

    /// `None`: the HEARTBEAT up to `last_sn` says it itself, or it is too early.
    fn opening(&self, stranger: &ReaderProxy, last_sn: SequenceNumber) -> Option<Heartbeat> {
        if self.is_too_early_for(stranger) {
            return None;
        }
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
            // What follows asks.
            is_final: true,
            liveliness: false,
            group_info: None,
        })
    }

    /// Counts the readers that have said nothing, or nothing that shows what they know.
    pub(super) fn count_strangers(&mut self) {
        let before = self.unheard + self.strangers;
        self.unheard = self.proxies.iter().filter(|proxy| proxy.is_unheard()).count();
        self.strangers = self.proxies.iter().filter(|proxy| proxy.is_stranger()).count();
        if self.unheard + self.strangers > before {
            self.helps_left = HELPS_MAX;
        }
    }

    /// Counts one that has just come.
    pub(super) fn count_stranger(&mut self, index: usize) {
        let Some(proxy) = self.proxies.get(index) else { return };
        self.unheard += usize::from(proxy.is_unheard());
        self.strangers += usize::from(proxy.is_stranger());
        self.helps_left = HELPS_MAX;
    }

    /// Whether each datagram with samples is to ask: who has never answered, or does not know where it begins, is told soonest so. Only
    /// for a while: all others are asked as well, and some will never be heard.
    pub(super) fn helps_to_ask(&mut self) -> bool {
        let helps = (1..=STRANGERS_BESIDE_SAMPLES_MAX).contains(&self.strangers) || self.unheard > 0;
        let helps = helps && self.helps_left > 0;
        self.helps_left -= u32::from(helps);
        helps
    }

    /// A reader of another process is there, as its participant has just shown: if it has never answered, it is asked again.
    pub fn ask_again(&mut self, now: Now, reader: Guid) {
        let Some(index) = self.reliable_proxy(reader) else { return };
        let (last, pace) = (self.next.previous(), self.heartbeat.pace());
        let is_due = |proxy: &&ReaderProxy| !proxy.heard && proxy.may_be_asked(now.instant, last, pace);
        if self.proxies.get(index).filter(is_due).is_some() {
            self.owe_heartbeat(now, index);
        }
    }

    /// Finds out whether all that owe an answer have never given one.
    pub(super) fn note_who_owes(&mut self) {
        let last = self.next.previous();
        let owes = |proxy: &ReaderProxy| proxy.reliable && proxy.heard && proxy.acknowledged < last;
        self.heartbeat.set_only_strangers(self.unheard > 0 && !self.proxies.iter().any(owes));
    }

    /// Finds out where HEARTBEATs for a reader have to begin that is about to be matched, and for others of its participant.
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
