//! Bounds the operations with public keys that messages of unknown peers cause.
//!
//! Anyone can copy a certificate from the wire into a Request. The first half of a GUID follows from the certificate,
//! so it stands for an identity. Each identity has a budget for each kind of work, and all of them share another one.
//!
//! Invented certificates take nothing from known ones. Copied certificates delay other Requests of known identities. A
//! Reply and a Final need the challenge of this side, which no copy has, so handshakes under way go on.
//!
//! Keys in a PKCS #11 token may be slow, and nothing tells how slow. So their signatures have a budget of time, which
//! is measured.

use dds_rtps::types::{GuidPrefix, Instant};
use std::collections::BTreeMap;
use std::time::Duration;

/// Identities whose certificates are known. The authority has signed each of them.
const KNOWN_MAX: usize = 1_024;

/// The part of a token's time that answers to Requests may take. An identity has half of it.
const TOKEN_PART: u32 = 4;

/// Nanoseconds of the budget of a token that may be spent at once, or owed. A token is busy for a quarter of them.
const TOKEN_AT_ONCE: u64 = 1_000_000_000;

/// Why an operation is necessary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WorkKind {
    /// A Request of this side needs a key, because of an announcement.
    OwnRequest,
    /// A Request has a certificate that was never checked.
    UnknownCertificate,
    /// A Request has a certificate that has counted before.
    KnownCertificate,
    /// A Reply or a Final has the challenge of this side.
    ReplyOrFinal,
}

/// Operations of weight 1 at once, and in a second. See [`weight_of`].
type WorkLimit = (u32, u32);

/// Returns about how many operations with EC P-256 cost as much as one with this key.
///
/// An unsigned Request makes this side sign a Reply with its own key, and make a key for the agreement that the Request
/// proposes. The costlier of both decides.
const fn weight_of(key_bits: usize) -> u32 {
    match key_bits {
        0..=256 => 1,
        257..=384 => 4,
        385..=2048 => 8,
        2049..=3072 => 16,
        _ => 40,
    }
}

impl WorkKind {
    /// The limit of all participants.
    const fn of_all(self) -> WorkLimit {
        (256, 200)
    }

    /// The limit of the participants of one identity.
    const fn of_identity(self) -> WorkLimit {
        match self {
            Self::OwnRequest | Self::UnknownCertificate => (64, 50),
            Self::KnownCertificate | Self::ReplyOrFinal => (128, 100),
        }
    }
}

/// The budgets of all identities.
pub(super) struct WorkBudget {
    weight: u32,
    all: BTreeMap<WorkKind, WorkBucket>,
    /// At most four for each known participant.
    identities: BTreeMap<(IdentityHalf, WorkKind), WorkBucket>,
    /// The last certificate of each identity that has counted.
    certificates: BTreeMap<IdentityHalf, Vec<u8>>,
    token: TokenBudget,
}

/// The time that signatures in a token take. It stays full with a key in a file.
#[derive(Default)]
struct TokenBudget {
    all: WorkBucket,
    /// At most one for each known participant.
    identities: BTreeMap<IdentityHalf, WorkBucket>,
}

impl TokenBudget {
    /// Whether a signature may be made because of an identity. How long it will take is unknown.
    fn permits(&self, now: u64, half: IdentityHalf) -> bool {
        let is_open = |bucket: &WorkBucket| bucket.full_at < now.saturating_add(TOKEN_AT_ONCE);
        is_open(&self.all) && self.identities.get(&half).is_none_or(is_open)
    }

    /// Spends the time that the signature has taken.
    fn spend(&mut self, now: u64, half: IdentityHalf, spent: Duration) {
        // A full bucket is as good as none.
        self.identities.retain(|_, bucket| bucket.full_at > now);
        let of_identity = self.identities.entry(half).or_default();
        for (bucket, part) in [(&mut self.all, TOKEN_PART), (of_identity, 2 * TOKEN_PART)] {
            let price = u64::try_from(spent.saturating_mul(part).as_nanos()).unwrap_or(u64::MAX);
            bucket.full_at = bucket.full_at.max(now).saturating_add(price);
        }
    }
}

