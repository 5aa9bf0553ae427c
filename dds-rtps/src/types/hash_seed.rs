//! Seeds of hash tables whose keys a peer can choose.

use foldhash::SharedSeed;
use foldhash::fast::{FoldHasher, SeedableRandomState};
use std::fmt;
#[allow(deprecated, reason = "see `HashSeed::keyed_digest`")]
use std::hash::SipHasher;
use std::hash::{BuildHasher, Hash, Hasher};
use std::sync::OnceLock;

/// Hash state of a table whose keys a peer can choose. Only a [`HashSeed`] creates it.
#[derive(Clone)]
pub struct KeyedState(SeedableRandomState);

impl BuildHasher for KeyedState {
    type Hasher = FoldHasher<'static>;

    #[inline(always)]
    fn build_hasher(&self) -> Self::Hasher {
        self.0.build_hasher()
    }
}

/// Secret of this process. As a static it outlives all tables.
static SECRET: OnceLock<Secret> = OnceLock::new();

struct Secret {
    shared: SharedSeed,
    key: (u64, u64),
}

/// Seed of hash tables whose keys a peer can choose.
///
/// A peer that knows the whole seed can choose keys with equal hashes, which makes each lookup as slow as a scan.
#[derive(Clone, Copy)]
pub struct HashSeed {
    of_table: u64,
    shared: &'static SharedSeed,
    key: (u64, u64),
}

impl HashSeed {
    /// Creates a seed that peers cannot know.
    ///
    /// `of_table` may be known. `random` draws the secret of this process, once, from a source that peers cannot
    /// predict.
    pub fn secret(of_table: u64, random: impl Fn() -> u64) -> Self {
        let draw = || Secret { shared: SharedSeed::from_u64(random()), key: (random(), random()) };
        let Secret { shared, key } = SECRET.get_or_init(draw);
        Self { of_table, shared, key: *key }
    }

    /// Creates a seed that is equal in each run, for simulations and tests.
    #[must_use]
    pub const fn fixed(seed: u64) -> Self {
        Self { of_table: seed, shared: SharedSeed::global_fixed(), key: (seed, 0) }
    }

    /// Returns a number that only a holder of this seed can derive from `text`, however many are public.
    ///
    /// The hashes of tables are fast, and some of them shown would tell the seed. This one is SipHash.
    #[must_use]
    #[allow(deprecated, reason = "the standard library has no other hash with a key, and this is SipHash 2-4")]
    pub fn keyed_digest(self, text: impl Hash) -> u64 {
        let mut hasher = SipHasher::new_with_keys(self.key.0, self.key.1);
        (self.of_table, text).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the hash state of a new table.
    #[must_use]
    pub fn state(self) -> KeyedState {
        KeyedState(SeedableRandomState::with_seed(self.of_table, self.shared))
    }
}

impl PartialEq for HashSeed {
    fn eq(&self, other: &Self) -> bool {
        self.of_table == other.of_table && std::ptr::eq(self.shared, other.shared)
    }
}

impl Eq for HashSeed {}

impl Default for HashSeed {
    /// A fixed seed.
    fn default() -> Self {
        Self::fixed(0)
    }
}

/// Hides the numbers, because a log must not tell the secret.
impl fmt::Debug for HashSeed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HashSeed").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Keys of 16 bytes, with second halves that cancel the public constant of foldhash.
    fn chosen_keys() -> Vec<[u8; 16]> {
        let mut keys = Vec::new();
        for number in 0..1000_u64 {
            let mut key = [0; 16];
            key[..8].copy_from_slice(&number.to_le_bytes());
            key[8..].copy_from_slice(&[0x17, 0x09, 0x47, 0xb5, 0xb5, 0xd5, 0x84, 0x3f]);
            keys.push(key);
        }
        keys
    }

    fn distinct_hashes(seed: HashSeed) -> usize {
        let state = seed.state();
        chosen_keys()
            .iter()
            .map(|key| state.hash_one(crate::types::InstanceHandle::from_key_hash(*key)))
            .collect::<BTreeSet<u64>>()
            .len()
    }

    #[test]
    fn chosen_keys_collide_under_a_public_seed_only() {
        assert!(distinct_hashes(HashSeed::fixed(77)) < 10, "the keys no longer attack the public constants");
        assert!(distinct_hashes(HashSeed::secret(77, || 0x6c62_272e_07bb_0142)) > 990);
    }

    #[test]
    fn fixed_seed_gives_equal_hashes() {
        assert_eq!(HashSeed::fixed(5).state().hash_one(7_u32), HashSeed::fixed(5).state().hash_one(7_u32));
        assert_ne!(HashSeed::fixed(5).state().hash_one(7_u32), HashSeed::fixed(6).state().hash_one(7_u32));
    }

    #[test]
    fn debug_text_hides_the_secret() {
        assert_eq!(format!("{:?}", HashSeed::secret(123_456, || 7)), "HashSeed { .. }");
    }
}
