//! Every communication status of an endpoint (DDS 1.4, 2.2.4.1), each caused once.
//!
//! The tests check the counts of each status. Reading it resets its change and its condition, and no other call does.
//! The lowest requesting listener between endpoint and participant is called (2.2.4.2.3). A stream of events contains
//! it as well, independent of listeners.

use dds_core::condition::{Condition, StatusCondition};
use dds_core::listener::*;
use dds_core::qos::{DataReaderQos, DataWriterQos, Liveliness, PublisherQos, ResourceLimits, SubscriberQos};
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::status::*;
use dds_core::*;
use std::sync::{Arc, Mutex};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Pose {
    #[dds(key)]
    robot: u32,
}

const SECOND: Duration = Duration::from_secs(1);

/// A status, the QoS that it needs, and an action that causes it once.
struct Case {
    name: &'static str,
    mask: StatusMask,
    offer: DataWriterQos,
    request: DataReaderQos,
    cause: fn(&mut Scene),
    /// Total, change and peer or instance, as in the status. Reading resets the change.
    read: fn(&Scene) -> (u64, i64, InstanceHandle),
    /// The entity whose handle the status contains.
    whose: fn(&Scene) -> InstanceHandle,
    is_event: fn(&Happened) -> bool,
}

enum Happened {
    Writer(WriterEvent),
    Reader(ReaderEvent),
}

/// A writer in a publisher on one host, a reader in a subscriber on another one.
struct Scene {
    simulation: Simulation,
    from: DomainParticipant,
    to: DomainParticipant,
    publisher: Publisher,
    subscriber: Subscriber,
    writer: DataWriter<Pose>,
    reader: DataReader<Pose>,
    /// Entities that a cause has created.
    others: (Vec<DataWriter<Pose>>, Vec<DataReader<Pose>>),
}

impl Scene {
    fn new(case: &Case) -> Self {
        let simulation = Simulation::with_interference(3, Interference::NONE);
        simulation.set_network(Conditions::perfect());
        let from = simulation.participant("robot", 0).unwrap();
        let to = simulation.participant("station", 0).unwrap();
        let publisher = from.publisher(PublisherQos::default()).unwrap();
        let subscriber = to.subscriber(SubscriberQos::default()).unwrap();
        let writer = publisher.writer_builder("pose").qos(case.offer.clone()).build().unwrap();
        let reader = subscriber.reader_builder("pose").qos(case.request.clone()).build().unwrap();
        let scene =
            Self { simulation, from, to, publisher, subscriber, writer, reader, others: (Vec::new(), Vec::new()) };
        // They match, within the lease of a manual writer.
        scene.run(500);
        assert_eq!(scene.writer.publication_matched().current_count, 1, "{}", case.name);
        scene
    }

    fn run(&self, millis: u64) {
        self.simulation.run_for(Duration::from_millis(millis));
    }

    fn write(&self) {
        self.writer.write(&Pose { robot: 7 }).unwrap();
        self.run(10);
    }

    /// Reads every status and takes all samples.
    fn clear(&self, cases: &[Case]) {
        for case in cases {
            (case.read)(self);
        }
    }
}

fn instance(scene: &Scene) -> InstanceHandle {
    scene.writer.lookup_instance(&7).unwrap()
}

fn nobody(_: &Scene) -> InstanceHandle {
    InstanceHandle::NIL
}

fn writer_case(name: &'static str, mask: StatusMask) -> Case {
    Case {
        name,
        mask,
        offer: DataWriterQos::default(),
        request: DataReaderQos::default(),
        cause: |_| {},
        read: |_| (0, 0, InstanceHandle::NIL),
        whose: nobody,
        is_event: |_| false,
    }
}

