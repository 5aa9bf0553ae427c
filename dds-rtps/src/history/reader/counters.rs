//! What a reader's cache counts.

/// What has happened in a history so far. Plain numbers that only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReaderHistoryCounters {
    /// Samples that made room for newer ones of their instance before they were taken.
    pub overwritten: u64,
    /// Of these, those that nobody had read.
    pub overwritten_unread: u64,
    /// Samples whose lifespan was over, on arrival or later.
    pub expired: u64,
    /// Changes that came too late under order by source timestamp ([`Admission::Superseded`](super::Admission::Superseded)).
    pub superseded: u64,
    /// Changes whose source timestamp lies more than 30 s ahead of the reader's clock, where it matters: they were ordered,
    /// and expire, as if they had been written when they arrived.
    pub from_future: u64,
    /// Samples and disposes of writers that did not own the instance, under exclusive ownership.
    pub ownership: u64,
    /// Samples that TIME_BASED_FILTER has never let in.
    pub time_filtered: u64,
    /// Samples that READER_DATA_LIFECYCLE has removed.
    pub purged: u64,
    /// Changes that did not fit.
    pub rejected: u64,
    /// Changes that ended an instance that was not known.
    pub unknown_instance: u64,
    /// Writers that an instance had no room to remember.
    pub writers_forgotten: u64,
    /// Keys for which there was no room: what is handed out of these instances without data has no key.
    pub keys_dropped: u64,
    /// Changes that had been here before, from another writer: their own, or another service that stands in for it.
    pub known: u64,
    /// Runs of numbers that were forgotten of writers whose changes come by several ways; what is among them may be seen
    /// twice.
    pub origins_forgotten: u64,
}
