//! RustDDS. It has no listeners: a thread waits on the stream of samples.

use super::wait_for_match;
use crate::LARGE_PAYLOAD_LEN;
use crate::slot::{Announce, Arrival, slot};
use rustdds::policy::{History, Reliability};
use rustdds::with_key::DataWriterCdr;
use rustdds::{DomainParticipant, Keyed, QosPolicyBuilder, TopicKind};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// No other bench uses this domain.
const DOMAIN_ID: u16 = 62;

/// A key and a value of one byte each.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Small {
    id: u8,
    value: u8,
}

/// A key and bytes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Large {
    id: u8,
    value: Vec<u8>,
}

impl Keyed for Small {
    type K = u8;

    fn key(&self) -> u8 {
        self.id
    }
}

impl Keyed for Large {
    type K = u8;

    fn key(&self) -> u8 {
        self.id
    }
}

/// A matched pair. The thread that waits on the stream ends with the process.
pub struct WriteAndReceive<T: Keyed<K = u8> + Serialize> {
    writer: DataWriterCdr<T>,
    sample: T,
    arrival: Arrival,
    _participant: DomainParticipant,
}

impl WriteAndReceive<Small> {
    /// A pair for the small sample.
    #[must_use]
    pub fn small() -> Self {
        Self::new("RustddsSmall", Small { id: 1, value: 7 })
    }
}

impl WriteAndReceive<Large> {
    /// A pair for the large sample.
    #[must_use]
    pub fn large() -> Self {
        Self::new("RustddsLarge", Large { id: 1, value: vec![7; LARGE_PAYLOAD_LEN] })
    }
}

impl<T> WriteAndReceive<T>
where
    T: Keyed<K = u8> + Serialize + DeserializeOwned + Clone + Send + 'static,
{
    /// Creates a participant with a writer and a reader, and waits until they match.
    ///
    /// # Panics
    ///
    /// Panics if an entity cannot be created, or if the endpoints do not match.
    fn new(name: &str, sample: T) -> Self {
        let participant = DomainParticipant::new(DOMAIN_ID).expect("a participant");
        let qos = QosPolicyBuilder::new()
            .reliability(Reliability::BestEffort)
            .history(History::KeepLast { depth: 1 })
            .build();
        let topic = participant.create_topic(name.into(), name.into(), &qos, TopicKind::WithKey).expect("a topic");
        let reader = participant
            .create_subscriber(&qos)
            .expect("a subscriber")
            .create_datareader_cdr::<T>(&topic, None)
            .expect("a reader");
        let (announce, arrival) = slot();
        std::thread::spawn(move || {
            announce_all(futures::executor::block_on_stream(reader.async_sample_stream()), &announce)
        });
        let writer = participant
            .create_publisher(&qos)
            .expect("a publisher")
            .create_datawriter_cdr::<T>(&topic, None)
            .expect("a writer");
        let pair = Self { writer, sample, arrival, _participant: participant };
        wait_for_match(&pair.arrival, &mut || pair.write());
        pair
    }

    fn write(&self) {
        assert!(self.writer.write(self.sample.clone(), None).is_ok(), "a best effort write");
    }

    /// Writes one sample and waits until the stream returns it.
    pub fn pass(&self) {
        self.write();
        self.arrival.wait();
    }
}

fn announce_all<S>(samples: impl Iterator<Item = S>, announce: &Announce) {
    for sample in samples {
        drop(sample);
        announce.announce();
    }
}
