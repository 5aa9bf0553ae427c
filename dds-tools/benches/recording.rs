//! `dds record` and `dds play` at their limits: throughput, losses, processor time and timing errors.
//!
//! `cargo bench -p dds-tools --bench recording` prints one line for each measurement:
//!
//! | line | meaning |
//! |---|---|
//! | `disk` | a file that one thread writes in parts of 1 MiB, without DDS |
//! | `record 1M` | samples of 1 MiB from `dds perf publish`, as fast as its reader accepts them |
//! | `record 1M at 1 GB/s` | the same at 1000 Hz |
//! | `record 64` | samples of 64 bytes at 500 000 Hz |
//! | `play` | how late `dds play` publishes samples that were recorded at 1 kHz |
//!
//! The programs run as processes of their own. `cores` is the processor time of `dds record`, user and system, for each
//! second of the recording. `-- --test` measures for a moment only. `-- 64` runs the lines with this text. The files
//! are in `TMPDIR`.

#![allow(clippy::print_stdout, reason = "the result of the program")]

use dds_core::cdr::{Encoding, Extensibility};
use dds_core::dynamic::{DynamicData, DynamicType};
use dds_core::qos::{DataReaderQos, TopicQos};
use dds_core::{DomainParticipant, Scope};
use dds_tools::options::CompressionOption;
use dds_tools::recording::{MessageTimes, RecordedChannel, RecordedSchema, RecordingWriter, SCHEMA_ENCODING, messages};
use std::collections::BTreeMap;
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

type Outcome<T> = Result<T, Box<dyn Error>>;

const PROGRAM: &str = env!("CARGO_BIN_EXE_dds");
/// Time for discovery before the first sample, and for the last samples to arrive.
const SETTLE: Duration = Duration::from_secs(2);
/// Clock ticks of `/proc/PID/stat` in a second. Linux has the same value on every machine.
const TICKS: f64 = 100.0;
/// Distance of the samples for `dds play`.
const PLAY_PERIOD: Duration = Duration::from_millis(1);

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let is_test = arguments.iter().any(|argument| argument == "--test");
    let wanted = arguments.iter().find(|argument| !argument.starts_with('-'));
    let is_wanted = |name: &str| wanted.is_none_or(|wanted| name.contains(wanted.as_str()));
    let folder = tempfile::tempdir()?;
    let (large, seconds, played) = if is_test { (20, "0.2", 50) } else { (2000, "5", 10_000) };
    if is_wanted("disk") {
        disk(folder.path(), large)?;
    }
    if is_wanted("record 1M") {
        let count = large.to_string();
        record(folder.path(), "record 1M", &["--size", "1048576", "--count", &count])?;
    }
    if is_wanted("record 1M at 1 GB/s") {
        let arguments = ["--size", "1048576", "--rate", "1000", "--for", seconds];
        record(folder.path(), "record 1M at 1 GB/s", &arguments)?;
    }
    if is_wanted("record 64") {
        record(folder.path(), "record 64", &["--size", "64", "--rate", "500000", "--for", seconds])?;
    }
    if is_wanted("play") {
        play(folder.path(), played)?;
    }
    Ok(())
}

fn disk(folder: &Path, parts: usize) -> Outcome<()> {
    let path = folder.join("disk");
    let part = vec![1; 1 << 20];
    let start = Instant::now();
    let mut file = File::create_new(&path)?;
    for _ in 0..parts {
        file.write_all(&part)?;
    }
    let written = start.elapsed();
    file.sync_all()?;
    let bytes = (parts * part.len()) as f64;
    let (rate, synced) = (bytes / written.as_secs_f64(), bytes / start.elapsed().as_secs_f64());
    println!(
        "disk: {:.0} MB/s into the cache of the system, {:.0} MB/s until the disk has it",
        rate / 1e6,
        synced / 1e6
    );
    std::fs::remove_file(path)?;
    Ok(())
}

/// Ends a process also if the measurement fails.
struct EndedChild(Child);

