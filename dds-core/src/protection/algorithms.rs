//! The algorithms of this participant, and whether another one has them (DDS Security 1.2, 7.3.10 to 7.3.14).

use dds_rtps::discovery::data::{AlgorithmSets, SecurityAlgorithms};
use dds_security::authentication::LocalIdentity;

/// Names of the algorithms by bit, for each purpose.
const SIGNATURES: [&str; 4] =
    ["RSASSA-PSS-MGF1SHA256+2048+SHA256", "RSASSA-PKCS1-V1_5+2048+SHA256", "ECDSA+P256+SHA256", "ECDSA+P384+SHA384"];
const AGREEMENTS: [&str; 3] = ["DHE+MODP-2048-256", "ECDHE-CEUM+P256", "ECDHE-CEUM+P384"];
const CIPHERS: [&str; 2] = ["AES128+GCM", "AES256+GCM"];

/// Returns the algorithms of a participant with an identity. It requires those that its certificate and its keys use.
///
/// One with a key of P-384 agrees on secrets with P-384 alone. Others agree in each way, and propose the one that the
/// other side wants.
pub(super) fn algorithms_of(identity: &LocalIdentity) -> SecurityAlgorithms {
    type Set = SecurityAlgorithms;
    let (certificate, authority) = (identity.certificate().algorithm(), identity.authority().algorithm());
    let by_key = |algorithm, of_rsa| match algorithm {
        "EC-prime256v1" => Set::ECDSA_P256,
        "EC-secp384r1" => Set::ECDSA_P384,
        _ => of_rsa,
    };
    let handshakes = by_key(certificate, Set::RSA_PSS);
    let any = Set::ECDH_P256 | Set::ECDH_P384;
    let agreement = match handshakes {
        Set::ECDSA_P384 => AlgorithmSets { supported: Set::ECDH_P384, required: Set::ECDH_P384 },
        _ => AlgorithmSets { supported: Set::DH_MODP | any, required: AlgorithmSets::COMPATIBILITY_MODE | any },
    };
    let of_all = Set::RSA_PSS | Set::ECDSA_P256 | Set::ECDSA_P384;
    SecurityAlgorithms {
        certificates: AlgorithmSets { supported: of_all | Set::RSA_PKCS1, required: by_key(authority, Set::RSA_PKCS1) },
        handshakes: AlgorithmSets { supported: of_all, required: handshakes },
        agreement,
        supported_ciphers: Set::AES128 | Set::AES256,
        builtin_ciphers: Set::AES256,
        exchange_ciphers: Set::AES256,
        endpoint_ciphers: Set::AES256,
    }
}

/// Returns the sets for one purpose.
type SetsOf = fn(&SecurityAlgorithms) -> AlgorithmSets;

/// Whether a participant wants the agreement with P-384: it requires that of others, or has no other one.
pub(super) fn wants_p384(of: &SecurityAlgorithms) -> bool {
    let is_required = SecurityAlgorithms::V1_1.agreement.lacks(of.agreement) & SecurityAlgorithms::ECDH_P384 != 0;
    is_required || of.agreement.supported & SecurityAlgorithms::ECDH_P256 == 0
}

/// Checks the algorithms of another participant, for each purpose by itself.
///
/// # Errors
/// The reason: an algorithm that one side requires and the other one lacks.
pub(super) fn check(own: &SecurityAlgorithms, theirs: &SecurityAlgorithms) -> Result<(), String> {
    let of_identity = ": issue both identities with EC P-256";
    let of_authority = ": issue both identities from an authority with EC P-256";
    let purposes: [(&str, &[&str], SetsOf, &str); 5] = [
        ("signatures of certificates", &SIGNATURES, |of| of.certificates, of_authority),
        ("signatures of handshakes", &SIGNATURES, |of| of.handshakes, of_identity),
        ("the agreement on a secret", &AGREEMENTS, |of| of.agreement, of_identity),
        ("ciphers of builtin endpoints", &CIPHERS, |of| of.ciphers(of.builtin_ciphers), ""),
        ("ciphers of the exchange of keys", &CIPHERS, |of| of.ciphers(of.exchange_ciphers), ""),
    ];
    purposes
        .into_iter()
        .try_for_each(|(purpose, names, sets, advice)| compare((purpose, names, advice), sets(own), sets(theirs)))
}

/// Checks the ciphers of an endpoint of another participant, and those of the own endpoints (7.3.15.1).
///
/// `required` are those that the endpoint announces. Without them, it has the default of its participant.
///
/// # Errors
/// As [`check`].
pub(super) fn check_endpoint(
    own: &SecurityAlgorithms,
    theirs: &SecurityAlgorithms,
    required: Option<u32>,
) -> Result<(), String> {
    let required = required.unwrap_or(theirs.endpoint_ciphers);
    compare(("ciphers of the endpoint", &CIPHERS, ""), own.ciphers(own.endpoint_ciphers), theirs.ciphers(required))
}

