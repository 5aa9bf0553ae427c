//! A writer and a reader of this project in one participant: the work that the peers do as well.

use crate::LARGE_PAYLOAD_LEN;
use crate::slot::{Arrival, slot};
use dds_core::cdr::{DecodeOwned, Encode, Encoding};
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{CreateError, DataReader, DataWriter, DdsType, Delivery, DomainParticipant, Scope};
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

/// Apart from the domains of the peers.
const DOMAIN_ID: u32 = 60;

/// Every pair has a topic of its own, so that several at a time do not hear each other.
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

/// [`Large`] without a copy: borrows from the received sample.
#[derive(Debug, DdsType)]
#[dds(view_of = Large)]
pub struct LargeView<'a> {
    /// The instance.
    #[dds(key)]
    pub id: u8,
    /// The value.
    pub value: &'a [u8],
}

/// How the sample gets from one to the other, and how the main thread learns of it.
#[derive(Debug, Clone, Copy)]
pub struct Form {
    /// In-process delivery is off: the sample goes through a socket.
    pub udp_only: bool,
    /// Reliable instead of best effort.
    pub reliable: bool,
    /// Who tells the main thread.
    pub told_by: ToldBy,
}

/// Who tells the main thread that a sample is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToldBy {
    /// A listener that takes the sample into a value that it keeps.
    Listener(Delivery),
    /// A listener that looks at the sample without copying it.
    ViewingListener(Delivery),
    /// Nobody: the main thread waits on the reader.
    Reader,
}

impl Form {
    /// The form that the peers have: best effort, a listener on the delivering thread, in-process delivery.
    pub const DEFAULT: Self = Self { udp_only: false, reliable: false, told_by: ToldBy::Listener(Delivery::Inline) };

    /// With in-process delivery off.
    #[must_use]
    pub const fn udp(self) -> Self {
        Self { udp_only: true, ..self }
    }

    /// Reliable instead of best effort.
    #[must_use]
    pub const fn reliable(self) -> Self {
        Self { reliable: true, ..self }
    }

    /// With somebody else to tell the main thread.
    #[must_use]
    pub const fn told_by(self, told_by: ToldBy) -> Self {
        Self { told_by, ..self }
    }
}

/// A type for the pair, and how to look at a sample of it without copying.
pub trait Payload: DdsType + Encode + DecodeOwned + Default + Send {
    /// Reads a received sample in place; false if it is not one.
    fn look(sample: &dds_core::SampleRef<'_, Self>) -> bool;
}

impl Payload for Small {
    fn look(sample: &dds_core::SampleRef<'_, Self>) -> bool {
        sample.decode().is_some_and(|value| black_box(value).is_ok())
    }
}

impl Payload for Large {
    fn look(sample: &dds_core::SampleRef<'_, Self>) -> bool {
        sample.view::<LargeView<'_>>().is_some_and(|view| black_box(view).is_ok())
    }
}

/// A matched writer and reader, keep last 1, and a sample.
#[derive(Debug)]
pub struct Pair<T> {
    writer: DataWriter<T>,
    reader: DataReader<T>,
    sample: T,
    arrival: Option<Arrival>,
    _others: Vec<DataReader<T>>,
}

impl<T: Payload> Pair<T> {
    /// Makes a participant with both and waits until they have met.
    ///
    /// # Errors
    ///
    /// If an entity cannot be made.
    ///
    /// # Panics
    ///
    /// If they do not meet within 10 s.
    pub fn new(form: Form) -> Result<Self, CreateError> {
        Self::among(form, 0)
    }

    /// As [`Self::new`], with so many other readers in the participant, each of a topic of its own.
    ///
    /// # Errors
    ///
    /// If an entity cannot be made.
    ///
    /// # Panics
    ///
    /// If they do not meet within 10 s.
    pub fn among(form: Form, others: usize) -> Result<Self, CreateError> {
        let participant = DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host).udp_only(form.udp_only).build()?;
        let (announce, arrival) = slot();
        let (writer_qos, reader_qos) = qos(form.reliable);
        let topic = format!("pair {}", PAIRS.fetch_add(1, Ordering::Relaxed));
        let mut builder = participant.reader_builder::<T>(&topic).qos(reader_qos);
        builder = match form.told_by {
            ToldBy::Listener(delivery) => {
                let mut samples = Vec::new();
                builder.delivery(delivery).on_data(move |reader| {
                    if reader.take_into(&mut samples).is_ok_and(|taken| taken > 0) {
                        announce.announce();
                    }
                })
            }
            ToldBy::ViewingListener(delivery) => builder.delivery(delivery).on_data(move |reader| {
                if reader.take().is_ok_and(|samples| samples.iter().any(|sample| T::look(&sample))) {
                    announce.announce();
                }
            }),
            ToldBy::Reader => builder,
        };
        let reader = builder.build()?;
        let writer = participant.writer_builder::<T>(&topic).qos(writer_qos).build()?;
        let limit = std::time::Duration::from_secs(10);
        writer.wait_for_readers(1).block_for(limit).expect("they meet in their participant");
        reader.wait_for_writers(1).block_for(limit).expect("they meet in their participant");
        let arrival = (form.told_by != ToldBy::Reader).then_some(arrival);
        let other = |number| participant.reader_builder::<T>(&format!("{topic}, other {number}")).build();
        let others = (0..others).map(other).collect::<Result<Vec<_>, _>>()?;
        Ok(Self { writer, reader, sample: T::default(), arrival, _others: others })
    }

    /// Writes one sample and waits until it has been received and taken.
    ///
    /// # Panics
    ///
    /// If it cannot be written or does not arrive.
    pub fn pass(&self) {
        self.write();
        self.arrived();
    }

    /// Waits until a sample that has been written is received and taken.
    ///
    /// # Panics
    ///
    /// If it does not arrive.
    pub fn arrived(&self) {
        match &self.arrival {
            Some(arrival) => arrival.wait(),
            None => drop(black_box(self.reader.next_sample().block().expect("the sample arrives"))),
        }
    }

    /// Only writes.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn write(&self) {
        self.writer.write(&self.sample).expect("there is room");
    }

    /// As [`Self::pass`], of a sample that is made where it is sent from: nothing is copied but what it begins with, `head`.
    ///
    /// # Panics
    ///
    /// If there is no slot for it, it cannot be written or does not arrive.
    pub fn pass_loaned(&self, head: &[u8], payload_len: usize) {
        // In front of it are four bytes that say how it is encoded.
        let len = 4 + head.len() + payload_len;
        let mut slot = self.writer.loan_encoded(Encoding::Xcdr1, len).expect("a free slot");
        slot[4..][..head.len()].copy_from_slice(head);
        slot.write().expect("there is room");
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
