//! Prints the table of all goals and measurements: the last step of the script `benches/goals`, which writes the input.

use benches::perf::record::{Latency, Line, Outcome, Record};
use std::error::Error;
use std::fs::read_to_string;
use std::path::Path;

/// Names of lines of the bench `percentiles`.
const SMALL: &str = "best_effort_write_and_receive";
const LARGE: &str = "best_effort_write_and_receive_frag";

fn main() -> Result<(), Box<dyn Error>> {
    let directory = std::env::args().nth(1).ok_or("expected a directory: run `benches/goals`")?;
    let directory = Path::new(&directory);
    let outcomes = outcomes(&directory.join("perf.jsonl"))?;
    if let Some(first) = outcomes.first() {
        let environment = &first.environment;
        println!(
            "{}, {} cores, {}, commit {} ({})\n",
            environment.processor, environment.cores, environment.kernel, environment.commit, environment.profile
        );
    }
    println!("| one process, µs | goal | p50 | p99 | p99.9 | of the floor | met |\n|---|---|---|---|---|---|---|");
    for (file, cores) in [("percentiles-one-core.txt", "one core"), ("percentiles.txt", "all cores")] {
        in_process(&read_to_string(directory.join(file))?, cores);
    }
    println!(
        "\n| two processes, round trip, one core, µs | goal | p50 | p99 | p99.9 | of the floor | met |\n|---|---|---|---|---|---|---|"
    );
    roundtrips(&outcomes);
    shared_roundtrips(&outcomes);
    println!("\n| two processes, samples received a second | goal | measured | lost | met |\n|---|---|---|---|---|");
    throughput(&outcomes);
    println!("\n| standing costs | goal | measured | met |\n|---|---|---|---|");
    standing(&read_to_string(directory.join("standing.txt"))?);
    let crates: f64 = read_to_string(directory.join("crates.txt"))?.trim().parse()?;
    row(&["crates in the tree of `dds-core`", "≤ 36", &crates.to_string(), met(crates <= 36.0)]);
    if let Ok(text) = read_to_string(directory.join("crowd.txt")) {
        crowd(&text);
    }
    build(&read_to_string(directory.join("build.txt"))?)?;
    if let Ok(instructions) = read_to_string(directory.join("instructions.txt")) {
        println!("\n| instructions a sample, both sides | |\n|---|---|");
        for line in instructions.lines() {
            if let [name, count] = line.split_whitespace().collect::<Vec<_>>()[..] {
                row(&[name, count]);
            }
        }
    }
    Ok(())
}

fn row(cells: &[&str]) {
    println!("| {} |", cells.join(" | "));
}

fn met(is_met: bool) -> &'static str {
    if is_met { "yes" } else { "no" }
}

/// The results in a file of `perf --json`.
fn outcomes(path: &Path) -> Result<Vec<Outcome>, Box<dyn Error>> {
    let mut outcomes = Vec::new();
    for line in read_to_string(path)?.lines() {
        let line: Line = serde_json::from_str(line)?;
        if let Record::Result(outcome) = line.record {
            outcomes.push(*outcome);
        }
    }
    Ok(outcomes)
}

/// p50, p99 and p99.9 of one line of the bench `percentiles`, in µs.
fn percentiles(text: &str, name: &str) -> Option<[f64; 3]> {
    let line = text.lines().find(|line| line.split_whitespace().next() == Some(name))?;
    let mut numbers = line.split_whitespace().skip(1).map_while(|number| number.parse().ok());
    Some([numbers.next()?, numbers.next()?, numbers.next()?])
}

