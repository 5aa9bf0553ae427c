//! Maps: a `u32` count, and as often a key and its value.
//!
//! In XCDR2 they carry their length in bytes in front, unless both keys and values are primitives (XTYPES 1.3, 7.4.3.5.3,
//! rules 14 and 15). The count stands behind that length: 7.4.1.1.4 has a map encoded as a sequence of entries, and Fast
//! DDS writes it so, though rule 15 does not mention it. Fast DDS leaves the length out before maps of strings to
//! primitives; those cannot be exchanged with it in XCDR2.

use super::{
    Decode, DecodeError, DecodeErrorKind, Decoder, Encode, EncodeError, Encoder, LengthCode, MapKey, TypeDescription,
    TypeInfo, TypeKind,
};
use smallvec::SmallVec;
use std::collections::{BTreeMap, HashMap};
use std::hash::{BuildHasher, Hash};

/// What the maps of the standard library have in common.
trait Entries<K, V>: Default {
    fn remove_entry(&mut self, key: &K) -> Option<(K, V)>;
    /// Adds an entry; `false` if the key was there before.
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

/// Takes a map: `entries` gets the number of entries.
fn decode_entries<'de, K: Decode<'de>, V: Decode<'de>, R>(
    d: &mut Decoder<'de>,
    entries: impl FnOnce(&mut Decoder<'de>, usize) -> Result<R, DecodeError>,
) -> Result<R, DecodeError> {
    d.nested(size_of::<(K, V)>(), |d| {
        d.collection(K::IS_PRIMITIVE && V::IS_PRIMITIVE, |d| {
            let count = d.length((K::SIZE_MIN + V::SIZE_MIN).max(1))?;
            entries(d, count)
        })
    })
}

/// Takes `count` entries into a map, using keys and values again that it has.
fn rebuild<'de, K: Decode<'de>, V: Decode<'de>>(
    map: &mut impl Entries<K, V>,
    count: usize,
    d: &mut Decoder<'de>,
) -> Result<(), DecodeError> {
    let mut old = std::mem::take(map);
    for _ in 0..count {
        let start = d.position();
        let key = K::decode(d)?;
        let (key, value) = match old.remove_entry(&key) {
            Some((key, mut value)) => {
                value.decode_into(d)?;
                (key, value)
            }
            None => (key, V::decode(d)?),
        };
        if !map.add(key, value) {
            return Err(DecodeError::new(start, DecodeErrorKind::DuplicateKey));
        }
    }
    Ok(())
}

/// Takes the values of a map, if its keys are those that come, in the same order; else `false`.
fn update_sorted<'de, K: MapKey + Decode<'de> + PartialEq, V: Decode<'de>>(
    map: &mut BTreeMap<K, V>,
    d: &mut Decoder<'de>,
) -> Result<bool, DecodeError> {
    let mut scratch = None;
    for (key, value) in map {
        if !key.is_next(&mut scratch, d)? {
            return Ok(false);
        }
        value.decode_into(d)?;
    }
    Ok(true)
}

/// Takes the values of a map, if its keys are those that come, in any order; else `false`.
fn update_hashed<'de, K, V, S>(map: &mut HashMap<K, V, S>, d: &mut Decoder<'de>) -> Result<bool, DecodeError>
where
    K: MapKey + Decode<'de> + Hash + Eq,
    V: Decode<'de>,
    S: BuildHasher,
{
    let (count, mut scratch) = (map.len(), None);
    // Where the values lie: as many keys come as there are, so none is left over if none comes twice.
    let mut places = SmallVec::<[usize; LISTED_ON_STACK]>::with_capacity(count);
    for _ in 0..count {
        let Some(value) = K::find(map, &mut scratch, d)? else { return Ok(false) };
        places.push(std::ptr::from_ref(value).addr());
        value.decode_into(d)?;
    }
    places.sort_unstable();
    Ok(places.windows(2).all(|pair| pair.first() != pair.last()))
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

/// Entries travel in the order of their keys.
impl<'de, K: MapKey + Decode<'de> + Ord, V: Decode<'de>> Decode<'de> for BTreeMap<K, V> {
    const SIZE_MIN: usize = 4;

    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let mut map = Self::new();
        map.decode_into(d)?;
        Ok(map)
    }

    /// Allocates nothing for the map, its keys and its values, if the keys are the same as before and come in their order.
    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        decode_entries::<K, V, ()>(d, |d, count| {
            let start = d.clone();
            if self.len() == count && update_sorted(self, d)? {
                return Ok(());
            }
            d.go_back_to(start);
            rebuild(self, count, d)
        })
    }

    fn missing(_: &Decoder<'de>) -> Result<Self, DecodeError> {
        Ok(Self::new())
    }
}

/// Entries travel in no particular order.
impl<'de, K: MapKey + Decode<'de> + Hash + Eq, V: Decode<'de>, S: BuildHasher + Default> Decode<'de>
    for HashMap<K, V, S>
{
    const SIZE_MIN: usize = 4;

    fn decode(d: &mut Decoder<'de>) -> Result<Self, DecodeError> {
        let mut map = Self::default();
        map.decode_into(d)?;
        Ok(map)
    }

    /// Allocates nothing for the map, its keys and its values, if the keys are the same as before, in any order. (Of more
    /// than 64 entries, there is a list for the time of the call.) Else the values whose keys come again keep their memory.
    fn decode_into(&mut self, d: &mut Decoder<'de>) -> Result<(), DecodeError> {
        decode_entries::<K, V, ()>(d, |d, count| {
            let start = d.clone();
            if self.len() == count && update_hashed(self, d)? {
                return Ok(());
            }
            d.go_back_to(start);
            rebuild(self, count, d)
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

/// Of so many entries it is noted on the stack which ones have come: half a kilobyte.
const LISTED_ON_STACK: usize = 64;
