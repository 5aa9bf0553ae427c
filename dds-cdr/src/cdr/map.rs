//! Maps: a `u32` count, then a key and a value for each entry.
//!
//! In XCDR2, a length in bytes (DHEADER) precedes the map, unless keys and values are primitive (XTYPES 1.3, 7.4.3.5.3,
//! rules 14 and 15). The count follows the DHEADER. Rule 15 omits it, but 7.4.1.1.4 encodes a map as a sequence of
//! entries, and Fast DDS writes it so. Fast DDS omits the DHEADER of maps from strings to primitives, so it cannot
//! exchange those in XCDR2.

use super::{
    Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, LengthCode, MapKey, TypeDescription,
    TypeInfo, TypeKind,
};
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

/// Operations that both maps of the standard library have.
trait Entries<K, V>: Default {
    /// Removes the entry of a key, if there is one.
    fn remove_entry(&mut self, key: &K) -> Option<(K, V)>;
    /// Adds an entry. Returns `false` if the map already had the key.
    fn add(&mut self, key: K, value: V) -> bool;
}

fn encode_entries<'a, K: Encode + 'a, V: Encode + 'a>(
    entries: impl ExactSizeIterator<Item = (&'a K, &'a V)>,
    e: &mut Encoder<'_>,
) -> Result<(), EncodeError> {
    e.collection(K::IS_PRIMITIVE && V::IS_PRIMITIVE, |e| {
        e.length(entries.len())?;
        for (key, value) in entries {
            key.encode(e)?;
            value.encode(e)?;
        }
        Ok(())
    })
}

/// Decodes a map. `entries` gets the number of entries.
fn decode_entries<'de, K: Decode<'de>, V: Decode<'de>, R>(
    d: &mut Decoder<'de>,
    entries: impl FnOnce(&mut Decoder<'de>, usize) -> Result<R, DecodeError>,
) -> Result<R, DecodeError> {
    d.nested(size_of::<(K, V)>(), |d| {
        d.collection(K::IS_PRIMITIVE && V::IS_PRIMITIVE, |d| {
            // Entries have no budget for values without bytes, so each counts as at least one byte.
            let count = d.length((K::SIZE_MIN + V::SIZE_MIN).max(1))?;
            entries(d, count)
        })
    })
}

/// Decodes `count` entries, and adds them to a map. Reuses keys and values of `old`.
fn rebuild<'de, K: Decode<'de>, V: Decode<'de>>(
    map: &mut impl Entries<K, V>,
    mut old: impl Entries<K, V>,
    count: usize,
    d: &mut Decoder<'de>,
) -> Result<(), DecodeError> {
    for _ in 0..count {
        // An error has the offset of the key.
        let start = d.position();
        let key = K::decode(d)?;
        // A value of the previous sample keeps its allocations. The key comes along, because it is already allocated.
        let (key, value) = match old.remove_entry(&key) {
            Some((key, mut value)) => {
                value.decode_into(d)?;
                (key, value)
            }
            None => (key, V::decode(d)?),
        };
        // A map has each key once, and neither of two values has priority.
        if !map.add(key, value) {
            return Err(DecodeError::new(start, DecodeErrorKind::DuplicateKey));
        }
    }
    Ok(())
}

/// Decodes values in place while the received keys equal the keys of the map, in order. Returns the number of values.
fn update_sorted<'de, K: MapKey + Decode<'de> + PartialEq, V: Decode<'de>>(
    map: &mut BTreeMap<K, V>,
    d: &mut Decoder<'de>,
) -> Result<usize, DecodeError> {
    let (mut scratch, mut taken) = (None, 0);
    for (key, value) in map {
        let start = d.clone();
        if !key.is_next(&mut scratch, d)? {
            d.go_back_to(start);
            break;
        }
        value.decode_into(d)?;
        // Equal keys at the start keep their values. The first other key ends the pass.
        taken += 1;
    }
    Ok(taken)
}

