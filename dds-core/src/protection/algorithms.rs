//! The algorithms of this participant, and whether another one has them (DDS Security 1.2, 7.3.10 to 7.3.14).

use dds_rtps::discovery::data::{AlgorithmSets, SecurityAlgorithms};
use dds_security::authentication::LocalIdentity;

/// Names of the algorithms by bit, for each purpose.
const SIGNATURES: [&str; 4] =
    ["RSASSA-PSS-MGF1SHA256+2048+SHA256", "RSASSA-PKCS1-V1_5+2048+SHA256", "ECDSA+P256+SHA256", "ECDSA+P384+SHA384"];
const AGREEMENTS: [&str; 3] = ["DHE+MODP-2048-256", "ECDHE-CEUM+P256", "ECDHE-CEUM+P384"];
const CIPHERS: [&str; 2] = ["AES128", "AES256"];

/// Returns the algorithms of a participant with an identity. It requires those that its certificate and its keys use.
pub(super) fn algorithms_of(identity: &LocalIdentity) -> SecurityAlgorithms {
    type Set = SecurityAlgorithms;
    let (certificate, authority) = (identity.certificate().algorithm(), identity.authority().algorithm());
    let by_key = |algorithm, of_rsa| match algorithm {
        "EC-prime256v1" => Set::ECDSA_P256,
        "EC-secp384r1" => Set::ECDSA_P384,
        _ => of_rsa,
    };
    let handshakes = by_key(certificate, Set::RSA_PSS);
    let agreement = if handshakes == Set::ECDSA_P384 { Set::ECDH_P384 } else { Set::ECDH_P256 };
    let of_all = Set::RSA_PSS | Set::ECDSA_P256 | Set::ECDSA_P384;
    SecurityAlgorithms {
        certificates: AlgorithmSets { supported: of_all | Set::RSA_PKCS1, required: by_key(authority, Set::RSA_PKCS1) },
        handshakes: AlgorithmSets { supported: of_all, required: handshakes },
        agreement: AlgorithmSets { supported: Set::DH_MODP | Set::ECDH_P256 | Set::ECDH_P384, required: agreement },
        ciphers: AlgorithmSets { supported: Set::AES128 | Set::AES256, required: Set::AES256 },
        endpoint_ciphers: Set::AES256,
    }
}

/// Returns the sets for one purpose.
type SetsOf = fn(&SecurityAlgorithms) -> AlgorithmSets;

fn ciphers_of(of: &SecurityAlgorithms) -> AlgorithmSets {
    AlgorithmSets { required: of.ciphers.required | of.endpoint_ciphers, ..of.ciphers }
}

/// Checks the algorithms of another participant.
///
/// # Errors
/// The reason: an algorithm that one side requires and the other one lacks.
pub(super) fn check(own: &SecurityAlgorithms, theirs: &SecurityAlgorithms) -> Result<(), String> {
    let of_identity = ": issue both identities with EC P-256";
    let of_authority = ": issue both identities from an authority with EC P-256";
    let purposes: [(&str, &[&str], SetsOf, &str); 4] = [
        ("signatures of certificates", &SIGNATURES, |of| of.certificates, of_authority),
        ("signatures of handshakes", &SIGNATURES, |of| of.handshakes, of_identity),
        ("the agreement on a secret", &AGREEMENTS, |of| of.agreement, of_identity),
        ("ciphers", &CIPHERS, ciphers_of, ""),
    ];
    for (purpose, names, sets, advice) in purposes {
        let lacked = sets(theirs).lacks(sets(own));
        if lacked != 0 {
            let names = names_of(names, lacked);
            return Err(format!(
                "this participant requires {names} for {purpose}, and the other one does not announce it \
                 (DDS Security 1.2){advice}"
            ));
        }
        let lacked = sets(own).lacks(sets(theirs));
        if lacked != 0 {
            let names = names_of(names, lacked);
            return Err(format!(
                "it requires {names} for {purpose}, which is not supported: configure it for another algorithm"
            ));
        }
    }
    Ok(())
}

/// Returns the names of algorithms. Those without a known name have the number of their bit.
fn names_of(names: &[&str], bits: u32) -> String {
    let of_bit = |bit: usize| names.get(bit).map_or_else(|| format!("algorithm {bit}"), |name| (*name).to_owned());
    let set: Vec<String> = (0..32).filter(|bit| bits & 1 << bit != 0).map(of_bit).collect();
    set.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn algorithms_that_lack_are_named() {
        let own = SecurityAlgorithms {
            handshakes: AlgorithmSets {
                supported: SecurityAlgorithms::ECDSA_P384,
                required: SecurityAlgorithms::ECDSA_P384,
            },
            ..SecurityAlgorithms::V1_1
        };
        assert_eq!(check(&own, &own), Ok(()));
        let reason = check(&own, &SecurityAlgorithms::V1_1).unwrap_err();
        assert!(
            reason.starts_with("this participant requires ECDSA+P384+SHA384 for signatures of handshakes"),
            "{reason}"
        );
        let reason = check(&SecurityAlgorithms::V1_1, &own).unwrap_err();
        assert!(reason.starts_with("it requires ECDSA+P384+SHA384 for signatures of handshakes"), "{reason}");
        let unknown = SecurityAlgorithms { endpoint_ciphers: 1 << 7 | 1, ..SecurityAlgorithms::V1_1 };
        let reason = check(&SecurityAlgorithms::V1_1, &unknown).unwrap_err();
        assert!(reason.starts_with("it requires algorithm 7 for ciphers"), "{reason}");
    }

    #[test]
    fn advice_fits_the_purpose() {
        let requires = |bits| AlgorithmSets { supported: bits, required: bits };
        let (p384, v1_1) = (requires(SecurityAlgorithms::ECDSA_P384), SecurityAlgorithms::V1_1);
        let own = SecurityAlgorithms { certificates: p384, ..v1_1 };
        let reason = check(&own, &v1_1).unwrap_err();
        assert!(reason.ends_with(": issue both identities from an authority with EC P-256"), "{reason}");
        let own = SecurityAlgorithms { handshakes: p384, ..v1_1 };
        let reason = check(&own, &v1_1).unwrap_err();
        assert!(reason.ends_with(": issue both identities with EC P-256"), "{reason}");
        let own = SecurityAlgorithms { ciphers: requires(1 << 7), ..v1_1 };
        let reason = check(&own, &v1_1).unwrap_err();
        assert!(reason.ends_with("for ciphers, and the other one does not announce it (DDS Security 1.2)"), "{reason}");
    }
}