/// Within a process the goal is a time without the two clock reads. Through a socket it is a multiple of the floor.
fn in_process(text: &str, cores: &str) {
    let clock = percentiles(text, "clock").map_or(0.0, |clock| clock[0]);
    for (name, bytes, limit) in [(SMALL, "2 B", 0.20), (LARGE, "32 000 B", 0.60)] {
        let Some([p50, p99, p999]) = percentiles(text, name) else { continue };
        let took = p50 - clock;
        let [took_text, p99, p999] = [took, p99 - clock, p999 - clock].map(|took| format!("{took:.2}"));
        let what = format!("in process, {bytes}, {cores}");
        row(&[&what, &format!("≤ {limit:.2}"), &took_text, &p99, &p999, "", met(took <= limit)]);
    }
    for (name, bytes, limit) in [(SMALL, "2 B", 1.15), (LARGE, "32 000 B", 1.3)] {
        let (ours, floor) =
            (percentiles(text, &format!("{name}_udp")), percentiles(text, &format!("{name}_floor_udp")));
        let (Some([p50, p99, p999]), Some([floor, ..])) = (ours, floor) else { continue };
        let [p50_text, p99, p999] = [p50, p99, p999].map(|took| format!("{took:.2}"));
        let ratio = p50 / floor;
        let what = format!("UDP forced, {bytes}, {cores}");
        let limit_text = format!("≤ {limit} × {floor:.2}");
        row(&[&what, &limit_text, &p50_text, &p99, &p999, &format!("{ratio:.2}"), met(ratio <= limit)]);
    }
}

/// The result of the run with this label and sample size.
fn of_size<'a>(outcomes: &'a [Outcome], label: &str, size: u64) -> Option<&'a Outcome> {
    outcomes.iter().find(|outcome| outcome.label == label && outcome.settings.size == size)
}

fn roundtrips(outcomes: &[Outcome]) {
    let sizes = [(64, "64 B"), (64 << 10, "64 KiB"), (1 << 20, "1 MiB")];
    let runs = [
        ("roundtrip-best-effort", "best effort", 1.2),
        ("roundtrip-reliable", "reliable", 1.3),
        ("roundtrip-caller-best-effort", "best effort, waiting thread receives", 1.2),
        ("roundtrip-caller-reliable", "reliable, waiting thread receives", 1.3),
        ("roundtrip-thread-best-effort", "best effort, receive thread wakes it", f64::NAN),
        ("roundtrip-thread-reliable", "reliable, receive thread wakes it", f64::NAN),
    ];
    for (label, name, limit) in runs {
        for (size, bytes) in sizes {
            let Some(outcome) = of_size(outcomes, label, size) else { continue };
            let Latency { p50, p99, p99_9, .. } = outcome.latency;
            let [p50_text, p99, p999] = [p50, p99, p99_9].map(|nanos| format!("{:.2}", nanos as f64 / 1000.0));
            let floor = outcome.floor.as_ref().map_or(f64::NAN, |floor| floor.p50 as f64);
            let ratio = p50 as f64 / floor;
            let has_goal = !limit.is_nan();
            let limit_text = if has_goal {
                format!("≤ {limit} × {:.2}", floor / 1000.0)
            } else {
                format!("{:.2}", floor / 1000.0)
            };
            let is_met = if has_goal { met(ratio <= limit) } else { "" };
            let what = format!("{bytes}, {name}");
            row(&[&what, &limit_text, &p50_text, &p99, &p999, &format!("{ratio:.2}"), is_met]);
        }
    }
}

/// The goals of shared memory are times (`docs/performance.md`). The floor is that of UDP.
fn shared_roundtrips(outcomes: &[Outcome]) {
    let runs = [
        ("roundtrip-shared", "shared memory", [6.0, 15.0, 250.0]),
        ("roundtrip-shared-caller", "shared memory, waiting thread receives", [9.0, f64::NAN, f64::NAN]),
    ];
    for (label, name, limits) in runs {
        for ((size, bytes), limit) in [(64, "64 B"), (64 << 10, "64 KiB"), (1 << 20, "1 MiB")].into_iter().zip(limits) {
            let Some(outcome) = of_size(outcomes, label, size) else { continue };
            let Latency { p50, p99, p99_9, .. } = outcome.latency;
            let [p50, p99, p999] = [p50, p99, p99_9].map(|nanos| nanos as f64 / 1000.0);
            let ratio =
                outcome.floor.as_ref().map_or(String::new(), |floor| format!("{:.2}", 1000.0 * p50 / floor.p50 as f64));
            let (limit_text, is_met) =
                if limit.is_nan() { (String::new(), "") } else { (format!("≤ {limit}"), met(p50 <= limit)) };
            let [p50, p99, p999] = [p50, p99, p999].map(|took| format!("{took:.2}"));
            row(&[&format!("{bytes}, {name}"), &limit_text, &p50, &p99, &p999, &ratio, is_met]);
        }
    }
}

