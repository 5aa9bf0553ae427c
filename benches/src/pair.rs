//! A writer and a reader of this project in one participant: the work of the comparison.

use crate::LARGE_PAYLOAD_LEN;
use crate::slot::{Arrival, slot};
use dds_core::cdr::{DecodeOwned, Encode, Encoding};
use dds_core::error::CreateError;
use dds_core::listener::Delivery;
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Scope};
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

/// No other bench uses this domain.
const DOMAIN_ID: u32 = 60;

/// Counts the pairs: each has its own topic, so that pairs do not match each other.
static PAIRS: AtomicU32 = AtomicU32::new(0);

/// A key and a value of one byte each.
#[derive(Debug, Clone, PartialEq, Eq, DdsType)]
pub struct Small {
    /// The instance.
    #[dds(key)]
    pub id: u8,
    /// The value.
    pub value: u8,
}

impl Default for Small {
    fn default() -> Self {
        Self { id: 1, value: 7 }
    }
}

/// A key and 32 000 bytes.
#[derive(Debug, Clone, PartialEq, Eq, DdsType)]
pub struct Large {
    /// The instance.
    #[dds(key)]
    pub id: u8,
    /// The value.
    pub value: Vec<u8>,
}

impl Default for Large {
    fn default() -> Self {
        Self { id: 1, value: vec![7; LARGE_PAYLOAD_LEN] }
    }
}

/// A view of [`Large`] that borrows from the received sample.
#[derive(Debug, DdsType)]
#[dds(view_of = Large)]
pub struct LargeView<'a> {
    /// The instance.
    #[dds(key)]
    pub id: u8,
    /// The value.
    pub value: &'a [u8],
}

/// Path of the sample, and the way in which the main thread is notified.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// In-process delivery is off: the sample goes through a socket.
    pub udp_only: bool,
    /// Reliable instead of best effort.
    pub reliable: bool,
    /// The part that notifies the main thread.
    pub notified_by: NotifiedBy,
}

/// The part that notifies the main thread of a sample.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotifiedBy {
    /// A listener that takes the sample into a reused value.
    Listener(Delivery),
    /// A listener that views the sample without a copy.
    ViewingListener(Delivery),
    /// No listener: the main thread waits on the reader.
    Reader,
}

impl Form {
    /// The form of the comparison: best effort, a listener on the delivering thread, in-process delivery.
    pub const DEFAULT: Self =
        Self { udp_only: false, reliable: false, notified_by: NotifiedBy::Listener(Delivery::Inline) };

    /// The form without in-process delivery.
    #[must_use]
    pub const fn udp(self) -> Self {
        Self { udp_only: true, ..self }
    }

    /// The reliable form.
    #[must_use]
    pub const fn reliable(self) -> Self {
        Self { reliable: true, ..self }
    }

    /// The form with this notification of the main thread.
    #[must_use]
    pub const fn notified_by(self, notified_by: NotifiedBy) -> Self {
        Self { notified_by, ..self }
    }
}

/// A sample type of a pair.
pub trait Payload: DdsType + Encode + DecodeOwned + Default + Send {
    /// Reads a received sample in place. Returns `false` if it is not a valid sample.
    fn look(sample: &dds_core::reader::SampleRef<'_, Self>) -> bool;
}

impl Payload for Small {
    fn look(sample: &dds_core::reader::SampleRef<'_, Self>) -> bool {
        sample.decode().is_some_and(|value| black_box(value).is_ok())
    }
}

impl Payload for Large {
    fn look(sample: &dds_core::reader::SampleRef<'_, Self>) -> bool {
        sample.view::<LargeView<'_>>().is_some_and(|view| black_box(view).is_ok())
    }
}

/// A matched writer and reader, KEEP_LAST 1, and a sample.
#[derive(Debug)]
pub struct Pair<T> {
    writer: DataWriter<T>,
    reader: DataReader<T>,
    sample: T,
    arrival: Option<Arrival>,
    _others: Vec<DataReader<T>>,
}

impl<T: Payload> Pair<T> {
    /// Creates a participant with both endpoints and waits until they match.
    ///
    /// # Errors
    ///
    /// Returns an error if an entity cannot be created.
    ///
    /// # Panics
    ///
    /// Panics if the endpoints do not match within 10 s.
    pub fn new(form: Form) -> Result<Self, CreateError> {
        Self::among(form, 0)
    }