#[allow(clippy::too_many_lines, reason = "a table")]
fn cases() -> Vec<Case> {
    let manual = Liveliness::manual_by_topic(Duration::from_secs(2));
    let one = ResourceLimits::NONE.max_samples(1);
    vec![
        Case {
            cause: |scene| {
                scene.others.1.push(scene.to.reader("pose").unwrap());
                scene.run(500);
            },
            read: |scene| {
                let status = scene.writer.publication_matched();
                assert_eq!(status.total_count, status.current_count);
                (status.total_count.into(), status.current_count_change.into(), status.last_peer_handle)
            },
            whose: |scene| scene.others.1[0].instance_handle(),
            is_event: |event| matches!(event, Happened::Writer(WriterEvent::Matched(status)) if status.current_count == 2),
            ..writer_case("PUBLICATION_MATCHED", StatusMask::MATCHED)
        },
        Case {
            cause: |scene| {
                scene.others.0.push(scene.from.writer("pose").unwrap());
                scene.run(500);
            },
            read: |scene| {
                let status = scene.reader.subscription_matched();
                assert_eq!(status.total_count, status.current_count);
                (status.total_count.into(), status.current_count_change.into(), status.last_peer_handle)
            },
            whose: |scene| scene.others.0[0].instance_handle(),
            is_event: |event| matches!(event, Happened::Reader(ReaderEvent::Matched(status)) if status.current_count == 2),
            ..writer_case("SUBSCRIPTION_MATCHED", StatusMask::MATCHED)
        },
        Case {
            offer: DataWriterQos::default().best_effort(),
            cause: |scene| {
                let request = DataReaderQos::default().reliable();
                scene.others.1.push(scene.to.reader_builder("pose").qos(request).build().unwrap());
                scene.run(500);
            },
            read: |scene| {
                let status = scene.writer.offered_incompatible_qos();
                let is_reliability = status.last_policy_id == Some(qos::PolicyId::Reliability);
                assert_eq!(is_reliability, status.total_count > 0);
                (status.total_count.into(), status.total_count_change.into(), InstanceHandle::NIL)
            },
            is_event: |event| matches!(event, Happened::Writer(WriterEvent::IncompatibleQos(_))),
            ..writer_case("OFFERED_INCOMPATIBLE_QOS", StatusMask::INCOMPATIBLE_QOS)
        },
        Case {
            request: DataReaderQos::default().reliable(),
            cause: |scene| {
                let offer = DataWriterQos::default().best_effort();
                scene.others.0.push(scene.from.writer_builder("pose").qos(offer).build().unwrap());
                scene.run(500);
            },
            read: |scene| {
                let status = scene.reader.requested_incompatible_qos();
                let is_reliability = status.last_policy_id == Some(qos::PolicyId::Reliability);
                assert_eq!(is_reliability, status.total_count > 0);
                (status.total_count.into(), status.total_count_change.into(), InstanceHandle::NIL)
            },
            is_event: |event| matches!(event, Happened::Reader(ReaderEvent::IncompatibleQos(_))),
            ..writer_case("REQUESTED_INCOMPATIBLE_QOS", StatusMask::INCOMPATIBLE_QOS)
        },
        Case {
            offer: DataWriterQos::default().deadline(SECOND),
            cause: |scene| {
                scene.write();
                scene.run(1_200);
            },
            read: |scene| {
                let status = scene.writer.offered_deadline_missed();
                (status.total_count, status.total_count_change as i64, status.last_instance_handle)
            },
            whose: instance,
            is_event: |event| matches!(event, Happened::Writer(WriterEvent::DeadlineMissed(_))),
            ..writer_case("OFFERED_DEADLINE_MISSED", StatusMask::DEADLINE_MISSED)
        },
        Case {
            offer: DataWriterQos::default().deadline(SECOND),
            request: DataReaderQos::default().deadline(SECOND),
            cause: |scene| {
                scene.write();
                scene.run(1_200);
            },
            read: |scene| {
                let status = scene.reader.requested_deadline_missed();
                (status.total_count, status.total_count_change as i64, status.last_instance_handle)
            },
            whose: instance,
            is_event: |event| matches!(event, Happened::Reader(ReaderEvent::DeadlineMissed(_))),
            ..writer_case("REQUESTED_DEADLINE_MISSED", StatusMask::DEADLINE_MISSED)
        },
        Case {
            offer: DataWriterQos::default().liveliness(manual),
            cause: |scene| scene.run(2_500),
            read: |scene| {
                let status = scene.writer.liveliness_lost();
                (status.total_count, status.total_count_change as i64, InstanceHandle::NIL)
            },
            is_event: |event| matches!(event, Happened::Writer(WriterEvent::LivelinessLost(_))),
            ..writer_case("LIVELINESS_LOST", StatusMask::LIVELINESS_LOST)
        },
        Case {
            offer: DataWriterQos::default().liveliness(manual),
            cause: |scene| scene.run(2_500),
            read: |scene| {
                let status = scene.reader.liveliness_changed();
                (status.not_alive_count.into(), status.not_alive_count_change.into(), status.last_publication_handle)
            },
            whose: |scene| scene.writer.instance_handle(),
            is_event: |event| matches!(event, Happened::Reader(ReaderEvent::LivelinessChanged(status)) if status.not_alive_count == 1),
            ..writer_case("LIVELINESS_CHANGED", StatusMask::LIVELINESS_CHANGED)
        },
        Case {
            offer: DataWriterQos::default().best_effort(),
            cause: |scene| {
                scene.write();
                scene.simulation.link("robot", "station").cut();
                scene.write();
                scene.simulation.link("robot", "station").mend();
                scene.write();
            },
            read: |scene| {
                let status = scene.reader.sample_lost();
                (status.total_count, status.total_count_change as i64, InstanceHandle::NIL)
            },
            is_event: |event| matches!(event, Happened::Reader(ReaderEvent::SampleLost(_))),
            ..writer_case("SAMPLE_LOST", StatusMask::SAMPLE_LOST)
        },
        Case {
            request: DataReaderQos::default().keep_all().resource_limits(one),
            cause: |scene| {
                scene.write();
                scene.write();
            },
            read: |scene| {
                let status = scene.reader.sample_rejected();
                assert_eq!(status.last_reason.is_some(), status.total_count > 0);
                (status.total_count, status.total_count_change as i64, status.last_instance_handle)
            },
            whose: instance,
            is_event: |event| matches!(event, Happened::Reader(ReaderEvent::SampleRejected(_))),
            ..writer_case("SAMPLE_REJECTED", StatusMask::SAMPLE_REJECTED)
        },
    ]
}

