//! Acknowledgments of the remote reliable readers.
//!
//! All readers answer a HEARTBEAT, so an answer must not cost a visit of all readers.

use crate::types::{Ranking, SequenceNumber};
use crate::writer::readers::proxy::ReaderProxy;

/// How far the remote reliable readers are.
#[derive(Debug)]
pub(crate) struct AckProgress {
    /// All awaited readers have the changes up to this one; [`SequenceNumber::MAX`] without such readers.
    acknowledged: SequenceNumber,
    /// All readers, awaited or not, have the changes up to this one.
    received: SequenceNumber,
    /// Indexes of the proxies, ordered by their acknowledged sequence number.
    ranking: Ranking<SequenceNumber>,
    /// Last reported sequence number, of local and remote readers.
    reported: SequenceNumber,
    /// The acknowledged sequence number may have changed since the last report.
    is_changed: bool,
}

impl AckProgress {
    pub(crate) fn new() -> Self {
        Self {
            acknowledged: SequenceNumber::MAX,
            received: SequenceNumber::MAX,
            ranking: Ranking::new(),
            reported: SequenceNumber::ZERO,
            is_changed: false,
        }
    }

    /// Returns up to which change all awaited readers have acknowledged.
    #[inline]
    pub(crate) fn acknowledged(&self) -> SequenceNumber {
        self.acknowledged
    }

    /// Returns up to which change all readers have acknowledged, demoted ones included.
    #[inline]
    pub(crate) fn received(&self) -> SequenceNumber {
        self.received
    }

    /// Updates one reader, while no reader is demoted.
    pub(crate) fn note_reader(&mut self, index: usize, proxy: &ReaderProxy) {
        let acknowledged = if proxy.reliable { Some(proxy.acknowledged) } else { None };
        // The logarithm of the readers, where a search for the minimum would visit all of them.
        self.ranking.set(index as u32, acknowledged);
        // Without demoted readers, both values are the same.
        self.received = self.ranking.first().unwrap_or(SequenceNumber::MAX);
        self.acknowledged = self.received;
    }

    /// Updates all readers.
    pub(crate) fn note_all(&mut self, proxies: &[ReaderProxy]) {
        // Indexes may have moved, so no old entry is right.
        self.ranking.clear();
        self.acknowledged = SequenceNumber::MAX;
        for (index, proxy) in proxies.iter().enumerate() {
            if !proxy.reliable {
                continue;
            }
            self.ranking.note(index as u32, proxy.acknowledged);
            if !proxy.standing.is_demoted() {
                self.acknowledged = self.acknowledged.min(proxy.acknowledged);
            }
        }
        self.received = self.ranking.first().unwrap_or(SequenceNumber::MAX);
        debug_assert!(self.received <= self.acknowledged, "awaited readers are some of all readers");
    }

    /// Notes that the acknowledged sequence number may have changed.
    #[inline]
    pub(crate) fn note_change(&mut self) {
        self.is_changed = true;
    }

    /// Returns whether a change was noted and not reported yet.
    #[inline]
    pub(crate) fn is_changed(&self) -> bool {
        self.is_changed
    }

    /// Returns whether a change was noted since the last call.
    pub(crate) fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.is_changed)
    }

    /// Returns whether to report this sequence number, which all readers have acknowledged.
    ///
    /// It falls when a late joiner matches. Later acknowledgments of that reader are then news.
    pub(crate) fn report(&mut self, acknowledged: SequenceNumber) -> bool {
        acknowledged > std::mem::replace(&mut self.reported, acknowledged)
    }

    /// Returns the comparisons of the ranking so far.
    #[cfg(test)]
    pub(crate) fn steps(&self) -> u64 {
        self.ranking.steps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledged_number_is_reported_once_and_again_after_fall() {
        let mut progress = AckProgress::new();
        let reports = [3, 3, 5, 0, 5].map(|number| progress.report(SequenceNumber(number)));
        assert_eq!(reports, [true, false, true, false, true]);
    }
}
