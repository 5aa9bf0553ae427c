//! Tests of every policy against the table of DDS 1.4, 2.2.3 (and XTYPES 1.3, 7.6.3): defaults, changeability,
//! compatibility and consistency. They are written from the standard, row by row, not from the code.

use super::*;
use crate::types::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Changes a policy of an entity to another value than its default.
type PolicyChange<Q> = Option<fn(Q) -> Q>;

/// One row: the columns "RxO" and "Changeable", and the entities of the column "Concerns".
struct PolicyRow {
    policy: PolicyId,
    rxo: bool,
    changeable: bool,
    participant: PolicyChange<DomainParticipantQos>,
    topic: PolicyChange<TopicQos>,
    publisher: PolicyChange<PublisherQos>,
    subscriber: PolicyChange<SubscriberQos>,
    writer: PolicyChange<DataWriterQos>,
    reader: PolicyChange<DataReaderQos>,
}

const fn row(policy: PolicyId, rxo: bool, changeable: bool) -> PolicyRow {
    PolicyRow {
        policy,
        rxo,
        changeable,
        participant: None,
        topic: None,
        publisher: None,
        subscriber: None,
        writer: None,
        reader: None,
    }
}

const YES: bool = true;
const NO: bool = false;

/// A policy that topics, writers and readers have, by the name of its setter.
macro_rules! of_endpoints {
    ($row:expr, $setter:ident($value:expr)) => {
        PolicyRow {
            topic: Some(|qos: TopicQos| qos.$setter($value)),
            writer: Some(|qos: DataWriterQos| qos.$setter($value)),
            reader: Some(|qos: DataReaderQos| qos.$setter($value)),
            ..$row
        }
    };
}

const MANUAL: Liveliness = Liveliness { kind: LivelinessKind::ManualByTopic, lease_duration: SECOND };
const LIMITED: ResourceLimits =
    ResourceLimits { max_samples: Some(9), max_instances: Some(3), max_samples_per_instance: Some(2) };
const KEPT: DurabilityService =
    DurabilityService { cleanup_delay: SECOND, history: History::KeepAll, resource_limits: LIMITED };
const COHERENT: Presentation =
    Presentation { access_scope: AccessScope::Topic, coherent_access: true, ordered_access: false };
const BY_HAND: EntityFactory = EntityFactory { autoenable_created_entities: false };
const PURGED: ReaderDataLifecycle =
    ReaderDataLifecycle { autopurge_nowriter_samples_delay: SECOND, autopurge_disposed_samples_delay: SECOND };
const KEEPS: WriterDataLifecycle = WriterDataLifecycle { autodispose_unregistered_instances: false };

