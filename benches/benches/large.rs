//! Large samples between two participants of this process, by UDP.
//!
//! Measures the time from `write` to the reader's view of the whole sample. Prints lost samples and sent bytes too.
//!
//! All forms take turns, so their ratios are valid on a machine with other load. `--samples N` is the number for each
//! form (default 200), and `--test` sets it to one. Other arguments are filters.

use benches::slot::{Arrival, slot};
use dds_core::listener::Delivery;
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Scope};
use hdrhistogram::Histogram;
use std::error::Error;
use std::hint::black_box;
use std::time::{Duration, Instant};

const DOMAIN_ID: u32 = 61;
const PATIENCE: Duration = Duration::from_secs(10);
/// A best-effort sample that takes longer counts as lost.
const LOST_AFTER: Duration = Duration::from_millis(500);

#[derive(DdsType)]
struct Blob {
    bytes: Vec<u8>,
}

#[derive(DdsType)]
#[dds(view_of = Blob)]
struct BlobView<'a> {
    bytes: &'a [u8],
}

struct Contender {
    name: String,
    writer: DataWriter<Blob>,
    _reader: DataReader<Blob>,
    arrival: Arrival,
    sample: Blob,
    from: DomainParticipant,
    _to: DomainParticipant,
    lost: u64,
    microseconds: Histogram<u64>,
}

impl Contender {
    fn new(name: String, len: usize, reliable: bool) -> Result<Self, Box<dyn Error>> {
        let participant = || DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host).udp_only(true).build();
        let (from, to) = (participant()?, participant()?);
        let (announce, arrival) = slot();
        let (writer, reader) = (DataWriterQos::default().keep_last(1), DataReaderQos::default().keep_last(1));
        let (writer, reader) = if reliable {
            (writer.reliable(), reader.reliable())
        } else {
            (writer.best_effort(), reader.best_effort())
        };
        let listener = move |reader: &DataReader<Blob>| {
            let whole = |sample: dds_core::reader::SampleRef<'_, Blob>| {
                sample.view::<BlobView<'_>>().is_some_and(|v| black_box(v).is_ok())
            };
            if reader.take().is_ok_and(|samples| samples.iter().any(whole)) {
                announce.announce();
            }
        };
        let reader = to.reader_builder(&name).qos(reader).delivery(Delivery::Inline).on_data(listener).build()?;
        let writer = from.writer_builder(&name).qos(writer).build()?;
        writer.wait_for_readers(1).block_for(PATIENCE)?;
        reader.wait_for_writers(1).block_for(PATIENCE)?;
        let sample = Blob { bytes: vec![7; len] };
        let microseconds = Histogram::new(3)?;
        Ok(Self { name, writer, _reader: reader, arrival, sample, from, _to: to, lost: 0, microseconds })
    }

    fn pass(&mut self, record: bool) -> Result<(), Box<dyn Error>> {
        let started = Instant::now();
        self.writer.write(&self.sample)?;
        if !self.arrival.wait_for(LOST_AFTER) {
            self.lost += 1;
        } else if record {
            self.microseconds.record(u64::try_from(started.elapsed().as_micros())?)?;
        }
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let samples: u64 = match arguments.iter().position(|argument| argument == "--samples") {
        _ if arguments.iter().any(|argument| argument == "--test") => 1,
        Some(at) => arguments.get(at + 1).ok_or("--samples: expected a number")?.parse()?,
        None => 200,
    };
    let wanted = |name: &str| {
        let mut filters =
            arguments.iter().filter(|argument| argument.parse::<u64>().is_err() && !argument.starts_with('-'));
        filters.clone().next().is_none() || filters.any(|filter| name.contains(filter.as_str()))
    };
    let mut contenders = Vec::new();
    for (size, len) in [("64_kib", 64 << 10), ("1_mib", 1 << 20), ("16_mib", 16 << 20)] {
        for (reliability, reliable) in [("best_effort", false), ("reliable", true)] {
            let name = format!("{reliability}_{size}");
            if wanted(&name) {
                contenders.push(Contender::new(name, len, reliable)?);
            }
        }
    }
    for turn in 0..=samples {
        for contender in &mut contenders {
            contender.pass(turn > 0)?;
        }
    }
    println!("{:<24} {:>9} {:>9} {:>9} {:>6} {:>12}", "µs", "p50", "p90", "p99", "lost", "bytes/sample");
    for contender in &contenders {
        let at = |quantile| contender.microseconds.value_at_quantile(quantile);
        let sent = contender.from.traffic().sent_bytes / (samples + 1);
        let name = &contender.name;
        println!("{name:<24} {:>9} {:>9} {:>9} {:>6} {sent:>12}", at(0.5), at(0.9), at(0.99), contender.lost);
    }
    Ok(())
}
