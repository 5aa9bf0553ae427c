//! The counters of a reader history.

/// Events in a reader history. These counters only grow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReaderHistoryCounters {
    /// Samples that newer ones of their instance replaced before they were taken.
    pub overwritten: u64,
    /// The unread ones among the overwritten samples.
    pub overwritten_unread: u64,
    /// Samples whose LIFESPAN was over, on arrival or later.
    pub expired: u64,
    /// Changes that came too late under order by source timestamp
    /// ([`Admission::Superseded`](super::Admission::Superseded)).
    pub superseded: u64,
    /// Changes with a source timestamp more than 30 s ahead of the reader's clock, if it is used. They count as written
    /// when they arrived.
    pub from_future: u64,
    /// Samples and disposes by a writer other than the owner, under EXCLUSIVE ownership.
    pub ownership: u64,
    /// Samples that TIME_BASED_FILTER never delivered.
    pub time_filtered: u64,
    /// Samples that READER_DATA_LIFECYCLE removed.
    pub purged: u64,
    /// Changes that were rejected at a limit.
    pub rejected: u64,
    /// Changes that end an unknown instance.
    pub unknown_instance: u64,
    /// Writers that an instance had no space to remember.
    pub writers_forgotten: u64,
    /// Keys without space. Samples without data of these instances have no key.
    pub keys_dropped: u64,
    /// Changes that had been received before, from their writer or from a service.
    pub known: u64,
    /// Ranges of received sequence numbers that were evicted. Their changes may be delivered twice.
    pub origins_forgotten: u64,
}
