//! This implementation: an inline listener, and samples that are read in place.

use super::DOMAIN_ID;
use crate::comparison::role::{Arrived, Link, Write1};
use crate::perf::Result;
use dds_core::listener::Delivery;
use dds_core::qos::{DataReaderQos, DataWriterQos, Reliability, ResourceLimits};
use dds_core::{DataWriter, DdsType, DomainParticipant, DomainParticipantBuilder, Duration, Scope};
use std::ffi::OsString;

/// Samples that a KEEP_ALL writer holds until they are acknowledged, and about their bytes. Without a limit, it would
/// never wait.
const KEPT_SAMPLES_MAX: usize = 4000;
const KEPT_BYTES_MAX: usize = 64 << 20;

/// The sample.
#[derive(Debug, DdsType)]
struct Load {
    number: u64,
    bytes: Vec<u8>,
}

/// A view of it.
#[derive(Debug, DdsType)]
#[dds(view_of = Load)]
struct LoadView<'a> {
    number: u64,
    bytes: &'a [u8],
}

pub(super) fn open(link: Link, mut arrived: Arrived, udp_only: bool) -> Result<Write1> {
    let mut builder = DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host);
    if udp_only {
        // The other process cannot use in-process delivery. A participant with an identity needs it for itself.
        builder = builder.shared_memory(0);
    }
    if let Some(folder) = std::env::var_os("ENCLAVE") {
        builder = with_identity(builder, folder)?;
    }
    let participant = builder.build()?;
    let reliability = Reliability::reliable(Duration::from_secs(10));
    let (writes, reads) = (DataWriterQos::default().reliability(reliability), DataReaderQos::default().reliable());
    let (writes, reads) = if link.keep_all {
        let kept = KEPT_SAMPLES_MAX.min(KEPT_BYTES_MAX / link.size);
        (writes.keep_all().resource_limits(ResourceLimits::NONE.max_samples(kept as u32)), reads.keep_all())
    } else {
        (writes.keep_last(1), reads.keep_last(1))
    };
    let (writes, reads) = if link.best_effort { (writes.best_effort(), reads.best_effort()) } else { (writes, reads) };
    let writer = participant.writer_builder::<Load>(link.writes).qos(writes).build()?;
    let replies = writer.clone();
    let mut reply = load(link);
    let listen = move |reader: &dds_core::DataReader<Load>| {
        let Ok(samples) = reader.take() else { return };
        for sample in samples.iter() {
            let Some(Ok(view)) = sample.view::<LoadView<'_>>() else { continue };
            if let Some(next) = arrived(view.number) {
                reply.number = next;
                write(&replies, &reply);
            }
        }
    };
    let reader = participant.reader_builder::<Load>(link.reads).qos(reads);
    let reader = reader.delivery(Delivery::Inline).on_data(listen).build()?;
    // Both live until the process ends.
    std::mem::forget((participant, reader));
    let mut sample = load(link);
    Ok(Box::new(move |number| {
        sample.number = number;
        write(&writer, &sample);
    }))
}

#[cfg(feature = "security")]
fn with_identity(builder: DomainParticipantBuilder, folder: OsString) -> Result<DomainParticipantBuilder> {
    Ok(builder.credentials(dds_core::security::Credentials::from_enclave(folder)?))
}

/// Without protection, the results would be wrong.
#[cfg(not(feature = "security"))]
fn with_identity(_: DomainParticipantBuilder, _: OsString) -> Result<DomainParticipantBuilder> {
    Err(crate::perf::Failure::new("ENCLAVE needs the feature security of the package benches"))
}

fn load(link: Link) -> Load {
    Load { number: 0, bytes: vec![0x5a; link.size - 8] }
}

fn write(writer: &DataWriter<Load>, sample: &Load) {
    writer.write(sample).expect("the writer waits for room");
}
