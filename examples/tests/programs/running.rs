//! Examples as processes whose lines are read as they come. They stay on this host.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longer than anything here takes on a busy machine; it is waited for only by a test that fails.
const LIMIT: Duration = Duration::from_secs(60);

/// An example of this package, which cargo has built beside this test.
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
    /// What it has said and nobody waited for.
    pub(crate) passed_over: Vec<String>,
}

impl Running {
    pub(crate) fn start(command: &mut Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // The test may have seen enough.
                let _ = sender.send(line);
            }
        });
        Self { process, lines: receiver, passed_over: Vec::new() }
    }

    /// The next line for which `is_it` holds.
    pub(crate) fn wait_for(&mut self, is_it: impl Fn(&str) -> bool) -> String {
        self.find(|line| is_it(line).then(|| line.to_owned()))
    }

    /// The first thing that is found in a line.
    pub(crate) fn find<T>(&mut self, find: impl Fn(&str) -> Option<T>) -> T {
        loop {
            match self.lines.recv_timeout(LIMIT) {
                Ok(line) => match find(&line) {
                    Some(found) => return found,
                    None => self.passed_over.push(line),
                },
                Err(error) => panic!("{error}; there was {:#?}", self.passed_over),
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