/// Decodes as many entries as the map has, in any order. Values of known keys are decoded in place; other entries are
/// replaced.
fn update_hashed<'de, K, V, S>(map: &mut HashMap<K, V, S>, d: &mut Decoder<'de>) -> Result<(), DecodeError>
where
    K: MapKey + Decode<'de> + Hash + Eq,
    V: Decode<'de>,
    S: BuildHasher + Default,
{
    let (count, mut scratch, mut others) = (map.len(), None, None);
    let place_of = |value: &V| std::ptr::from_ref(value).addr();
    // Addresses of the decoded values, with the input positions of their keys. No value moves until all are decoded.
    let mut places = SmallVec::<[(usize, usize); LISTED_ON_STACK]>::with_capacity(count);
    for _ in 0..count {
        let start = d.clone();
        let position = d.position();
        if let Some(value) = K::find(map, &mut scratch, d)? {
            places.push((place_of(value), position));
            value.decode_into(d)?;
            continue;
        }
        // The key is new, so it is decoded again as an owned value.
        d.go_back_to(start);
        let (key, value) = (K::decode(d)?, V::decode(d)?);
        if !others.get_or_insert_with(HashMap::<K, V, S>::default).add(key, value) {
            return Err(DecodeError::new(position, DecodeErrorKind::DuplicateKey));
        }
    }
    // A key that occurs twice is decoded twice to the same address.
    places.sort_unstable();
    let twice = places.windows(2).filter_map(|pair| match pair {
        [(one, _), (other, position)] if one == other => Some(*position),
        _ => None,
    });
    if let Some(position) = twice.min() {
        return Err(DecodeError::new(position, DecodeErrorKind::DuplicateKey));
    }
    // The counts are equal: without new keys, every old key was received.
    if let Some(others) = others {
        // Old keys that were not received go. The addresses are still valid: nothing was inserted yet.
        map.retain(|_, value| places.binary_search_by_key(&place_of(value), |(place, _)| *place).is_ok());
        map.extend(others);
    }
    Ok(())
}

impl<K: Ord, V> Entries<K, V> for BTreeMap<K, V> {
    fn remove_entry(&mut self, key: &K) -> Option<(K, V)> {
        self.remove_entry(key)
    }

    fn add(&mut self, key: K, value: V) -> bool {
        self.insert(key, value).is_none()
    }
}

impl<K: Hash + Eq, V, S: BuildHasher + Default> Entries<K, V> for HashMap<K, V, S> {
    fn remove_entry(&mut self, key: &K) -> Option<(K, V)> {
        self.remove_entry(key)
    }

    fn add(&mut self, key: K, value: V) -> bool {
        self.insert(key, value).is_none()
    }
}

/// Entries are ordered by their keys.
impl<'de, K: MapKey + Decode<'de> + Ord, V: Decode<'de>> Decode<'de> for BTreeMap<K, V> {
    // The count. A DHEADER may precede it, but not in each encoding.
    const SIZE_MIN: usize = 4;

    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let mut map = Self::new();
        map.decode_into(d)?;
        Ok(map)
    }

    /// Keeps the memory of keys and values, if the keys are the same and in order.
    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        decode_entries::<K, V, ()>(d, |d, count| {
            let taken = if self.len() == count { update_sorted(self, d)? } else { 0 };
            if taken == count && self.len() == count {
                return Ok(());
            }
            // Decoded values stay: decoding a value of a recursive type again would double the cost with each level.
            let mut old = std::mem::take(self).into_iter();
            self.extend(old.by_ref().take(taken));
            rebuild(self, old.collect::<Self>(), count - taken, d)
        })
    }

    fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self::new())
    }
}

/// Entries have no particular order.
impl<'de, K: MapKey + Decode<'de> + Hash + Eq, V: Decode<'de>, S: BuildHasher + Default> Decode<'de>
    for HashMap<K, V, S>
{
    const SIZE_MIN: usize = 4;

    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let mut map = Self::default();
        map.decode_into(d)?;
        Ok(map)
    }

    /// Keeps the memory of keys and values, if the keys are the same in any order.
    ///
    /// With more than 64 entries, the call allocates a temporary list. If keys differ, values of known keys keep their
    /// memory.
    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        decode_entries::<K, V, ()>(d, |d, count| {
            // Values without a size all have the same address, which cannot identify them.
            if self.len() == count && size_of::<V>() > 0 {
                return update_hashed(self, d);
            }
            // Another count means other keys, so a rebuild costs little more.
            let old = std::mem::take(self);
            rebuild(self, old, count, d)
        })
    }

    fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self::default())
    }
}

macro_rules! map {
    ($([$($parameters:tt)*] $map:ty;)*) => {$(
        impl<K: MapKey + Encode, V: Encode, $($parameters)*> Encode for $map {
            const LENGTH_CODE: LengthCode = LengthCode::of_array(K::IS_PRIMITIVE && V::IS_PRIMITIVE);

            fn encode(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                encode_entries(self.iter(), e)
            }

            fn encode_key(&self, e: &mut Encoder<'_>) -> Result<(), EncodeError> {
                self.encode(e)
            }
        }

        impl<K: MapKey + TypeInfo, V: TypeInfo, $($parameters)*> TypeInfo for $map {
            const TYPE_NAME: &'static str = "map";
            const HAS_KEY: bool = false;
            const DESCRIPTION: &'static TypeDescription = &TypeDescription::new(
                Self::TYPE_NAME,
                TypeKind::Map { bound: None, key: || K::DESCRIPTION, element: || V::DESCRIPTION },
            );
        }
    )*};
}

map! {
    [] BTreeMap<K, V>;
    [S] HashMap<K, V, S>;
}

/// Number of entries whose list fits on the stack: one kilobyte.
const LISTED_ON_STACK: usize = 64;
