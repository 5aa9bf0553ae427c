//! Dust DDS: a listener, whose calls are async.
//!
//! With KEEP_ALL its writer does not wait for the reader and takes memory without bound. With KEEP_LAST, it waits until
//! the oldest sample is acknowledged. So one-way samples have KEEP_LAST 1000.

use super::DOMAIN_ID;
use crate::comparison::role::{Arrived, Link, Write1};
use crate::perf::{Failure, Result};
use dust_dds::dds_async::data_reader::DataReaderAsync;
use dust_dds::dds_async::data_writer::DataWriterAsync;
use dust_dds::dds_async::domain_participant_factory::DomainParticipantFactoryAsync;
use dust_dds::infrastructure::listener::NO_LISTENER;
use dust_dds::infrastructure::qos::{DataReaderQos, DataWriterQos, QosKind};
use dust_dds::infrastructure::qos_policy::{
    HistoryQosPolicy, HistoryQosPolicyKind, ReliabilityQosPolicy, ReliabilityQosPolicyKind,
};
use dust_dds::infrastructure::sample_info::{ANY_INSTANCE_STATE, ANY_SAMPLE_STATE, ANY_VIEW_STATE};
use dust_dds::infrastructure::status::{NO_STATUS, StatusKind};
use dust_dds::infrastructure::time::{Duration, DurationKind};
use dust_dds::infrastructure::type_support::DdsType;
use dust_dds::subscription::data_reader_listener::DataReaderListener;
use dust_dds::xtypes::bytes::ByteBuf;

/// The sample, with bytes in the form for which Dust DDS has a fast path.
#[derive(Debug, Clone, DdsType)]
struct Load {
    number: u64,
    bytes: ByteBuf,
}

pub(super) fn open(link: Link, arrived: Arrived) -> Result<Write1> {
    let writer =
        futures::executor::block_on(entities(link, arrived)).map_err(|error| Failure::new(format!("{error:?}")))?;
    let mut sample = load(link);
    Ok(Box::new(move |number| {
        sample.number = number;
        let written = futures::executor::block_on(writer.write(sample.clone(), None));
        written.unwrap_or_else(|error| panic!("its write failed: {error:?}"));
    }))
}

async fn entities(
    link: Link,
    arrived: Arrived,
) -> std::result::Result<DataWriterAsync<Load>, dust_dds::infrastructure::error::DdsError> {
    let factory = DomainParticipantFactoryAsync::get_instance();
    let participant = factory.create_participant(DOMAIN_ID as i32, QosKind::Default, NO_LISTENER, NO_STATUS).await?;
    let reliability = ReliabilityQosPolicy {
        kind: ReliabilityQosPolicyKind::Reliable,
        max_blocking_time: DurationKind::Finite(Duration::new(10, 0)),
    };
    let depth = if link.keep_all { 1000 } else { 1 };
    let history = HistoryQosPolicy { kind: HistoryQosPolicyKind::KeepLast(depth) };
    let writes = DataWriterQos { reliability: reliability.clone(), history: history.clone(), ..Default::default() };
    let reads = DataReaderQos { reliability, history, ..Default::default() };
    let topic = participant.create_topic::<Load>(link.writes, "Load", QosKind::Default, NO_LISTENER, NO_STATUS).await?;
    let publisher = participant.create_publisher(QosKind::Default, NO_LISTENER, NO_STATUS).await?;
    let writer = publisher.create_datawriter::<Load>(&topic, QosKind::Specific(writes), NO_LISTENER, NO_STATUS).await?;
    let topic = participant.create_topic::<Load>(link.reads, "Load", QosKind::Default, NO_LISTENER, NO_STATUS).await?;
    let subscriber = participant.create_subscriber(QosKind::Default, NO_LISTENER, NO_STATUS).await?;
    let listener = Listener { writer: writer.clone(), reply: load(link), arrived };
    let data = [StatusKind::DataAvailable];
    let reader = subscriber.create_datareader::<Load>(&topic, QosKind::Specific(reads), Some(listener), &data).await?;
    // All live until the process ends.
    std::mem::forget((participant, publisher, subscriber, reader));
    Ok(writer)
}

fn load(link: Link) -> Load {
    Load { number: 0, bytes: ByteBuf(vec![0x5a; link.size - 8]) }
}

struct Listener {
    writer: DataWriterAsync<Load>,
    reply: Load,
    arrived: Arrived,
}

impl DataReaderListener<Load> for Listener {
    async fn on_data_available(&mut self, reader: DataReaderAsync<Load>) {
        // Dust returns an error if there is no sample.
        while let Ok(samples) = reader.take(100, ANY_SAMPLE_STATE, ANY_VIEW_STATE, ANY_INSTANCE_STATE).await {
            for sample in samples {
                let next = sample.data.and_then(|load| (self.arrived)(load.number));
                if let Some(next) = next {
                    self.reply.number = next;
                    self.writer.write(self.reply.clone(), None).await.expect("the writer waits for room");
                }
            }
        }
    }
}
