//! `dds recover`: the complete chunks of a damaged recording.

use crate::error::ToolError;
use crate::options::{CompressionOption, RecoverOptions};
use crate::recording::{RecordingWriter, messages, profile_of};
use std::io::Write;

/// Copies all messages before the first damaged place into a new file, and writes its index.
///
/// # Errors
/// Fails if the damaged file cannot be opened, or if the new file exists or cannot be written.
pub fn run(options: &RecoverOptions, notes: &mut dyn Write) -> Result<(), ToolError> {
    let found = messages(&options.file)?;
    let profile = profile_of(&options.file)?;
    let mut file = RecordingWriter::create(&options.output, CompressionOption::default(), &profile)?;
    let mut copied: u64 = 0;
    for message in found {
        match message {
            Ok(message) => file.copy(&message)?,
            Err(error) => {
                writeln!(notes, "stopped at a damaged place: {error}").map_err(ToolError::output)?;
                break;
            }
        }
        copied += 1;
    }
    file.finish()?;
    writeln!(notes, "recovered {copied} samples into {}", options.output.display()).map_err(ToolError::output)
}
