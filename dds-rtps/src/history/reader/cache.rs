//! Samples by instance: what the reader history stores, and the steps that keep samples and instances consistent.

use super::instances::{InstanceIndex, InstanceTable, ReaderInstance};
use super::sample_store::{NO_SAMPLE, SampleIndex, SampleStore, StoredSample};
use super::{InstanceState, ViewState};
use crate::concurrent::Payload;
use crate::history::{CacheChange, ChangeKind};
use crate::types::{HashSeed, SequenceNumber, Time};

/// The samples of a reader and their instances.
#[derive(Debug)]
pub(super) struct SampleCache {
    pub(super) samples: SampleStore,
    pub(super) instances: InstanceTable,
}

impl SampleCache {
    pub(super) fn new(seed: HashSeed) -> Self {
        Self { samples: SampleStore::new(), instances: InstanceTable::new(seed) }
    }

    /// How many samples are stored, notices included.
    pub(super) fn len(&self) -> usize {
        self.samples.arrivals.len
    }

    /// Appends a sample to its instance.
    #[inline]
    pub(super) fn push(&mut self, sample: StoredSample) -> SampleIndex {
        let instance = self.instances.get_mut(sample.instance);
        instance.unread += 1;
        self.samples.push(&mut instance.samples, sample)
    }

    /// Moves the newest sample, which was pushed just now, before another one of its instance.
    pub(super) fn move_newest_before(&mut self, sample: SampleIndex, before: SampleIndex) {
        let instance = self.instances.get_mut(self.samples.get(sample).instance);
        self.samples.move_newest_before(&mut instance.samples, before);
        instance.last_late = sample;
    }

    /// Removes a sample and returns its payload. Does not free the instance.
    pub(super) fn remove(&mut self, sample: SampleIndex) -> Option<Payload> {
        let stored = self.samples.get(sample);
        let instance = self.instances.get_mut(stored.instance);
        if !stored.read {
            debug_assert!(instance.unread > 0, "an unread sample is counted");
            instance.unread -= 1;
        }
        if !stored.has_data {
            instance.notice = NO_SAMPLE;
        }
        if instance.last_late == sample {
            instance.last_late = NO_SAMPLE;
        }
        self.samples.remove(&mut instance.samples, sample)
    }

    /// Marks a sample as read.
    pub(super) fn mark_read(&mut self, sample: SampleIndex) {
        if self.samples.mark_read(sample) {
            let instance = self.samples.get(sample).instance;
            self.instances.get_mut(instance).unread -= 1;
        }
    }

    /// Ensures that the application learns the new state of an instance: from an unread sample, or else from a notice.
    ///
    /// `change` describes the writer and the time of the change of state.
    pub(super) fn announce_state(&mut self, at: InstanceIndex, change: &CacheChange, reception_timestamp: Time) {
        // Each sample carries the instance state when it is handed out.
        if self.instances.get(at).unread > 0 {
            return;
        }
        self.remove_notice(at);
        let instance = self.instances.get(at);
        let notice = StoredSample {
            kind: change.kind,
            writer: change.writer,
            sequence_number: change.sequence_number,
            source_timestamp: change.source_timestamp,
            reception_timestamp,
            expires: None,
            related_sample: change.related_sample,
            origin: change.origin.clone(),
            payload: None,
            has_data: false,
            read: false,
            disposed_generations: instance.disposed_generations,
            no_writers_generations: instance.no_writers_generations,
            instance: at,
        };
        let notice = self.push(notice);
        self.instances.get_mut(at).notice = notice;
    }

    /// Removes the notice of an instance, if it has one.
    pub(super) fn remove_notice(&mut self, at: InstanceIndex) {
        let notice = self.instances.get(at).notice;
        if notice != NO_SAMPLE {
            drop(self.remove(notice));
        }
    }

    /// The oldest sample with data of an instance.
    pub(super) fn oldest_with_data(&self, instance: &ReaderInstance) -> Option<SampleIndex> {
        let mut oldest = instance.samples.first;
        if oldest != NO_SAMPLE && oldest == instance.notice {
            // An instance has at most one notice.
            oldest = self.samples.next_sibling(oldest);
        }
        if oldest == NO_SAMPLE { None } else { Some(oldest) }
    }

    /// The end of the instance that only this sample would report, if any.
    ///
    /// The caller is about to remove the sample. The application may have seen the instance alive and then has to learn
    /// that it is not alive any more.
    pub(super) fn unreported_end(&self, sample: SampleIndex, at: InstanceIndex) -> Option<CacheChange> {
        let (stored, instance) = (self.samples.get(sample), self.instances.get(at));
        let kind = match instance.state {
            InstanceState::Alive => return None,
            InstanceState::NotAliveDisposed => ChangeKind::NotAliveDisposed,
            InstanceState::NotAliveNoWriters => ChangeKind::NotAliveUnregistered,
        };
        // In a later generation the application may have seen an earlier one, whose end was not reported either.
        let was_seen = instance.view == ViewState::NotNew || instance.generation() > 0;
        if stored.read || !was_seen {
            return None;
        }
        Some(CacheChange {
            kind,
            writer: stored.writer,
            sequence_number: SequenceNumber::UNKNOWN,
            instance: instance.handle,
            source_timestamp: Time::INVALID,
            related_sample: None,
            origin: None,
            presented: None,
            payload: None,
        })
    }
}
