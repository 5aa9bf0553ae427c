//! The allocation budget of large samples: fragments and their congestion windows cause no heap allocation. Neither do
//! samples in shared memory.
//!
//! The count works as in `alloc_budget`. Other load of the machine may cause losses, so only the best of many windows
//! must be zero.

use benches::slot::{Arrival, slot};
use dds_core::cdr::Encoding;
use dds_core::listener::Delivery;
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::reader::SampleRef;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Scope};
use dhat::{HeapStats, Profiler};
use std::time::Duration;

const DOMAIN_ID: u32 = 62;
const PATIENCE: Duration = Duration::from_secs(10);
/// A best-effort sample that takes longer counts as lost.
const LOST_AFTER: Duration = Duration::from_millis(500);
const WARM_UP_SAMPLES: usize = 30;
const WINDOW_SAMPLES: usize = 10;
const WINDOWS: usize = 10;

#[derive(DdsType)]
struct Blob {
    bytes: Vec<u8>,
}

#[derive(DdsType)]
#[dds(view_of = Blob)]
struct BlobView<'a> {
    bytes: &'a [u8],
}

/// How the writer writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Value,
    /// Filled in place.
    Loan,
}

struct Link {
    /// The participant that sends through shared memory. `None` by UDP.
    sharing: Option<DomainParticipant>,
    writer: DataWriter<Blob>,
    _reader: DataReader<Blob>,
    arrival: Arrival,
    sample: Blob,
    form: Form,
}

impl Link {
    fn new(len: usize, reliable: bool, udp_only: bool, form: Form) -> Self {
        let participant = || DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host).udp_only(udp_only).build();
        let (from, to) = (participant().expect("sockets"), participant().expect("sockets"));
        let (announce, arrival) = slot();
        let (writer, reader) = (DataWriterQos::default().keep_last(1), DataReaderQos::default().keep_last(1));
        let (writer, reader) = match reliable {
            true => (writer.reliable(), reader.reliable()),
            false => (writer.best_effort(), reader.best_effort()),
        };
        let topic = format!("large {len} {reliable} {udp_only} {form:?}");
        let listener = move |reader: &DataReader<Blob>| {
            let is_whole = |sample: SampleRef<'_, Blob>| sample.view::<BlobView<'_>>().is_some_and(|view| view.is_ok());
            if reader.take().is_ok_and(|samples| samples.iter().any(is_whole)) {
                announce.announce();
            }
        };
        let reader = to.reader_builder(&topic).qos(reader).delivery(Delivery::Inline).on_data(listener).build();
        let reader = reader.expect("a reader");
        let writer = from.writer_builder(&topic).qos(writer).build().expect("a writer");
        writer.wait_for_readers(1).block_for(PATIENCE).expect("they meet");
        reader.wait_for_writers(1).block_for(PATIENCE).expect("they meet");
        let sharing = if udp_only { None } else { Some(from) };
        Self { sharing, writer, _reader: reader, arrival, sample: Blob { bytes: vec![7; len] }, form }
    }

    /// Whether the sample arrives. A busy machine may lose a best-effort sample.
    fn passes(&self) -> bool {
        match self.form {
            Form::Value => self.writer.write(&self.sample).expect("there is room"),
            Form::Loan => self.write_loan(),
        }
        self.arrival.wait_for(LOST_AFTER)
    }

    fn write_loan(&self) {
        let bytes = &self.sample.bytes;
        let mut loan = self.writer.loan_encoded(Encoding::Xcdr1, 8 + bytes.len()).expect("there is room");
        loan[4..8].copy_from_slice(&(bytes.len() as u32).to_ne_bytes());
        loan[8..].copy_from_slice(bytes);
        loan.write().expect("there is room");
    }

    /// Datagrams that went through shared memory.
    fn shared(&self) -> u64 {
        self.sharing.as_ref().map_or(0, |from| from.traffic().sent_shared)
    }

    /// The fewest blocks of a window in which each sample arrives by its way.
    fn fewest_blocks(&self) -> Option<u64> {
        for _ in 0..WARM_UP_SAMPLES {
            let _ = self.passes();
        }
        let window = |_| {
            let shared = self.shared();
            let before = HeapStats::get().total_blocks;
            let arrived = (0..WINDOW_SAMPLES).filter(|_| self.passes()).count();
            let blocks = HeapStats::get().total_blocks - before;
            // Until the path is open, samples go by UDP.
            let is_by_its_way = self.sharing.is_none() || self.shared() - shared >= WINDOW_SAMPLES as u64;
            (arrived == WINDOW_SAMPLES && is_by_its_way).then_some(blocks)
        };
        (0..WINDOWS).filter_map(window).min()
    }
}

/// A single test, because the counter belongs to the process.
#[test]
fn large_sample_after_warm_up_allocates_nothing() {
    let _turn = crate::turn();
    let _profiler = Profiler::builder().testing().build();
    for (reliable, udp_only) in [(false, true), (true, true), (false, false), (true, false)] {
        // In shared memory, samples of up to 1 MiB and loans stay with their writer. Longer values are fragments.
        for (len, form) in [
            (100_000, Form::Value),
            (1 << 20, Form::Value),
            (3 << 20, Form::Value),
            (10_000, Form::Loan),
            (100_000, Form::Loan),
            (3 << 20, Form::Loan),
        ] {
            let blocks = Link::new(len, reliable, udp_only, form).fewest_blocks();
            assert_eq!(
                blocks,
                Some(0),
                "{form:?} of {len} bytes, reliable {reliable}, UDP only {udp_only}: blocks in {WINDOW_SAMPLES} samples \
                 that arrive"
            );
        }
    }
    assert!(HeapStats::get().total_blocks > 0, "the counter works");
}
