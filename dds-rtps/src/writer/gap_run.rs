//! Puts numbers that will never come into as few GAPs as possible.

use crate::types::{EntityId, SequenceNumber};
use crate::wire::{Gap, SequenceNumberSet};

/// The GAP that is being put together: a run, and single numbers behind it.
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

    /// Adds the numbers `first ..= last`, which must lie behind all added before. Returns a GAP that is complete, if the
    /// new ones do not fit into it.
    pub(super) fn add(&mut self, first: SequenceNumber, last: SequenceNumber) -> Option<Gap> {
        if let Some(gap) = &mut self.gap {
            let list = &mut gap.gap_list;
            if list.base() == first && list.bit_count() == 0 {
                *list = SequenceNumberSet::empty(last.next());
                return None;
            }
            // The last one first: if it fits, so do all before it.
            if list.insert(last) {
                (first.0..last.0).for_each(|number| {
                    list.insert(SequenceNumber(number));
                });
                return None;
            }
        }
        self.gap.replace(Gap {
            reader_id: self.reader_id,
            writer_id: self.writer_id,
            gap_start: first,
            gap_list: SequenceNumberSet::empty(last.next()),
            group_info: None,
            filtered_count: None,
        })
    }

    /// The last GAP.
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
        assert!(run.add(N(3), N(5)).is_none());
        assert!(run.add(N(6), N(6)).is_none());
        let gap = run.finish().unwrap();
        assert_eq!((gap.gap_start, gap.gap_list), (N(3), SequenceNumberSet::empty(N(7))));
        assert!(run.finish().is_none());
    }

    #[test]
    fn single_numbers_behind_the_run_go_into_the_list() {
        let mut run = run();
        run.add(N(1), N(1000));
        run.add(N(1003), N(1003));
        run.add(N(1006), N(1008));
        let gap = run.finish().unwrap();
        assert_eq!((gap.gap_start, gap.gap_list.base()), (N(1), N(1001)));
        assert_eq!(gap.gap_list.iter().collect::<Vec<_>>(), [N(1003), N(1006), N(1007), N(1008)]);
    }

    #[test]
    fn what_does_not_fit_begins_a_new_gap() {
        let mut run = run();
        run.add(N(1), N(1));
        let first = run.add(N(250), N(400)).unwrap();
        assert_eq!((first.gap_start, first.gap_list), (N(1), SequenceNumberSet::empty(N(2))));
        let second = run.finish().unwrap();
        assert_eq!((second.gap_start, second.gap_list), (N(250), SequenceNumberSet::empty(N(401))));
    }
}
