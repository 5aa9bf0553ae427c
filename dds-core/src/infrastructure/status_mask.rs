//! Sets of communication statuses.

use crate::infrastructure::mark;
use std::fmt;
use std::ops::{BitAnd, BitOr, Not};

/// A set of communication statuses (DDS 1.4, 2.2.4.1).
///
/// `|` joins two sets, `&` intersects them, and `!` returns all other statuses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct StatusMask(u32);

impl StatusMask {
    /// No status.
    pub const NONE: Self = Self(0);
    /// All statuses.
    pub const ALL: Self = Self(
        mark::DATA
            | mark::MATCHED
            | mark::INCOMPATIBLE_QOS
            | mark::SAMPLE_LOST
            | mark::SAMPLE_REJECTED
            | mark::DATA_ON_READERS
            | mark::INCONSISTENT_TOPIC
            | mark::SLOW_READER
            | mark::LIVELINESS_LOST
            | mark::LIVELINESS_CHANGED
            | mark::DEADLINE_MISSED,
    );
    /// A reader has new data, or its instances have changed their state. Reading or taking samples resets it.
    #[doc(alias = "DATA_AVAILABLE_STATUS")]
    pub const DATA_AVAILABLE: Self = Self(mark::DATA);
    /// An endpoint has matched, or no longer matches.
    #[doc(alias = "PUBLICATION_MATCHED_STATUS")]
    #[doc(alias = "SUBSCRIPTION_MATCHED_STATUS")]
    pub const MATCHED: Self = Self(mark::MATCHED);
    /// An endpoint of the topic has an incompatible QoS.
    #[doc(alias = "OFFERED_INCOMPATIBLE_QOS_STATUS")]
    #[doc(alias = "REQUESTED_INCOMPATIBLE_QOS_STATUS")]
    pub const INCOMPATIBLE_QOS: Self = Self(mark::INCOMPATIBLE_QOS);
    /// A reader has lost samples.
    #[doc(alias = "SAMPLE_LOST_STATUS")]
    pub const SAMPLE_LOST: Self = Self(mark::SAMPLE_LOST);
    /// A reader has rejected samples because it had no room.
    #[doc(alias = "SAMPLE_REJECTED_STATUS")]
    pub const SAMPLE_REJECTED: Self = Self(mark::SAMPLE_REJECTED);

    /// Instances were not updated in time.
    #[doc(alias = "OFFERED_DEADLINE_MISSED_STATUS")]
    #[doc(alias = "REQUESTED_DEADLINE_MISSED_STATUS")]
    pub const DEADLINE_MISSED: Self = Self(mark::DEADLINE_MISSED);

    /// A reader of a subscriber has new data. Reading or taking samples from one of its readers resets it.
    #[doc(alias = "DATA_ON_READERS_STATUS")]
    pub const DATA_ON_READERS: Self = Self(mark::DATA_ON_READERS);
    /// A remote endpoint uses the topic's name with another type.
    #[doc(alias = "INCONSISTENT_TOPIC_STATUS")]
    pub const INCONSISTENT_TOPIC: Self = Self(mark::INCONSISTENT_TOPIC);
    /// A writer no longer waits for a slow reader, or waits for it again. Not part of DDS.
    pub const SLOW_READER: Self = Self(mark::SLOW_READER);
    /// A writer did not assert its liveliness within its lease.
    #[doc(alias = "LIVELINESS_LOST_STATUS")]
    pub const LIVELINESS_LOST: Self = Self(mark::LIVELINESS_LOST);
    /// A writer that matches a reader has become alive or not alive.
    #[doc(alias = "LIVELINESS_CHANGED_STATUS")]
    pub const LIVELINESS_CHANGED: Self = Self(mark::LIVELINESS_CHANGED);

    pub(crate) const fn bits(self) -> u32 {
        self.0
    }

    /// Creates a mask and ignores bits without a status.
    pub(crate) const fn from_bits(bits: u32) -> Self {
        // Some marks are events without a status, such as `LISTENER_PANICKED`.
        Self(bits & Self::ALL.0)
    }

    /// Returns whether the mask contains all statuses of `other`.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns whether the mask contains no status.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl BitOr for StatusMask {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for StatusMask {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}

impl Not for StatusMask {
    type Output = Self;
    fn not(self) -> Self {
        // A bit without a status must not appear, or two equal masks would differ.
        Self(Self::ALL.0 & !self.0)
    }
}

impl fmt::Debug for StatusMask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = [
            (Self::DATA_AVAILABLE, "DATA_AVAILABLE"),
            (Self::MATCHED, "MATCHED"),
            (Self::INCOMPATIBLE_QOS, "INCOMPATIBLE_QOS"),
            (Self::SAMPLE_LOST, "SAMPLE_LOST"),
            (Self::SAMPLE_REJECTED, "SAMPLE_REJECTED"),
            (Self::DATA_ON_READERS, "DATA_ON_READERS"),
            (Self::INCONSISTENT_TOPIC, "INCONSISTENT_TOPIC"),
            (Self::SLOW_READER, "SLOW_READER"),
            (Self::LIVELINESS_LOST, "LIVELINESS_LOST"),
            (Self::LIVELINESS_CHANGED, "LIVELINESS_CHANGED"),
            (Self::DEADLINE_MISSED, "DEADLINE_MISSED"),
        ];
        let mut set = f.debug_set();
        for (status, name) in names {
            if self.contains(status) {
                set.entry(&name);
            }
        }
        set.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_join_intersect_and_invert() {
        let mask = StatusMask::MATCHED | StatusMask::SAMPLE_LOST;
        assert!(mask.contains(StatusMask::MATCHED) && !mask.contains(StatusMask::DATA_AVAILABLE));
        assert_eq!(mask & StatusMask::MATCHED, StatusMask::MATCHED);
        assert_eq!(!StatusMask::NONE, StatusMask::ALL);
        assert!((!StatusMask::ALL).is_empty());
        assert_eq!(format!("{mask:?}"), r#"{"MATCHED", "SAMPLE_LOST"}"#);
    }
}
