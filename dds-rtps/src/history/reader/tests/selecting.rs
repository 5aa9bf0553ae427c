//! Reads and takes: the samples, their order and their metadata.

use super::*;
use crate::cdr::TypeInfo;
use crate::filter::Filter;
use crate::types::Duration;
use crate::wire::SampleIdentity;
use dds_macros::DdsType;

#[test]
fn order_is_by_instance_or_by_arrival() {
    let mut cache = Cache::keep_all();
    for key in [2, 1, 2, 3, 1] {
        cache.write(1, key).unwrap();
    }
    assert_eq!(numbers(&cache.read()), [1, 3, 2, 5, 4]);
    let arrival = Selection { order: SelectionOrder::ByArrival, ..Selection::default() };
    assert_eq!(numbers(&cache.select(arrival, Operation::Read)), [1, 2, 3, 4, 5]);
    let some = Selection { samples_max: 3, ..Selection::default() };
    assert_eq!(numbers(&cache.select(some, Operation::Take)), [1, 3, 2]);
    assert_eq!(numbers(&cache.take()), [4, 5]);
}

#[test]
fn read_marks_samples_and_take_removes_them() {
    let mut cache = Cache::keep_all();
    cache.write(1, 1).unwrap();
    let first = cache.read();
    assert_eq!((first[0].info.sample_state, first[0].info.view_state), (SampleState::NotRead, ViewState::New));
    cache.write(1, 1).unwrap();
    let both = cache.read();
    assert_eq!((both[0].info.sample_state, both[0].info.view_state), (SampleState::Read, ViewState::NotNew));
    assert_eq!((both[1].info.sample_state, both[1].info.view_state), (SampleState::NotRead, ViewState::NotNew));
    assert_eq!(cache.take().len(), 2);
    assert!(cache.history.is_empty());
}

#[test]
fn selection_by_states() {
    let mut cache = Cache::keep_all();
    cache.write(1, 1).unwrap();
    cache.write(1, 2).unwrap();
    cache.read();
    cache.dispose(1, 2).unwrap();
    cache.write(1, 1).unwrap();
    cache.write(1, 3).unwrap();
    let chosen = |cache: &mut Cache, states: States| {
        let arrival = SelectionOrder::ByArrival;
        let selection = Selection { states, order: arrival, ..Selection::default() };
        let count = cache.history.count_matching(at(0), &selection);
        assert_eq!(cache.history.has_matching(at(0), &selection), count > 0);
        count
    };
    assert_eq!(chosen(&mut cache, States::ANY), 5);
    assert_eq!(chosen(&mut cache, States::READ), 2);
    assert_eq!(chosen(&mut cache, States::NOT_READ), 3);
    assert_eq!(chosen(&mut cache, States::NEW), 1);
    assert_eq!(chosen(&mut cache, States::NOT_ALIVE_DISPOSED), 2);
    assert_eq!(chosen(&mut cache, States::NOT_READ & States::ALIVE & States::NOT_NEW), 1);
    assert_eq!(chosen(&mut cache, States::NOT_ALIVE_NO_WRITERS), 0);
    // Counting marks nothing as read.
    assert_eq!(cache.history.not_read_len(), 3);
}

#[test]
fn selection_by_instance_handle() {
    let mut cache = Cache::keep_all();
    for key in [1, 2, 1] {
        cache.write(1, key).unwrap();
    }
    let of = |key| Selection { instance: InstanceSelection::This(handle(key)), ..Selection::default() };
    assert_eq!(numbers(&cache.select(of(1), Operation::Take)), [1, 3]);
    assert!(cache.select(of(1), Operation::Take).is_empty());
    assert!(cache.select(of(9), Operation::Take).is_empty());
}

#[test]
fn next_instance_accepts_unknown_handle() {
    let mut cache = Cache::keep_all();
    for key in [8, 4, 6] {
        cache.write(1, key).unwrap();
    }
    let after = |handle| Selection { instance: InstanceSelection::Next(handle), ..Selection::default() };
    assert_eq!(numbers(&cache.select(after(handle(5)), Operation::Take)), [3]);
    assert_eq!(numbers(&cache.select(after(handle(5)), Operation::Take)), [1]);
    assert_eq!(numbers(&cache.select(after(InstanceHandle::NIL), Operation::Take)), [2]);
    assert!(cache.select(after(InstanceHandle::NIL), Operation::Take).is_empty());
}

