//! Instructions per sample, counted by valgrind and compared with recorded counts.
//!
//! `cargo bench -p benches --bench instructions` counts each path in the list below and compares it with
//! `benches/instructions.txt`. It fails if a count is more than 10 % higher, and prints counts that are more than 10 %
//! lower. `-- --write` records the new counts.
//!
//! Instructions of the kernel are not counted. The cost of a sample, a HEARTBEAT or an ACKNACK may grow by at most 5 %
//! from 1 to 1000 endpoints. The histograms of latencies have limits in [`HISTOGRAM_PATHS`].
//!
//! Each count is the difference of two runs, which removes the cost of the setup. All threads run on one core: on two
//! idle cores they wait for each other more often, which takes up to 7 % more instructions than on a busy machine.

use benches::among::{Merged, Waited};
use benches::burst::{BURST_LEN, Burst};
use benches::matched::{ManyReaders, ManyWriters, Reached};
use benches::pair::{Form, Large, NotifiedBy, Pair, Payload, Small};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::process::{Command, ExitCode};

/// The file with the recorded counts.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.txt");

/// Allowed growth of a count.
///
/// The C library chooses some functions by the processor. A wait for a lock, which depends on chance, takes some
/// hundred instructions.
const TOLERANCE: f64 = 0.10;

/// The C library copies memory without `rep movsb`, which valgrind counts once for each byte.
///
/// By default this depends on the processor.
const COPIES: (&str, &str) = ("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-ERMS,-FSRM");

/// Most repetitions of a count that is too high.
const REPETITIONS_MAX: u32 = 3;

/// Allowed growth from the first path of a pair to the second.
const GROWTH_MAX: f64 = 0.05;

/// Pairs of paths that must cost the same. The first path has fewer endpoints.
const EQUAL_PATHS: [[&str; 2]; 15] = [
    ["in_process", "in_process_among_10"],
    ["in_process", "in_process_among_1000"],
    ["udp", "udp_among_10"],
    ["udp", "udp_among_1000"],
    ["merged_stream_of_1", "merged_stream_of_100"],
    ["merged_stream_of_1", "merged_stream_of_10000"],
    ["wait_set_of_1", "wait_set_of_100"],
    ["wait_set_of_1", "wait_set_of_10000"],
    ["write_to_1_of_a_group", "write_to_10_of_a_group"],
    ["write_to_1_of_a_group", "write_to_100_of_a_group"],
    ["write_to_1_of_a_host", "write_to_10_of_a_host"],
    ["write_to_1_of_a_host", "write_to_100_of_a_host"],
    ["heartbeat_of_one_of_10", "heartbeat_of_one_of_1000"],
    ["answer_of_one_of_10", "answer_of_one_of_1000"],
    ["answer_of_one_of_1", "answer_of_one_of_1000"],
];

/// Pairs of paths without and with histograms. Each has the most instructions of the histograms for a sample.
const HISTOGRAM_PATHS: [([&str; 2], u64); 2] =
    [(["received_without_histogram", "received"], 70), (["acknowledged_without_histogram", "acknowledged"], 120)];

/// Passes of the two runs of a path.
const PASSES: [u32; 2] = [2_000, 6_000];

/// Passes of paths whose readers never acknowledge: the congestion window limits how far the writer gets ahead.
///
/// For each 8 KiB the writer updates the bytes in flight of each reader. That takes 18 instructions per sample and
/// reader, so [`EQUAL_PATHS`] does not contain these paths.
const UNANSWERED: [u32; 2] = [50, 200];

type Pass = fn(Form, usize, u32) -> Result<(), Box<dyn Error>>;

struct Path {
    name: &'static str,
    form: Form,
    /// Other readers in the participant. Without a participant: the number of matched endpoints.
    others: usize,
    pass: Pass,
    /// Passes of the two runs.
    passes: [u32; 2],
}