/// The part of a GUID that follows from the certificate (DDS Security 1.1, 9.3.3).
type IdentityHalf = [u8; 6];

fn half_of(prefix: GuidPrefix) -> IdentityHalf {
    // A prefix has 12 bytes, so the half always exists.
    *prefix.0.first_chunk().unwrap_or(&[0; 6])
}

/// A token bucket, as the time at which it is full again.
#[derive(Default, Clone, Copy)]
struct WorkBucket {
    /// In nanoseconds.
    full_at: u64,
}

impl WorkBucket {
    /// Returns the bucket after one more operation of this weight; `None` without room for it.
    fn after_one(self, now: u64, weight: u32, (at_once, per_second): WorkLimit) -> Option<Self> {
        debug_assert!(per_second > 0, "each limit permits some operations");
        let price = 1_000_000_000 / u64::from(per_second);
        let full_at = self.full_at.max(now) + price * u64::from(weight);
        if full_at - now <= price * u64::from(at_once) { Some(Self { full_at }) } else { None }
    }
}

impl WorkBudget {
    /// The budget of a participant whose own key has this many bits.
    pub(super) fn new(key_bits: usize) -> Self {
        Self {
            weight: weight_of(key_bits),
            all: BTreeMap::new(),
            identities: BTreeMap::new(),
            certificates: BTreeMap::new(),
            token: TokenBudget::default(),
        }
    }

    /// Returns the kind of work for a Request of this participant with this certificate.
    pub(super) fn kind_of_request(&self, prefix: GuidPrefix, certificate: Option<&[u8]>) -> WorkKind {
        let known = self.certificates.get(&half_of(prefix)).map(Vec::as_slice);
        if known.is_some() && known == certificate { WorkKind::KnownCertificate } else { WorkKind::UnknownCertificate }
    }

    /// Notes a certificate of this participant that has counted.
    pub(super) fn note_certificate(&mut self, prefix: GuidPrefix, certificate: &[u8]) {
        let half = half_of(prefix);
        if self.certificates.len() >= KNOWN_MAX && !self.certificates.contains_key(&half) {
            // Any of them may go: its identity only counts as unknown once more.
            self.certificates.pop_first();
        }
        debug_assert!(self.certificates.len() <= KNOWN_MAX, "the map makes room before it grows");
        self.certificates.insert(half, certificate.to_vec());
    }

    /// Whether an operation may take place now because of this participant. The agreement has keys of this many bits.
    pub(super) fn take(&mut self, now: Instant, prefix: GuidPrefix, kind: WorkKind, agreement_bits: usize) -> bool {
        let now = now.as_nanos();
        // The answer to a Request is signed. So is that to a Reply, which an outsider cannot make.
        let is_request = matches!(kind, WorkKind::KnownCertificate | WorkKind::UnknownCertificate);
        if is_request && !self.token.permits(now, half_of(prefix)) {
            return false;
        }
        // A full bucket is as good as none.
        self.identities.retain(|_, bucket| bucket.full_at > now);
        let bucket = self.identities.entry((half_of(prefix), kind)).or_default();
        let all = self.all.entry(kind).or_default();
        let of_agreement = weight_of(agreement_bits);
        // A Request of this side has no signature.
        let weight = if kind == WorkKind::OwnRequest { of_agreement } else { self.weight.max(of_agreement) };
        let after = (bucket.after_one(now, weight, kind.of_identity()), all.after_one(now, weight, kind.of_all()));
        let (Some(bucket_after), Some(all_after)) = after else { return false };
        // Only an operation that takes place takes from either budget.
        (*bucket, *all) = (bucket_after, all_after);
        true
    }

