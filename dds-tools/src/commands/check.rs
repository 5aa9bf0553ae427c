//! `dds check`: the running system beside a contract.

use super::text::write_json;
use crate::contract::{Contract, Difference};
use crate::domain_view::DomainWatch;
use crate::error::ToolError;
use crate::network;
use crate::options::CheckOptions;
use crate::stop::Stop;
use dds_core::DomainParticipant;
use dds_core::dynamic::DiscoveredType;
use std::io::Write;
use std::time::Duration;

/// Time to wait for each type, which its endpoints have announced already.
const TYPE_WAIT: Duration = Duration::from_millis(500);
/// Time between two looks at a system that does not meet its contract yet.
const STEP: Duration = Duration::from_millis(100);

/// Compares the system with a contract until they agree or the time is over. `--write` writes the contract instead.
///
/// # Errors
/// [`ToolError::Contract`] with all differences, or if the file is no contract.
pub fn run(
    options: &CheckOptions,
    output: &mut dyn Write,
    notes: &mut dyn Write,
    stop: &Stop,
) -> Result<(), ToolError> {
    let io_error = |source| ToolError::Io { name: options.file.display().to_string(), source };
    let contract = if options.write {
        None
    } else {
        let text = std::fs::read_to_string(&options.file).map_err(io_error)?;
        let invalid = |error: toml::de::Error| ToolError::Value {
            path: options.file.display().to_string(),
            reason: error.to_string(),
        };
        Some(Contract::parse(&text).map_err(invalid)?)
    };
    let participant = network::join_to_look(&options.network)?;
    let mut watch = DomainWatch::new(&participant)?;
    watch.settle(options.discovery.wait, stop)?;
    let Some(contract) = contract else {
        let system = present_system(&participant, &watch, |_| true, stop);
        std::fs::write(&options.file, system.to_toml()?).map_err(io_error)?;
        let topics = system.topics.len();
        return writeln!(notes, "wrote {} (topics: {topics})", options.file.display()).map_err(ToolError::output);
    };
    let limit = stop.after(Some(options.within));
    let differences = loop {
        let has_hash = |topic: &str| contract.topics.get(topic).is_some_and(|topic| topic.type_hash.is_some());
        let system = present_system(&participant, &watch, has_hash, stop);
        let differences = contract.compare(&system, options.allow_more);
        if differences.is_empty() || limit.is_due() {
            break differences;
        }
        limit.sleep(STEP);
        watch.update()?;
    };
    report(options, &contract, differences, output)
}

fn report(
    options: &CheckOptions,
    contract: &Contract,
    differences: Vec<Difference>,
    output: &mut dyn Write,
) -> Result<(), ToolError> {
    if options.output.json {
        for difference in &differences {
            let line = serde_json::to_value(difference).map_err(|error| ToolError::output(error.into()))?;
            write_json(output, &line)?;
        }
    }
    if !differences.is_empty() {
        return Err(ToolError::Contract { name: options.file.display().to_string(), differences });
    }
    if !options.output.json {
        writeln!(output, "the system meets {} (topics: {})", options.file.display(), contract.topics.len())
            .map_err(ToolError::output)?;
    }
    Ok(())
}

/// Returns the contract that the system meets now, with the hashes of the types of `hashed` topics.
fn present_system(
    participant: &DomainParticipant,
    watch: &DomainWatch,
    hashed: impl Fn(&str) -> bool,
    stop: &Stop,
) -> Contract {
    let type_hash = |topic: &str| {
        if !hashed(topic) || stop.is_requested() {
            return None;
        }
        let found: Option<DiscoveredType> = participant.discover_type_objects(topic).block_for(TYPE_WAIT).ok();
        found.map(|found| found.root.to_string())
    };
    Contract::of_system(watch.view(), type_hash)
}
