//! Runs the contenders in turns and prints a table of their measurements.

use hdrhistogram::Histogram;
use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Contenders and length of the comparison.
#[derive(Debug)]
pub(crate) struct Options {
    samples: usize,
    turns: usize,
    hogs: usize,
    contenders: Vec<Contender>,
}

/// A program that takes part in the comparison.
#[derive(Debug, Clone)]
struct Contender {
    name: String,
    program: PathBuf,
    /// The argument that selects the form.
    mode: &'static str,
}

impl Options {
    /// Parses the command line. Unknown arguments come from cargo and are ignored.
    ///
    /// # Errors
    ///
    /// Returns an error if the value of an option is absent or invalid.
    pub(crate) fn parse(arguments: &[String], is_test: bool) -> Result<Self, Box<dyn Error>> {
        let own = if cfg!(feature = "rt") { "ours, rt" } else { "ours" };
        let program = std::env::current_exe()?;
        let contenders = vec![
            Contender { name: "the floor".to_owned(), program: program.clone(), mode: "--floor" },
            Contender { name: own.to_owned(), program, mode: "--loop" },
        ];
        let (samples, turns) = if is_test { (100, 1) } else { (10_000, 3) };
        let mut options = Self { samples, turns, hogs: 0, contenders };
        let mut arguments = arguments.iter();
        while let Some(argument) = arguments.next() {
            let mut value = || arguments.next().ok_or_else(|| format!("{argument}: expected a value"));
            match argument.as_str() {
                "--samples" => options.samples = value()?.parse()?,
                "--turns" => options.turns = value()?.parse()?,
                "--hogs" => options.hogs = value()?.parse()?,
                "--beside" => {
                    let (name, program) = value()?.split_once('=').ok_or("--beside needs NAME=PROGRAM")?;
                    let contender = Contender { name: name.to_owned(), program: program.into(), mode: "--loop" };
                    options.contenders.push(contender);
                }
                _ => {}
            }
        }
        Ok(options)
    }
}

/// The measurements of one contender in one form.
struct Tail {
    form: &'static str,
    contender: Contender,
    write: Histogram<u64>,
    received: Histogram<u64>,
    lost: u64,
}

/// Runs the contenders in turns, each in its own process, and prints the table.
///
/// # Errors
///
/// Returns an error if a program cannot be run or fails.
pub(crate) fn compare(options: &Options) -> Result<(), Box<dyn Error>> {
    let mut tails = Vec::new();
    for form in ["in_process", "udp"] {
        for contender in &options.contenders {
            let (write, received) = (Histogram::new(3)?, Histogram::new(3)?);
            tails.push(Tail { form, contender: contender.clone(), write, received, lost: 0 });
        }
    }
    for _ in 0..options.turns {
        for tail in &mut tails {
            take_turn(tail, options)?;
        }
    }
    println!("{} samples each, {} hogs; µs", options.samples * options.turns, options.hogs);
    let names = ["p50", "p99", "p99.9", "p99.99", "max"];
    println!("{:<24}{:^50}{:^50}", "", "write", "written to received");
    let heads = names.map(|name| format!("{name:>10}")).concat();
    println!("{:<24}{heads}{heads}{:>7}", "", "lost");
    for tail in &tails {
        let name = format!("{}, {}", tail.form, tail.contender.name);
        println!("{name:<24}{}{}{:>7}", quantiles(&tail.write), quantiles(&tail.received), tail.lost);
    }
    Ok(())
}

fn quantiles(nanoseconds: &Histogram<u64>) -> String {
    let at = |quantile| nanoseconds.value_at_quantile(quantile);
    let all = [at(0.5), at(0.99), at(0.999), at(0.9999), nanoseconds.max()];
    all.map(|value| format!("{:>10.1}", value as f64 / 1000.0)).concat()
}

fn take_turn(tail: &mut Tail, options: &Options) -> Result<(), Box<dyn Error>> {
    let numbers = [options.samples, options.hogs].map(|number| number.to_string());
    let Contender { name, program, mode } = &tail.contender;
    let output = Command::new(program)
        .args([mode, tail.form])
        .args(numbers)
        .stdin(Stdio::null())
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    if !output.status.success() {
        return Err(format!("{}: {}", name, output.status).into());
    }
    for line in String::from_utf8(output.stdout)?.lines() {
        let (write, received) = line.split_once(' ').ok_or_else(|| format!("{}: `{line}`", name))?;
        tail.write.record(write.parse()?)?;
        match received {
            "-" => tail.lost += 1,
            received => tail.received.record(received.parse()?)?,
        }
    }
    Ok(())
}
