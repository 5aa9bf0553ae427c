//! One wait for several causes: data in some states, a status, and a signal of another thread.

use super::{Pose, pose};
use crate::support::{PATIENCE, World};
use dds_core::condition::WaitSet;
use dds_core::condition::{Condition, GuardCondition};
use dds_core::filter::FilterExpression;
use dds_core::qos::Preset;
use dds_core::reader::States;
use dds_core::status::StatusMask;

#[test]
fn one_wait_covers_data_status_and_guard() {
    let participant = World::new().participant();
    let reader = participant.reader_builder::<Pose>("pose").qos(Preset::Event).build().unwrap();
    let disposed = reader.read_condition(States::NOT_ALIVE_DISPOSED);
    let status = reader.status_condition();
    status.set_enabled_statuses(StatusMask::MATCHED);
    let far = reader.query_condition(States::NOT_READ, FilterExpression::new("x > %0").parameter(10)).unwrap();
    let guard = GuardCondition::new();
    let waits = WaitSet::new(&participant);
    waits.attach(&disposed);
    waits.attach(&status);
    waits.attach(&guard);
    waits.attach(&far);

    let writer = participant.writer_builder::<Pose>("pose").qos(Preset::Event).build().unwrap();
    let active = waits.wait().block_for(PATIENCE).unwrap();
    assert!(active.contains(&status) && !active.contains(&disposed) && active.len() == 1);
    assert_eq!(reader.subscription_matched().current_count, 1);

    writer.write(&pose(1, 0.0)).unwrap();
    writer.write(&pose(2, 0.0)).unwrap();
    writer.dispose(&1).unwrap();
    let active = waits.wait().block_for(PATIENCE).unwrap();
    assert!(active.contains(&disposed) && active.len() == 1);
    let taken = reader.select().condition(&disposed).take().unwrap();
    assert!(taken.iter().all(|sample| sample.decode().is_none_or(|pose| pose.unwrap().robot == 1)));
    assert_eq!(reader.take().unwrap().into_data().collect::<Vec<_>>(), [pose(2, 0.0)]);

    for pose in [pose(3, 1.0), pose(4, 20.0), pose(3, 2.0)] {
        writer.write(&pose).unwrap();
    }
    let active = waits.wait().block_for(PATIENCE).unwrap();
    assert!(active.contains(&far) && active.len() == 1);
    assert_eq!(reader.select().condition(&far).take().unwrap().into_data().collect::<Vec<_>>(), [pose(4, 20.0)]);
    assert!(!far.is_triggered());
    far.set_parameters([1.5]).unwrap();
    assert_eq!((far.expression().as_str(), far.parameters()), ("x > %0", vec!["1.5".to_owned()]));
    assert!(waits.wait().block_for(PATIENCE).unwrap().contains(&far));
    assert_eq!(reader.take().unwrap().into_data().collect::<Vec<_>>(), [pose(3, 1.0), pose(3, 2.0)]);

    std::thread::scope(|scope| {
        scope.spawn(|| guard.set_triggered(true));
        let active = waits.wait().block_for(PATIENCE).unwrap();
        assert!(active.contains(&guard) && active.len() == 1);
    });
}