/// The table, in the order of the numbers (2.3.3).
fn table() -> Vec<PolicyRow> {
    use PolicyId as Id;
    vec![
        PolicyRow {
            participant: Some(|qos| qos.user_data([1])),
            writer: Some(|qos| qos.user_data([1])),
            reader: Some(|qos| qos.user_data([1])),
            ..row(Id::UserData, NO, YES)
        },
        of_endpoints!(row(Id::Durability, YES, NO), durability(Durability::TransientLocal)),
        PolicyRow {
            publisher: Some(|qos| qos.presentation(COHERENT)),
            subscriber: Some(|qos| qos.presentation(COHERENT)),
            ..row(Id::Presentation, YES, NO)
        },
        of_endpoints!(row(Id::Deadline, YES, YES), deadline(SECOND)),
        of_endpoints!(row(Id::LatencyBudget, YES, YES), latency_budget(SECOND)),
        of_endpoints!(row(Id::Ownership, YES, NO), ownership(Ownership::Exclusive)),
        PolicyRow { writer: Some(|qos| qos.ownership_strength(5)), ..row(Id::OwnershipStrength, NO, YES) },
        of_endpoints!(row(Id::Liveliness, YES, NO), liveliness(MANUAL)),
        PolicyRow { reader: Some(|qos| qos.time_based_filter(SECOND)), ..row(Id::TimeBasedFilter, NO, YES) },
        PolicyRow {
            publisher: Some(|qos| qos.partition(["a"])),
            subscriber: Some(|qos| qos.partition(["a"])),
            ..row(Id::Partition, NO, YES)
        },
        PolicyRow {
            topic: Some(|qos| qos.reliable()),
            writer: Some(|qos| qos.best_effort()),
            reader: Some(|qos| qos.reliable()),
            ..row(Id::Reliability, YES, NO)
        },
        of_endpoints!(row(Id::DestinationOrder, YES, NO), destination_order(DestinationOrder::BySourceTimestamp)),
        of_endpoints!(row(Id::History, NO, NO), history(History::KeepAll)),
        of_endpoints!(row(Id::ResourceLimits, NO, NO), resource_limits(LIMITED)),
        PolicyRow {
            participant: Some(|qos| qos.entity_factory(BY_HAND)),
            publisher: Some(|qos| qos.entity_factory(BY_HAND)),
            subscriber: Some(|qos| qos.entity_factory(BY_HAND)),
            ..row(Id::EntityFactory, NO, YES)
        },
        PolicyRow { writer: Some(|qos| qos.writer_data_lifecycle(KEEPS)), ..row(Id::WriterDataLifecycle, NO, YES) },
        PolicyRow { reader: Some(|qos| qos.reader_data_lifecycle(PURGED)), ..row(Id::ReaderDataLifecycle, NO, YES) },
        PolicyRow { topic: Some(|qos| qos.topic_data([1])), ..row(Id::TopicData, NO, YES) },
        PolicyRow {
            publisher: Some(|qos| qos.group_data([1])),
            subscriber: Some(|qos| qos.group_data([1])),
            ..row(Id::GroupData, NO, YES)
        },
        PolicyRow {
            topic: Some(|qos| qos.transport_priority(7)),
            writer: Some(|qos| qos.transport_priority(7)),
            ..row(Id::TransportPriority, NO, YES)
        },
        PolicyRow {
            topic: Some(|qos| qos.lifespan(SECOND)),
            writer: Some(|qos| qos.lifespan(SECOND)),
            ..row(Id::Lifespan, NO, YES)
        },
        PolicyRow {
            topic: Some(|qos| qos.durability_service(KEPT)),
            writer: Some(|qos| qos.durability_service(KEPT)),
            ..row(Id::DurabilityService, NO, NO)
        },
        of_endpoints!(row(Id::DataRepresentation, YES, NO), representation([DataRepresentation::Xcdr2])),
        PolicyRow {
            reader: Some(|qos| qos.type_consistency(TypeConsistency::default().force_type_validation(true))),
            ..row(Id::TypeConsistency, YES, NO)
        },
    ]
}

/// What a writer and a reader of these QoS find wrong with each other, types and partitions aside.
fn conflicts(
    writer: &DataWriterQos,
    publisher: &PublisherQos,
    reader: &DataReaderQos,
    subscriber: &SubscriberQos,
) -> Vec<PolicyId> {
    let offered = OfferedQos {
        qos: writer,
        presentation: &publisher.presentation,
        representation: writer.offered_representation(true),
        type_is_known: false,
    };
    let requested = RequestedQos {
        qos: reader,
        presentation: &subscriber.presentation,
        representations: reader.accepted_representations(),
    };
    incompatible_policies(&offered, &requested).to_vec()
}

fn of_endpoints(writer: &DataWriterQos, reader: &DataReaderQos) -> Vec<PolicyId> {
    conflicts(writer, &PublisherQos::default(), reader, &SubscriberQos::default())
}

#[test]
fn table_has_every_policy_with_name_and_number() {
    let rows = table();
    assert_eq!(rows.iter().map(|row| row.policy).collect::<Vec<_>>(), PolicyId::ALL);
    let names = PolicyId::ALL.iter().map(|policy| policy.to_string()).collect::<Vec<_>>();
    let standard = "USER_DATA DURABILITY PRESENTATION DEADLINE LATENCY_BUDGET OWNERSHIP OWNERSHIP_STRENGTH LIVELINESS \
        TIME_BASED_FILTER PARTITION RELIABILITY DESTINATION_ORDER HISTORY RESOURCE_LIMITS ENTITY_FACTORY \
        WRITER_DATA_LIFECYCLE READER_DATA_LIFECYCLE TOPIC_DATA GROUP_DATA TRANSPORT_PRIORITY LIFESPAN \
        DURABILITY_SERVICE DATA_REPRESENTATION TYPE_CONSISTENCY_ENFORCEMENT";
    assert_eq!(names, standard.split_whitespace().collect::<Vec<_>>());
    // 2.3.3; the last two by XTYPES 1.3, 7.6.3.
    assert!(PolicyId::ALL.iter().zip([1_u8].into_iter().chain(2..)).all(|(policy, number)| *policy as u8 == number));
}

