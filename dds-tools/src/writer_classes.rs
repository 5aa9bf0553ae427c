//! The policies of a writer that decide which reader of its topic records it.

use dds_core::builtin::PublicationBuiltinTopicData;
use dds_core::qos::{Durability, Ownership};
use dds_core::{DataReader, InstanceHandle};
use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Most writers of a topic whose class is remembered. Without the memory, a sample may come twice.
pub(crate) const WRITERS_MAX: usize = 65_536;

/// The policies of a writer that decide which reader receives all of its samples.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct WriterClass {
    pub(crate) is_reliable: bool,
    pub(crate) is_transient_local: bool,
    pub(crate) ownership: Ownership,
}

impl WriterClass {
    pub(crate) fn of(writer: &PublicationBuiltinTopicData) -> Self {
        Self {
            is_reliable: writer.qos.reliability.is_reliable(),
            is_transient_local: writer.qos.durability >= Durability::TransientLocal,
            ownership: writer.qos.ownership,
        }
    }
}

/// The classes of the writers of a topic, also of those that have left.
#[derive(Debug, Default)]
pub(crate) struct WriterClasses {
    /// Bounded by [`WRITERS_MAX`].
    known: Mutex<HashMap<InstanceHandle, WriterClass>>,
}

impl WriterClasses {
    fn known(&self) -> MutexGuard<'_, HashMap<InstanceHandle, WriterClass>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the class of a writer. It asks the reader until it matches the writer, and then never again.
    pub(crate) fn of<T>(&self, writer: InstanceHandle, reader: &DataReader<T>) -> Option<WriterClass> {
        if writer.is_nil() {
            return None;
        }
        let known = self.known().get(&writer).copied();
        if known.is_some() {
            return known;
        }
        // Without the lock, because other readers of the topic need it.
        let class = WriterClass::of(&reader.matched_publication_data(writer)?);
        self.insert(writer, class);
        Some(class)
    }

    fn insert(&self, writer: InstanceHandle, class: WriterClass) {
        let mut known = self.known();
        if known.len() >= WRITERS_MAX {
            known.clear();
        }
        known.insert(writer, class);
    }
}

#[cfg(test)]
mod tests {
    use super::{WRITERS_MAX, WriterClass, WriterClasses};
    use dds_core::InstanceHandle;
    use dds_core::qos::Ownership;

    #[test]
    fn writers_without_end_take_bounded_memory() {
        let classes = WriterClasses::default();
        let class = WriterClass { is_reliable: true, is_transient_local: false, ownership: Ownership::default() };
        for number in 0..=WRITERS_MAX {
            let mut handle = [1; 16];
            handle[..8].copy_from_slice(&(number as u64).to_be_bytes());
            classes.insert(InstanceHandle::from_key_hash(handle), class);
        }
        assert_eq!(classes.known().len(), 1);
    }
}