/// Compares the algorithms for a purpose, whose name and advice stand in the reason.
fn compare(
    (purpose, names, advice): (&str, &[&str], &str),
    own: AlgorithmSets,
    theirs: AlgorithmSets,
) -> Result<(), String> {
    let lacked = theirs.lacks(own);
    if lacked != 0 {
        let names = names_of(names, lacked);
        return Err(format!(
            "this participant requires {names} for {purpose}, and the other one does not announce it \
             (DDS Security 1.2){advice}"
        ));
    }
    let lacked = own.lacks(theirs);
    if lacked != 0 {
        let names = names_of(names, lacked);
        return Err(format!(
            "it requires {names} for {purpose}, which is not supported: configure it for another algorithm"
        ));
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
        let (p256, p384) = (SecurityAlgorithms::ECDSA_P256, SecurityAlgorithms::ECDSA_P384);
        let own = SecurityAlgorithms {
            handshakes: AlgorithmSets { supported: p256 | p384, required: p384 },
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
        let unknown = SecurityAlgorithms { exchange_ciphers: 1 << 7 | 1, ..SecurityAlgorithms::V1_1 };
        let reason = check(&SecurityAlgorithms::V1_1, &unknown).unwrap_err();
        assert!(reason.starts_with("it requires algorithm 7 for ciphers of the exchange of keys"), "{reason}");
    }

    #[test]
    fn endpoints_have_ciphers_of_their_own() {
        let own = SecurityAlgorithms::V1_1;
        let theirs = SecurityAlgorithms { endpoint_ciphers: 1 << 7, ..SecurityAlgorithms::V1_1 };
        assert_eq!(check(&own, &theirs), Ok(()), "the default of endpoints keeps no participant out");
        let reason = check_endpoint(&own, &theirs, None).unwrap_err();
        assert!(reason.starts_with("it requires algorithm 7 for ciphers of the endpoint"), "{reason}");
        assert_eq!(check_endpoint(&own, &theirs, Some(SecurityAlgorithms::AES128)), Ok(()));
        assert!(check_endpoint(&own, &own, Some(1 << 7)).is_err());
        let theirs = SecurityAlgorithms { supported_ciphers: SecurityAlgorithms::AES128, ..own };
        let reason = check_endpoint(&own, &theirs, Some(SecurityAlgorithms::AES128)).unwrap_err();
        assert!(reason.starts_with("this participant requires AES256+GCM for ciphers of the endpoint"), "{reason}");
    }

    /// In the compatibility mode, one of the required algorithms is enough. It holds for its purpose alone.
    #[test]
    fn each_purpose_is_judged_by_itself() {
        let (aes128, aes256) = (SecurityAlgorithms::AES128, SecurityAlgorithms::AES256);
        let with = |supported_ciphers, builtin_ciphers, exchange_ciphers| SecurityAlgorithms {
            supported_ciphers,
            builtin_ciphers,
            exchange_ciphers,
            ..SecurityAlgorithms::V1_1
        };
        let any = AlgorithmSets::COMPATIBILITY_MODE | aes128 | aes256;
        let own = with(aes128, aes128, aes128);
        assert_eq!(check(&own, &with(any, any, any)), Ok(()));
        for (theirs, purpose) in
            [(with(any, aes256, any), "builtin endpoints"), (with(any, any, aes256), "the exchange of keys")]
        {
            let reason = check(&own, &theirs).unwrap_err();
            assert!(reason.starts_with(&format!("it requires AES256+GCM for ciphers of {purpose}")), "{reason}");
        }
    }

    #[test]
    fn agreement_with_p384_is_wanted_if_no_other_one_is_enough() {
        let wants = |supported, required| {
            let agreement = AlgorithmSets { supported, required };
            wants_p384(&SecurityAlgorithms { agreement, ..SecurityAlgorithms::V1_1 })
        };
        let (p256, p384) = (SecurityAlgorithms::ECDH_P256, SecurityAlgorithms::ECDH_P384);
        let any = AlgorithmSets::COMPATIBILITY_MODE;
        assert!(wants(7, p384) && wants(7, p384 | p256) && wants(7, any | p384) && wants(p384, 0));
        assert!(!wants(7, 0) && !wants(7, p256) && !wants(7, any | p256 | p384));
        assert!(!wants_p384(&SecurityAlgorithms::V1_1));
    }

    #[test]
    fn advice_fits_the_purpose() {
        let v1_1 = SecurityAlgorithms::V1_1;
        let p384 = AlgorithmSets { supported: 0xf, required: SecurityAlgorithms::ECDSA_P384 };
        let own = SecurityAlgorithms { certificates: p384, ..v1_1 };
        let reason = check(&own, &v1_1).unwrap_err();
        assert!(reason.ends_with(": issue both identities from an authority with EC P-256"), "{reason}");
        let own = SecurityAlgorithms { handshakes: p384, ..v1_1 };
        let reason = check(&own, &v1_1).unwrap_err();
        assert!(reason.ends_with(": issue both identities with EC P-256"), "{reason}");
        let own = SecurityAlgorithms { builtin_ciphers: 1 << 7, ..v1_1 };
        let reason = check(&own, &v1_1).unwrap_err();
        let end = "for ciphers of builtin endpoints, and the other one does not announce it (DDS Security 1.2)";
        assert!(reason.ends_with(end), "{reason}");
    }
}
