//! Runs an example as a process and reads its lines.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longest wait for a line. It allows for a busy machine; only a failing test reaches it.
const LIMIT: Duration = Duration::from_secs(60);

/// A command that runs an example. Cargo builds the examples beside this test.
pub(crate) fn example(name: &str) -> Command {
    let mut path: PathBuf = std::env::current_exe().unwrap();
    path.pop();
    path.set_file_name("examples");
    path.push(name);
    assert!(path.exists(), "{} is not built: run `cargo test -p examples` without --test", path.display());
    let mut command = Command::new(path);
    command.env("DDS_SCOPE", "host").stdin(Stdio::null());
    command
}

pub(crate) fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

/// A running example. Dropping it kills it.
pub(crate) struct Running {
    pub(crate) process: Child,
    lines: Receiver<String>,
    /// Lines that no wait has matched.
    pub(crate) passed_over: Vec<String>,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // A finished test has dropped the receiver.
                let _ = sender.send(line);
            }
        });
        Self { process, lines: receiver, passed_over: Vec::new() }
    }

    /// Waits for a line that matches.
    pub(crate) fn wait_for(&mut self, matches: impl Fn(&str) -> bool) -> String {
        self.find(|line| if matches(line) { Some(line.to_owned()) } else { None })
    }

    /// Waits for a line in which `find` returns a value.
    pub(crate) fn find<T>(&mut self, find: impl Fn(&str) -> Option<T>) -> T {
        loop {
            match self.lines.recv_timeout(LIMIT) {
                Ok(line) => match find(&line) {
                    Some(found) => return found,
                    None => self.passed_over.push(line),
                },
                Err(error) => panic!("{error}; unmatched lines: {:#?}", self.passed_over),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