#[test]
fn qos_defaults_are_those_of_the_table() {
    let (writer, reader, topic) = (DataWriterQos::default(), DataReaderQos::default(), TopicQos::default());
    let hundred = Reliability::Reliable { max_blocking_time: Duration::from_millis(100) };
    assert_eq!((writer.reliability, reader.reliability), (hundred, Reliability::BestEffort));
    assert_eq!(topic.reliability, Reliability::BestEffort);
    macro_rules! same {
        ($($field:ident: $value:expr),* $(,)?) => {$(
            assert_eq!(writer.$field, $value, stringify!($field));
            assert_eq!(reader.$field, $value, stringify!($field));
            assert_eq!(topic.$field, $value, stringify!($field));
        )*};
    }
    same! {
        durability: Durability::Volatile,
        deadline: Duration::INFINITE,
        latency_budget: Duration::ZERO,
        ownership: Ownership::Shared,
        liveliness: Liveliness { kind: LivelinessKind::Automatic, lease_duration: Duration::INFINITE },
        destination_order: DestinationOrder::ByReceptionTimestamp,
        history: History::KeepLast { depth: 1 },
        resource_limits: ResourceLimits { max_samples: None, max_instances: None, max_samples_per_instance: None },
        representation: [],
    }
    assert_eq!((writer.ownership_strength, writer.transport_priority, topic.transport_priority), (0, 0, 0));
    assert_eq!((writer.lifespan, topic.lifespan), (Duration::INFINITE, Duration::INFINITE));
    assert_eq!(reader.time_based_filter, Duration::ZERO);
    assert!(writer.writer_data_lifecycle.autodispose_unregistered_instances);
    let purges = reader.reader_data_lifecycle;
    let delays = (purges.autopurge_nowriter_samples_delay, purges.autopurge_disposed_samples_delay);
    assert_eq!(delays, (Duration::INFINITE, Duration::INFINITE));
    let service = writer.durability_service;
    let expected = (Duration::ZERO, History::KeepLast { depth: 1 }, ResourceLimits::default());
    assert_eq!((service.cleanup_delay, service.history, service.resource_limits), expected);
    assert_eq!(topic.durability_service, service);
    assert!(writer.user_data.is_empty() && reader.user_data.is_empty() && topic.topic_data.is_empty());
    let (publisher, subscriber) = (PublisherQos::default(), SubscriberQos::default());
    for presentation in [publisher.presentation, subscriber.presentation] {
        let expected = (AccessScope::Instance, false, false);
        let Presentation { access_scope, coherent_access, ordered_access } = presentation;
        assert_eq!((access_scope, coherent_access, ordered_access), expected);
    }
    assert!(publisher.partition.is_empty() && subscriber.partition.is_empty());
    assert!(publisher.group_data.is_empty() && subscriber.group_data.is_empty());
    let participant = DomainParticipantQos::default();
    let factories = [publisher.entity_factory, subscriber.entity_factory, participant.entity_factory];
    assert!(participant.user_data.is_empty() && factories.iter().all(|factory| factory.autoenable_created_entities));
    // XTYPES 1.3, 7.6.3.4.1.
    let types = reader.type_consistency;
    assert_eq!(types.kind, TypeConsistencyKind::AllowTypeCoercion);
    assert!(types.ignore_sequence_bounds && types.ignore_string_bounds && !types.ignore_member_names);
    assert!(!types.prevent_type_widening && !types.force_type_validation);
}

#[test]
fn immutable_policies_are_rejected_by_name() {
    fn check<Q: Default + PartialEq + std::fmt::Debug>(
        row: &PolicyRow,
        change: PolicyChange<Q>,
        check_change: fn(&Q, &Q) -> Result<(), QosErrorKind>,
    ) -> u32 {
        let Some(change) = change else { return 0 };
        let (old, new) = (Q::default(), change(Q::default()));
        assert_ne!(old, new, "{}", row.policy);
        let expected = if row.changeable { Ok(()) } else { Err(QosErrorKind::Immutable { policy: row.policy }) };
        assert_eq!(check_change(&old, &new), expected, "{:?}", row.policy);
        assert_eq!(check_change(&new, &old), expected, "{:?}", row.policy);
        assert_eq!(check_change(&new, &change(Q::default())), Ok(()), "nothing has changed");
        1
    }
    let mut checked = 0;
    for row in table() {
        checked += check(&row, row.topic, TopicQos::check_change);
        checked += check(&row, row.publisher, PublisherQos::check_change);
        checked += check(&row, row.subscriber, SubscriberQos::check_change);
        checked += check(&row, row.writer, DataWriterQos::check_change);
        checked += check(&row, row.reader, DataReaderQos::check_change);
        checked += check(&row, row.participant, |_, new| new.check());
    }
    assert_eq!(checked, 54, "every policy of every entity that it concerns");
}

