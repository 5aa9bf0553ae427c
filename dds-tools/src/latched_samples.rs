//! The last samples that late readers of a topic receive.

use dds_core::{InstanceHandle, SampleInfo};
use std::collections::BTreeMap;

/// The writer and the instance of a sample. Topics without a key have one instance for all writers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LatchedKey {
    /// Number of the topic.
    pub topic: usize,
    /// The instance.
    pub instance: InstanceHandle,
    /// The writer.
    pub writer: InstanceHandle,
}

impl LatchedKey {
    /// Returns the key of a sample.
    #[must_use]
    pub const fn new(topic: usize, info: &SampleInfo) -> Self {
        Self { topic, instance: info.instance_handle, writer: info.publication_handle }
    }
}

/// The last sample of each writer and instance, bounded in number and bytes.
#[derive(Debug)]
pub(crate) struct LatchedSamples<S> {
    samples_max: usize,
    bytes_max: usize,
    /// Each sample with its number and length.
    samples: BTreeMap<LatchedKey, (u64, usize, S)>,
    /// The keys by the number of their sample. The oldest sample has the lowest one.
    order: BTreeMap<u64, LatchedKey>,
    next_number: u64,
    bytes: usize,
}

/// The samples that left for another one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Displaced<S> {
    /// The sample before, of the same writer and instance.
    pub(crate) replaced: Option<S>,
    /// Number of samples that had no room.
    pub(crate) evicted: u64,
}

impl<S> LatchedSamples<S> {
    /// Creates a store for at most `samples_max` samples of `bytes_max` bytes.
    pub(crate) fn new(samples_max: usize, bytes_max: usize) -> Self {
        let (samples, order) = (BTreeMap::new(), BTreeMap::new());
        Self { samples_max, bytes_max, samples, order, next_number: 0, bytes: 0 }
    }

    /// Returns the bytes of all samples.
    pub(crate) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Keeps a sample in place of the one with the same key. The oldest samples make room for it.
    pub(crate) fn keep(&mut self, key: LatchedKey, len: usize, sample: S) -> Displaced<S> {
        let mut displaced = Displaced { replaced: self.remove(key), evicted: 0 };
        if len > self.bytes_max {
            displaced.evicted += 1;
            return displaced;
        }
        while self.samples.len() >= self.samples_max || self.bytes + len > self.bytes_max {
            let Some(oldest) = self.order.values().next().copied() else { break };
            displaced.evicted += u64::from(self.remove(oldest).is_some());
        }
        self.bytes += len;
        self.order.insert(self.next_number, key);
        self.samples.insert(key, (self.next_number, len, sample));
        self.next_number += 1;
        displaced
    }

    /// Removes the samples of all writers of an instance that has ended.
    pub(crate) fn end_instance(&mut self, topic: usize, instance: InstanceHandle) {
        // The nil handle is the lowest one.
        let first = LatchedKey { topic, instance, writer: InstanceHandle::NIL };
        while let Some((&key, _)) = self.samples.range(first..).next() {
            if (key.topic, key.instance) != (topic, instance) {
                break;
            }
            self.remove(key);
        }
    }

    /// Returns the samples, from the oldest to the newest one.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &S> {
        self.order.values().filter_map(|key| self.samples.get(key).map(|(_, _, sample)| sample))
    }

    fn remove(&mut self, key: LatchedKey) -> Option<S> {
        let (number, len, sample) = self.samples.remove(&key)?;
        self.order.remove(&number);
        self.bytes -= len;
        Some(sample)
    }
}

#[cfg(test)]
mod tests {
    use super::{LatchedKey, LatchedSamples};
    use dds_core::InstanceHandle;

    fn key(writer: u8, instance: u8) -> LatchedKey {
        let handle = |byte| InstanceHandle::from_key_hash([byte; 16]);
        LatchedKey { topic: 0, instance: handle(instance), writer: handle(writer) }
    }

    fn values(samples: &LatchedSamples<u32>) -> Vec<u32> {
        samples.iter().copied().collect()
    }

    #[test]
    fn each_writer_has_its_sample_until_the_instance_ends() {
        let mut samples = LatchedSamples::new(10, 100);
        for (writer, instance, value) in [(1, 0, 1), (2, 0, 2), (1, 1, 3), (1, 0, 4)] {
            samples.keep(key(writer, instance), 10, value);
        }
        assert_eq!((values(&samples), samples.bytes()), (vec![2, 3, 4], 30));
        samples.end_instance(0, key(0, 0).instance);
        assert_eq!((values(&samples), samples.bytes()), (vec![3], 10));
    }

    #[test]
    fn oldest_samples_leave_at_each_limit() {
        let mut samples = LatchedSamples::new(3, 25);
        let (mut replaced, mut evicted) = (Vec::new(), 0);
        for (instance, len) in [(1, 10), (2, 10), (3, 10), (4, 1), (5, 1), (5, 2), (4, 26)] {
            let displaced = samples.keep(key(1, instance), len, u32::from(instance));
            replaced.extend(displaced.replaced);
            evicted += displaced.evicted;
        }
        // The third sample has no room beside the first one, and the fifth one exceeds the number.
        assert_eq!((values(&samples), samples.bytes()), (vec![3, 5], 12));
        assert_eq!((replaced, evicted), (vec![5, 4], 3));
    }
}
