//! A participant with its own settings, changed presets, and a QoS that cannot change.

use super::Pose;
use crate::support::{PATIENCE, World};
use dds_core::builtin::BuiltinTopic;
use dds_core::error::CreateErrorKind;
use dds_core::error::QosErrorKind;
use dds_core::listener::Delivery;
use dds_core::qos::{DomainParticipantQos, History, PolicyId, Preset};
use dds_core::{DomainParticipant, Duration, Scope};

#[test]
fn settings_and_presets_apply_or_are_refused() {
    let world = World::new();
    let watcher = world.participant();
    let builder = world.builder().name("arm").scope(Scope::Host).lease(Duration::from_secs(5)).linger(Duration::ZERO);
    let builder = builder.delivery(Delivery::Inline).property("version", "1.2").udp_only(true).interfaces(["lo"]);
    let arm = builder.qos(DomainParticipantQos::default().user_data(*b"on duty")).build().unwrap();
    let seen =
        watcher.reader(&BuiltinTopic::PARTICIPANT).unwrap().next_sample().block_for(PATIENCE).unwrap().data.unwrap();
    assert_eq!((seen.name.as_str(), &seen.user_data[..], seen.lease), ("arm", &b"on duty"[..], Duration::from_secs(5)));
    // The properties of the process follow.
    assert_eq!(seen.properties[0], ("version".to_owned(), "1.2".to_owned()));

    let qos = Preset::State.writer().keep_last(3).deadline(std::time::Duration::from_secs(1));
    let writer = arm.writer_builder::<Pose>("pose").qos(qos.clone()).build().unwrap();
    assert_eq!((writer.qos().history, &writer.qos()), (History::KeepLast { depth: 3 }, &qos));
    let error = writer.set_qos(qos.clone().best_effort()).unwrap_err();
    assert_eq!(error.kind(), &QosErrorKind::Immutable { policy: PolicyId::Reliability });
    writer.set_qos(qos.deadline(Duration::from_secs(2))).unwrap();

    let error = arm.reader_builder::<Pose>("pose").qos(Preset::State.reader().keep_last(0)).build().unwrap_err();
    assert_eq!(error.kind(), &CreateErrorKind::InconsistentQos(QosErrorKind::ZeroDepth));
    assert!(error.to_string().contains("reader of topic \"pose\""), "{error}");
    let error = DomainParticipant::builder(233).ignore_environment().build().unwrap_err();
    assert_eq!(error.kind(), &CreateErrorKind::InvalidDomain { domain_id: 233 });
}