    /// Notes how long a token was busy because of a message of this participant.
    pub(super) fn note_time_in_token(&mut self, now: Instant, prefix: GuidPrefix, spent: Duration) {
        if !spent.is_zero() {
            self.token.spend(now.as_nanos(), half_of(prefix), spent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: WorkKind = WorkKind::KnownCertificate;

    /// The agreement has keys of 256 bits.
    fn granted(budget: &mut WorkBudget, second: u64, identity: u8, kind: WorkKind, messages: u32) -> u32 {
        granted_with(256, budget, second, identity, kind, messages)
    }

    fn granted_with(
        agreement_bits: usize,
        budget: &mut WorkBudget,
        second: u64,
        identity: u8,
        kind: WorkKind,
        messages: u32,
    ) -> u32 {
        let now = Instant::from_nanos(second * 1_000_000_000);
        let prefix = |at: u32| GuidPrefix([identity, 0, 0, 0, 0, 0, at as u8, 1, 2, 3, 4, 5]);
        (0..messages).map(|at| u32::from(budget.take(now, prefix(at), kind, agreement_bits))).sum()
    }

    #[test]
    fn copied_certificate_takes_only_from_its_identity() {
        let mut budget = WorkBudget::new(256);
        assert_eq!(granted(&mut budget, 1, 7, KNOWN, 10_000), 128);
        assert_eq!(granted(&mut budget, 1, 8, KNOWN, 20), 20);
        // A second later there is room for as many as a second may have.
        assert_eq!(granted(&mut budget, 2, 7, KNOWN, 10_000), 100);
        assert_eq!(granted(&mut budget, 100, 7, KNOWN, 10_000), 128);
    }

    #[test]
    fn slow_keys_spend_the_budget_with_fewer_operations() {
        for (key_bits, of_identity, of_all) in
            [(256, 128, 256), (384, 32, 64), (2048, 16, 32), (3072, 8, 16), (4096, 3, 6)]
        {
            let mut budget = WorkBudget::new(key_bits);
            assert_eq!(granted(&mut budget, 1, 7, KNOWN, 1_000), of_identity, "{key_bits} bits");
            let others: u32 = (8..100).map(|identity| granted(&mut budget, 1, identity, KNOWN, 1)).sum();
            assert_eq!(of_identity + others, of_all.min(of_identity + 92), "{key_bits} bits");
        }
    }

    #[test]
    fn costly_agreements_spend_the_budget_with_fewer_operations() {
        let known =
            |key_bits, agreement_bits| granted_with(agreement_bits, &mut WorkBudget::new(key_bits), 1, 7, KNOWN, 1_000);
        assert_eq!((known(256, 256), known(256, 384), known(256, 2048)), (128, 32, 16));
        assert_eq!((known(3072, 256), known(3072, 384)), (8, 8), "the signature costs more");
    }

    #[test]
    fn own_requests_sign_nothing() {
        let own = |key_bits, agreement_bits| {
            granted_with(agreement_bits, &mut WorkBudget::new(key_bits), 1, 7, WorkKind::OwnRequest, 1_000)
        };
        assert_eq!((own(256, 256), own(256, 384), own(4096, 256)), (64, 16, 64));
    }

    #[test]
    fn refused_operations_are_no_debts_of_an_identity() {
        let mut budget = WorkBudget::new(256);
        for identity in 0..3 {
            granted(&mut budget, 1, identity, KNOWN, 128);
        }
        assert_eq!(granted(&mut budget, 1, 9, KNOWN, 1_000), 0, "the others have taken all");
        assert_eq!(granted(&mut budget, 2, 9, KNOWN, 1_000), 128);
    }

    #[test]
    fn all_identities_together_have_a_budget() {
        let mut budget = WorkBudget::new(256);
        let granted_to_all: u32 = (0..100).map(|identity| granted(&mut budget, 1, identity, KNOWN, 100)).sum();
        assert_eq!(granted_to_all, 256);
        assert!(budget.identities.len() <= 100);
        granted(&mut budget, 10, 1, KNOWN, 1);
        assert_eq!(budget.identities.len(), 1);
    }

    #[test]
    fn invented_certificates_take_nothing_from_known_ones() {
        let (mut budget, prefix) = (WorkBudget::new(256), GuidPrefix([9; 12]));
        assert_eq!(budget.kind_of_request(prefix, Some(b"true")), WorkKind::UnknownCertificate);
        budget.note_certificate(prefix, b"true");
        assert_eq!(budget.kind_of_request(prefix, Some(b"invented")), WorkKind::UnknownCertificate);
        assert_eq!(budget.kind_of_request(GuidPrefix([8; 12]), Some(b"true")), WorkKind::UnknownCertificate);
        for kind in [WorkKind::OwnRequest, WorkKind::UnknownCertificate] {
            let invented: u32 = (0..100).map(|identity| granted(&mut budget, 1, identity, kind, 100)).sum();
            assert_eq!((invented, granted(&mut budget, 1, 200, kind, 1)), (256, 0));
        }
        let kind = budget.kind_of_request(prefix, Some(b"true"));
        assert_eq!((kind, granted(&mut budget, 1, 9, kind, 100)), (KNOWN, 100));
    }

    #[test]
    fn copied_certificates_take_nothing_from_replies_and_finals() {
        let mut budget = WorkBudget::new(256);
        for identity in 0..3 {
            granted(&mut budget, 1, identity, KNOWN, 1_000);
        }
        assert_eq!(granted(&mut budget, 1, 9, KNOWN, 1), 0, "the copies have taken all");
        assert_eq!(granted(&mut budget, 1, 0, WorkKind::ReplyOrFinal, 2), 2);
    }

    /// Floods a participant with Requests for a minute, and returns how long its token is busy.
    fn busy_in_a_minute(one_signature: Duration, identities: u8, kinds: &[WorkKind]) -> Duration {
        let (mut budget, mut busy) = (WorkBudget::new(256), Duration::ZERO);
        for moment in 0..6_000_u64 {
            let now = Instant::from_nanos(moment * 10_000_000);
            for identity in 0..identities {
                let prefix = GuidPrefix([identity; 12]);
                for kind in kinds {
                    if budget.take(now, prefix, *kind, 256) {
                        budget.note_time_in_token(now, prefix, one_signature);
                        busy += one_signature;
                    }
                }
            }
        }
        busy
    }

    #[test]
    fn requests_take_a_bounded_part_of_the_time_of_a_token() {
        let requests = [WorkKind::KnownCertificate, WorkKind::UnknownCertificate];
        for millis in [1, 20, 100, 300, 1_000, 5_000] {
            let one = Duration::from_millis(millis);
            // Each time, a quarter of a second may be used at once, and one signature may exceed that.
            let (of_identity, of_all) = (busy_in_a_minute(one, 1, &requests), busy_in_a_minute(one, 9, &requests));
            let bound = |part: u64| Duration::from_millis(60_000 / part + 250) + one;
            assert!(of_all <= bound(4) && of_identity <= bound(8), "{one:?}: {of_all:?}, {of_identity:?}");
            assert!(of_all >= Duration::from_secs(10).min(of_identity * 3 / 2), "{one:?}: {of_all:?}");
        }
    }

    #[test]
    fn handshakes_under_way_do_not_wait_for_the_time_of_a_token() {
        let (mut budget, prefix) = (WorkBudget::new(256), GuidPrefix([7; 12]));
        let now = Instant::from_nanos(1_000_000_000);
        budget.note_time_in_token(now, prefix, Duration::from_secs(2));
        assert!(!budget.take(now, prefix, KNOWN, 256));
        assert!(
            !budget.take(now, GuidPrefix([8; 12]), WorkKind::UnknownCertificate, 256),
            "both kinds have one budget"
        );
        for kind in [WorkKind::ReplyOrFinal, WorkKind::OwnRequest] {
            assert!(budget.take(now, prefix, kind, 256), "{kind:?}");
        }
        // Two seconds are a quarter of eight, of which one may be owed.
        let later = |seconds: u64| Instant::from_nanos((1 + seconds) * 1_000_000_000 + 1);
        assert!(!budget.take(later(6), GuidPrefix([8; 12]), KNOWN, 256));
        assert!(budget.take(later(7), GuidPrefix([8; 12]), KNOWN, 256));
        assert!(!budget.take(later(14), prefix, KNOWN, 256), "an identity has half of it");
        assert!(budget.take(later(15), prefix, KNOWN, 256));
    }

    #[test]
    fn known_certificates_are_bounded() {
        let mut budget = WorkBudget::new(256);
        for number in 0..3_000_u32 {
            let mut prefix = GuidPrefix([0; 12]);
            prefix.0[..4].copy_from_slice(&number.to_be_bytes());
            budget.note_certificate(prefix, b"certificate");
        }
        assert_eq!(budget.certificates.len(), KNOWN_MAX);
    }
}
