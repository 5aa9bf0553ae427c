//! The allocation budget of large samples: fragments and their congestion windows cause no heap allocation.
//!
//! The count works as in `alloc_budget`. Other load of the machine may cause losses, so only the best of many windows
//! must be zero.

use benches::slot::{Arrival, slot};
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::reader::SampleRef;
use dds_core::{DataReader, DataWriter, DdsType, Delivery, DomainParticipant, Scope};
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

struct Link {
    writer: DataWriter<Blob>,
    _reader: DataReader<Blob>,
    arrival: Arrival,
    sample: Blob,
}

impl Link {
    fn new(len: usize, reliable: bool) -> Self {
        let participant = || DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host).udp_only(true).build();
        let (from, to) = (participant().expect("sockets"), participant().expect("sockets"));
        let (announce, arrival) = slot();
        let (writer, reader) = (DataWriterQos::default().keep_last(1), DataReaderQos::default().keep_last(1));
        let (writer, reader) = match reliable {
            true => (writer.reliable(), reader.reliable()),
            false => (writer.best_effort(), reader.best_effort()),
        };
        let topic = format!("large {len} {reliable}");
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
        Self { writer, _reader: reader, arrival, sample: Blob { bytes: vec![7; len] } }
    }

    /// Whether the sample arrives. A busy machine may lose a best-effort sample.
    fn passes(&self) -> bool {
        self.writer.write(&self.sample).expect("there is room");
        self.arrival.wait_for(LOST_AFTER)
    }

    /// The fewest blocks of a window in which each sample arrives.
    fn fewest_blocks(&self) -> Option<u64> {
        for _ in 0..WARM_UP_SAMPLES {
            let _ = self.passes();
        }
        let window = |_| {
            let before = HeapStats::get().total_blocks;
            let arrived = (0..WINDOW_SAMPLES).filter(|_| self.passes()).count();
            (arrived == WINDOW_SAMPLES).then(|| HeapStats::get().total_blocks - before)
        };
        (0..WINDOWS).filter_map(window).min()
    }
}

/// A single test, because the counter belongs to the process.
#[test]
fn large_sample_after_warm_up_allocates_nothing() {
    let _turn = crate::turn();
    let _profiler = Profiler::builder().testing().build();
    for reliable in [false, true] {
        for len in [100_000, 1 << 20] {
            let blocks = Link::new(len, reliable).fewest_blocks();
            assert_eq!(
                blocks,
                Some(0),
                "{len} bytes, reliable {reliable}: blocks in {WINDOW_SAMPLES} samples that arrive"
            );
        }
    }
    assert!(HeapStats::get().total_blocks > 0, "the counter works");
}
