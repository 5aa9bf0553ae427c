//! How many instructions a sample takes, counted by valgrind, and whether that has grown since it was last written down.
//!
//! `cargo bench -p benches --bench instructions` counts every path of the list below and compares it with
//! `benches/instructions.txt`; it fails if one has grown by more than 10 %, and says so if one has shrunk by as much: then
//! `-- --write` writes the file anew. Instructions do not depend on what else the machine does, so that a guard may assert on
//! them; the kernel's are not among them. What a sample, a HEARTBEAT or an answer costs must not grow with the endpoints that are
//! there: from 1 to 1000 by 5 % at most.
//!
//! Each count is the difference of two runs, so that what is done once cancels out.

use benches::among::{Merged, Waited};
use benches::burst::{BURST_LEN, Burst};
use benches::matched::{ManyReaders, ManyWriters, Reached};
use benches::pair::{Form, Large, Pair, Payload, Small, ToldBy};
use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::process::{Command, ExitCode};

/// Where the counts are written down.
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.txt");

/// Two library versions, or two processors, copy memory by different instructions; and where threads meet by chance, a wait more
/// or less for a lock is some hundred of them.
const TOLERANCE: f64 = 0.10;

/// How often what seems to cost too much is counted again.
const AGAIN_MAX: u32 = 3;

/// What a thousand endpoints may add.
const GROWTH_MAX: f64 = 0.05;

/// Paths that must cost the same, the one with few endpoints first.
const ALIKE: [[&str; 2]; 15] = [
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

/// Passes of the two runs.
const PASSES: [u32; 2] = [2_000, 6_000];

/// Where nobody answers: a writer does not go further ahead of its readers. For each 8 KiB it adds what it has sent to what is under
/// way to each of them, 18 instructions each for a sample, so these paths are not alike.
const UNANSWERED: [u32; 2] = [50, 200];

type Pass = fn(Form, usize, u32) -> Result<(), Box<dyn Error>>;

struct Path {
    name: &'static str,
    form: Form,
    /// Other readers in the participant; in the paths without one, the endpoints that match.
    others: usize,
    pass: Pass,
    /// Of the two runs.
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
        path("in_process_wait", form.told_by(ToldBy::Reader), 0, pass::<Small>),
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
    (0..passes).for_each(|_| pair.pass());
    Ok(())
}

/// 64 bytes, reliable, KEEP_ALL, as many in a datagram as fit.
fn burst(_: Form, _: usize, passes: u32) -> Result<(), Box<dyn Error>> {
    let burst = Burst::new()?;
    (0..passes.div_ceil(BURST_LEN)).for_each(|_| burst.pass());
    Ok(())
}

/// A sample with a HEARTBEAT, its answer, and the take, of a reader that so many writers match.
fn heartbeats(_: Form, writers: usize, passes: u32) -> Result<(), Box<dyn Error>> {
    let mut many = ManyWriters::new(writers);
    (0..passes).for_each(|_| many.pass());
    Ok(())
}

/// An acknowledgement to a writer that so many readers match.
fn answers(_: Form, readers: usize, passes: u32) -> Result<(), Box<dyn Error>> {
    let mut many = ManyReaders::new(readers);
    (0..passes).for_each(|_| many.pass());
    Ok(())
}

/// A sample of one of so many readers, whose streams are merged.
fn merged(_: Form, readers: usize, passes: u32) -> Result<(), Box<dyn Error>> {
    let mut merged = Merged::new(readers)?;
    (0..passes).for_each(|_| merged.pass());
    Ok(())
}

/// A sample of one of so many readers, each with a condition in one WaitSet.
fn waited(_: Form, readers: usize, passes: u32) -> Result<(), Box<dyn Error>> {
    let mut waited = Waited::new(readers)?;
    (0..passes).for_each(|_| waited.pass());
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

/// A write to so many readers, which is one datagram. They do not answer.
fn writes(mut many: ManyReaders, passes: u32) -> Result<(), Box<dyn Error>> {
    match (0..passes).map(|_| many.write()).find(|&sent| sent != 1) {
        Some(sent) => Err(format!("a write took {sent} datagrams").into()),
        None => Ok(()),
    }
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
        // As criterion does it: each once, without measuring.
        paths().iter().try_for_each(|path| (path.pass)(path.form, path.others, 1))?;
        return Ok(ExitCode::SUCCESS);
    }
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

/// What seems to cost too much is counted again: where threads meet by chance, the fewest count.
fn count_again(counted: &mut BTreeMap<String, u64>, known: &BTreeMap<String, u64>) -> Result<(), Box<dyn Error>> {
    for _ in 0..AGAIN_MAX {
        let of = |name: &str| counted.get(name).copied().unwrap_or(0) as f64;
        let has_grown =
            |(name, &before): (&String, &u64)| (of(name) > before as f64 * (1.0 + TOLERANCE)).then(|| name.clone());
        let is_dearer = |[few, many]: [&str; 2]| (of(many) > of(few) * (1.0 + GROWTH_MAX)).then(|| many.to_owned());
        let doubtful: Vec<String> =
            known.iter().filter_map(has_grown).chain(ALIKE.into_iter().filter_map(is_dearer)).collect();
        for path in paths().iter().filter(|path| doubtful.iter().any(|name| name == path.name)) {
            let again = per_sample(path)?;
            counted.entry(path.name.to_owned()).and_modify(|count| *count = again.min(*count));
        }
    }
    Ok(())
}

/// The instructions of a process that passes so many samples.
fn count(name: &str, passes: u32) -> Result<u64, Box<dyn Error>> {
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]);
    valgrind.arg(std::env::current_exe()?).args(["--pass", name, &passes.to_string()]);
    let output = valgrind.output().map_err(|error| format!("valgrind cannot be run ({error}): is it installed?"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("{name}: {}\n{said}", output.status).into());
    }
    let line = said.lines().find(|line| line.contains("I refs:") || line.contains("I   refs:"));
    let digits: String = line
        .and_then(|line| line.rsplit(':').next())
        .map(|number| number.chars().filter(char::is_ascii_digit).collect())
        .ok_or_else(|| format!("{name}: no count in what valgrind says:\n{said}"))?;
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
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let (name, count) = line.split_once(' ').ok_or_else(|| format!("not a name and a number: {line}"))?;
            Ok((name.to_owned(), count.trim().parse()?))
        })
        .collect()
}

fn compare(counted: &BTreeMap<String, u64>, known: &BTreeMap<String, u64>) -> ExitCode {
    let mut outcome = ExitCode::SUCCESS;
    let mut complain = |text: String| {
        eprintln!("{text}");
        outcome = ExitCode::FAILURE;
    };
    for (name, &count) in counted {
        let Some(&before) = known.get(name) else {
            complain(format!("{name}: not in {FILE} yet"));
            continue;
        };
        let change = count as f64 / before as f64 - 1.0;
        if change < -TOLERANCE {
            println!("{name}: {before} instructions are now {count}: write that down with `-- --write`");
        }
        if change > TOLERANCE {
            complain(format!("{name}: {before} instructions are now {count} ({:+.1} %)", 100.0 * change));
        }
    }
    for pair in ALIKE {
        let [few, many] = pair.map(|name| counted.get(name).copied().unwrap_or(0));
        if many as f64 > few as f64 * (1.0 + GROWTH_MAX) {
            complain(format!("{} costs {many} instructions, {} {few}", pair[1], pair[0]));
        }
    }
    outcome
}
