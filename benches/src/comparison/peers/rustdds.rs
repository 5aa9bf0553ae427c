//! RustDDS. It has no listeners: a thread waits on the stream of samples.
//!
//! At full load, a KEEP_ALL reader drops samples that it has acknowledged, because it holds 64. With a higher limit on
//! both sides, the writer waits most of the time.

use super::DOMAIN_ID;
use crate::comparison::role::{Arrived, Link, Write1};
use crate::perf::Result;
use rustdds::no_key::DataWriterCdr;
use rustdds::policy::{History, Reliability};
use rustdds::{DomainParticipant, Duration, QosPolicyBuilder, TopicKind};
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// The sample.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Load {
    number: u64,
    bytes: Vec<u8>,
}

pub(super) fn open(link: Link, mut arrived: Arrived) -> Result<Write1> {
    let participant = DomainParticipant::new(DOMAIN_ID as u16)?;
    let history = if link.keep_all { History::KeepAll } else { History::KeepLast { depth: 1 } };
    let reliability = Reliability::Reliable { max_blocking_time: Duration::from_secs(10) };
    let qos = QosPolicyBuilder::new().reliability(reliability).history(history).build();
    let topic = |name: &str| participant.create_topic(name.into(), "Load".into(), &qos, TopicKind::NoKey);
    let publisher = participant.create_publisher(&qos)?;
    let writer = Arc::new(publisher.create_datawriter_no_key_cdr::<Load>(&topic(link.writes)?, None)?);
    let subscriber = participant.create_subscriber(&qos)?;
    let reader = subscriber.create_datareader_no_key_cdr::<Load>(&topic(link.reads)?, None)?;
    let (replies, reply) = (writer.clone(), load(link));
    std::thread::spawn(move || {
        for sample in futures::executor::block_on_stream(reader.async_sample_stream()) {
            let Ok(sample) = sample else { continue };
            if let Some(number) = arrived(sample.value().number) {
                write(&replies, Load { number, ..reply.clone() });
            }
        }
    });
    // All live until the process ends.
    std::mem::forget((participant, publisher, subscriber));
    let sample = load(link);
    Ok(Box::new(move |number| write(&writer, Load { number, ..sample.clone() })))
}

fn load(link: Link) -> Load {
    Load { number: 0, bytes: vec![0x5a; link.size - 8] }
}

fn write(writer: &DataWriterCdr<Load>, sample: Load) {
    assert!(writer.write(sample, None).is_ok(), "the writer waits for room");
}
