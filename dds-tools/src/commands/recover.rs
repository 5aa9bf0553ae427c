//! `dds recover`: the messages before the first damaged place of a recording.

use super::text::write_json;
use crate::error::ToolError;
use crate::options::{CompressionOption, RecoverOptions};
use crate::progress::ProgressLine;
use crate::recording::{RecordingWriter, messages, profile_of};
use serde_json::json;
use std::io::Write;

/// Copies all messages before the first damaged place into a new file, and writes its index.
///
/// # Errors
/// Fails if the damaged file cannot be opened, or if the new file exists or cannot be written.
pub fn run(options: &RecoverOptions, output: &mut dyn Write, notes: &mut dyn Write) -> Result<(), ToolError> {
    let mut progress = ProgressLine::text(&options.report);
    let notes: &mut dyn Write = &mut progress.notes(notes);
    let found = messages(&options.file)?;
    let profile = profile_of(&options.file)?;
    let mut file = RecordingWriter::create(&options.output, CompressionOption::default(), &profile)?;
    let (mut copied, mut damage): (u64, _) = (0, None);
    for message in found {
        match message {
            Ok(message) => file.copy(&message)?,
            Err(error) => {
                let fault = error.fault();
                writeln!(notes, "stopped at a damaged place: {fault}").map_err(ToolError::output)?;
                damage = Some(fault);
                break;
            }
        }
        copied += 1;
        if progress.is_due() {
            progress.show(format!("recovered {copied} samples"));
        }
    }
    file.finish()?;
    if options.report.json {
        let file = options.output.display().to_string();
        return write_json(output, &json!({ "file": file, "samples": copied, "damage": damage }));
    }
    writeln!(notes, "recovered {copied} samples into {}", options.output.display()).map_err(ToolError::output)
}
