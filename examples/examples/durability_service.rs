//! A durability service: stores samples of TRANSIENT and PERSISTENT writers for late-joining readers.
//!
//! ```text
//! cargo run -p examples --example durability_service -- --database /tmp/durable.redb
//! cargo run -p examples --example shapes -- -P -t Square -c RED -D p -r        # stop it after a while
//! cargo run -p examples --example shapes -- -S -t Square -D p -r               # gets the last sample
//! ```
//!
//! Environment variables configure the network, as for any participant (`DDS_SCOPE`, `DDS_PEERS`, …).
//! Ctrl-C stops the program; with `--until-eof` the end of its standard input does. Killing it is safe.

use dds_durability::{DatabaseSync, DurabilityService, DurabilityServiceBuilder, DurabilityStatus};
use std::error::Error;
use std::io::{BufRead, IsTerminal};
use std::time::Duration;

const USAGE: &str = "\
durability_service [OPTION]...
  --domain N          domain ID (default: 0)
  --database FILE     file for persistent samples (default: memory only)
  --sync later        do not wait for the disk after each batch (default: each-batch)
  --memory MIB        limit of stored payload in MiB (default: 256)
  --until-eof         stop at the end of standard input
  --quiet             do not print the status";

struct Options {
    domain: u32,
    service: DurabilityServiceBuilder,
    until_eof: bool,
    quiet: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(problem) => {
            eprintln!("{problem}\n{USAGE}");
            std::process::exit(2);
        }
    };
    let participant = DurabilityService::participant(options.domain).build()?;
    let service = options.service.start(participant)?;
    println!("durability service in domain {}", options.domain);
    if options.until_eof {
        // Each line requests the status; its text is ignored.
        let mut input = std::io::stdin().lock();
        while input.read_line(&mut String::new())? > 0 {
            println!("{}", line(&service.status()));
        }
        return Ok(());
    }
    let mut last_printed = DurabilityStatus::default();
    loop {
        std::thread::sleep(Duration::from_secs(1));
        let status = service.status();
        if status != last_printed && !options.quiet {
            let start = if std::io::stdout().is_terminal() { "\r\x1b[K" } else { "" };
            println!("{start}{}", line(&status));
        }
        last_printed = status;
    }
}

fn line(status: &DurabilityStatus) -> String {
    let DurabilityStatus { groups, instances, changes, bytes, commits, refused, .. } = status;
    let problem = status.database_problem.as_deref().map(|problem| format!("; {problem}")).unwrap_or_default();
    format!(
        "{changes} changes of {instances} instances in {groups} topics, {bytes} bytes, {commits} commits, {refused} refused{problem}"
    )
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let service = DurabilityService::builder();
    let mut options = Options { domain: 0, service, until_eof: false, quiet: false };
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument}: expected a value"));
        let number = |value: String| value.parse::<u32>().map_err(|_| format!("expected a number, found {value}"));
        match argument.as_str() {
            "--domain" => options.domain = number(value()?)?,
            "--database" => options.service = options.service.database(value()?),
            "--memory" => options.service = options.service.memory((number(value()?)? as usize) << 20),
            "--sync" => match value()?.as_str() {
                "later" => options.service = options.service.sync(DatabaseSync::Later),
                "each-batch" => options.service = options.service.sync(DatabaseSync::EachBatch),
                other => return Err(format!("--sync: expected `later` or `each-batch`, found `{other}`")),
            },
            "--until-eof" => options.until_eof = true,
            "--quiet" => options.quiet = true,
            _ => return Err(format!("unknown option {argument}")),
        }
    }
    Ok(options)
}