impl Drop for EndedChild {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn network(tag: &str) -> [&str; 6] {
    ["--domain", "0", "--scope", "host", "--tag", tag]
}

fn record(folder: &Path, name: &str, publish: &[&str]) -> Outcome<()> {
    let path = folder.join("recording.mcap");
    let tag = format!("recording-{}", std::process::id());
    let mut recorder = Command::new(PROGRAM);
    recorder.args(["record", "dds/perf/throughput", "--compression", "none", "--output"]).arg(&path);
    let mut recorder = EndedChild(recorder.args(network(&tag)).stderr(Stdio::null()).spawn()?);
    std::thread::sleep(SETTLE);
    let line = [&["perf", "publish", "--json", "--wait", "30"], publish, &network(&tag)].concat();
    let published = Command::new(PROGRAM).args(line).output()?;
    let text = String::from_utf8(published.stdout)?;
    let total: serde_json::Value = serde_json::from_str(text.lines().last().ok_or("the publisher printed nothing")?)?;
    let published = total["samples"].as_u64().ok_or("the publisher counted nothing")?;
    std::thread::sleep(SETTLE);
    let cpu = cpu_seconds(recorder.0.id());
    Command::new("kill").args(["-INT", &recorder.0.id().to_string()]).status()?;
    recorder.0.wait()?;

    let (mut samples, mut bytes, mut times) = (0_u64, 0, None);
    for message in messages(&path)? {
        let message = message?;
        samples += 1;
        bytes += message.data.len();
        let (first, _) = times.unwrap_or((message.log_time, 0));
        times = Some((first, message.log_time));
    }
    let (first, last) = times.ok_or("nothing was recorded")?;
    let seconds = Duration::from_nanos(last.saturating_sub(first)).as_secs_f64().max(1e-9);
    println!(
        "{name}: published {published} ({:.0} Hz), lost {}, {:.0} Hz, {:.0} MB/s, cores {}",
        total["rate_hz"].as_f64().unwrap_or(0.0),
        published.saturating_sub(samples),
        samples as f64 / seconds,
        bytes as f64 / seconds / 1e6,
        cpu.map_or("unknown".to_owned(), |cpu| format!("{:.2}", cpu / seconds)),
    );
    std::fs::remove_file(path)?;
    Ok(())
}

/// Returns the processor time of a process. `None` on systems other than Linux.
fn cpu_seconds(process: u32) -> Option<f64> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name of the program is in parentheses, and may have spaces.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let (user, system) = (fields.get(11)?.parse::<f64>().ok()?, fields.get(12)?.parse::<f64>().ok()?);
    Some((user + system) / TICKS)
}

fn play(folder: &Path, samples: u32) -> Outcome<()> {
    let path = folder.join("play.mcap");
    let ty = DynamicType::structure("Tick")
        .extensibility(Extensibility::Final)
        .member("number", DynamicType::uint32())
        .build()?;
    write_ticks(&path, &ty, samples)?;
    let tag = format!("recording-play-{}", std::process::id());
    let participant = DomainParticipant::builder(0).scope(Scope::Host).domain_tag(&tag).build()?;
    let topic = participant.dynamic_topic("tick", &ty, TopicQos::default())?;
    let reader = participant.reader_builder(&topic).qos(DataReaderQos::default().reliable().keep_all()).build()?;
    let line = ["play", path.to_str().ok_or("the path is not UTF-8")?, "--readers-wait", "30"];
    let player = Command::new(PROGRAM).args(line).args(network(&tag)).stderr(Stdio::null()).spawn()?;
    let mut player = EndedChild(player);
    // The time of `write`, minus the time in the recording.
    let mut offsets = Vec::new();
    while offsets.len() < samples as usize {
        reader.readable().block_for(Duration::from_secs(30))?;
        for sample in reader.take()? {
            let Some(data) = sample.data else { continue };
            let recorded = i64::from(data.get::<u32>("number")?) * PLAY_PERIOD.as_nanos() as i64;
            offsets.push(sample.info.source_timestamp.as_unix_nanos() - recorded);
        }
    }
    player.0.wait()?;
    // The earliest sample is in time.
    let earliest = offsets.iter().copied().min().unwrap_or(0);
    offsets.sort_unstable();
    let at = |part: usize| (offsets[(offsets.len() - 1) * part / 1000] - earliest) as f64 / 1000.0;
    println!(
        "play: late by p50 {:.1} us, p99 {:.1} us, p99.9 {:.1} us, max {:.1} us",
        at(500),
        at(990),
        at(999),
        at(1000)
    );
    Ok(())
}

fn write_ticks(path: &Path, ty: &DynamicType, samples: u32) -> Outcome<()> {
    let mut file = RecordingWriter::create(path, CompressionOption::None, "")?;
    let schema = RecordedSchema {
        name: "Tick".to_owned(),
        encoding: SCHEMA_ENCODING,
        text: "@final struct Tick { uint32 number; };".to_owned(),
    };
    let metadata = BTreeMap::from([(dds_tools::recording::TYPE_NAME_KEY.to_owned(), "Tick".to_owned())]);
    let channel =
        file.add_channel(&RecordedChannel { name: "tick".to_owned(), schema: Some(schema.into()), metadata })?;
    let mut data = DynamicData::new(ty);
    for number in 0..samples {
        data.set("number", number)?;
        let log_time = u64::from(number) * PLAY_PERIOD.as_nanos() as u64;
        let times = MessageTimes { sequence: number, log_time, publish_time: log_time };
        file.write(channel, times, &data.to_payload(Encoding::Xcdr1)?)?;
    }
    Ok(file.finish()?)
}
