//! Bounds the operations with public keys that messages of unknown peers cause.
//!
//! Anyone can repeat a certificate that it has read on the wire, under any GUID that begins as the certificate
//! requires. So each beginning has a budget of its own, and a copied certificate takes only from that of its identity.
//! All identities share another budget. A forger that invents GUIDs can exhaust it, and then handshakes wait.

use dds_rtps::types::{GuidPrefix, Instant};
use std::collections::BTreeMap;

/// Operations of all participants: at once, and in a second. Each takes less than a millisecond.
const ALL: (u32, u32) = (256, 200);
/// Operations of the participants of one identity: at once, and in a second.
const OF_IDENTITY: (u32, u32) = (128, 100);

/// The budgets of all identities.
#[derive(Default)]
pub(super) struct WorkBudget {
    all: WorkBucket,
    /// By the beginning of the GUID, which follows from the certificate. At most one for each known participant.
    identities: BTreeMap<[u8; 6], WorkBucket>,
}

/// Operations that were done, as nanoseconds of the time that they may take.
#[derive(Default, Clone, Copy)]
struct WorkBucket {
    /// When all operations are paid.
    paid_at: u64,
}

impl WorkBucket {
    /// Returns the bucket after one more operation; `None` without room for it.
    fn after_one(self, now: u64, (at_once, per_second): (u32, u32)) -> Option<Self> {
        let price = 1_000_000_000 / u64::from(per_second);
        let paid_at = self.paid_at.max(now) + price;
        if paid_at - now <= price * u64::from(at_once) { Some(Self { paid_at }) } else { None }
    }
}

impl WorkBudget {
    /// Whether a message of this participant may cause an operation now.
    pub(super) fn take(&mut self, now: Instant, prefix: GuidPrefix) -> bool {
        let now = now.as_nanos();
        // An identity without debts is as good as an unknown one.
        self.identities.retain(|_, bucket| bucket.paid_at > now);
        let identity = *prefix.0.first_chunk().unwrap_or(&[0; 6]);
        let bucket = self.identities.entry(identity).or_default();
        let (Some(of_identity), Some(all)) = (bucket.after_one(now, OF_IDENTITY), self.all.after_one(now, ALL)) else {
            return false;
        };
        // Only an operation that takes place is a debt of its identity.
        (*bucket, self.all) = (of_identity, all);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(budget: &mut WorkBudget, second: u64, identity: u8, messages: u32) -> u32 {
        let now = Instant::from_nanos(second * 1_000_000_000);
        (0..messages)
            .map(|at| u32::from(budget.take(now, GuidPrefix([identity, 0, 0, 0, 0, 0, at as u8, 1, 2, 3, 4, 5]))))
            .sum()
    }

    #[test]
    fn copied_certificate_takes_only_from_its_identity() {
        let mut budget = WorkBudget::default();
        assert_eq!(granted(&mut budget, 1, 7, 10_000), 128);
        assert_eq!(granted(&mut budget, 1, 8, 20), 20);
        // A second later there is room for as many as a second may have.
        assert_eq!(granted(&mut budget, 2, 7, 10_000), 100);
        assert_eq!(granted(&mut budget, 100, 7, 10_000), 128);
    }

    #[test]
    fn refused_operations_are_no_debts_of_an_identity() {
        let mut budget = WorkBudget::default();
        for identity in 0..3 {
            granted(&mut budget, 1, identity, 128);
        }
        assert_eq!(granted(&mut budget, 1, 9, 1_000), 0, "the others have taken all");
        assert_eq!(granted(&mut budget, 2, 9, 1_000), 128);
    }

    #[test]
    fn all_identities_together_have_a_budget() {
        let mut budget = WorkBudget::default();
        let granted_to_all: u32 = (0..100).map(|identity| granted(&mut budget, 1, identity, 100)).sum();
        assert_eq!(granted_to_all, 256);
        assert!(budget.identities.len() <= 100);
        granted(&mut budget, 10, 1, 1);
        assert_eq!(budget.identities.len(), 1);
    }
}
