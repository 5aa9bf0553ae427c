//! The sample: its number, the time at which it was due, and bytes that give it its size.

use clap::ValueEnum;
use dds_core::cdr::Encoding;
use dds_core::error::WriteErrorKind;
use dds_core::{DataWriter, DdsType};
use serde::{Deserialize, Serialize};

/// The sample. Its size is that of its encoding without the encapsulation header of 4 bytes.
#[derive(Debug, DdsType)]
pub struct Load {
    /// The [phase](phase_of) and the [number](number_of) in it.
    pub sequence: u64,
    /// Time at which it was due, in nanoseconds of the sender's monotonic clock.
    pub due: u64,
    /// Number of the writer in its process, from 0.
    pub source: u32,
    /// Bytes that fill the size.
    pub bytes: Vec<u8>,
}

/// A view of [`Load`] that borrows from the received sample.
#[derive(Debug, DdsType)]
#[dds(view_of = Load)]
pub struct LoadView<'a> {
    /// As in [`Load`].
    pub sequence: u64,
    /// As in [`Load`].
    pub due: u64,
    /// As in [`Load`].
    pub source: u32,
    /// As in [`Load`].
    pub bytes: &'a [u8],
}

/// Size of a sample without bytes: the minimum.
pub const LOAD_MIN: usize = 24;
/// Length of the encapsulation header.
const ENCAPSULATION: usize = 4;

const NUMBER_BITS: u32 = 40;

/// The number of a sample in a phase.
#[must_use]
pub fn sequence(phase: u64, number: u64) -> u64 {
    (phase << NUMBER_BITS) | number
}

/// The phase of a sample. Phases rise within a session: warm-ups are even, measurements are odd.
#[must_use]
pub fn phase_of(sequence: u64) -> u64 {
    sequence >> NUMBER_BITS
}

/// The number of a sample in its phase, from 0.
#[must_use]
pub fn number_of(sequence: u64) -> u64 {
    sequence & ((1 << NUMBER_BITS) - 1)
}

/// Whether the phase is measured.
#[must_use]
pub fn is_measured(phase: u64) -> bool {
    phase % 2 == 1
}

/// How samples are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WriteForm {
    /// `write` of a value, which is encoded.
    Value,
    /// `loan_encoded` of a slot, without a copy.
    Loan,
}

/// A writer and its sample; one for each writing thread.
#[derive(Debug)]
pub struct Sender {
    writer: DataWriter<Load>,
    load: Load,
    form: WriteForm,
    failed: u64,
}

impl Sender {
    /// Creates a sender of samples of at least [`LOAD_MIN`] bytes.
    #[must_use]
    pub fn new(writer: DataWriter<Load>, source: u32, size: usize, form: WriteForm) -> Self {
        let bytes = vec![0x5a; size.saturating_sub(LOAD_MIN)];
        Self { writer, load: Load { sequence: 0, due: 0, source, bytes }, form, failed: 0 }
    }

    /// Sends a sample. Returns `false` if the writer is closed; other failures count as sent.
    pub fn send(&mut self, sequence: u64, due: u64) -> bool {
        self.load.sequence = sequence;
        self.load.due = due;
        let written = match self.form {
            WriteForm::Value => self.writer.write(&self.load),
            WriteForm::Loan => {
                let Load { sequence, due, source, bytes } = &self.load;
                write_loan(&self.writer, &LoadView { sequence: *sequence, due: *due, source: *source, bytes })
            }
        };
        match written {
            Ok(()) => true,
            Err(error) => {
                self.failed += 1;
                *error.kind() != WriteErrorKind::Closed
            }
        }
    }

    /// Number of failed writes.
    #[must_use]
    pub fn failed(&self) -> u64 {
        self.failed
    }
}

/// Writes only the fields into a loan of the same length. The bytes keep the content of the slot.
///
/// # Errors
/// As [`DataWriter::loan_encoded`].
pub fn write_loan(writer: &DataWriter<Load>, load: &LoadView<'_>) -> Result<(), dds_core::error::WriteError> {
    let LoadView { sequence, due, source, bytes } = load;
    let mut loan = writer.loan_encoded(Encoding::Xcdr1, ENCAPSULATION + LOAD_MIN + bytes.len())?;
    let mut rest = loan.get_mut(ENCAPSULATION..).unwrap_or_default();
    let len = bytes.len() as u32;
    for field in [&sequence.to_ne_bytes()[..], &due.to_ne_bytes(), &source.to_ne_bytes(), &len.to_ne_bytes()] {
        let (place, behind) = rest.split_at_mut(field.len());
        place.copy_from_slice(field);
        rest = behind;
    }
    loan.write()
}

#[cfg(test)]
mod tests {
    use super::*;
    use dds_core::__private::cdr::encode_payload;

    #[test]
    fn minimum_size_is_that_of_an_empty_load() {
        let mut payload = Vec::new();
        let load = Load { sequence: 1, due: 2, source: 3, bytes: Vec::new() };
        encode_payload(&load, Encoding::Xcdr1, &mut payload).unwrap();
        assert_eq!(payload.len(), ENCAPSULATION + LOAD_MIN);
    }

    #[test]
    fn sequence_contains_phase_and_number() {
        let sequence = sequence(3, 77);
        assert_eq!((phase_of(sequence), number_of(sequence)), (3, 77));
        assert!(is_measured(3) && !is_measured(2));
    }
}
