//! Algorithms of participants in announcements (DDS Security 1.2, 7.3.10 to 7.3.13).

use crate::discovery::parameter_id as id;
use crate::wire::{Parameter, ParameterError, ParameterListWriter};

/// Algorithms for one purpose, as bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AlgorithmSets {
    /// Those that the participant has.
    pub supported: u32,
    /// Those that each other participant must have.
    pub required: u32,
}

/// Algorithms that a participant supports and requires. [`Self::V1_1`] without an announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SecurityAlgorithms {
    /// Signatures of certificates.
    pub certificates: AlgorithmSets,
    /// Signatures of handshakes.
    pub handshakes: AlgorithmSets,
    /// Agreement on a secret.
    pub agreement: AlgorithmSets,
    /// Ciphers that the participant has.
    pub supported_ciphers: u32,
    /// Ciphers that the builtin endpoints require of others.
    pub builtin_ciphers: u32,
    /// Ciphers that the exchange of keys requires of others.
    pub exchange_ciphers: u32,
    /// Ciphers that other endpoints require of others, if they announce none of their own.
    pub endpoint_ciphers: u32,
}

impl AlgorithmSets {
    /// Among the required algorithms: then one of them is enough (7.3.10.1).
    pub const COMPATIBILITY_MODE: u32 = 1 << 31;

    /// Returns the algorithms that another participant requires and this one lacks. 0 if both fit.
    #[must_use]
    pub const fn lacks(self, other: Self) -> u32 {
        let (required, supported) = (other.required & !Self::COMPATIBILITY_MODE, self.supported);
        let is_one_enough = other.required & Self::COMPATIBILITY_MODE != 0 && required & supported != 0;
        if is_one_enough { 0 } else { required & !supported }
    }
}

impl SecurityAlgorithms {
    /// RSASSA-PSS with SHA-256.
    pub const RSA_PSS: u32 = 1;
    /// RSASSA-PKCS1-v1_5 with SHA-256, for certificates.
    pub const RSA_PKCS1: u32 = 1 << 1;
    /// ECDSA with P-256 and SHA-256.
    pub const ECDSA_P256: u32 = 1 << 2;
    /// ECDSA with P-384 and SHA-384.
    pub const ECDSA_P384: u32 = 1 << 3;
    /// Agreement: DH with MODP-2048-256.
    pub const DH_MODP: u32 = 1;
    /// Agreement: ECDH with P-256.
    pub const ECDH_P256: u32 = 1 << 1;
    /// Agreement: ECDH with P-384.
    pub const ECDH_P384: u32 = 1 << 2;
    /// AES with 128 bits.
    pub const AES128: u32 = 1;
    /// AES with 256 bits.
    pub const AES256: u32 = 1 << 1;

    /// Those of a participant that announces none, as one of DDS Security 1.1 (7.3.11.2, 7.3.12.2 and 7.3.13.2).
    pub const V1_1: Self = Self {
        certificates: AlgorithmSets {
            supported: Self::RSA_PSS | Self::RSA_PKCS1 | Self::ECDSA_P256,
            required: Self::ECDSA_P256,
        },
        handshakes: AlgorithmSets { supported: Self::RSA_PSS | Self::ECDSA_P256, required: Self::ECDSA_P256 },
        agreement: AlgorithmSets { supported: Self::DH_MODP | Self::ECDH_P256, required: Self::ECDH_P256 },
        supported_ciphers: Self::AES128 | Self::AES256,
        builtin_ciphers: Self::AES256,
        exchange_ciphers: Self::AES256,
        endpoint_ciphers: Self::AES256,
    };

    /// The ciphers for one purpose, of which this participant requires some.
    #[must_use]
    pub const fn ciphers(&self, required: u32) -> AlgorithmSets {
        AlgorithmSets { supported: self.supported_ciphers, required }
    }

    /// Reads a parameter of this data.
    pub(super) fn read(&mut self, parameter: &Parameter<'_>) -> Result<(), ParameterError> {
        let mut fields = parameter.fields();
        let mut sets = || -> Result<AlgorithmSets, ParameterError> {
            Ok(AlgorithmSets { supported: fields.u32()?, required: fields.u32()? })
        };
        match parameter.id {
            id::SIGNATURE_ALGORITHMS => (self.certificates, self.handshakes) = (sets()?, sets()?),
            id::AGREEMENT_ALGORITHMS => self.agreement = sets()?,
            _ => {
                let mut ciphers = || fields.u32();
                (self.supported_ciphers, self.builtin_ciphers) = (ciphers()?, ciphers()?);
                (self.exchange_ciphers, self.endpoint_ciphers) = (ciphers()?, ciphers()?);
            }
        }
        Ok(())
    }

    pub(super) fn write(&self, list: &mut ParameterListWriter<'_>) {
        let [certificates, handshakes] = [self.certificates, self.handshakes];
        list.parameter(id::SIGNATURE_ALGORITHMS, |value| {
            value.u32(certificates.supported).u32(certificates.required);
            value.u32(handshakes.supported).u32(handshakes.required);
        });
        list.parameter(id::AGREEMENT_ALGORITHMS, |value| {
            value.u32(self.agreement.supported).u32(self.agreement.required);
        });
        list.parameter(id::CIPHER_ALGORITHMS, |value| {
            value.u32(self.supported_ciphers).u32(self.builtin_ciphers).u32(self.exchange_ciphers);
            value.u32(self.endpoint_ciphers);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn required_algorithms_must_be_supported() {
        let sets = |supported, required| AlgorithmSets { supported, required };
        assert_eq!(sets(7, 0).lacks(sets(0, 5)), 0);
        assert_eq!(sets(7, 0).lacks(sets(0, 8 | 5)), 8);
        // One of them is enough in the compatibility mode.
        let any = AlgorithmSets::COMPATIBILITY_MODE;
        assert_eq!(sets(4, 0).lacks(sets(0, any | 8 | 4)), 0);
        assert_eq!(sets(3, 0).lacks(sets(0, any | 8 | 4)), 8 | 4);
    }
}
