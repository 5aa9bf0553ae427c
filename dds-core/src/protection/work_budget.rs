//! Bounds the operations with public keys that messages of unknown peers cause.
//!
//! Anyone can repeat a certificate that it has read on the wire, under any GUID that begins as the certificate
//! requires. So each beginning has a budget of its own, and a copied certificate takes only from that of its identity.
//! All identities share another budget for each kind of work. A forger that invents GUIDs and certificates can exhaust
//! those for unknown ones. Identities whose certificates have counted before go on.

use dds_rtps::types::{GuidPrefix, Instant};
use std::collections::BTreeMap;

/// Identities whose certificates are known. The authority has signed each of them.
const KNOWN_MAX: usize = 1_024;

/// Why an operation is necessary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WorkKind {
    /// A Request of this side needs a key, because of an announcement.
    OwnRequest,
    /// A token has a certificate that was never checked.
    UnknownCertificate,
    /// A token has a certificate that has counted before, or belongs to such a token.
    KnownCertificate,
}

/// Operations at once, and in a second. Each takes less than a millisecond.
type WorkLimit = (u32, u32);

impl WorkKind {
    /// The limit of all participants.
    const fn of_all(self) -> WorkLimit {
        (256, 200)
    }

    /// The limit of the participants of one identity.
    const fn of_identity(self) -> WorkLimit {
        match self {
            Self::OwnRequest | Self::UnknownCertificate => (64, 50),
            Self::KnownCertificate => (128, 100),
        }
    }
}

/// The budgets of all identities.
#[derive(Default)]
pub(super) struct WorkBudget {
    all: BTreeMap<WorkKind, WorkBucket>,
    /// By the beginning of the GUID, which follows from the certificate. At most three for each known participant.
    identities: BTreeMap<(IdentityHalf, WorkKind), WorkBucket>,
    /// The last certificate of each identity that has counted.
    certificates: BTreeMap<IdentityHalf, Vec<u8>>,
}

/// The part of a GUID that follows from the certificate (DDS Security 1.1, 9.3.3).
type IdentityHalf = [u8; 6];

fn half_of(prefix: GuidPrefix) -> IdentityHalf {
    *prefix.0.first_chunk().unwrap_or(&[0; 6])
}

/// Operations that were done, as nanoseconds of the time that they may take.
#[derive(Default, Clone, Copy)]
struct WorkBucket {
    /// When all operations are paid.
    paid_at: u64,
}

impl WorkBucket {
    /// Returns the bucket after one more operation; `None` without room for it.
    fn after_one(self, now: u64, (at_once, per_second): WorkLimit) -> Option<Self> {
        let price = 1_000_000_000 / u64::from(per_second);
        let paid_at = self.paid_at.max(now) + price;
        if paid_at - now <= price * u64::from(at_once) { Some(Self { paid_at }) } else { None }
    }
}

impl WorkBudget {
    /// Returns the kind of work for a token of this participant. `certificate` is that of the token, if it has one.
    pub(super) fn kind_of(&self, prefix: GuidPrefix, certificate: Option<&[u8]>) -> WorkKind {
        match certificate {
            Some(bytes) if self.certificates.get(&half_of(prefix)).is_none_or(|known| known != bytes) => {
                WorkKind::UnknownCertificate
            }
            // A Final has none, but it belongs to a Request whose certificate has counted.
            _ => WorkKind::KnownCertificate,
        }
    }

    /// Notes a certificate of this participant that has counted.
    pub(super) fn note_certificate(&mut self, prefix: GuidPrefix, certificate: &[u8]) {
        let half = half_of(prefix);
        if self.certificates.len() >= KNOWN_MAX && !self.certificates.contains_key(&half) {
            self.certificates.pop_first();
        }
        self.certificates.insert(half, certificate.to_vec());
    }