impl Case {
    fn is_of_writer(&self) -> bool {
        self.name.starts_with("OFFERED") || ["PUBLICATION_MATCHED", "LIVELINESS_LOST"].contains(&self.name)
    }

    fn condition(&self, scene: &Scene) -> StatusCondition {
        let condition = match self.is_of_writer() {
            true => scene.writer.status_condition(),
            false => scene.reader.status_condition(),
        };
        condition.set_enabled_statuses(self.mask);
        condition
    }

    fn has_changed(&self, scene: &Scene) -> bool {
        let changes = match self.is_of_writer() {
            true => scene.writer.status_changes(),
            false => scene.reader.status_changes(),
        };
        changes.contains(self.mask)
    }
}

/// Called listeners, with the status and its change.
type Log = Arc<Mutex<Vec<(&'static str, &'static str, i64)>>>;

/// Records its calls.
#[derive(Clone)]
struct Told {
    name: &'static str,
    log: Log,
}

impl Told {
    fn note(&self, status: &'static str, change: impl TryInto<i64>) {
        self.log.lock().unwrap().push((self.name, status, change.try_into().ok().unwrap()));
    }
}

macro_rules! told {
    ($($trait:ty: $endpoint:ty { $($call:ident($status:ty) $name:literal $change:ident;)* })*) => {$(
        impl $trait for Told {
            $(fn $call(&mut self, _: $endpoint, status: $status) {
                self.note($name, status.$change);
            })*
        }
    )*};
}

told! {
    DataWriterListener<Pose>: &DataWriter<Pose> {
        on_publication_matched(PeerStatus) "PUBLICATION_MATCHED" current_count_change;
        on_offered_incompatible_qos(IncompatibleQosStatus) "OFFERED_INCOMPATIBLE_QOS" total_count_change;
        on_liveliness_lost(CountStatus) "LIVELINESS_LOST" total_count_change;
        on_offered_deadline_missed(DeadlineMissedStatus) "OFFERED_DEADLINE_MISSED" total_count_change;
    }
    PublisherListener: &dyn AnyEndpoint {
        on_publication_matched(PeerStatus) "PUBLICATION_MATCHED" current_count_change;
        on_offered_incompatible_qos(IncompatibleQosStatus) "OFFERED_INCOMPATIBLE_QOS" total_count_change;
        on_liveliness_lost(CountStatus) "LIVELINESS_LOST" total_count_change;
        on_offered_deadline_missed(DeadlineMissedStatus) "OFFERED_DEADLINE_MISSED" total_count_change;
    }
    DataReaderListener<Pose>: &DataReader<Pose> {
        on_subscription_matched(PeerStatus) "SUBSCRIPTION_MATCHED" current_count_change;
        on_requested_incompatible_qos(IncompatibleQosStatus) "REQUESTED_INCOMPATIBLE_QOS" total_count_change;
        on_sample_lost(CountStatus) "SAMPLE_LOST" total_count_change;
        on_sample_rejected(SampleRejectedStatus) "SAMPLE_REJECTED" total_count_change;
        on_liveliness_changed(LivelinessChangedStatus) "LIVELINESS_CHANGED" not_alive_count_change;
        on_requested_deadline_missed(DeadlineMissedStatus) "REQUESTED_DEADLINE_MISSED" total_count_change;
    }
    SubscriberListener: &dyn AnyEndpoint {
        on_subscription_matched(PeerStatus) "SUBSCRIPTION_MATCHED" current_count_change;
        on_requested_incompatible_qos(IncompatibleQosStatus) "REQUESTED_INCOMPATIBLE_QOS" total_count_change;
        on_sample_lost(CountStatus) "SAMPLE_LOST" total_count_change;
        on_sample_rejected(SampleRejectedStatus) "SAMPLE_REJECTED" total_count_change;
        on_liveliness_changed(LivelinessChangedStatus) "LIVELINESS_CHANGED" not_alive_count_change;
        on_requested_deadline_missed(DeadlineMissedStatus) "REQUESTED_DEADLINE_MISSED" total_count_change;
    }
}

