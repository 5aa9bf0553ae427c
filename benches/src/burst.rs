//! Bursts of small samples that share datagrams.

use crate::slot::{Arrival, slot};
use dds_core::error::CreateError;
use dds_core::listener::Delivery;
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Duration, Scope};
use std::hint::black_box;

/// No other bench uses this domain.
const DOMAIN_ID: u32 = 62;

/// Samples of a burst: several datagrams, and less than the congestion window.
pub const BURST_LEN: u32 = 500;

/// A sample of 64 bytes.
#[derive(Debug, Clone, Copy, DdsType)]
pub struct Word {
    /// Number of the sample.
    pub number: u64,
    /// The rest of the 64 bytes.
    pub rest: [u64; 7],
}

/// A batching writer and a reader that views samples in place: RELIABLE, KEEP_ALL, by UDP.
#[derive(Debug)]
pub struct Burst {
    writer: DataWriter<Word>,
    _reader: DataReader<Word>,
    arrival: Arrival,
}

impl Burst {
    /// Creates a participant with both endpoints and waits until they match.
    ///
    /// # Errors
    ///
    /// Returns an error if an entity cannot be created.
    ///
    /// # Panics
    ///
    /// Panics if the endpoints do not match within 10 s.
    pub fn new() -> Result<Self, CreateError> {
        let participant = DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host).udp_only(true).build()?;
        let (announce, arrival) = slot();
        let listen = move |reader: &DataReader<Word>| {
            let Ok(samples) = reader.take() else { return };
            for word in samples.iter().filter_map(|sample| sample.decode()?.ok()) {
                if (black_box(word).number + 1) % u64::from(BURST_LEN) == 0 {
                    announce.announce();
                }
            }
        };
        let builder = participant.reader_builder::<Word>("burst").qos(DataReaderQos::default().reliable().keep_all());
        let reader = builder.delivery(Delivery::Inline).on_data(listen).build()?;
        let qos = DataWriterQos::default().reliable().keep_all();
        let writer =
            participant.writer_builder::<Word>("burst").qos(qos).batching(Duration::from_millis(100)).build()?;
        let limit = std::time::Duration::from_secs(10);
        writer.wait_for_readers(1).block_for(limit).expect("endpoints of one participant match");
        reader.wait_for_writers(1).block_for(limit).expect("endpoints of one participant match");
        Ok(Self { writer, _reader: reader, arrival })
    }

    /// Writes [`BURST_LEN`] samples and waits until the reader has viewed all of them.
    ///
    /// # Panics
    ///
    /// Panics if a sample cannot be written or does not arrive.
    pub fn pass(&self) {
        for number in 0..BURST_LEN {
            self.writer.write(&Word { number: number.into(), rest: [7; 7] }).expect("there is room");
        }
        self.writer.flush().expect("the writer is open");
        self.arrival.wait();
    }
}
