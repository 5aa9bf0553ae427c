//! Calls for the crates `dds-durability` and `dds-tools`: endpoints that relay changes of other writers unmodified.
//!
//! In: a participant whose properties name a durability service, and its endpoints. Out: received changes as the
//! protocol sees them, and changes published with the identity of their original writer. Owned: nothing.
//!
//! The module is public only for these crates. It may change in every version.

use crate::context::ParticipantContext;
use crate::driver::Driver;
use crate::infrastructure::{CreateError, CreateErrorKind, ReadError, WriteError};
use crate::participant::DomainParticipant;
use crate::publication::{DataWriter, DataWriterBuilder};
use crate::subscription::{DataReader, DataReaderBuilder};
use dds_rtps::cdr::Raw;
use dds_rtps::history::{Operation, Selection, SelectionOrder};
use dds_rtps::types::SequenceNumber;
use std::io;
use std::sync::Arc;

pub use crate::settings::DURABILITY_SERVICE;
pub use dds_rtps::concurrent::Payload;
pub use dds_rtps::discovery::data::{EndpointData, PublicationData};
pub use dds_rtps::history::{ChangeKind, HistorySample, OriginalWriterInfo};
pub use dds_rtps::reader::KeySource;
pub use dds_rtps::types::{EntityId, EntityKind, GuidPrefix, Instant, Now};
pub use dds_rtps::writer::NewChange;

/// Returns whether peers recognize the participant as that of a durability service.
#[must_use]
pub fn is_durability_service(participant: &DomainParticipant) -> bool {
    participant.handle().core().config().is_durability_service()
}

/// Returns whether the key hashes of a topic must not show its keys.
#[must_use]
pub fn hides_keys(participant: &DomainParticipant, topic_name: &str) -> bool {
    participant.handle().core().config().hides_keys_of(topic_name)
}

/// Returns the clock and the threads of a participant.
#[must_use]
pub fn driver(participant: &DomainParticipant) -> &Arc<dyn Driver> {
    participant.handle().core().driver()
}

/// Returns the error of a thread that the system refused.
#[must_use]
pub fn thread_error(participant: &DomainParticipant, error: &io::Error) -> CreateError {
    let kind = CreateErrorKind::Thread { message: error.to_string() };
    CreateError::new(participant.handle().core().subject(), kind)
}

/// Sets whether a writer announces a key. Each of its changes names its instance.
pub fn keyed<'t>(builder: DataWriterBuilder<'t, Raw>, is_keyed: bool) -> DataWriterBuilder<'t, Raw> {
    builder.keyed(is_keyed)
}

/// Sets how a reader determines the instances of its changes.
pub fn key_source<'t>(builder: DataReaderBuilder<'t, Raw>, source: KeySource) -> DataReaderBuilder<'t, Raw> {
    builder.key_source(source)
}

/// Takes changes by their order of arrival, at most `samples_max`.
///
/// # Errors
/// As [`DataReader::take`].
pub fn take(reader: &DataReader<Raw>, samples_max: usize, list: &mut Vec<HistorySample>) -> Result<(), ReadError> {
    let selection = Selection { samples_max, order: SelectionOrder::ByArrival, ..Selection::default() };
    reader.handle().select_into(&selection, Operation::Take, list)
}

/// Publishes a change without waiting for history space.
///
/// # Errors
/// As [`DataWriter::write`].
pub fn publish(writer: &DataWriter<Raw>, change: NewChange) -> Result<SequenceNumber, WriteError> {
    writer.handle().publish(change, false)
}

/// Removes changes from the history of the writer.
///
/// # Errors
/// Fails if the writer is closed.
pub fn withdraw(writer: &DataWriter<Raw>, numbers: &[SequenceNumber]) -> Result<(), WriteError> {
    writer.handle().withdraw(numbers)
}