    /// Whether an operation may take place now because of this participant.
    pub(super) fn take(&mut self, now: Instant, prefix: GuidPrefix, kind: WorkKind) -> bool {
        let now = now.as_nanos();
        // An identity without debts is as good as an unknown one.
        self.identities.retain(|_, bucket| bucket.paid_at > now);
        let bucket = self.identities.entry((half_of(prefix), kind)).or_default();
        let all = self.all.entry(kind).or_default();
        let after = (bucket.after_one(now, kind.of_identity()), all.after_one(now, kind.of_all()));
        let (Some(bucket_after), Some(all_after)) = after else { return false };
        // Only an operation that takes place is a debt of its identity.
        (*bucket, *all) = (bucket_after, all_after);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: WorkKind = WorkKind::KnownCertificate;

    fn granted(budget: &mut WorkBudget, second: u64, identity: u8, kind: WorkKind, messages: u32) -> u32 {
        let now = Instant::from_nanos(second * 1_000_000_000);
        let prefix = |at: u32| GuidPrefix([identity, 0, 0, 0, 0, 0, at as u8, 1, 2, 3, 4, 5]);
        (0..messages).map(|at| u32::from(budget.take(now, prefix(at), kind))).sum()
    }

    #[test]
    fn copied_certificate_takes_only_from_its_identity() {
        let mut budget = WorkBudget::default();
        assert_eq!(granted(&mut budget, 1, 7, KNOWN, 10_000), 128);
        assert_eq!(granted(&mut budget, 1, 8, KNOWN, 20), 20);
        // A second later there is room for as many as a second may have.
        assert_eq!(granted(&mut budget, 2, 7, KNOWN, 10_000), 100);
        assert_eq!(granted(&mut budget, 100, 7, KNOWN, 10_000), 128);
    }

    #[test]
    fn refused_operations_are_no_debts_of_an_identity() {
        let mut budget = WorkBudget::default();
        for identity in 0..3 {
            granted(&mut budget, 1, identity, KNOWN, 128);
        }
        assert_eq!(granted(&mut budget, 1, 9, KNOWN, 1_000), 0, "the others have taken all");
        assert_eq!(granted(&mut budget, 2, 9, KNOWN, 1_000), 128);
    }

    #[test]
    fn all_identities_together_have_a_budget() {
        let mut budget = WorkBudget::default();
        let granted_to_all: u32 = (0..100).map(|identity| granted(&mut budget, 1, identity, KNOWN, 100)).sum();
        assert_eq!(granted_to_all, 256);
        assert!(budget.identities.len() <= 100);
        granted(&mut budget, 10, 1, KNOWN, 1);
        assert_eq!(budget.identities.len(), 1);
    }

    #[test]
    fn invented_certificates_take_nothing_from_known_ones() {
        let (mut budget, prefix) = (WorkBudget::default(), GuidPrefix([9; 12]));
        assert_eq!(budget.kind_of(prefix, Some(b"true")), WorkKind::UnknownCertificate);
        budget.note_certificate(prefix, b"true");
        assert_eq!(budget.kind_of(prefix, Some(b"invented")), WorkKind::UnknownCertificate);
        assert_eq!(budget.kind_of(GuidPrefix([8; 12]), Some(b"true")), WorkKind::UnknownCertificate);
        for kind in [WorkKind::OwnRequest, WorkKind::UnknownCertificate] {
            let invented: u32 = (0..100).map(|identity| granted(&mut budget, 1, identity, kind, 100)).sum();
            assert_eq!((invented, granted(&mut budget, 1, 200, kind, 1)), (256, 0));
        }
        let kind = budget.kind_of(prefix, Some(b"true"));
        assert_eq!((kind, granted(&mut budget, 1, 9, kind, 100)), (KNOWN, 100));
    }

    #[test]
    fn known_certificates_are_bounded() {
        let mut budget = WorkBudget::default();
        for number in 0..3_000_u32 {
            let mut prefix = GuidPrefix([0; 12]);
            prefix.0[..4].copy_from_slice(&number.to_be_bytes());
            budget.note_certificate(prefix, b"certificate");
        }
        assert_eq!(budget.certificates.len(), KNOWN_MAX);
    }
}
