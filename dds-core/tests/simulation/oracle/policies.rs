//! The policies of writers and readers that a scenario draws.

use super::dice::Dice;
use dds_core::Duration;
use dds_core::qos::{
    AccessScope, DataReaderQos, DataWriterQos, Liveliness, LivelinessKind, Ownership, Presentation, ResourceLimits,
    WriterDataLifecycle,
};
use dds_core::writer::SlowReader;

/// Settings that are no QoS policies and are not announced.
pub(crate) struct Behaviour {
    pub(crate) slow_reader: SlowReader,
    pub(crate) batching: Duration,
}

pub(crate) fn behaviour(dice: &mut Dice) -> Behaviour {
    let after = *dice.pick(&[Duration::from_millis(100), Duration::from_secs(2)]);
    let slow_reader = if dice.falls(15) { SlowReader::Demote { after } } else { SlowReader::Block };
    let windows = [Duration::from_millis(1), Duration::from_millis(300), Duration::INFINITE];
    let batching = if dice.falls(20) { *dice.pick(&windows) } else { Duration::ZERO };
    Behaviour { slow_reader, batching }
}

pub(crate) fn writer_qos(dice: &mut Dice, ownership: Ownership) -> DataWriterQos {
    let mut qos = DataWriterQos::default().ownership(ownership).ownership_strength(dice.below(3) as i32);
    qos = if dice.falls(80) { qos.reliable() } else { qos.best_effort() };
    qos = match dice.below(3) {
        0 => qos.keep_last(*dice.pick(&[1, 3, 20])),
        1 => qos.keep_all(),
        _ => qos.keep_all().resource_limits(ResourceLimits::NONE.max_samples(30)),
    };
    if dice.falls(40) {
        qos = qos.transient_local();
    }
    if dice.falls(20) {
        qos = qos.lifespan(lifespan(dice));
    }
    if dice.falls(20) {
        let kinds = [LivelinessKind::Automatic, LivelinessKind::ManualByParticipant, LivelinessKind::ManualByTopic];
        let lease_duration = *dice.pick(&[Duration::from_millis(500), Duration::from_secs(4)]);
        qos = qos.liveliness(Liveliness::new(*dice.pick(&kinds), lease_duration));
    }
    let autodispose_unregistered_instances = dice.falls(50);
    qos.writer_data_lifecycle(if autodispose_unregistered_instances {
        WriterDataLifecycle::DISPOSE
    } else {
        WriterDataLifecycle::KEEP
    })
}

pub(crate) fn reader_qos(dice: &mut Dice, ownership: Ownership) -> DataReaderQos {
    let mut qos = DataReaderQos::default().ownership(ownership);
    qos = if dice.falls(75) { qos.reliable() } else { qos.best_effort() };
    let limits = ResourceLimits::NONE.max_samples(10);
    qos = match dice.below(5) {
        0 => qos.keep_last(*dice.pick(&[1, 3, 20])),
        1 => qos.keep_all().resource_limits(limits),
        2 => qos.keep_all().resource_limits(limits.max_samples_per_instance(2)),
        _ => qos.keep_all(),
    };
    if dice.falls(10) {
        qos = qos.time_based_filter(*dice.pick(&[Duration::from_millis(20), Duration::from_millis(800)]));
    }
    if dice.falls(10) {
        let lease_duration = Duration::from_secs(4);
        qos = qos.liveliness(Liveliness::automatic(lease_duration));
    }
    if dice.falls(40) { qos.transient_local() } else { qos }
}

/// Offered presentation of a publisher: usually sufficient for any subscriber.
pub(crate) fn offered_presentation(dice: &mut Dice) -> Presentation {
    let access_scope = *dice.pick(&[AccessScope::Instance, AccessScope::Topic, AccessScope::Topic]);
    let (coherent_access, ordered_access) = (dice.falls(80), dice.falls(50));
    Presentation::new(access_scope).coherent_access(coherent_access).ordered_access(ordered_access)
}

pub(crate) fn requested_presentation(dice: &mut Dice) -> Presentation {
    let access_scope = *dice.pick(&[AccessScope::Instance, AccessScope::Instance, AccessScope::Topic]);
    let (coherent_access, ordered_access) = (dice.falls(60), dice.falls(20));
    Presentation::new(access_scope).coherent_access(coherent_access).ordered_access(ordered_access)
}

pub(crate) fn describe_writer(qos: &DataWriterQos) -> String {
    let reliability = if qos.reliability.is_reliable() { "reliable" } else { "best effort" };
    let (history, limit) = (qos.history, qos.resource_limits.max_samples);
    let (durability, lifespan, Liveliness { kind, lease_duration, .. }) =
        (qos.durability, qos.lifespan, qos.liveliness);
    let strength = qos.ownership_strength;
    format!(
        "{reliability} {history:?} of {limit:?} {durability:?} for {lifespan}, {kind:?} {lease_duration}, {:?} {strength}",
        qos.ownership
    )
}

pub(crate) fn describe_reader(qos: &DataReaderQos) -> String {
    let reliability = if qos.reliability.is_reliable() { "reliable" } else { "best effort" };
    let (history, durability, separation) = (qos.history, qos.durability, qos.time_based_filter);
    let ResourceLimits { max_samples, max_samples_per_instance, .. } = qos.resource_limits;
    format!(
        "{reliability} {history:?} of {max_samples:?} ({max_samples_per_instance:?}) {durability:?} every {separation}"
    )
}

pub(crate) fn lifespan(dice: &mut Dice) -> Duration {
    *dice.pick(&[Duration::from_millis(200), Duration::from_secs(3), Duration::INFINITE])
}

pub(crate) fn writer_partition(dice: &mut Dice) -> &'static str {
    let partition: &&str = dice.pick(&["", "", "", "", "left"]);
    partition
}

pub(crate) fn reader_partition(dice: &mut Dice) -> &'static str {
    let partition: &&str = dice.pick(&["", "", "", "", "left", "*"]);
    partition
}