#[test]
fn policies_without_rxo_never_prevent_a_match() {
    for row in table().iter().filter(|row| !row.rxo) {
        let (mut writer, mut reader) = (DataWriterQos::default(), DataReaderQos::default());
        let (mut publisher, mut subscriber) = (PublisherQos::default(), SubscriberQos::default());
        let expect = |writer: &_, publisher: &_, reader: &_, subscriber: &_| {
            assert_eq!(conflicts(writer, publisher, reader, subscriber), [], "{}", row.policy);
        };
        writer = row.writer.map_or(writer.clone(), |change| change(writer));
        publisher = row.publisher.map_or(publisher.clone(), |change| change(publisher));
        expect(&writer, &publisher, &reader, &subscriber);
        reader = row.reader.map_or(reader.clone(), |change| change(reader));
        subscriber = row.subscriber.map_or(subscriber.clone(), |change| change(subscriber));
        expect(&writer, &publisher, &reader, &subscriber);
        expect(&DataWriterQos::default(), &PublisherQos::default(), &reader, &subscriber);
    }
}

/// Compares every pair of values of a policy.
fn each_pair<V: Copy + std::fmt::Debug>(
    policy: PolicyId,
    values: &[V],
    offer: impl Fn(V) -> DataWriterQos,
    request: impl Fn(V) -> DataReaderQos,
    is_met: impl Fn(V, V) -> bool,
) {
    for &offered in values {
        for &requested in values {
            let expected = if is_met(offered, requested) { vec![] } else { vec![policy] };
            let found = of_endpoints(&offer(offered), &request(requested));
            assert_eq!(found, expected, "offered {offered:?}, requested {requested:?}");
        }
    }
}

#[test]
fn offers_satisfy_requests_as_the_table_says() {
    let (writer, reader) = (DataWriterQos::default, DataReaderQos::default);
    // "Offered kind >= requested kind", in the order of the kinds in the text, which is their order in these lists.
    let durabilities =
        [Durability::Volatile, Durability::TransientLocal, Durability::Transient, Durability::Persistent];
    let place = |of: Durability| durabilities.iter().position(|kind| *kind == of);
    each_pair(
        PolicyId::Durability,
        &durabilities,
        |kind| writer().durability(kind),
        |kind| reader().durability(kind),
        |offered, requested| place(offered) >= place(requested),
    );
    let periods = [Duration::ZERO, Duration::from_nanos(1), SECOND, Duration::INFINITE];
    let deadlines = |period: Duration| reader().deadline(period);
    each_pair(PolicyId::Deadline, &periods, |period| writer().deadline(period), deadlines, |o, r| o <= r);
    let budgets = |period: Duration| reader().latency_budget(period);
    each_pair(PolicyId::LatencyBudget, &periods, |period| writer().latency_budget(period), budgets, |o, r| o <= r);
    let ownerships = [Ownership::Shared, Ownership::Exclusive];
    each_pair(
        PolicyId::Ownership,
        &ownerships,
        |kind| writer().ownership(kind),
        |kind| reader().ownership(kind),
        |offered, requested| offered == requested,
    );
    let kinds = [LivelinessKind::Automatic, LivelinessKind::ManualByParticipant, LivelinessKind::ManualByTopic];
    let leases = [SECOND, Duration::from_secs(2), Duration::INFINITE];
    let all = kinds.iter().enumerate().flat_map(|(at, kind)| leases.map(|lease| (at, *kind, lease)));
    let all: Vec<(usize, LivelinessKind, Duration)> = all.collect();
    let liveliness = |(_, kind, lease_duration): (usize, _, _)| Liveliness { kind, lease_duration };
    each_pair(
        PolicyId::Liveliness,
        &all,
        |value| writer().liveliness(liveliness(value)),
        |value| reader().liveliness(liveliness(value)),
        |(offered, _, lease), (requested, _, longest)| offered >= requested && lease <= longest,
    );
    let reliable = |millis| Reliability::Reliable { max_blocking_time: Duration::from_millis(millis) };
    each_pair(
        PolicyId::Reliability,
        &[Reliability::BestEffort, reliable(0), reliable(100)],
        |kind| writer().reliability(kind),
        |kind| reader().reliability(kind),
        |offered, requested| offered != Reliability::BestEffort || requested == Reliability::BestEffort,
    );
    let orders = [DestinationOrder::ByReceptionTimestamp, DestinationOrder::BySourceTimestamp];
    each_pair(
        PolicyId::DestinationOrder,
        &orders,
        |kind| writer().destination_order(kind),
        |kind| reader().destination_order(kind),
        |offered, requested| offered == requested || offered == DestinationOrder::BySourceTimestamp,
    );
}

