//! Cyclone DDS as a process that receives commands and reports events.

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

/// Longer than any step takes on a busy machine. Only a failing test reaches it.
pub(crate) const LIMIT: Duration = Duration::from_secs(30);

/// A running `publisher.py` or `subscriber.py`. Dropping it ends the process.
pub(crate) struct Peer {
    process: Child,
    /// `None` once the process is to end.
    commands: Option<ChildStdin>,
    pub(crate) events: Receiver<Value>,
}

impl Peer {
    pub(crate) fn start(script: &str, arguments: &[String]) -> Self {
        Self::start_with(script, arguments, &[])
    }

    /// As `start`, with these environment variables, such as Cyclone's `CYCLONEDDS_URI`.
    pub(crate) fn start_with(script: &str, arguments: &[String], environment: &[(&str, &str)]) -> Self {
        let python = std::env::var("DDS_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
        let script = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("../dds-core/tests/interoperability/interop_cyclone/cyclone")
            .join(script);
        let mut process = Command::new(&python)
            .arg("-B")
            .arg(script)
            .args(arguments)
            .envs(environment.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{python}: {error}"));
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, events) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // The test may be over.
                let _ = sender.send(serde_json::from_str(&line).unwrap());
            }
        });
        let commands = process.stdin.take();
        Self { process, commands, events }
    }

    /// Kills the process, so that it sends nothing more.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
    }

    pub(crate) fn tell(&mut self, command: &str) {
        writeln!(self.commands.as_mut().unwrap(), "{command}").unwrap();
    }

    /// Skips events until one of this name for which `is_it` holds.
    pub(crate) fn wait_for(&mut self, name: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        let mut passed_over = Vec::new();
        loop {
            match self.events.recv_timeout(LIMIT) {
                Ok(event) if event["event"] == name && is_it(&event) => return event,
                Ok(event) => passed_over.push(event),
                Err(error) => panic!("{error} while waiting for {name}; there was {passed_over:?}"),
            }
        }
    }

    /// As `wait_for`, but returns `None` if no event arrives within the limit.
    pub(crate) fn try_wait_for(&mut self, name: &str, limit: Duration) -> Option<Value> {
        std::iter::from_fn(|| self.events.recv_timeout(limit).ok()).find(|event| event["event"] == name)
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.commands = None;
        let _ = self.process.wait();
    }
}
