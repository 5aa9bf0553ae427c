//! The loop with this project.

use crate::control_loop::{DEPTH, Ends, PATIENCE, Stamp};
use dds_core::qos::{DataReaderQos, DataWriterQos};
use dds_core::{DdsType, DomainParticipant, Scope};
use std::error::Error;
use std::hint::black_box;
use std::time::Duration;

/// No other bench uses this domain.
const DOMAIN_ID: u32 = 63;

/// History depth of the busy reader: each of its reads is long.
const KEPT: u32 = 1000;

/// A sample of 64 bytes.
#[derive(Debug, Clone, DdsType)]
struct Tick {
    number: u64,
    sent: u64,
    rest: [u8; 48],
}

/// Creates a writer, the waiting reader and the busy reader in one participant.
///
/// # Errors
///
/// Returns an error if an entity cannot be created, or if the endpoints do not match within 10 s.
pub(crate) fn ends(udp_only: bool) -> Result<Ends, Box<dyn Error>> {
    let participant = DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host).udp_only(udp_only).build()?;
    let reader = |depth| {
        let qos = DataReaderQos::default().best_effort().keep_last(depth);
        participant.reader_builder::<Tick>("realtime").qos(qos).build()
    };
    let (received, observed) = (reader(DEPTH)?, reader(KEPT)?);
    let qos = DataWriterQos::default().best_effort().keep_last(1);
    let writer = participant.writer_builder::<Tick>("realtime").qos(qos).build()?;
    writer.wait_for_readers(2).block_for(Duration::from_secs(10))?;
    let write = move |Stamp { number, sent }| {
        writer.write(&Tick { number, sent, rest: [7; 48] }).map_err(|error| error.to_string())
    };
    let next = move || loop {
        let sample = received.next_sample().block_for(PATIENCE).ok()?;
        if let Some(Tick { number, sent, .. }) = sample.data {
            return Some(Stamp { number, sent });
        }
    };
    // Reads each byte of all samples in the history. A closed reader has no samples.
    let observe = move || {
        let Ok(samples) = observed.read() else { return };
        for tick in samples.iter().filter_map(|sample| sample.decode()?.ok()) {
            black_box(tick.rest.iter().map(|&byte| u64::from(byte)).sum::<u64>());
        }
    };
    Ok(Ends { write: Box::new(write), next: Box::new(next), observe: Box::new(observe) })
}