/// 2.2.3.6: the scope is compared like the others. Coherence and order are satisfied if they are offered or not
/// requested.
#[test]
fn presentation_is_satisfied_by_scope_and_implication() {
    let scopes = [AccessScope::Instance, AccessScope::Topic, AccessScope::Group];
    let all = scopes.iter().enumerate().flat_map(|(place, scope)| {
        let access = [(false, false), (false, true), (true, false), (true, true)];
        access.map(|(coherent_access, ordered_access)| {
            (place, Presentation { access_scope: *scope, coherent_access, ordered_access })
        })
    });
    let all: Vec<(usize, Presentation)> = all.collect();
    for (offered_place, offered) in &all {
        for (requested_place, requested) in &all {
            let is_met = offered_place >= requested_place
                && (!requested.coherent_access || offered.coherent_access)
                && (!requested.ordered_access || offered.ordered_access);
            let publisher = PublisherQos::default().presentation(*offered);
            let subscriber = SubscriberQos::default().presentation(*requested);
            let found = conflicts(&DataWriterQos::default(), &publisher, &DataReaderQos::default(), &subscriber);
            let expected = if is_met { vec![] } else { vec![PolicyId::Presentation] };
            assert_eq!(found, expected, "{offered:?} {requested:?}");
        }
    }
}

/// XTYPES 1.3, 7.6.3.1.2: the first offered representation must be accepted. An empty list means XCDR1 for a writer
/// of a final type, and all readable representations for a reader.
#[test]
fn first_offered_representation_must_be_accepted() {
    use DataRepresentation::{Xcdr1, Xcdr2};
    let lists: [&[DataRepresentation]; 5] = [&[], &[Xcdr1], &[Xcdr2], &[Xcdr1, Xcdr2], &[Xcdr2, Xcdr1]];
    each_pair(
        PolicyId::DataRepresentation,
        &lists,
        |list| DataWriterQos::default().representation(list.to_vec()),
        |list| DataReaderQos::default().representation(list.to_vec()),
        |offered, accepted| accepted.is_empty() || accepted.contains(offered.first().unwrap_or(&Xcdr1)),
    );
}

#[test]
fn inconsistent_qos_is_rejected_in_every_entity() {
    let limits = |max_samples, max_instances, max_samples_per_instance| ResourceLimits {
        max_samples,
        max_instances,
        max_samples_per_instance,
    };
    let zero = |limit| QosErrorKind::ZeroLimit { limit };
    let deep = |depth, max_samples_per_instance| QosErrorKind::DepthAboveLimit { depth, max_samples_per_instance };
    let broad = |max_samples_per_instance, max_samples| QosErrorKind::InstanceLimitAboveTotal {
        max_samples_per_instance,
        max_samples,
    };
    let last = |depth| History::KeepLast { depth };
    // 2.2.3.18 and 2.2.3.19.
    let cases = [
        (last(1), limits(Some(1), Some(1), Some(1)), Ok(())),
        (last(u32::MAX), limits(None, None, None), Ok(())),
        (last(0), limits(None, None, None), Err(QosErrorKind::ZeroDepth)),
        (History::KeepAll, limits(Some(0), None, None), Err(zero("max_samples"))),
        (last(1), limits(None, Some(0), None), Err(zero("max_instances"))),
        (last(1), limits(None, None, Some(0)), Err(zero("max_samples_per_instance"))),
        (last(3), limits(None, None, Some(2)), Err(deep(3, 2))),
        (last(2), limits(None, None, Some(2)), Ok(())),
        (History::KeepAll, limits(None, None, Some(2)), Ok(())),
        (History::KeepAll, limits(Some(4), None, Some(5)), Err(broad(5, 4))),
        (History::KeepAll, limits(Some(5), None, Some(5)), Ok(())),
        // No limit of samples by instance is no promise of room for the depth.
        (last(5), limits(Some(4), None, None), Ok(())),
    ];
    for (history, limits, expected) in cases {
        assert_eq!(DataWriterQos::default().history(history).resource_limits(limits).check(), expected);
        assert_eq!(DataReaderQos::default().history(history).resource_limits(limits).check(), expected);
        assert_eq!(TopicQos::default().history(history).resource_limits(limits).check(), expected);
        let service = DurabilityService { cleanup_delay: Duration::ZERO, history, resource_limits: limits };
        assert_eq!(DataWriterQos::default().durability_service(service).check(), expected);
        assert_eq!(TopicQos::default().durability_service(service).check(), expected);
    }
    // 2.2.3.7 and 2.2.3.12.
    for (deadline, filter) in [(1, 1), (2, 1), (1, 2)] {
        let (deadline, minimum_separation) = (Duration::from_secs(deadline), Duration::from_secs(filter));
        let expected = match deadline < minimum_separation {
            true => Err(QosErrorKind::DeadlineBelowFilter { deadline, minimum_separation }),
            false => Ok(()),
        };
        let qos = DataReaderQos::default().deadline(deadline).time_based_filter(minimum_separation);
        assert_eq!(qos.check(), expected);
        // A change to it is refused for the same reason.
        assert_eq!(DataReaderQos::default().check_change(&qos), expected);
    }
    let xml = [DataRepresentation::Xml];
    let unknown = Err(QosErrorKind::UnknownRepresentation { representation: DataRepresentation::Xml });
    assert_eq!(DataWriterQos::default().representation(xml).check(), unknown);
    assert_eq!(DataReaderQos::default().representation(xml).check(), unknown);
    assert_eq!(TopicQos::default().representation(xml).check(), unknown);
}

