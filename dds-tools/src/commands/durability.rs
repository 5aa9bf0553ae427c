//! `dds durability`: a durability service (DDS 1.4, 2.2.3.4 and 2.2.3.5).

use super::text::bytes_text;
use crate::error::ToolError;
use crate::network;
use crate::options::{NetworkOptions, OutputOptions, seconds, size};
use crate::stop::Stop;
use clap::Args;
use dds_durability::{DatabaseSync, DurabilityError, DurabilityService, DurabilityStatus};
use serde_json::json;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Name of the participant.
const PARTICIPANT_NAME: &str = "dds durability";
/// Time between two looks at the status.
const LOOK: Duration = Duration::from_secs(1);

/// Options of `durability`.
#[derive(Debug, Clone, Args)]
pub struct DurabilityOptions {
    /// File with the persistent samples. It is created if it does not exist. Without it, all samples are in memory.
    #[arg(long, value_name = "FILE.redb")]
    pub database: Option<PathBuf>,
    /// Do not wait for the disk after each batch. A crash of the whole system then loses the last batches.
    #[arg(long, requires = "database")]
    pub sync_later: bool,
    /// Most memory for stored samples, such as 500M. Further samples are refused, and counted.
    #[arg(long, value_name = "SIZE", value_parser = size, default_value = "256M")]
    pub memory: u64,
    /// End after this number of seconds.
    #[arg(long = "for", value_name = "SECONDS", value_parser = seconds)]
    pub duration: Option<Duration>,
    /// The output.
    #[command(flatten)]
    pub output: OutputOptions,
    /// The network.
    #[command(flatten)]
    pub network: NetworkOptions,
}

/// Stores the samples of transient and persistent writers until the time or the request to stop.
///
/// # Errors
/// [`ToolError::Value`] if the database cannot be used.
pub fn run(options: &DurabilityOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let participant =
        DurabilityService::participant_of(network::builder(&options.network)?).name(PARTICIPANT_NAME).build()?;
    let mut settings = DurabilityService::builder().memory(usize::try_from(options.memory).unwrap_or(usize::MAX));
    if let Some(path) = &options.database {
        settings = settings.database(path);
    }
    if options.sync_later {
        settings = settings.sync(DatabaseSync::Later);
    }
    let service = settings.start(participant).map_err(|error| match error {
        DurabilityError::Create(error) => error.into(),
        error => ToolError::value(error),
    })?;
    let stop = stop.after(options.duration);
    let mut printed = None;
    loop {
        let status = service.status();
        let line = if options.output.json { json_line(&status) } else { text_line(&status) };
        if printed.as_ref() != Some(&line) {
            writeln!(output, "{line}").and_then(|()| output.flush()).map_err(ToolError::output)?;
            printed = Some(line);
        }
        if stop.is_due() {
            return Ok(());
        }
        stop.sleep(LOOK);
    }
}

fn json_line(status: &DurabilityStatus) -> String {
    json!({
        "groups": status.groups,
        "instances": status.instances,
        "changes": status.changes,
        "bytes": status.bytes,
        "taken_in": status.taken_in,
        "refused": status.refused,
        "of_unknown_instance": status.of_unknown_instance,
        "writers_left_out": status.writers_left_out,
        "commits": status.commits,
        "database_problem": status.database_problem,
    })
    .to_string()
}

fn text_line(status: &DurabilityStatus) -> String {
    let DurabilityStatus { groups, instances, changes, bytes, refused, writers_left_out, .. } = status;
    let mut line = format!(
        "{changes} changes of {instances} instances in {groups} groups of writers, {}, refused {refused}",
        bytes_text(*bytes as f64)
    );
    if *writers_left_out > 0 {
        line.push_str(&format!(", writers without service {writers_left_out}"));
    }
    if let Some(problem) = &status.database_problem {
        line.push_str(&format!("; {problem}"));
    }
    line
}
