//! Dust DDS.

use super::wait_for_match;
use crate::LARGE_PAYLOAD_LEN;
use crate::slot::{Announce, Arrival, slot};
use dust_dds::dds_async::data_reader::DataReaderAsync;
use dust_dds::domain::domain_participant::DomainParticipant;
use dust_dds::domain::domain_participant_factory::DomainParticipantFactory;
use dust_dds::infrastructure::listener::NO_LISTENER;
use dust_dds::infrastructure::qos::{DataWriterQos, QosKind};
use dust_dds::infrastructure::qos_policy::{ReliabilityQosPolicy, ReliabilityQosPolicyKind};
use dust_dds::infrastructure::sample_info::{ANY_INSTANCE_STATE, ANY_SAMPLE_STATE, ANY_VIEW_STATE};
use dust_dds::infrastructure::status::{NO_STATUS, StatusKind};
use dust_dds::infrastructure::time::{Duration, DurationKind};
use dust_dds::infrastructure::type_support::DdsType;
use dust_dds::publication::data_writer::DataWriter;
use dust_dds::subscription::data_reader_listener::DataReaderListener;
use dust_dds::xtypes::bytes::ByteBuf;
use dust_dds::xtypes::type_support::TypeSupport;

/// No other bench uses this domain.
const DOMAIN_ID: i32 = 61;

/// A key and a value of one byte each.
#[derive(Debug, Clone, DdsType)]
pub struct Small {
    #[dust_dds(key)]
    id: u8,
    value: u8,
}

/// A key and bytes, in the form for which Dust has a fast path.
#[derive(Debug, Clone, DdsType)]
pub struct Large {
    #[dust_dds(key)]
    id: u8,
    value: ByteBuf,
}

/// A matched pair. Participants of Dust live until the end of the process.
pub struct WriteAndReceive<T> {
    writer: DataWriter<T>,
    sample: T,
    arrival: Arrival,
    _participant: DomainParticipant,
}

impl WriteAndReceive<Small> {
    /// A pair for the small sample.
    #[must_use]
    pub fn small() -> Self {
        Self::new("DustSmall", Small { id: 1, value: 7 })
    }
}

impl WriteAndReceive<Large> {
    /// A pair for the large sample.
    #[must_use]
    pub fn large() -> Self {
        Self::new("DustLarge", Large { id: 1, value: ByteBuf(vec![7; LARGE_PAYLOAD_LEN]) })
    }
}

impl<T: TypeSupport + Clone + Send + Sync + 'static> WriteAndReceive<T> {
    /// Creates a participant with a writer and a reader, and waits until they match.
    ///
    /// # Panics
    ///
    /// Panics if an entity cannot be created, or if the endpoints do not match.
    fn new(name: &str, sample: T) -> Self {
        let participant = DomainParticipantFactory::get_instance()
            .create_participant(DOMAIN_ID, QosKind::Default, NO_LISTENER, NO_STATUS)
            .expect("a participant");
        let topic =
            participant.create_topic::<T>(name, name, QosKind::Default, NO_LISTENER, NO_STATUS).expect("a topic");
        let (announce, arrival) = slot();
        participant
            .create_subscriber(QosKind::Default, NO_LISTENER, NO_STATUS)
            .expect("a subscriber")
            .create_datareader::<T>(&topic, QosKind::Default, Some(Listener(announce)), &[StatusKind::DataAvailable])
            .expect("a reader");
        let writer = participant
            .create_publisher(QosKind::Default, NO_LISTENER, NO_STATUS)
            .expect("a publisher")
            .create_datawriter::<T>(&topic, QosKind::Specific(best_effort()), NO_LISTENER, NO_STATUS)
            .expect("a writer");
        let pair = Self { writer, sample, arrival, _participant: participant };
        wait_for_match(&pair.arrival, &mut || pair.write());
        pair
    }

    fn write(&self) {
        self.writer.write(self.sample.clone(), None).expect("a best effort write");
    }

    /// Writes one sample and waits until the listener announces it.
    pub fn pass(&self) {
        self.write();
        self.arrival.wait();
    }
}

struct Listener(Announce);

impl<T: TypeSupport + Send + Sync + 'static> DataReaderListener<T> for Listener {
    async fn on_data_available(&mut self, reader: DataReaderAsync<T>) {
        // Dust returns an error if there is no sample.
        if reader.take(1, ANY_SAMPLE_STATE, ANY_VIEW_STATE, ANY_INSTANCE_STATE).await.is_ok() {
            self.0.announce();
        }
    }
}

/// The defaults are KEEP_LAST 1 and VOLATILE, and a reader is best effort.
fn best_effort() -> DataWriterQos {
    DataWriterQos {
        reliability: ReliabilityQosPolicy {
            kind: ReliabilityQosPolicyKind::BestEffort,
            max_blocking_time: DurationKind::Finite(Duration::new(1, 0)),
        },
        ..Default::default()
    }
}