#[test]
fn qos_at_its_length_limit_is_accepted() {
    let long = |policy, len, max| Err(QosErrorKind::TooLong { policy, len, max });
    for len in [USER_DATA_MAX, USER_DATA_MAX + 1] {
        let of = |policy| if len > USER_DATA_MAX { long(policy, len, USER_DATA_MAX) } else { Ok(()) };
        let data = || vec![0; len];
        assert_eq!(DomainParticipantQos::default().user_data(data()).check(), of(PolicyId::UserData));
        assert_eq!(DataWriterQos::default().user_data(data()).check(), of(PolicyId::UserData));
        assert_eq!(DataReaderQos::default().user_data(data()).check(), of(PolicyId::UserData));
        assert_eq!(TopicQos::default().topic_data(data()).check(), of(PolicyId::TopicData));
        assert_eq!(PublisherQos::default().group_data(data()).check(), of(PolicyId::GroupData));
        assert_eq!(SubscriberQos::default().group_data(data()).check(), of(PolicyId::GroupData));
    }
    let names = |len: usize, count: usize| SubscriberQos::default().partition(vec!["x".repeat(len); count]).check();
    assert_eq!(names(PARTITION_NAME_MAX, 1), Ok(()));
    let len = PARTITION_NAME_MAX + 1;
    assert_eq!(names(len, 1), long(PolicyId::Partition, len, PARTITION_NAME_MAX));
    // Each takes its length and eight octets.
    assert_eq!(names(120, PARTITION_BYTES_MAX / 128), Ok(()));
    // One name that just fits does not let all of them through.
    assert!(names(PARTITION_NAME_MAX, PARTITION_BYTES_MAX / 128).is_err());
    let len = PARTITION_BYTES_MAX + 128;
    assert_eq!(names(120, PARTITION_BYTES_MAX / 128 + 1), long(PolicyId::Partition, len, PARTITION_BYTES_MAX));
}

#[test]
fn copy_from_topic_copies_every_shared_policy() {
    for row in table() {
        let Some(change) = row.topic else { continue };
        let topic = change(TopicQos::default());
        if let Some(own) = row.writer.filter(|_| row.policy != PolicyId::Reliability) {
            let copied = DataWriterQos::default().reliability(topic.reliability).copy_from_topic(&topic);
            assert_eq!(copied, own(DataWriterQos::default()).reliability(topic.reliability), "{}", row.policy);
        }
        if let Some(own) = row.reader {
            assert_eq!(
                DataReaderQos::default().copy_from_topic(&topic),
                own(DataReaderQos::default()),
                "{}",
                row.policy
            );
        }
    }
    let writer = DataWriterQos::default().copy_from_topic(&TopicQos::default());
    assert_eq!(writer.reliability, Reliability::BestEffort);
}
