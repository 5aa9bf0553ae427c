//! Keys of instances, also after their reader has removed them.
//!
//! A reader removes an instance that has ended with the last take. An end can also arrive with the hash of the key
//! alone. Both ends still have a key here.

use dds_cdr::cdr::encode_key_payload;
use dds_core::cdr::{DecodeOwned, Encoding, Raw};
use dds_core::dynamic::{DynamicData, DynamicType};
use dds_core::reader::SampleRef;
use dds_core::relay::{self, KeySource};
use dds_core::{DataReader, DataReaderBuilder, InstanceHandle};
use std::collections::{HashMap, VecDeque};

/// Most instances with a kept key.
const INSTANCES_MAX: usize = 4096;
/// Longest kept key, in encoded bytes. So the keys of a topic take 16 MiB at most.
const KEY_LEN_MAX: usize = 4096;

/// A type of samples whose instances may have keys.
pub(crate) trait EndKey: DecodeOwned + Clone + Send + Sync + 'static {
    /// Returns the key of an instance that ended with `sample`, if the reader knows it.
    fn key_of_end(reader: &DataReader<Self>, sample: &SampleRef<'_, Self>) -> Option<DynamicData>;

    /// Announces whether the topic has a key. Some peers match no other reader. A type says that by itself.
    fn keyed(builder: DataReaderBuilder<'_, Self>, _is_keyed: bool) -> DataReaderBuilder<'_, Self> {
        builder
    }
}

impl EndKey for DynamicData {
    fn key_of_end(reader: &DataReader<Self>, sample: &SampleRef<'_, Self>) -> Option<DynamicData> {
        let instance = sample.info().instance_handle;
        if instance.is_nil() {
            return None;
        }
        // The sample has the key even if the take removed the instance from the reader.
        sample.key().or_else(|| reader.key_value(instance))
    }
}

impl EndKey for Raw {
    fn key_of_end(_: &DataReader<Self>, _: &SampleRef<'_, Self>) -> Option<DynamicData> {
        None
    }

    fn keyed(builder: DataReaderBuilder<'_, Self>, is_keyed: bool) -> DataReaderBuilder<'_, Self> {
        if is_keyed { relay::key_source(builder, KeySource::KeyHash) } else { builder }
    }
}

/// An encoded key. The values of the other members, such as a large array, take no memory.
#[derive(Debug)]
pub(crate) struct KeptKey {
    ty: DynamicType,
    payload: Box<[u8]>,
}

impl KeptKey {
    /// Encodes the key of a sample. `None` if it does not fit its type.
    pub(crate) fn new(sample: &DynamicData) -> Option<Self> {
        let mut payload = Vec::new();
        encode_key_payload::<DynamicData>(sample, Encoding::Xcdr2, &mut payload).ok()?;
        Some(Self { ty: sample.ty().clone(), payload: payload.into() })
    }

    /// Returns the bytes of the encoded key.
    pub(crate) fn len(&self) -> usize {
        self.payload.len()
    }

    /// Returns a sample that has only the key.
    pub(crate) fn to_sample(&self) -> Option<DynamicData> {
        DynamicData::from_key_payload(&self.ty, &self.payload).ok()
    }
}

/// The keys of the instances of one topic.
#[derive(Debug, Default)]
pub(crate) struct InstanceKeys {
    keys: HashMap<InstanceHandle, KeptKey>,
    /// The instances of `keys`, the oldest one first.
    order: VecDeque<InstanceHandle>,
}

impl InstanceKeys {
    /// Keeps the key of a sample's instance. The oldest key makes room for it.
    pub(crate) fn keep(&mut self, instance: InstanceHandle, sample: &DynamicData) {
        // A topic without a key has one instance, and no key.
        if instance.is_nil() || self.keys.contains_key(&instance) {
            return;
        }
        let Some(key) = KeptKey::new(sample).filter(|key| key.len() <= KEY_LEN_MAX) else { return };
        if self.order.len() >= INSTANCES_MAX {
            self.order.pop_front().and_then(|oldest| self.keys.remove(&oldest));
        }
        self.order.push_back(instance);
        self.keys.insert(instance, key);
    }

    fn kept(&self, instance: InstanceHandle) -> Option<DynamicData> {
        self.keys.get(&instance)?.to_sample()
    }

    /// Keeps and returns the key that arrived with the end of an instance.
    ///
    /// Without such a key, it returns the kept one. `None` for a topic without a key, and if only the hash arrived.
    pub(crate) fn or_kept(&mut self, instance: InstanceHandle, arrived: Option<DynamicData>) -> Option<DynamicData> {
        match arrived {
            Some(key) => {
                self.keep(instance, &key);
                Some(key)
            }
            None => self.kept(instance),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{INSTANCES_MAX, InstanceKeys, KEY_LEN_MAX};
    use dds_core::InstanceHandle;
    use dds_core::dynamic::{DynamicData, DynamicType};

    fn instance(number: usize) -> InstanceHandle {
        let mut bytes = [1; 16];
        bytes[..8].copy_from_slice(&(number as u64).to_be_bytes());
        InstanceHandle::from_key_hash(bytes)
    }

    #[test]
    fn oldest_and_long_keys_are_dropped() {
        let ty = DynamicType::structure("Robot")
            .member("name", DynamicType::string())
            .key()
            .member("x", DynamicType::float64())
            .build()
            .unwrap();
        let mut sample = DynamicData::new(&ty);
        let mut keys = InstanceKeys::default();
        sample.set("name", "r".repeat(KEY_LEN_MAX)).unwrap();
        keys.keep(instance(0), &sample);
        assert!(keys.keys.is_empty());
        for number in 0..=INSTANCES_MAX {
            sample.set("name", number.to_string()).unwrap();
            keys.keep(instance(number), &sample);
        }
        assert_eq!((keys.keys.len(), keys.order.len()), (INSTANCES_MAX, INSTANCES_MAX));
        assert!(!keys.keys.contains_key(&instance(0)));
        assert_eq!(keys.kept(instance(1)).unwrap().get::<String>("name").unwrap(), "1");
        keys.keep(InstanceHandle::NIL, &sample);
        assert!(!keys.keys.contains_key(&InstanceHandle::NIL));
    }

    #[test]
    fn long_sample_has_short_key() {
        let ranges = DynamicType::array(DynamicType::float64(), 4096);
        let ty = DynamicType::structure("Scan")
            .member("sensor", DynamicType::uint32())
            .key()
            .member("ranges", ranges)
            .build()
            .unwrap();
        let mut sample = DynamicData::new(&ty);
        sample.set("sensor", 7_u32).unwrap();
        let mut keys = InstanceKeys::default();
        keys.keep(instance(1), &sample);
        assert_eq!(keys.kept(instance(1)).unwrap(), sample);
        assert!(keys.keys[&instance(1)].len() < 16);
    }
}