fn paths() -> Vec<Path> {
    let form = Form::DEFAULT;
    let path = |name, form, others, pass: Pass| Path { name, form, others, pass, passes: PASSES };
    vec![
        path("in_process", form, 0, pass::<Small>),
        path("in_process_among_10", form, 9, pass::<Small>),
        path("in_process_among_1000", form, 999, pass::<Small>),
        path("in_process_32000_bytes", form, 0, pass::<Large>),
        path("in_process_reliable", form.reliable(), 0, pass::<Small>),
        path("in_process_wait", form.notified_by(NotifiedBy::Reader), 0, pass::<Small>),
        path("udp", form.udp(), 0, pass::<Small>),
        path("udp_among_10", form.udp(), 9, pass::<Small>),
        path("udp_among_1000", form.udp(), 999, pass::<Small>),
        path("udp_32000_bytes", form.udp(), 0, pass::<Large>),
        path("udp_reliable", form.udp().reliable(), 0, pass::<Small>),
        path("udp_batched", form.udp().reliable(), 0, burst),
        path("heartbeat_of_one_of_1", form, 1, heartbeats),
        path("heartbeat_of_one_of_10", form, 10, heartbeats),
        path("heartbeat_of_one_of_1000", form, 1000, heartbeats),
        path("answer_of_one_of_1", form, 1, answers),
        path("answer_of_one_of_10", form, 10, answers),
        path("answer_of_one_of_1000", form, 1000, answers),
        path("received_without_histogram", form, 0, |_, _, passes| receive(false, passes)),
        path("received", form, 0, |_, _, passes| receive(true, passes)),
        path("acknowledged_without_histogram", form, 0, |_, _, passes| acknowledge(false, passes)),
        path("acknowledged", form, 0, |_, _, passes| acknowledge(true, passes)),
        path("merged_stream_of_1", form, 1, merged),
        path("merged_stream_of_100", form, 100, merged),
        path("merged_stream_of_10000", form, 10_000, merged),
        path("wait_set_of_1", form, 1, waited),
        path("wait_set_of_100", form, 100, waited),
        path("wait_set_of_10000", form, 10_000, waited),
        path("write_to_1_of_a_group", form, 1, writes_to_group),
        path("write_to_10_of_a_group", form, 10, writes_to_group),
        path("write_to_100_of_a_group", form, 100, writes_to_group),
        path("write_to_1_of_a_host", form, 1, writes_to_host),
        path("write_to_10_of_a_host", form, 10, writes_to_host),
        path("write_to_100_of_a_host", form, 100, writes_to_host),
        Path { passes: UNANSWERED, ..path("write_reliably_to_1", form, 1, reliable_writes) },
        Path { passes: UNANSWERED, ..path("write_reliably_to_10", form, 10, reliable_writes) },
        Path { passes: UNANSWERED, ..path("write_reliably_to_100", form, 100, reliable_writes) },
    ]
}

fn pass<T: Payload>(form: Form, others: usize, passes: u32) -> Result<(), Box<dyn Error>> {
    let pair = Pair::<T>::among(form, others)?;
    for _ in 0..passes {
        pair.pass();
    }
    Ok(())
}

/// Samples of 64 bytes, RELIABLE and KEEP_ALL, in full datagrams.
fn burst(_: Form, _: usize, passes: u32) -> Result<(), Box<dyn Error>> {
    let burst = Burst::new()?;
    for _ in 0..passes.div_ceil(BURST_LEN) {
        burst.pass();
    }
    Ok(())
}

/// A sample with a HEARTBEAT, its ACKNACK and the take, in a reader that `writers` match.
fn heartbeats(_: Form, writers: usize, passes: u32) -> Result<(), Box<dyn Error>> {
    let mut many = ManyWriters::new(writers);
    for _ in 0..passes {
        many.pass();
    }
    Ok(())
}

/// An acknowledgment to a writer that `readers` match.
fn answers(_: Form, readers: usize, passes: u32) -> Result<(), Box<dyn Error>> {
    let mut many = ManyReaders::new(readers);
    for _ in 0..passes {
        many.pass();
    }
    Ok(())
}

/// A sample with a source timestamp and a HEARTBEAT, its ACKNACK and the take.
fn receive(has_histograms: bool, passes: u32) -> Result<(), Box<dyn Error>> {
    let mut pair = ManyWriters::of_latencies(has_histograms);
    for _ in 0..passes {
        pair.pass();
    }
    Ok(())
}

