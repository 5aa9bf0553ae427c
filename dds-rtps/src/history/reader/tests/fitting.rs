//! Space for coherent sets, and withheld samples.

use super::*;

/// Checks whether samples of these instances fit. The error says whether it is lasting.
fn fit(cache: &mut Cache, keys: &[u8]) -> Result<(), (RejectReason, bool)> {
    let changes: Vec<ReceivedChange> = keys.iter().map(|&key| cache.received(ChangeKind::Alive, 1, key)).collect();
    cache.history.check_set(&changes).map_err(|rejection| (rejection.reason, rejection.is_lasting))
}

fn keep_all(max_samples: Option<u32>, max_instances: Option<u32>, max_samples_per_instance: Option<u32>) -> Cache {
    Cache::new(History::KeepAll, ResourceLimits { max_samples, max_instances, max_samples_per_instance })
}

#[test]
fn any_set_fits_without_limits() {
    assert_eq!(fit(&mut Cache::keep_all(), &[1, 2, 2]), Ok(()));
    assert_eq!(fit(&mut Cache::keep_last(1), &[1, 1, 2]), Ok(()));
}

#[test]
fn set_fits_up_to_max_samples() {
    let mut cache = keep_all(Some(3), None, None);
    cache.write(1, 1).unwrap();
    assert_eq!(fit(&mut cache, &[1, 2]), Ok(()));
    assert_eq!(fit(&mut cache, &[1, 2, 2]), Err((RejectReason::Samples, false)));
    assert_eq!(fit(&mut cache, &[1, 2, 2, 2]), Err((RejectReason::Samples, true)));
}

#[test]
fn set_fits_up_to_max_samples_per_instance() {
    let mut cache = keep_all(Some(3), None, Some(2));
    cache.write(1, 1).unwrap();
    assert_eq!(fit(&mut cache, &[1, 2]), Ok(()));
    assert_eq!(fit(&mut cache, &[2, 2]), Ok(()));
    assert_eq!(fit(&mut cache, &[1, 1]), Err((RejectReason::SamplesPerInstance, false)));
    assert_eq!(fit(&mut cache, &[1, 1, 1]), Err((RejectReason::SamplesPerInstance, true)));
    let limits = ResourceLimits { max_samples: Some(3), ..ResourceLimits::default() };
    let mut cache = Cache::new(History::KeepLast { depth: 1 }, limits);
    cache.write(1, 1).unwrap();
    assert_eq!(fit(&mut cache, &[1, 1, 1, 2]), Ok(()), "they replace each other");
}

#[test]
fn set_fits_up_to_max_instances() {
    let mut cache = keep_all(None, Some(2), None);
    cache.write(1, 1).unwrap();
    assert_eq!(fit(&mut cache, &[1, 1, 2]), Ok(()));
    assert_eq!(fit(&mut cache, &[2, 3]), Err((RejectReason::Instances, false)));
    assert_eq!(fit(&mut cache, &[2, 3, 4]), Err((RejectReason::Instances, true)));
    cache.unregister(1, 1).unwrap();
    cache.take();
    assert_eq!(fit(&mut cache, &[2, 3]), Ok(()), "the first one is unused");
}

#[test]
fn withheld_samples_have_a_limit() {
    let mut cache = keep_all(Some(2), None, None);
    assert!(cache.history.withhold(1, 10, 10));
    assert!(!cache.history.withhold(1, 1, 10));
    assert!(cache.history.withhold(1, 0, 10));
    assert!(!cache.history.withhold(1, 0, 10));
    cache.history.release_withheld(2, 10);
    assert!(cache.history.withhold(2, 10, 10));
}

#[test]
fn identities_are_those_of_stored_samples() {
    let mut cache = Cache::keep_all();
    cache.write(1, 1).unwrap();
    cache.read();
    cache.write(2, 1).unwrap();
    let [first, second] = [(writer(1), SequenceNumber(1)), (writer(2), SequenceNumber(2))];
    assert_eq!(cache.history.identities().collect::<Vec<_>>(), [first, second]);
    let unread = Selection { states: States::NOT_READ, ..Selection::default() };
    assert_eq!(cache.history.identities_of(at(0), &unread), [second]);
}

/// A disposed instance of the set keeps its place. Another disposed instance makes space.
#[test]
fn instances_of_set_do_not_make_space_for_it() {
    let mut cache = keep_all(None, Some(2), None);
    for key in [1, 2] {
        cache.write(1, key).unwrap();
        cache.dispose(1, key).unwrap();
    }
    cache.take();
    assert_eq!(fit(&mut cache, &[1, 3]), Ok(()));
    assert_eq!(cache.history.lookup_instance(handle(1)), Some(InstanceState::NotAliveDisposed));
    assert_eq!(cache.history.lookup_instance(handle(2)), None);
    assert_eq!(fit(&mut cache, &[1, 3, 4]), Err((RejectReason::Instances, true)));
    // The instance that stayed can make space for others.
    assert_eq!(fit(&mut cache, &[3, 4]), Ok(()));
}
