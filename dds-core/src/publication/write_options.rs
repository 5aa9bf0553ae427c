//! What can be said about a single write.

use dds_rtps::types::Time;

/// What can be said about a single write, dispose or unregister.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The source timestamp. `None`, the default: the time at which the change got its sequence number.
    pub source_timestamp: Option<Time>,
}

impl WriteOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the source timestamp, instead of the present time.
    #[must_use]
    #[doc(alias = "write_w_timestamp")]
    pub fn source_timestamp(mut self, timestamp: impl Into<Time>) -> Self {
        self.source_timestamp = Some(timestamp.into());
        self
    }
}
