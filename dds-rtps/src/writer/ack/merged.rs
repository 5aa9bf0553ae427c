//! Merges two queued requests of one reader into one with the same meaning.
//!
//! A queue of requests then needs one entry for each reader, however long the entries wait.

use super::is_preemptive;
use crate::wire::{AckNack, FragmentNumberSet, NackFrag};
use crate::writer::readers::proxy::is_newer;

/// Merges the `later` ACKNACK of a reader into `waiting`. Returns `false`, without a change, if they cannot be merged.
///
/// The later one shows how far the reader is. The merged one also requests the changes that the earlier one requests
/// beyond that. Some readers omit changes that they requested a moment ago, as Cyclone DDS does within its `NackDelay`.
/// The merged ACKNACK requires an answer if either does.
///
/// They cannot be merged if the reader has lost its state in between, or if the count of `later` is not newer.
#[must_use]
pub fn merge_ack_nack(waiting: &mut AckNack, later: &AckNack) -> bool {
    let is_ahead = later.reader_sn_state.base() >= waiting.reader_sn_state.base();
    if !is_ahead || !is_newer(later.count, waiting.count) || is_preemptive(later) != is_preemptive(waiting) {
        return false;
    }
    let mut merged = later.clone();
    // Changes below the later base have arrived since, so `insert` rejects them.
    for number in waiting.reader_sn_state.iter() {
        _ = merged.reader_sn_state.insert(number);
    }
    merged.is_final &= waiting.is_final;
    // The merged request must not look pre-emptive unless both are.
    if is_preemptive(&merged) != is_preemptive(later) {
        return false;
    }
    *waiting = merged;
    true
}

/// Merges a `later` NACK_FRAG of a reader into `waiting`.
///
/// Returns `false`, without a change, if they request different changes, or fragments that do not fit into one set. The
/// merged NACK_FRAG keeps the earlier count. Other requests of the reader may wait in between and must not look old.
#[must_use]
pub fn merge_nack_frag(waiting: &mut NackFrag, later: &NackFrag) -> bool {
    if later.writer_sn != waiting.writer_sn || !is_newer(later.count, waiting.count) {
        return false;
    }
    let (one, other) = (&waiting.fragment_number_state, &later.fragment_number_state);
    // A set starts at its lowest number, and covers 256 from there.
    let mut both = FragmentNumberSet::empty(one.base().min(other.base()));
    let fits = one.iter().chain(other.iter()).all(|number| both.insert(number));
    if fits {
        waiting.fragment_number_state = both;
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{EntityId, SequenceNumber};
    use crate::wire::SequenceNumberSet;

    fn ack_nack(count: i32, base: i64, missing: &[i64], is_final: bool) -> AckNack {
        let mut reader_sn_state = SequenceNumberSet::empty(SequenceNumber(base));
        for &number in missing {
            assert!(reader_sn_state.insert(SequenceNumber(number)));
        }
        AckNack { reader_id: EntityId::UNKNOWN, writer_id: EntityId::UNKNOWN, reader_sn_state, count, is_final }
    }

    fn nack_frag(count: i32, number: i64, base: u32, missing: &[u32]) -> NackFrag {
        let mut fragment_number_state = FragmentNumberSet::empty(base);
        for &number in missing {
            assert!(fragment_number_state.insert(number));
        }
        let writer_sn = SequenceNumber(number);
        NackFrag { reader_id: EntityId::UNKNOWN, writer_id: EntityId::UNKNOWN, writer_sn, fragment_number_state, count }
    }

    #[test]
    fn merged_ack_nack_has_later_base_and_both_requests() {
        let mut waiting = ack_nack(1, 5, &[5, 7, 260], false);
        assert!(merge_ack_nack(&mut waiting, &ack_nack(2, 6, &[8], true)));
        let mut merged = ack_nack(2, 6, &[7, 8, 260], false);
        assert_eq!(waiting.reader_sn_state.iter().collect::<Vec<_>>(), [7, 8, 260].map(SequenceNumber));
        assert_eq!((waiting.count, waiting.is_final, waiting.reader_sn_state.base()), (2, false, SequenceNumber(6)));
        // An ACKNACK without requests revokes no earlier request.
        assert!(merge_ack_nack(&mut merged, &ack_nack(3, 8, &[], true)));
        assert_eq!(merged, { ack_nack(3, 8, &[8, 260], false) });
    }

    #[test]
    fn pre_emptive_ack_nack_is_not_merged() {
        let preemptive = |count| ack_nack(count, 1, &[], false);
        for (mut waiting, later) in [
            (preemptive(1), ack_nack(2, 1, &[1], false)),
            (ack_nack(1, 1, &[1], true), preemptive(2)),
            (ack_nack(1, 0, &[0], false), ack_nack(2, 1, &[], true)),
        ] {
            let before = waiting.clone();
            assert!(!merge_ack_nack(&mut waiting, &later), "{before:?} and {later:?}");
            assert_eq!(waiting, before);
        }
        let mut waiting = preemptive(1);
        assert!(merge_ack_nack(&mut waiting, &preemptive(2)));
        assert_eq!(waiting, preemptive(2));
    }

    #[test]
    fn older_ack_nack_is_not_merged() {
        let mut waiting = ack_nack(5, 5, &[5], true);
        for later in [ack_nack(5, 5, &[6], true), ack_nack(4, 6, &[6], true), ack_nack(6, 4, &[4], true)] {
            assert!(!merge_ack_nack(&mut waiting, &later), "{later:?}");
        }
        assert_eq!(waiting, ack_nack(5, 5, &[5], true));
    }

    #[test]
    fn nack_frags_of_one_change_are_merged_if_they_fit() {
        let mut waiting = nack_frag(1, 9, 10, &[10, 12]);
        assert!(merge_nack_frag(&mut waiting, &nack_frag(2, 9, 3, &[3, 12, 250])));
        assert_eq!(waiting, nack_frag(1, 9, 3, &[3, 10, 12, 250]));
        for later in [nack_frag(3, 8, 3, &[4]), nack_frag(3, 9, 259, &[259]), nack_frag(1, 9, 3, &[4])] {
            assert!(!merge_nack_frag(&mut waiting, &later), "{later:?}");
        }
        assert_eq!(waiting, nack_frag(1, 9, 3, &[3, 10, 12, 250]));
    }
}
