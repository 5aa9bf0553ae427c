//! Combines irrelevant changes into as few GAPs as possible.

use crate::types::{EntityId, SequenceNumber};
use crate::wire::{Gap, SequenceNumberSet};

/// The GAP under construction: a run, and single sequence numbers after it.
#[derive(Debug)]
pub(super) struct GapRun {
    writer_id: EntityId,
    reader_id: EntityId,
    gap: Option<Gap>,
}

impl GapRun {
    pub(super) fn new(writer_id: EntityId, reader_id: EntityId) -> Self {
        Self { writer_id, reader_id, gap: None }
    }

    /// Adds the changes `first ..= last`, which must follow all earlier ones. Returns the previous GAP if they do not
    /// fit into it.
    ///
    /// Changes that a content filter excludes need GAPs of their own. A GAP states how many of its changes were
    /// filtered (RTPS 2.5, 9.4.5.8, `filteredCount`), but not which.
    pub(super) fn add(&mut self, first: SequenceNumber, last: SequenceNumber, is_filtered: bool) -> Option<Gap> {
        let count = last.0 - first.0 + 1;
        if let Some(gap) = self.gap.as_mut().filter(|gap| gap.filtered_count.is_some() == is_filtered) {
            let list = &mut gap.gap_list;
            // The changes directly extend the run of the GAP.
            if list.base() == first && list.bit_count() == 0 {
                *list = SequenceNumberSet::empty(last.next());
                gap.filtered_count = gap.filtered_count.map(|known| known + count);
                return None;
            }
            // If the last one fits, so do all before it.
            if list.insert(last) {
                (first.0..last.0).for_each(|number| {
                    list.insert(SequenceNumber(number));
                });
                gap.filtered_count = gap.filtered_count.map(|known| known + count);
                return None;
            }
        }
        self.gap.replace(Gap {
            reader_id: self.reader_id,
            writer_id: self.writer_id,
            gap_start: first,
            gap_list: SequenceNumberSet::empty(last.next()),
            group_info: None,
            filtered_count: is_filtered.then_some(count),
        })
    }

    /// Returns the last GAP.
    pub(super) fn finish(&mut self) -> Option<Gap> {
        self.gap.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: fn(i64) -> SequenceNumber = SequenceNumber;

    fn run() -> GapRun {
        GapRun::new(EntityId([0, 0, 1, 2]), EntityId::UNKNOWN)
    }

    #[test]
    fn neighbours_become_one_run_without_a_list() {
        let mut run = run();
        assert!(run.add(N(3), N(5), false).is_none());
        assert!(run.add(N(6), N(6), false).is_none());
        let gap = run.finish().unwrap();
        assert_eq!((gap.gap_start, gap.gap_list), (N(3), SequenceNumberSet::empty(N(7))));
        assert!(run.finish().is_none());
    }

    #[test]
    fn single_numbers_behind_the_run_go_into_the_list() {
        let mut run = run();
        run.add(N(1), N(1000), false);
        run.add(N(1003), N(1003), false);
        run.add(N(1006), N(1008), false);
        let gap = run.finish().unwrap();
        assert_eq!((gap.gap_start, gap.gap_list.base()), (N(1), N(1001)));
        assert_eq!(gap.gap_list.iter().collect::<Vec<_>>(), [N(1003), N(1006), N(1007), N(1008)]);
    }

    #[test]
    fn what_does_not_fit_begins_a_new_gap() {
        let mut run = run();
        run.add(N(1), N(1), false);
        let first = run.add(N(250), N(400), false).unwrap();
        assert_eq!((first.gap_start, first.gap_list), (N(1), SequenceNumberSet::empty(N(2))));
        let second = run.finish().unwrap();
        assert_eq!((second.gap_start, second.gap_list), (N(250), SequenceNumberSet::empty(N(401))));
    }

    #[test]
    fn what_a_filter_has_left_out_has_gaps_of_its_own() {
        let mut run = run();
        run.add(N(1), N(2), true);
        run.add(N(3), N(3), true);
        run.add(N(5), N(6), true);
        let first = run.add(N(7), N(7), false).unwrap();
        assert_eq!((first.gap_start, first.gap_list.base(), first.filtered_count), (N(1), N(4), Some(5)));
        assert_eq!(first.gap_list.iter().collect::<Vec<_>>(), [N(5), N(6)]);
        let second = run.finish().unwrap();
        assert_eq!((second.gap_start, second.filtered_count), (N(7), None));
    }
}