impl TopicListener for Told {}

#[test]
fn status_read_resets_only_its_change() {
    let cases = cases();
    for case in &cases {
        let mut scene = Scene::new(case);
        scene.clear(&cases);
        let condition = case.condition(&scene);
        assert!(!condition.is_triggered() && !case.has_changed(&scene), "{}", case.name);
        let (before, change, _) = (case.read)(&scene);
        assert_eq!(change, 0, "{}", case.name);
        (case.cause)(&mut scene);
        assert!(condition.is_triggered() && case.has_changed(&scene), "{}", case.name);
        // Reading other statuses does not reset this one.
        for other in cases.iter().filter(|other| other.name != case.name) {
            (other.read)(&scene);
        }
        assert!(condition.is_triggered(), "{}", case.name);
        assert_eq!((case.read)(&scene), (before + 1, 1, (case.whose)(&scene)), "{}", case.name);
        assert!(!condition.is_triggered() && !case.has_changed(&scene), "{}", case.name);
        assert_eq!((case.read)(&scene), (before + 1, 0, (case.whose)(&scene)), "{}", case.name);
    }
}

/// The order is endpoint, group, participant. Only the first requesting listener is called, if any.
#[test]
fn status_goes_to_lowest_requesting_listener() {
    let cases = cases();
    for case in &cases {
        for lowest in 0..4 {
            let mut scene = Scene::new(case);
            scene.clear(&cases);
            let log = Log::default();
            let told = |name| Told { name, log: Arc::clone(&log) };
            // The lower levels request all other statuses.
            let mask = |level| if level < lowest { StatusMask::ALL & !case.mask } else { case.mask };
            let others = StatusMask::ALL & !StatusMask::DATA_ON_READERS;
            if case.is_of_writer() {
                scene.writer.set_listener(mask(0), told("endpoint")).unwrap();
                scene.publisher.set_listener(mask(1), told("group")).unwrap();
                scene.from.set_listener(mask(2) & others, told("participant")).unwrap();
            } else {
                scene.reader.set_listener(mask(0), told("endpoint")).unwrap();
                scene.subscriber.set_listener(mask(1) & others, told("group")).unwrap();
                scene.to.set_listener(mask(2) & others, told("participant")).unwrap();
            }
            scene.run(10);
            log.lock().unwrap().clear();
            (case.cause)(&mut scene);
            scene.run(10);
            let calls = log.lock().unwrap().iter().filter(|call| call.1 == case.name).copied().collect::<Vec<_>>();
            let expected = ["endpoint", "group", "participant"].get(lowest).map(|whom| (*whom, case.name, 1));
            assert_eq!(calls, expected.into_iter().collect::<Vec<_>>(), "{}", case.name);
            // A listener call counts as a read of the status (2.2.4.2.1).
            let change = (case.read)(&scene).1;
            assert_eq!(change, i64::from(lowest == 3), "{}", case.name);
        }
    }
}

#[test]
fn status_reaches_event_stream_besides_listeners() {
    let cases = cases();
    for case in &cases {
        let mut scene = Scene::new(case);
        let (offers, requests) = (scene.writer.events(), scene.reader.events());
        let all = || {
            let mut count = 0;
            while let Ok(event) = offers.next_event().block_for(Duration::ZERO) {
                count += usize::from((case.is_event)(&Happened::Writer(event)));
            }
            while let Ok(event) = requests.next_event().block_for(Duration::ZERO) {
                count += usize::from((case.is_event)(&Happened::Reader(event)));
            }
            count
        };
        assert_eq!(all(), 0, "{}", case.name);
        let log = Log::default();
        scene.writer.set_listener(case.mask, Told { name: "endpoint", log: Arc::clone(&log) }).unwrap();
        scene.reader.set_listener(case.mask, Told { name: "endpoint", log }).unwrap();
        (case.cause)(&mut scene);
        scene.clear(&cases);
        assert_eq!(all(), 1, "{}", case.name);
    }
}