#[test]
fn next_instance_finds_keyless_instance() {
    let mut cache = Cache::keep_all();
    let mut received = cache.received(ChangeKind::Alive, 1, 1);
    received.change.instance = InstanceHandle::NIL;
    cache.history.add(at(0), received).unwrap();
    let next = Selection { instance: InstanceSelection::Next(InstanceHandle::NIL), ..Selection::default() };
    assert_eq!(cache.select(next, Operation::Take).len(), 1);
    assert!(cache.history.instance_key_payload(InstanceHandle::NIL).is_none());
}

#[test]
fn ranks_count_in_batch_and_absolute_ranks_to_newest() {
    let mut cache = Cache::keep_all();
    cache.write(1, 1).unwrap();
    cache.dispose(1, 1).unwrap();
    cache.write(1, 1).unwrap();
    cache.dispose(1, 1).unwrap();
    cache.write(1, 1).unwrap();
    let two = Selection { samples_max: 2, ..Selection::default() };
    let samples = cache.select(two, Operation::Read);
    let ranks = |sample: &HistorySample| {
        let info = &sample.info;
        (info.sample_rank, info.generation_rank, info.absolute_generation_rank)
    };
    assert_eq!(samples.iter().map(ranks).collect::<Vec<_>>(), [(1, 1, 2), (0, 0, 1)]);
}

#[test]
fn samples_of_a_batch_carry_its_initial_states() {
    let mut cache = Cache::keep_all();
    for key in [1, 2, 1] {
        cache.write(1, key).unwrap();
    }
    let arrival = Selection { order: SelectionOrder::ByArrival, ..Selection::default() };
    let samples = cache.select(arrival, Operation::Take);
    assert!(samples.iter().all(|sample| sample.info.view_state == ViewState::New));
}

/// The type of the samples of [`Cache`].
#[derive(DdsType)]
#[dds(crate = "crate")]
struct Written {
    #[dds(key)]
    key: u8,
    number: u8,
}

#[test]
fn selection_by_content_filter() {
    let mut cache = Cache::keep_all();
    for key in [1, 2, 3, 3, 4] {
        cache.write(1, key).unwrap();
    }
    let filter = Filter::new(Written::DESCRIPTION, "number >= 2 AND key <> 4", &[]).unwrap();
    let selection = Selection { filter: Some(&filter), ..Selection::default() };
    assert_eq!(cache.history.count_matching(at(0), &selection), 3);
    let next = |handle| Selection { instance: InstanceSelection::Next(handle), ..selection };
    assert_eq!(
        numbers(&cache.select(next(InstanceHandle::NIL), Operation::Read)),
        [2],
        "no sample of the first instance passes"
    );
    assert_eq!(numbers(&cache.select(next(handle(2)), Operation::Read)), [3, 4]);
    assert!(cache.select(next(handle(3)), Operation::Read).is_empty());
    assert_eq!(numbers(&cache.select(selection, Operation::Take)), [2, 3, 4]);
    assert_eq!(numbers(&cache.take()), [1, 5]);
    // An end has only a key. It passes unless the key alone fails the filter.
    cache.dispose(1, 1).unwrap();
    cache.dispose(1, 4).unwrap();
    assert_eq!(cache.history.count_matching(at(0), &selection), 2);
    let filter = Filter::new(Written::DESCRIPTION, "key <> 4", &[]).unwrap();
    let of_key = Selection { filter: Some(&filter), ..Selection::default() };
    assert_eq!(numbers(&cache.select(of_key, Operation::Take)), [6]);
}

#[test]
fn original_writer_survives_repeated_reads() {
    let mut cache = Cache::keep_all();
    let mut received = cache.received(ChangeKind::Alive, 1, 1);
    let identity = SampleIdentity { writer: writer(2), sequence_number: SequenceNumber(7) };
    received.change.origin = Some(Box::new(OriginalWriterInfo { identity, lifespan: Duration::INFINITE }));
    cache.history.add(at(0), received).unwrap();
    for operation in [Operation::Read, Operation::Read, Operation::Take] {
        let samples = cache.select(Selection::default(), operation);
        assert_eq!(samples[0].origin.as_ref().map(|origin| origin.identity), Some(identity));
    }
}
