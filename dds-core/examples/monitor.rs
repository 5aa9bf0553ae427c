//! Shows a domain live: participants, topics with their endpoints, sample rates, and lost samples.
//!
//! ```text
//! cargo run -p dds-core --example monitor
//! cargo run -p dds-core --example monitor -- 10    ends after ten seconds
//! ```
//!
//! It subscribes to each discovered topic as raw bytes, best effort, so it needs no types and slows no writer down.

#![allow(clippy::disallowed_methods, reason = "an example uses the clock and the threads of the standard library")]

use dds_core::builtin::BuiltinTopic;
use dds_core::cdr::Raw;
use dds_core::qos::{DataReaderQos, TopicQos};
use dds_core::stats::ReaderLosses;
use dds_core::{DataReader, DomainParticipant, Result};
use std::collections::BTreeMap;
use std::time::Duration;

/// A subscribed topic, with the losses up to the last round.
struct Watched {
    reader: DataReader<Raw>,
    before: ReaderLosses,
}

fn main() -> Result<()> {
    let seconds = std::env::args().nth(1).and_then(|seconds| seconds.parse().ok()).unwrap_or(u64::MAX);
    let participant = DomainParticipant::from_env()?;
    let writers = participant.reader(&BuiltinTopic::PUBLICATION)?;
    let readers = participant.reader(&BuiltinTopic::SUBSCRIPTION)?;
    let mut watched: BTreeMap<String, Watched> = BTreeMap::new();
    for _ in 0..seconds {
        std::thread::sleep(Duration::from_secs(1));
        for found in participant.discovered_participants() {
            println!("participant \"{}\" {} of {:?}", found.name, found.key, found.vendor);
        }
        for topic in participant.discovered_topics() {
            if watched.contains_key(&topic.name) {
                continue;
            }
            // A peer may announce a name that no topic here can have.
            let Ok(raw) = participant.raw_topic(&topic.name, &topic.type_name, TopicQos::default()) else { continue };
            let qos = DataReaderQos::default().best_effort().keep_last(1);
            let reader = participant.reader_builder(&raw).qos(qos).build()?;
            watched.insert(topic.name, Watched { before: reader.losses(), reader });
        }
        // `read` leaves the samples in the readers, so each round sees all present endpoints.
        let (writers, readers) = (writers.read()?, readers.read()?);
        for (topic, watched) in &mut watched {
            let publishers = writers.iter().filter_map(|sample| sample.decode()?.ok());
            let publishers = publishers.filter(|found| found.topic_name == *topic).count();
            let subscribers = readers.iter().filter_map(|sample| sample.decode()?.ok());
            let subscribers = subscribers.filter(|found| found.topic_name == *topic).count();
            let now = watched.reader.losses();
            let second = now.since(&watched.before).total();
            watched.before = now;
            println!(
                "topic \"{topic}\": {publishers} writers, {subscribers} readers, {} samples, {} lost",
                second.received,
                second.lost(),
            );
            for report in watched.reader.explain_matches() {
                println!("  {report}");
            }
        }
        println!();
    }
    Ok(())
}
