//! Combines irrelevant changes into as few GAPs as possible.

use crate::types::{EntityId, SequenceNumber};
use crate::wire::{Gap, SequenceNumberSet};

/// The GAP under construction: a run, and single sequence numbers after it.
#[derive(Debug)]
pub(crate) struct GapRun {
    writer_id: EntityId,
    reader_id: EntityId,
    gap: Option<Gap>,
}

impl GapRun {
    pub(crate) fn new(writer_id: EntityId, reader_id: EntityId) -> Self {
        Self { writer_id, reader_id, gap: None }
    }

    /// Adds the changes `first ..= last`, which must follow all earlier ones. Returns the previous GAP if they do not
    /// fit into it.
    ///
    /// Changes that a content filter excludes need GAPs of their own. A GAP states how many of its changes were
    /// filtered (RTPS 2.5, 9.4.5.8, `filteredCount`), but not which.
    pub(crate) fn add(&mut self, first: SequenceNumber, last: SequenceNumber, is_filtered: bool) -> Option<Gap> {
        let count = last.0 - first.0 + 1;
        debug_assert!(first <= last, "a GAP covers at least one change");
        let open = match &mut self.gap {
            Some(gap) if gap.filtered_count.is_some() == is_filtered => Some(gap),
            _ => None,
        };
        if let Some(gap) = open {
            let list = &mut gap.gap_list;
            // The changes directly extend the run of the GAP.
            if list.base() == first && list.bit_count() == 0 {
                *list = SequenceNumberSet::empty(last.next());
                if let Some(known) = &mut gap.filtered_count {
                    *known += count;
                }
                return None;
            }
            // If the last one fits, so do all before it.
            if list.insert(last) {
                for number in first.0..last.0 {
                    let fits = list.insert(SequenceNumber(number));
                    debug_assert!(fits, "a set that covers the last number covers those before it");
                }
                if let Some(known) = &mut gap.filtered_count {
                    *known += count;
                }
                return None;
            }
        }
        self.gap.replace(Gap {
            reader_id: self.reader_id,
            writer_id: self.writer_id,
            gap_start: first,
            gap_list: SequenceNumberSet::empty(last.next()),
            group_info: None,
            filtered_count: if is_filtered { Some(count) } else { None },
        })
    }

    /// Returns the last GAP.
    pub(crate) fn finish(&mut self) -> Option<Gap> {
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
    fn adjacent_numbers_become_one_run() {
        let mut run = run();
        assert!(run.add(N(3), N(5), false).is_none());
        assert!(run.add(N(6), N(6), false).is_none());
        let gap = run.finish().unwrap();
        assert_eq!((gap.gap_start, gap.gap_list), (N(3), SequenceNumberSet::empty(N(7))));
        assert!(run.finish().is_none());
    }

    #[test]
    fn numbers_after_run_go_into_list() {
        let mut run = run();
        run.add(N(1), N(1000), false);
        run.add(N(1003), N(1003), false);
        run.add(N(1006), N(1008), false);
        let gap = run.finish().unwrap();
        assert_eq!((gap.gap_start, gap.gap_list.base()), (N(1), N(1001)));
        assert_eq!(gap.gap_list.iter().collect::<Vec<_>>(), [N(1003), N(1006), N(1007), N(1008)]);
    }

    #[test]
    fn number_beyond_list_begins_new_gap() {
        let mut run = run();
        run.add(N(1), N(1), false);
        let first = run.add(N(250), N(400), false).unwrap();
        assert_eq!((first.gap_start, first.gap_list), (N(1), SequenceNumberSet::empty(N(2))));
        let second = run.finish().unwrap();
        assert_eq!((second.gap_start, second.gap_list), (N(250), SequenceNumberSet::empty(N(401))));
    }

    #[test]
    fn filtered_changes_have_own_gaps() {
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
