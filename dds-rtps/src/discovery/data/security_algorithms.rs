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
    /// Ciphers. Required: those of the builtin endpoints, and of the exchange of keys.
    pub ciphers: AlgorithmSets,
    /// Ciphers of other endpoints, if they announce none of their own.
    pub endpoint_ciphers: u32,
}

impl AlgorithmSets {
    /// Then one of the required algorithms is enough.
    const COMPATIBILITY_MODE: u32 = 1 << 31;

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

    /// What a participant of DDS Security 1.1 supports. It announces no requirements.
    pub const V1_1: Self = Self {
        certificates: AlgorithmSets { supported: Self::RSA_PSS | Self::RSA_PKCS1 | Self::ECDSA_P256, required: 0 },
        handshakes: AlgorithmSets { supported: Self::RSA_PSS | Self::ECDSA_P256, required: 0 },
        agreement: AlgorithmSets { supported: Self::DH_MODP | Self::ECDH_P256, required: 0 },
        ciphers: AlgorithmSets { supported: Self::AES128 | Self::AES256, required: 0 },
        endpoint_ciphers: 0,
    };

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
                let (first, second) = (sets()?, sets()?);
                self.ciphers = AlgorithmSets { required: first.required | second.supported, ..first };
                self.endpoint_ciphers = second.required;
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
            value.u32(self.ciphers.supported).u32(self.ciphers.required).u32(self.ciphers.required);
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
