//! One process publishes, another process receives: through shared memory, or by UDP where the system lacks it.
//!
//! ```text
//! hello_world                  starts both processes and prints percentiles of the latency
//! hello_world publish          in one terminal
//! hello_world subscribe        in another terminal of the same host
//!   --samples N                number of samples (default 1000), one per millisecond
//! ```

use dds_core::error::WaitErrorKind;
use dds_core::qos::Preset;
use dds_core::{DdsType, DomainParticipant, Scope};
use hdrhistogram::Histogram;
use indicatif::{ProgressBar, ProgressStyle};
use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

const TOPIC: &str = "hello";

/// The sample. Each publishing process is an instance.
#[derive(DdsType, Debug)]
struct Hello {
    #[dds(key)]
    process: u32,
    number: u32,
    /// Nanoseconds since 1970; both processes use the same clock.
    sent: u64,
    text: String,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let samples = match arguments.iter().position(|argument| argument == "--samples") {
        None => Ok(1000),
        Some(at) => arguments.get(at + 1).map_or("", String::as_str).parse(),
    };
    let outcome = match (arguments.first().map(String::as_str), samples) {
        (Some("publish"), Ok(samples)) => publish(samples),
        (Some("subscribe"), Ok(samples)) => subscribe(samples),
        (None | Some("--samples"), Ok(samples)) => both(samples),
        _ => Err("usage: hello_world [publish | subscribe] [--samples N]".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hello_world: {error}");
            ExitCode::FAILURE
        }
    }
}

fn publish(samples: u32) -> Result<(), Box<dyn Error>> {
    // Each sample counts: on a busy machine, a writer that keeps the last ones would replace those that wait.
    let writer = participant()?.writer_builder::<Hello>(TOPIC).qos(Preset::Event).build()?;
    writer.wait_for_readers(1).block_for(Duration::from_secs(30))?;
    let process = std::process::id();
    for number in 0..samples {
        writer.write(&Hello { process, number, sent: nanoseconds(), text: format!("Hello number {number}!") })?;
        std::thread::sleep(Duration::from_millis(1));
    }
    writer.acknowledged().block_for(Duration::from_secs(10))?;
    Ok(())
}

fn subscribe(samples: u32) -> Result<(), Box<dyn Error>> {
    let participant = participant()?;
    let reader = participant.reader_builder::<Hello>(TOPIC).qos(Preset::Event).build()?;
    let progress = ProgressBar::new(samples.into()).with_style(
        ProgressStyle::with_template("{bar:40} {pos}/{len} {msg}").unwrap_or_else(|_| ProgressStyle::default_bar()),
    );
    let mut latency = Histogram::<u64>::new(3)?;
    let mut last = None;
    while latency.len() < samples.into() {
        // The first wait is longer: the user may still have to start the publisher.
        let patience = Duration::from_secs(if last.is_none() { 60 } else { 5 });
        match reader.next_sample().block_for(patience) {
            Ok(sample) => {
                if let Some(hello) = sample.data {
                    latency.record(nanoseconds().saturating_sub(hello.sent))?;
                    progress.inc(1);
                    last = Some(hello);
                }
            }
            Err(error) if matches!(error.kind(), WaitErrorKind::Timeout { .. }) => break,
            Err(error) => return Err(error.into()),
        }
    }
    progress.finish_and_clear();
    // The answers of a reliable reader take the same way as the samples.
    let way = if participant.traffic().sent_shared > 0 { "through shared memory" } else { "by UDP" };
    report(&latency, samples, way, last)
}

fn report(latency: &Histogram<u64>, samples: u32, way: &str, last: Option<Hello>) -> Result<(), Box<dyn Error>> {
    let Some(last) = last else { return Err("no sample was received".into()) };
    println!("received {} of {samples} samples from process {} {way}", latency.len(), last.process);
    println!("last sample: number {}, \"{}\"", last.number, last.text);
    let at = |quantile| latency.value_at_quantile(quantile) as f64 / 1000.0;
    println!(
        "latency from write to receive: p50 {:.1} µs, p99 {:.1} µs, p99.9 {:.1} µs, longest {:.1} µs",
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0)
    );
    if latency.len() < samples.into() { Err("some samples did not arrive".into()) } else { Ok(()) }
}

/// Runs this program twice, as a subscriber and as a publisher.
fn both(samples: u32) -> Result<(), Box<dyn Error>> {
    let program = std::env::current_exe()?;
    let start = |role: &str| Command::new(&program).args([role, "--samples", &samples.to_string()]).spawn();
    let mut subscriber = start("subscribe")?;
    let mut publisher = start("publish")?;
    println!("publishing in process {}, receiving in process {}", publisher.id(), subscriber.id());
    let (published, received) = (publisher.wait()?, subscriber.wait()?);
    if published.success() && received.success() { Ok(()) } else { Err("a process failed".into()) }
}

/// A participant that sends nothing to the network: its scope is this host.
fn participant() -> Result<DomainParticipant, dds_core::error::CreateError> {
    DomainParticipant::builder(0).scope(Scope::Host).build()
}

fn nanoseconds() -> u64 {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since_1970.as_nanos()).unwrap_or(u64::MAX)
}