/// A written sample and its acknowledgment.
fn acknowledge(has_histogram: bool, passes: u32) -> Result<(), Box<dyn Error>> {
    let mut pair = ManyReaders::of_latencies(has_histogram);
    for _ in 0..passes {
        pair.pass_with_sample();
    }
    Ok(())
}

/// A sample for one of `readers` whose streams are merged.
fn merged(_: Form, readers: usize, passes: u32) -> Result<(), Box<dyn Error>> {
    let mut merged = Merged::new(readers)?;
    for _ in 0..passes {
        merged.pass();
    }
    Ok(())
}

/// A sample for one of `readers`, each with a condition in one WaitSet.
fn waited(_: Form, readers: usize, passes: u32) -> Result<(), Box<dyn Error>> {
    let mut waited = Waited::new(readers)?;
    for _ in 0..passes {
        waited.pass();
    }
    Ok(())
}

fn writes_to_group(_: Form, readers: usize, passes: u32) -> Result<(), Box<dyn Error>> {
    writes(ManyReaders::matched(readers, Reached::ByGroup, false), passes)
}

fn writes_to_host(_: Form, readers: usize, passes: u32) -> Result<(), Box<dyn Error>> {
    writes(ManyReaders::matched(readers, Reached::ByHost, false), passes)
}

fn reliable_writes(_: Form, readers: usize, passes: u32) -> Result<(), Box<dyn Error>> {
    writes(ManyReaders::new(readers), passes)
}

/// Writes to all readers with one datagram each. The readers do not acknowledge.
fn writes(mut many: ManyReaders, passes: u32) -> Result<(), Box<dyn Error>> {
    for _ in 0..passes {
        let sent = many.write();
        if sent != 1 {
            return Err(format!("expected one datagram for a write, found {sent}").into());
        }
    }
    Ok(())
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [first, name, passes] = arguments.as_slice() {
        if first == "--pass" {
            let path = paths().into_iter().find(|path| path.name == name.as_str()).ok_or("no such path")?;
            (path.pass)(path.form, path.others, passes.parse()?)?;
            return Ok(ExitCode::SUCCESS);
        }
    }
    if arguments.iter().any(|argument| argument == "--test") {
        // Like criterion: one pass of each path without a measurement.
        for path in paths() {
            (path.pass)(path.form, path.others, 1)?;
        }
        return Ok(ExitCode::SUCCESS);
    }
    pin_to_one_core()?;
    let mut counted = count_all()?;
    if arguments.iter().any(|argument| argument == "--write") {
        std::fs::write(FILE, render(&counted))?;
        println!("written to {FILE}");
        return Ok(ExitCode::SUCCESS);
    }
    let known = parse(&std::fs::read_to_string(FILE)?)?;
    count_again(&mut counted, &known)?;
    Ok(compare(&counted, &known))
}

fn count_all() -> Result<BTreeMap<String, u64>, Box<dyn Error>> {
    let mut counted = BTreeMap::new();
    for path in paths() {
        counted.insert(path.name.to_owned(), per_sample(&path)?);
    }
    Ok(counted)
}

fn per_sample(path: &Path) -> Result<u64, Box<dyn Error>> {
    let name = path.name;
    let [few, many] = path.passes.map(|passes| count(name, passes));
    let per_sample = many?.saturating_sub(few?) / u64::from(path.passes[1] - path.passes[0]);
    println!("{name:<28}{per_sample:>8}");
    Ok(per_sample)
}

/// Repeats counts that are too high and keeps the lowest, because waits for locks depend on chance.
fn count_again(counted: &mut BTreeMap<String, u64>, known: &BTreeMap<String, u64>) -> Result<(), Box<dyn Error>> {
    for _ in 0..REPETITIONS_MAX {
        let count_of = |name: &str| counted.get(name).copied().unwrap_or(0) as f64;
        let mut too_high = Vec::new();
        for (name, &before) in known {
            if count_of(name) > before as f64 * (1.0 + TOLERANCE) {
                too_high.push(name.clone());
            }
        }
        for [few, many] in EQUAL_PATHS {
            if count_of(many) > count_of(few) * (1.0 + GROWTH_MAX) {
                too_high.push(many.to_owned());
            }
        }
        for path in paths() {
            if too_high.iter().any(|name| name == path.name) {
                let repeated = per_sample(&path)?;
                counted.entry(path.name.to_owned()).and_modify(|count| *count = repeated.min(*count));
            }
        }
    }
    Ok(())
}

