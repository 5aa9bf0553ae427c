//! The endpoints whose keys a participant has got.

use dds_rtps::types::EntityId;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// Pairs of a local and a remote endpoint. The remote one has the keys of the local one.
///
/// Each endpoint finds its pairs without a walk of all others, because endpoints come and go by the thousand.
#[derive(Debug, Default)]
pub(super) struct SentKeys {
    /// Local, remote.
    by_local: BTreeSet<(EntityId, EntityId)>,
    /// Remote, local.
    by_remote: BTreeSet<(EntityId, EntityId)>,
}

impl SentKeys {
    pub(super) fn contains(&self, local: EntityId, remote: EntityId) -> bool {
        self.by_local.contains(&(local, remote))
    }

    pub(super) fn insert(&mut self, local: EntityId, remote: EntityId) {
        self.by_local.insert((local, remote));
        self.by_remote.insert((remote, local));
    }

    /// All pairs: the local endpoint, the remote one.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (EntityId, EntityId)> + '_ {
        self.by_local.iter().copied()
    }

    /// Removes a local endpoint.
    pub(super) fn remove_local(&mut self, local: EntityId) {
        while let Some(pair) = self.by_local.range(pairs_of(local)).next().copied() {
            self.by_local.remove(&pair);
            self.by_remote.remove(&(pair.1, pair.0));
        }
    }

    /// Removes a remote endpoint. Returns the local ones that have no other endpoint of the participant.
    pub(super) fn remove_remote(&mut self, remote: EntityId) -> Vec<EntityId> {
        let mut alone = Vec::new();
        while let Some(pair @ (_, local)) = self.by_remote.range(pairs_of(remote)).next().copied() {
            self.by_remote.remove(&pair);
            self.by_local.remove(&(local, remote));
            if self.by_local.range(pairs_of(local)).next().is_none() {
                alone.push(local);
            }
        }
        alone
    }
}

/// The range of the pairs that begin with an endpoint.
fn pairs_of(id: EntityId) -> RangeInclusive<(EntityId, EntityId)> {
    (id, EntityId([0; 4]))..=(id, EntityId([u8::MAX; 4]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u8) -> EntityId {
        EntityId([0, 0, number, 2])
    }

    #[test]
    fn endpoint_takes_its_own_pairs_along() {
        let mut sent = SentKeys::default();
        let all = [(1, 11), (1, 12), (2, 11), (3, 12)];
        all.iter().for_each(|(local, remote)| sent.insert(id(*local), id(*remote)));
        assert_eq!(sent.remove_remote(id(11)), [id(2)], "the first local endpoint has another one");
        let left = |sent: &SentKeys| all.map(|(local, remote)| sent.contains(id(local), id(remote)));
        assert_eq!(left(&sent), [false, true, false, true]);
        sent.remove_local(id(1));
        assert_eq!(left(&sent), [false, false, false, true]);
        assert_eq!(sent.remove_remote(id(12)), [id(3)]);
        assert!(sent.by_local.is_empty() && sent.by_remote.is_empty());
        assert!(sent.remove_remote(id(12)).is_empty());
    }
}
