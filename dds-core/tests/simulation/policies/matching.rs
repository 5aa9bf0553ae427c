//! Offered QoS must satisfy requested QoS (DDS 1.4, 2.2.3, column "RxO"). Otherwise both sides are notified, and no
//! sample arrives.

use super::*;
use dds_core::qos::{
    AccessScope, DestinationOrder, Durability, Liveliness, Ownership, PolicyId, Presentation, PublisherQos,
    SubscriberQos,
};

const SECOND: Duration = Duration::from_secs(1);

type Ask = (PolicyId, DataWriterQos, DataReaderQos);

/// For each policy, an offer that is incompatible with a request in that policy alone.
fn too_little() -> Vec<Ask> {
    let (offer, request) = (DataWriterQos::default, DataReaderQos::default);
    let manual = Liveliness::manual_by_topic(Duration::INFINITE);
    let short = Liveliness::automatic(SECOND);
    let mut by_source = request();
    by_source.destination_order = DestinationOrder::BySourceTimestamp;
    vec![
        (PolicyId::Durability, offer(), request().durability(Durability::TransientLocal)),
        (PolicyId::Deadline, offer(), request().deadline(SECOND)),
        (PolicyId::LatencyBudget, offer().latency_budget(SECOND), request()),
        (PolicyId::Ownership, offer(), request().ownership(Ownership::Exclusive)),
        (PolicyId::Liveliness, offer(), request().liveliness(manual)),
        (PolicyId::Liveliness, offer(), request().liveliness(short)),
        (PolicyId::Reliability, offer().best_effort(), request().reliable()),
        (PolicyId::DestinationOrder, offer(), by_source),
    ]
}

fn refused(writer: &DataWriter<Pose>, reader: &DataReader<Pose>) -> [Vec<(PolicyId, u32)>; 2] {
    assert_eq!(reader.subscription_matched().total_count, 0);
    [writer.offered_incompatible_qos().policies, reader.requested_incompatible_qos().policies]
}

#[test]
fn incompatible_offer_notifies_both_sides() {
    Pair::on_every_way(|pair| {
        for (policy, offer, request) in too_little() {
            let (writer, reader) = (pair.writer(offer), pair.reader(request));
            pair.settle();
            pair.write(&writer, 1, 1);
            assert_eq!(refused(&writer, &reader), [vec![(policy, 1)], vec![(policy, 1)]]);
            assert!(values(&reader).is_empty(), "{policy:?}");
            drop((writer, reader));
            pair.settle();
        }
    });
}

#[test]
fn low_presentation_notifies_both_groups() {
    let asks: [fn(&mut Presentation); 3] = [
        |presentation| presentation.access_scope = AccessScope::Topic,
        |presentation| presentation.coherent_access = true,
        |presentation| presentation.ordered_access = true,
    ];
    Pair::on_every_way(|pair| {
        for ask in asks {
            let mut qos = SubscriberQos::default();
            ask(&mut qos.presentation);
            let subscriber = pair.to.subscriber(qos).unwrap();
            let publisher = pair.from.publisher(PublisherQos::default()).unwrap();
            let writer = publisher.writer::<Pose>("pose").unwrap();
            let reader = subscriber.reader::<Pose>("pose").unwrap();
            pair.settle();
            assert_eq!(refused(&writer, &reader), [(); 2].map(|()| vec![(PolicyId::Presentation, 1)]));
            drop((writer, reader));
            pair.settle();
        }
    });
}
