//! HEARTBEATs that tell readers their first relevant sequence number; see [`handshake`](super::handshake).

use super::ReaderTable;
use super::handshake::HANDSHAKES_MAX;
use super::proxy::ReaderProxy;
use crate::types::{EntityId, GuidPrefix, Instant, SequenceNumber};
use crate::wire::Heartbeat;
use crate::writer::heartbeat::HeartbeatSchedule;
use crate::writer::send::layout::Layout;

/// The sequence numbers that HEARTBEATs of a writer announce.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AnnouncedRange {
    pub(crate) writer_id: EntityId,
    /// First change that was sent and can still be repaired.
    pub(crate) first_available: SequenceNumber,
    /// Next change to send to all readers.
    pub(crate) next: SequenceNumber,
}

impl AnnouncedRange {
    /// Returns the first sequence number of a HEARTBEAT to this reader alone.
    ///
    /// A reader that lost its state continues after its acknowledged changes, unless it wants the history.
    pub(crate) fn first_for(&self, proxy: &ReaderProxy) -> SequenceNumber {
        let from = if !proxy.is_ours() {
            proxy.relevant.stream_from
        } else if proxy.needs_handshake() && !proxy.config.wants_history {
            proxy.relevant.first.max(proxy.acknowledged.next())
        } else {
            proxy.relevant.first
        };
        self.first_available.max(from).min(self.next)
    }
}

impl ReaderTable {
    /// Lays out the handshake HEARTBEAT for a reader, or for another reader of its participant.
    ///
    /// It is left out if the reader knows its line, or if the following HEARTBEAT up to `last_sn` draws it. A HEARTBEAT
    /// to a reader of this implementation always does.
    pub(crate) fn lay_out_handshake_for(
        &self,
        index: usize,
        range: AnnouncedRange,
        last_sn: SequenceNumber,
        schedule: &mut HeartbeatSchedule,
        layout: &mut Layout<'_>,
    ) {
        let Some(proxy) = self.proxies.get(index) else {
            debug_assert!(false, "only matched readers get HEARTBEATs");
            return;
        };
        if proxy.is_ours() {
            return;
        }
        let unsynced =
            if proxy.needs_handshake() { Some(proxy) } else { self.unsynced_of(proxy.config.guid.prefix).next() };
        let Some(unsynced) = unsynced else { return };
        if let Some(heartbeat) = self.handshake_heartbeat(unsynced, range, last_sn) {
            let count = schedule.next_count();
            layout.handshake(None, &Heartbeat { count, ..heartbeat });
        }
    }

    /// Lays out the handshake HEARTBEATs of all readers that need one.
    pub(crate) fn lay_out_handshakes(
        &self,
        range: AnnouncedRange,
        last_sn: SequenceNumber,
        schedule: &mut HeartbeatSchedule,
        layout: &mut Layout<'_>,
    ) {
        let mut is_addressed = false;
        for proxy in self.proxies.iter().filter(|proxy| proxy.needs_handshake()).take(HANDSHAKES_MAX) {
            let Some(heartbeat) = self.handshake_heartbeat(proxy, range, last_sn) else { continue };
            // Without other readers, no other participant receives the message.
            let prefix = if self.proxies.len() > 1 { Some(proxy.config.guid.prefix) } else { None };
            // Each HEARTBEAT needs a count of its own, or readers would drop it as old.
            let count = schedule.next_count();
            layout.handshake(prefix, &Heartbeat { count, ..heartbeat });
            is_addressed |= prefix.is_some();
        }
        if is_addressed {
            layout.all_participants();
        }
    }

    /// Creates a handshake HEARTBEAT. `None` if the HEARTBEAT up to `last_sn` suffices, or if it is too early.
    fn handshake_heartbeat(
        &self,
        unsynced: &ReaderProxy,
        range: AnnouncedRange,
        last_sn: SequenceNumber,
    ) -> Option<Heartbeat> {
        if unsynced.is_handshake_early(range.next) {
            return None;
        }
        // Cyclone DDS applies the message to all readers of the participant, so it must cover the lowest line.
        let (start, first_sn) = if unsynced.is_ours() {
            let start = range.first_for(unsynced);
            (start, start)
        } else {
            let mut lowest = None;
            for proxy in self.unsynced_of(unsynced.config.guid.prefix) {
                let start = proxy.acknowledged.next();
                lowest = Some(lowest.unwrap_or(start).min(start));
            }
            let start = lowest?;
            if start > last_sn {
                return None;
            }
            (start, range.first_available.max(unsynced.relevant.stream_from).min(start))
        };
        Some(Heartbeat {
            reader_id: unsynced.config.guid.entity_id,
            writer_id: range.writer_id,
            first_sn,
            last_sn: start.previous(),
            count: 0,
            // The next HEARTBEAT requires the answer.
            is_final: true,
            liveliness: false,
            group_info: None,
        })
    }

    /// Owes the handshake HEARTBEAT to readers whose first relevant change comes next.
    ///
    /// New changes were sent, those of `before .. next`.
    pub(crate) fn owe_begun_handshakes(&mut self, now: Instant, before: SequenceNumber, next: SequenceNumber) {
        for index in 0..self.proxies.len() {
            let Some(proxy) = self.proxies.get(index) else {
                debug_assert!(false, "no reader leaves during the loop");
                break;
            };
            // A HEARTBEAT to this reader alone announces its first relevant sequence number.
            if before < proxy.relevant.first && proxy.needs_handshake() && !proxy.is_handshake_early(next) {
                self.owe_heartbeat(now, index);
            }
        }
    }

    /// Sets the lowest sequence number of HEARTBEATs for a new reader and for others of its participant.
    pub(crate) fn share_stream_start(&mut self, added: &mut ReaderProxy) {
        let prefix = added.config.guid.prefix;
        let first = added.relevant.first;
        for proxy in &mut self.proxies {
            if proxy.reliable && proxy.config.guid.prefix == prefix {
                added.relevant.stream_from = added.relevant.stream_from.min(proxy.relevant.first);
                proxy.relevant.stream_from = proxy.relevant.stream_from.min(first);
            }
        }
    }

    /// Returns the readers of a participant whose handshake is incomplete.
    fn unsynced_of(&self, prefix: GuidPrefix) -> impl Iterator<Item = &ReaderProxy> {
        self.proxies.iter().filter(move |proxy| proxy.config.guid.prefix == prefix && proxy.needs_handshake())
    }
}
