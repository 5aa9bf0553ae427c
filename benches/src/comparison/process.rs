//! A started process: its lines, and its end with the value.

use crate::perf::{Failure, Result};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longest wait for a line. The roles give up earlier by themselves.
const LINE_WITHIN: Duration = Duration::from_secs(30);

/// A process. It is killed when the value is dropped.
pub(super) struct Process {
    child: Child,
    lines: Receiver<String>,
    errors: Receiver<String>,
}

impl Process {
    /// Starts `command`, which is a program and its arguments. Arguments such as `NAME=VALUE` before the program set
    /// the environment.
    pub(super) fn start(command: &[String], arguments: &[String]) -> Result<Self> {
        let settings = command.iter().take_while(|word| word.contains('=')).count();
        let (settings, command) = command.split_at(settings);
        let Some((program, first)) = command.split_first() else { return Err(Failure::new("expected a program")) };
        let settings = settings.iter().filter_map(|setting| setting.split_once('='));
        let mut child = Command::new(program)
            .args(first)
            .args(arguments)
            .envs(settings)
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| Failure::new(format!("{program}: {error}")))?;
        let lines = lines_of(child.stdout.take());
        let errors = lines_of(child.stderr.take());
        Ok(Self { child, lines, errors })
    }

    /// Writes an empty line to the process.
    pub(super) fn nudge(&mut self) -> Result<()> {
        let Some(input) = &mut self.child.stdin else { return Err(Failure::new("the process has no input")) };
        Ok(input.write_all(b"\n").and_then(|()| input.flush())?)
    }

    /// The next line. If the process ends or hangs, the error has its last line of standard error.
    pub(super) fn line(&mut self) -> Result<String> {
        if let Ok(line) = self.lines.recv_timeout(LINE_WITHIN) {
            return Ok(line);
        }
        self.end();
        let last = self.errors.iter().filter(|line| !line.starts_with("note:")).last();
        Err(Failure::new(last.unwrap_or_else(|| "no result within 30 s".to_owned())))
    }

    /// The numbers of the next line.
    pub(super) fn numbers(&mut self) -> Result<[u64; 3]> {
        let line = self.line()?;
        let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
        numbers.try_into().map_err(|_| Failure::new(format!("expected three numbers, not `{line}`")))
    }

    fn end(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.end();
    }
}

fn lines_of(source: Option<impl std::io::Read + Send + 'static>) -> Receiver<String> {
    let (sender, lines) = channel();
    if let Some(source) = source {
        std::thread::spawn(move || {
            for line in BufReader::new(source).lines().map_while(std::result::Result::ok) {
                // Without a receiver the process is about to be killed.
                let _ = sender.send(line);
            }
        });
    }
    lines
}