    /// [`Self::new`] with `others` readers of other topics in the participant.
    ///
    /// # Errors
    ///
    /// Returns an error if an entity cannot be created.
    ///
    /// # Panics
    ///
    /// Panics if the endpoints do not match within 10 s.
    pub fn among(form: Form, others: usize) -> Result<Self, CreateError> {
        let participant = DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host).udp_only(form.udp_only).build()?;
        let (announce, arrival) = slot();
        let (writer_qos, reader_qos) = qos(form.reliable);
        let topic = format!("pair {}", PAIRS.fetch_add(1, Ordering::Relaxed));
        let mut builder = participant.reader_builder::<T>(&topic).qos(reader_qos);
        builder = match form.notified_by {
            NotifiedBy::Listener(delivery) => {
                let mut samples = Vec::new();
                builder.delivery(delivery).on_data(move |reader| {
                    if reader.take_into(&mut samples).is_ok_and(|taken| taken > 0) {
                        announce.announce();
                    }
                })
            }
            NotifiedBy::ViewingListener(delivery) => builder.delivery(delivery).on_data(move |reader| {
                if reader.take().is_ok_and(|samples| samples.iter().any(|sample| T::look(&sample))) {
                    announce.announce();
                }
            }),
            NotifiedBy::Reader => builder,
        };
        let reader = builder.build()?;
        let writer = participant.writer_builder::<T>(&topic).qos(writer_qos).build()?;
        let limit = std::time::Duration::from_secs(10);
        writer.wait_for_readers(1).block_for(limit).expect("endpoints of one participant match");
        reader.wait_for_writers(1).block_for(limit).expect("endpoints of one participant match");
        let arrival = (form.notified_by != NotifiedBy::Reader).then_some(arrival);
        let other = |number| participant.reader_builder::<T>(&format!("{topic}, other {number}")).build();
        let others = (0..others).map(other).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { writer, reader, sample: T::default(), arrival, _others: others })
    }

    /// Writes one sample and waits until it is received and taken.
    ///
    /// # Panics
    ///
    /// Panics if the sample cannot be written or does not arrive.
    pub fn pass(&self) {
        self.write();
        self.arrived();
    }

    /// Waits until a written sample is received and taken.
    ///
    /// # Panics
    ///
    /// Panics if it does not arrive.
    pub fn arrived(&self) {
        match &self.arrival {
            Some(arrival) => arrival.wait(),
            None => drop(black_box(self.reader.next_sample().block().expect("the sample arrives"))),
        }
    }

    /// Writes one sample.
    ///
    /// # Panics
    ///
    /// Panics if the sample cannot be written.
    pub fn write(&self) {
        self.writer.write(&self.sample).expect("KEEP_LAST has room");
    }

    /// [`Self::pass`] of a loaned sample: only `head`, its first bytes, is copied.
    ///
    /// # Panics
    ///
    /// Panics if no slot is free, or if the sample cannot be written or does not arrive.
    pub fn pass_loaned(&self, head: &[u8], payload_len: usize) {
        // The encapsulation header has four bytes.
        let len = 4 + head.len() + payload_len;
        let mut slot = self.writer.loan_encoded(Encoding::Xcdr1, len).expect("a free slot");
        slot[4..][..head.len()].copy_from_slice(head);
        slot.write().expect("KEEP_LAST has room");
        self.arrived();
    }

    /// The reader.
    #[must_use]
    pub fn reader(&self) -> &DataReader<T> {
        &self.reader
    }
}

fn qos(reliable: bool) -> (DataWriterQos, DataReaderQos) {
    let (writer, reader) = (DataWriterQos::default().keep_last(1), DataReaderQos::default().keep_last(1));
    if reliable { (writer.reliable(), reader.reliable()) } else { (writer.best_effort(), reader.best_effort()) }
}
