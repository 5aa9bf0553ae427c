//! Records the samples of a topic into a file, and replays them with their pauses. It knows the type by name only.
//!
//! ```text
//! record_replay record FILE TOPIC TYPE COUNT    such as: record poses robot/pose Pose 100
//! record_replay replay FILE TOPIC TYPE
//! ```
//!
//! The program `dds` of the crate `dds-tools` records all topics of a domain into files of MCAP, for other tools too.

#![allow(clippy::disallowed_methods, reason = "an example uses the clock and the threads of the standard library")]

use dds_core::cdr::{Encoded, Raw};
use dds_core::qos::{Preset, TopicQos};
use dds_core::{DomainParticipant, Duration, Time, Topic};
use std::error::Error;
use std::fs::File;
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};

type Fallible<T> = Result<T, Box<dyn Error>>;

fn main() -> Fallible<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let participant = DomainParticipant::from_env()?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["record", file, topic, of, count] => {
            let topic = participant.raw_topic(topic, of, TopicQos::default())?;
            record(&participant, &topic, File::create(file)?, count.parse()?)
        }
        ["replay", file, topic, of] => {
            let topic = participant.raw_topic(topic, of, TopicQos::default())?;
            replay(&participant, &topic, File::open(file)?)
        }
        _ => Err("usage: record_replay record FILE TOPIC TYPE COUNT, or replay FILE TOPIC TYPE".into()),
    }
}

/// A record has the nanoseconds since the first sample, the length of the payload, and the payload.
fn record(participant: &DomainParticipant, topic: &Topic<Raw>, file: File, count: u32) -> Fallible<()> {
    // Best effort and volatile, so it matches most writers. Samples wait here while the file is slow.
    let reader = participant.reader_builder(topic).keep_last(1000).build()?;
    let mut file = BufWriter::new(file);
    let (mut begin, mut recorded) = (Time::INVALID, 0);
    while recorded < count {
        let sample = reader.next_sample().block()?;
        let Some(raw) = sample.data else { continue }; // the end of an instance
        if recorded == 0 {
            begin = sample.info.source_timestamp;
        }
        let offset = sample.info.source_timestamp - begin;
        file.write_all(&offset.as_nanos().to_le_bytes())?;
        file.write_all(&u32::try_from(raw.bytes.len())?.to_le_bytes())?;
        file.write_all(&raw.bytes)?;
        recorded += 1;
    }
    file.flush()?;
    println!("{recorded} samples recorded");
    Ok(())
}

fn replay(participant: &DomainParticipant, topic: &Topic<Raw>, file: File) -> Fallible<()> {
    // Reliable and transient local, so readers with each preset match.
    let writer = participant.writer_builder(topic).qos(Preset::State).keep_last(100).build()?;
    writer.wait_for_readers(1).block()?;
    let mut file = BufReader::new(file);
    let (begin, mut replayed) = (std::time::Instant::now(), 0);
    while let Some((offset, payload)) = next_record(&mut file)? {
        let due = begin + offset.to_std().unwrap_or_default();
        std::thread::sleep(due.saturating_duration_since(std::time::Instant::now()));
        writer.write_encoded(Encoded::new(&payload)?)?;
        replayed += 1;
    }
    writer.acknowledged().block_for(Duration::from_secs(5))?;
    println!("{replayed} samples replayed");
    Ok(())
}

/// Returns the time and the payload of the next record. `None` at the end of the file.
fn next_record(file: &mut impl Read) -> Fallible<Option<(Duration, Vec<u8>)>> {
    let (mut offset, mut len) = ([0; 8], [0; 4]);
    match file.read_exact(&mut offset) {
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    file.read_exact(&mut len)?;
    let mut payload = Vec::new();
    file.take(u32::from_le_bytes(len).into()).read_to_end(&mut payload)?;
    Ok(Some((Duration::from_nanos(i64::from_le_bytes(offset)), payload)))
}
