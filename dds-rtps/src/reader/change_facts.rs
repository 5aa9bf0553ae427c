//! Facts about a change that stand beside its payload: status, key hash, timestamps.

use super::config::Source;
use crate::history::ChangeKind;
use crate::types::{Duration, Time};
use crate::wire::{InlineQos, SampleIdentity};

/// Facts from a submessage and its inline QoS.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ChangeFacts {
    pub(crate) status_info: u32,
    pub(crate) key_hash: Option<[u8; 16]>,
    pub(crate) lifespan: Option<Duration>,
    pub(crate) source_timestamp: Time,
    pub(crate) related_sample: Option<SampleIdentity>,
    /// Identity of the original sample, if another writer than the sender wrote it.
    pub(crate) original: Option<SampleIdentity>,
}

impl Default for ChangeFacts {
    fn default() -> Self {
        Self {
            status_info: 0,
            key_hash: None,
            lifespan: None,
            source_timestamp: Time::INVALID,
            related_sample: None,
            original: None,
        }
    }
}

impl ChangeFacts {
    pub(crate) fn new(inline_qos: Option<&InlineQos<'_>>, source: &Source) -> Self {
        let source_timestamp = source.timestamp.unwrap_or(Time::INVALID);
        match inline_qos {
            None => Self { source_timestamp, ..Self::default() },
            Some(inline_qos) => Self {
                status_info: inline_qos.status_info(),
                key_hash: inline_qos.key_hash(),
                lifespan: inline_qos.lifespan(),
                source_timestamp,
                related_sample: inline_qos.related_sample_identity(source.vendor),
                original: inline_qos.original_writer(),
            },
        }
    }

    /// Facts of a change with no other parameters than STATUS_INFO and KEY_HASH, found in one pass.
    ///
    /// `None`: the inline QoS has other parameters; the caller uses [`ChangeFacts::new`].
    #[inline]
    pub(crate) fn plain(inline_qos: Option<&InlineQos<'_>>, source: &Source) -> Option<Self> {
        let (status_info, key_hash) = match inline_qos {
            Some(inline_qos) => inline_qos.plain()?,
            None => (0, None),
        };
        let source_timestamp = source.timestamp.unwrap_or(Time::INVALID);
        Some(Self { status_info, key_hash, source_timestamp, ..Self::default() })
    }

    /// Adds the facts of another fragment of the same sample.
    pub(crate) fn merge(&mut self, other: Self) {
        self.status_info |= other.status_info;
        self.key_hash = self.key_hash.or(other.key_hash);
        self.lifespan = self.lifespan.or(other.lifespan);
        self.related_sample = self.related_sample.or(other.related_sample);
        self.original = self.original.or(other.original);
        if !self.source_timestamp.is_valid() {
            self.source_timestamp = other.source_timestamp;
        }
    }

    pub(crate) fn kind(&self) -> ChangeKind {
        ChangeKind::from_status_info(self.status_info)
    }
}
