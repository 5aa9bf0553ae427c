//! The cache against a simple model of vectors, with random operations from a seed.

use super::*;

const KEYS: u64 = 6;
const WRITERS: u64 = 3;

/// Sequence number, key, read.
type Sample = (i64, u8, bool);

/// Model of a KEEP_LAST cache with samples that have data.
struct Model {
    depth: usize,
    samples: Vec<Sample>,
}

impl Model {
    fn write(&mut self, number: i64, key: u8) {
        let same = |sample: &&Sample| sample.1 == key;
        if self.samples.iter().filter(same).count() == self.depth {
            let oldest = self.samples.iter().position(|sample| sample.1 == key).unwrap();
            self.samples.remove(oldest);
        }
        self.samples.push((number, key, false));
    }

    /// Indexes of the selected samples.
    fn find(&self, selection: &Selection, unread_only: bool) -> Vec<usize> {
        let wanted = |index: &usize| {
            let (_, key, read) = self.samples[*index];
            let this = match selection.instance {
                InstanceSelection::This(wanted) => wanted == handle(key),
                _ => true,
            };
            this && !(unread_only && read)
        };
        let mut found: Vec<usize> = (0..self.samples.len()).collect();
        if selection.order == SelectionOrder::ByInstance {
            let first = |key: u8| self.samples.iter().position(|sample| sample.1 == key && !(unread_only && sample.2));
            found.sort_by_key(|&index| (first(self.samples[index].1), index));
        }
        found.into_iter().filter(wanted).take(selection.samples_max).collect()
    }
}

pub(super) struct Chance(pub(super) u64);

impl Chance {
    pub(super) fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}

fn selection(chance: &mut Chance, unread_only: bool) -> Selection<'static> {
    Selection {
        filter: None,
        samples_max: 1 + chance.below(12) as usize,
        states: if unread_only { States::NOT_READ } else { States::ANY },
        instance: match chance.below(3) {
            0 => InstanceSelection::This(handle(chance.below(KEYS) as u8)),
            _ => InstanceSelection::Any,
        },
        order: if chance.below(2) == 0 { SelectionOrder::ByArrival } else { SelectionOrder::ByInstance },
    }
}

#[test]
fn cache_equals_model() {
    for depth in [1, 2, 5] {
        let mut chance = Chance(depth.into());
        let mut cache = Cache::keep_last(depth);
        let mut model = Model { depth: depth as usize, samples: Vec::new() };
        for _ in 0..20_000 {
            if chance.below(3) > 0 {
                let key = chance.below(KEYS) as u8;
                cache.write(chance.below(WRITERS) as u8, key).unwrap();
                model.write(cache.number, key);
                continue;
            }
            let unread_only = chance.below(2) == 0;
            let selection = selection(&mut chance, unread_only);
            let found = model.find(&selection, unread_only);
            let expected: Vec<i64> = found.iter().map(|&index| model.samples[index].0).collect();
            assert_eq!(cache.history.count_matching(at(0), &selection), expected.len());
            let take = chance.below(2) == 0;
            let samples = cache.select(selection, if take { Operation::Take } else { Operation::Read });
            assert_eq!(numbers(&samples), expected);
            if take {
                model.samples.retain(|sample| !expected.contains(&sample.0));
            } else {
                for &index in &found {
                    model.samples[index].2 = true;
                }
            }
            assert_eq!(cache.history.len(), model.samples.len());
            assert_eq!(cache.history.not_read_len(), model.samples.iter().filter(|sample| !sample.2).count());
        }
    }
}

/// Random states, losses of writers and revivals: the counters agree with the selections, and nothing is left at the
/// end.
#[test]
fn counters_agree_and_nothing_leaks() {
    let mut chance = Chance(9);
    let mut cache = Cache::keep_last(2);
    for _ in 0..50_000 {
        let from = chance.below(WRITERS) as u8;
        let key = chance.below(KEYS) as u8;
        match chance.below(9) {
            0..4 => drop(cache.write(from, key)),
            4 => drop(cache.dispose(from, key)),
            5 => drop(cache.unregister(from, key)),
            6 => drop(cache.add(ChangeKind::NotAliveDisposedUnregistered, from, key)),
            7 => drop(cache.history.writer_lost(at(0), writer(from))),
            _ => {
                let unread_only = chance.below(2) == 0;
                let selection = selection(&mut chance, unread_only);
                let operation = if chance.below(2) == 0 { Operation::Take } else { Operation::Read };
                let samples = cache.select(selection, operation);
                assert!(samples.iter().all(|sample| sample.info.valid_data || sample.payload.is_some()));
            }
        }
        let unread = Selection { states: States::NOT_READ, ..Selection::default() };
        assert_eq!(cache.history.count_matching(at(0), &unread), cache.history.not_read_len());
        assert!(cache.history.len() <= KEYS as usize * 3);
    }
    for from in 0..WRITERS {
        cache.history.writer_lost(at(0), writer(from as u8));
    }
    cache.take();
    assert!(cache.take().is_empty());
    assert_eq!((cache.history.len(), cache.history.instance_count()), (0, 0));
}