/// Pins this process, and with it the processes that it starts, to its first core.
#[cfg(target_os = "linux")]
fn pin_to_one_core() -> Result<(), Box<dyn Error>> {
    use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
    use nix::unistd::Pid;
    let allowed = sched_getaffinity(Pid::from_raw(0))?;
    for core in 0..CpuSet::count() {
        if allowed.is_set(core)? {
            let mut first = CpuSet::new();
            first.set(core)?;
            return Ok(sched_setaffinity(Pid::from_raw(0), &first)?);
        }
    }
    Err("this process may run on no core".into())
}

#[cfg(not(target_os = "linux"))]
fn pin_to_one_core() -> Result<(), Box<dyn Error>> {
    Ok(())
}

/// The instructions of a process with this number of passes.
fn count(name: &str, passes: u32) -> Result<u64, Box<dyn Error>> {
    let mut valgrind = Command::new("valgrind");
    valgrind.env(COPIES.0, COPIES.1);
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    valgrind.arg(std::env::current_exe()?).args(["--pass", name, &passes.to_string()]);
    let output = valgrind.output().map_err(|error| format!("cannot run valgrind: {error}"))?;
    let printed = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{name}: {}\n{printed}", output.status).into());
    }
    let line = printed.lines().find(|line| line.contains("I refs:") || line.contains("I   refs:"));
    let digits: String = line
        .and_then(|line| line.rsplit(':').next())
        .map(|number| number.chars().filter(char::is_ascii_digit).collect())
        .ok_or_else(|| format!("{name}: expected an instruction count in the output of valgrind:\n{printed}"))?;
    Ok(digits.parse()?)
}

fn render(counted: &BTreeMap<String, u64>) -> String {
    let mut text = String::from(
        "# Instructions of one sample from `write` to the end of its listener, without the kernel's.\n\
         # Written by `cargo bench -p benches --bench instructions -- --write`; checked without `--write`.\n",
    );
    for (name, count) in counted {
        let _ = writeln!(text, "{name} {count}");
    }
    text
}

fn parse(text: &str) -> Result<BTreeMap<String, u64>, Box<dyn Error>> {
    let mut counts = BTreeMap::new();
    for line in text.lines() {
        if line.starts_with('#') || line.trim().is_empty() {
            continue;
        }
        let (name, count) = line.split_once(' ').ok_or_else(|| format!("expected a name and a number: {line}"))?;
        counts.insert(name.to_owned(), count.trim().parse()?);
    }
    Ok(counts)
}

fn compare(counted: &BTreeMap<String, u64>, known: &BTreeMap<String, u64>) -> ExitCode {
    let mut outcome = ExitCode::SUCCESS;
    let mut complain = |text: String| {
        eprintln!("{text}");
        outcome = ExitCode::FAILURE;
    };
    for (name, &count) in counted {
        let Some(&before) = known.get(name) else {
            complain(format!("{name}: no recorded count in {FILE}"));
            continue;
        };
        let change = count as f64 / before as f64 - 1.0;
        if change < -TOLERANCE {
            println!("{name}: {before} instructions before, {count} now: record them with `-- --write`");
        }
        if change > TOLERANCE {
            complain(format!("{name}: {before} instructions before, {count} now ({:+.1} %)", 100.0 * change));
        }
    }
    for (pair, most) in HISTOGRAM_PATHS {
        let [without, with] = pair.map(|name| counted.get(name).copied().unwrap_or(0));
        let histograms = with.saturating_sub(without);
        println!("{}: its histograms take {histograms} instructions", pair[1]);
        if !(1..=most).contains(&histograms) {
            complain(format!("{}: {histograms} instructions for histograms, expected 1 to {most}", pair[1]));
        }
    }
    for pair in EQUAL_PATHS {
        let [few, many] = pair.map(|name| counted.get(name).copied().unwrap_or(0));
        if many as f64 > few as f64 * (1.0 + GROWTH_MAX) {
            complain(format!("{} costs {many} instructions, {} {few}", pair[1], pair[0]));
        }
    }
    outcome
}