fn throughput(outcomes: &[Outcome]) {
    let runs = [
        ("throughput-batched", 64, "64 B, batched", 3.2e6),
        ("throughput-batched", 1 << 10, "1 KiB, batched", 1.1e6),
        ("throughput", 64, "64 B, one datagram each", f64::NAN),
        ("throughput", 1 << 10, "1 KiB, one datagram each", f64::NAN),
        ("throughput", 16 << 10, "16 KiB", 100e3),
        ("throughput", 1 << 20, "1 MiB", 2500.0),
        ("throughput-shared", 64, "64 B, shared memory", f64::NAN),
        ("throughput-shared", 1 << 10, "1 KiB, shared memory", f64::NAN),
        ("throughput-shared", 16 << 10, "16 KiB, shared memory", f64::NAN),
        ("throughput-shared", 1 << 20, "1 MiB, shared memory", f64::NAN),
    ];
    for (label, size, name, goal) in runs {
        let Some(outcome) = of_size(outcomes, label, size) else { continue };
        let rate = outcome.samples_per_second;
        let goal_text = if goal.is_nan() { String::new() } else { format!("≥ {goal:.0}") };
        let is_met = if goal.is_nan() { "" } else { met(rate >= goal && outcome.lost == 0) };
        row(&[name, &goal_text, &format!("{rate:.0}"), &outcome.lost.to_string(), is_met]);
    }
}

/// Prints the lines of the bench `standing`, which have a name, a number and a unit.
fn standing(text: &str) {
    let goals = [
        ("resident memory", 3.0, "MB"),
        ("threads", 3.0, ""),
        ("processor at rest", 10.0, "µs a second"),
        ("start to matched", 4.0, "ms"),
    ];
    for (name, limit, unit) in goals {
        let rest = text.lines().find_map(|line| line.strip_prefix(name));
        let number = rest.and_then(|rest| rest.split_whitespace().next()?.parse::<f64>().ok());
        let Some(number) = number else { continue };
        let (limit_text, measured) = (format!("≤ {limit} {unit}"), format!("{number} {unit}"));
        row(&[name, limit_text.trim(), measured.trim(), met(number <= limit)]);
    }
}

/// Prints the figures of the bench `crowd`, which are parts of sentences.
fn crowd(text: &str) {
    let between = |before: &str, after: &str| {
        let rest = text.split_once(before)?.1;
        Some(rest.split_once(after)?.0.trim())
    };
    let Some(time) = between("all matched after ", "\n") else { return };
    let seconds = match (time.strip_suffix("ms"), time.strip_suffix('s')) {
        (Some(millis), _) => millis.parse().map(|millis: f64| millis / 1000.0),
        (None, Some(seconds)) => seconds.parse(),
        (None, None) => return,
    };
    let Ok(seconds) = seconds else { return };
    row(&["200 participants of one host are matched", "≤ 10 s", time, met(seconds <= 10.0)]);
    if let Some(datagrams) = between("datagrams were sent, ", " and ") {
        row(&["datagrams until then, for each ordered pair", "", datagrams, ""]);
    }
    if let Some(datagrams) = between("after it ", " datagrams") {
        row(&["datagrams a second of each after that", "", datagrams, ""]);
    }
}

/// Prints the processor time of the build: user code and system together.
fn build(text: &str) -> Result<(), Box<dyn Error>> {
    let seconds = text.split_whitespace().map(str::parse::<f64>).sum::<Result<f64, _>>()?;
    let what = "clean release build of hello world, seconds of processor";
    row(&[what, "≤ 45", &format!("{seconds:.1}"), met(seconds <= 45.0)]);
    Ok(())
}
