//! RSA keys that sign: PKCS #1 v1.5 for certificates and documents, PSS for handshakes.

use super::KeyError;
use crate::crypto::hmac;
use rsa::pkcs1::DecodeRsaPrivateKey;
use rsa::pkcs8::{self, EncodePrivateKey};
use rsa::rand_core::{CryptoRng, Error, RngCore};
use rsa::traits::{PrivateKeyParts, PublicKeyParts};
use rsa::{Pkcs1v15Sign, RsaPrivateKey, RsaPublicKey};
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

/// Bits of keys that are accepted. `rsa` verifies with at most 4096.
pub(super) const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=4096;

/// Most bits by which the factors differ. `rsa` subtracts in a loop, whose length doubles with each of them.
const DIFFERENCE_MAX: usize = 8;

/// Most bytes of an encoded key. Longer numbers would cost much time before their length is known.
const LEN_MAX: usize = 4096;

/// An RSA key, which is overwritten when it is dropped.
pub(super) struct RsaKey {
    key: RsaPrivateKey,
    /// Random bytes, from which the factors that blind the operations follow.
    seed: Zeroizing<[u8; 32]>,
}

impl RsaKey {
    pub(super) fn generate(bits: usize) -> Result<Self, KeyError> {
        let mut numbers = Numbers { key: random_seed()?, block: 0 };
        let key = RsaPrivateKey::new(&mut numbers, bits).map_err(|_| KeyError::NoRandomNumbers)?;
        Self::checked(key)
    }

    /// Reads the structure `RSAPrivateKey` of PKCS #1.
    pub(super) fn from_pkcs1(bytes: &[u8]) -> Result<Self, KeyError> {
        if bytes.len() > LEN_MAX {
            return Err(KeyError::Algorithm);
        }
        Self::checked(RsaPrivateKey::from_pkcs1_der(bytes).map_err(|_| KeyError::Malformed)?)
    }

    /// Checks the length, and that the numbers of the key belong together.
    fn checked(key: RsaPrivateKey) -> Result<Self, KeyError> {
        if !RSA_BITS.contains(&key.n().bits()) {
            return Err(KeyError::Algorithm);
        }
        let [one, other] = key.primes() else { return Err(KeyError::Malformed) };
        if one.bits().abs_diff(other.bits()) > DIFFERENCE_MAX {
            return Err(KeyError::Malformed);
        }
        let key = Self { key, seed: random_seed()? };
        // Factors that are no primes pass the checks of the crate.
        if key.sign(b"").is_empty() { Err(KeyError::Malformed) } else { Ok(key) }
    }

    pub(super) fn public(&self) -> RsaPublicKey {
        self.key.to_public_key()
    }

    pub(super) fn to_pem(&self) -> Zeroizing<String> {
        self.key.to_pkcs8_pem(pkcs8::LineEnding::LF).expect("a key of at most 4096 bits has a text form")
    }

    /// Signs with PKCS #1 v1.5 and SHA-256. The crate verifies each signature: after a fault of the processor, which
    /// would tell the key, the result is empty.
    pub(super) fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        let digest = Sha256::digest(bytes);
        let scheme = Pkcs1v15Sign::new::<Sha256>();
        self.key.sign_with_rng(&mut self.numbers(&digest), scheme, &digest).unwrap_or_default()
    }

    /// Signs with PSS, SHA-256 and a salt of 32 bytes. As [`Self::sign`] after a fault.
    #[cfg(feature = "authentication")]
    pub(super) fn sign_pss(&self, bytes: &[u8]) -> Vec<u8> {
        let digest = Sha256::digest(bytes);
        let scheme = rsa::Pss::new_blinded::<Sha256>();
        self.key.sign_with_rng(&mut self.numbers(&digest), scheme, &digest).unwrap_or_default()
    }

    /// Returns random numbers for one signature. An outsider cannot foresee them, even if the system has none left.
    fn numbers(&self, digest: &[u8]) -> Numbers {
        let mut fresh = Zeroizing::new([0; 32]);
        // Without fresh bytes, the secret seed and the digest still give numbers that others cannot foresee.
        let has_fresh = getrandom::fill(&mut fresh[..]).is_ok();
        Numbers { key: hmac(&self.seed[..], &[&fresh[..], &[u8::from(has_fresh)], digest]), block: 0 }
    }
}

fn random_seed() -> Result<Zeroizing<[u8; 32]>, KeyError> {
    let mut seed = Zeroizing::new([0; 32]);
    getrandom::fill(&mut seed[..]).map_err(|_| KeyError::NoRandomNumbers)?;
    Ok(seed)
}

/// Numbers that follow from a random key, in the form that `rsa` wants. The crate has no source of its own here.
struct Numbers {
    key: Zeroizing<[u8; 32]>,
    block: u64,
}

impl RngCore for Numbers {
    fn next_u32(&mut self) -> u32 {
        let mut bytes = [0; 4];
        self.fill_bytes(&mut bytes);
        u32::from_le_bytes(bytes)
    }

    fn next_u64(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.fill_bytes(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    fn fill_bytes(&mut self, places: &mut [u8]) {
        for places in places.chunks_mut(32) {
            let block = hmac(&self.key[..], &[&self.block.to_le_bytes()]);
            places.copy_from_slice(&block[..places.len()]);
            self.block += 1;
        }
    }

    fn try_fill_bytes(&mut self, places: &mut [u8]) -> Result<(), Error> {
        self.fill_bytes(places);
        Ok(())
    }
}

impl CryptoRng for Numbers {}

#[cfg(test)]
mod tests {
    use super::*;
    use rsa::BigUint;
    use rsa::pkcs1::EncodeRsaPrivateKey;

    /// The first use of such a key would not end.
    #[test]
    fn keys_with_unequal_factors_are_refused() {
        let one = || BigUint::from(1_u8);
        // Both are primes of Mersenne.
        let (short, long) = ((one() << 61_usize) - one(), (one() << 2203_usize) - one());
        for (first, second) in [(short.clone(), long.clone()), (long, short)] {
            let key = RsaPrivateKey::from_p_q(first, second, BigUint::from(65537_u32)).unwrap();
            assert!(RSA_BITS.contains(&key.n().bits()));
            let file = key.to_pkcs1_der().unwrap();
            assert_eq!(RsaKey::from_pkcs1(file.as_bytes()).err(), Some(KeyError::Malformed));
        }
    }
}
