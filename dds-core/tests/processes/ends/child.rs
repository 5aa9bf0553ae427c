//! Another process, which runs this program in one of its roles, and its output.

use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child as Process, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longer than any step takes on a busy machine. Only a failing test waits this long.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);

/// Prefix of the program's lines. The test runner writes other lines.
pub(crate) const MARK: &str = "@ ";

/// A process. Dropping it kills it.
pub(crate) struct Child {
    role: String,
    process: Process,
    said: Receiver<String>,
    seen: Vec<String>,
}

impl Child {
    /// Starts a role with its settings.
    pub(crate) fn start(tag: &str, role: &str, settings: &[(&str, String)]) -> Self {
        Self::run(Command::new(std::env::current_exe().unwrap()), tag, role, settings)
    }

    /// Starts a role on a host of `.ci/hosts`.
    pub(crate) fn start_on(namespace: &str, tag: &str, role: &str, settings: &[(&str, String)]) -> Self {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", namespace]).arg(std::env::current_exe().unwrap());
        Self::run(command, tag, role, settings)
    }

    fn run(mut command: Command, tag: &str, role: &str, settings: &[(&str, String)]) -> Self {
        command.args(["--exact", "ends::program", "--ignored", "--nocapture", "--test-threads", "1"]);
        command.env("DDS_TEST_ROLE", role).env("DDS_TEST_TAG", tag).envs(settings.iter().cloned());
        let mut process = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, said) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                if let Some((_, line)) = line.split_once(MARK) {
                    // The test may have finished reading.
                    let _ = sender.send(line.to_owned());
                }
            }
        });
        Self { role: role.to_owned(), process, said, seen: Vec::new() }
    }

    /// Waits for a line with this beginning, after all lines returned before, and returns its rest.
    pub(crate) fn wait_for(&mut self, beginning: &str) -> String {
        loop {
            match self.said.recv_timeout(LIMIT) {
                Ok(line) => {
                    self.seen.push(line.clone());
                    assert!(!line.starts_with("failed"), "{}: {line}", self.role);
                    if let Some(rest) = line.strip_prefix(beginning) {
                        return rest.trim().to_owned();
                    }
                }
                Err(error) => panic!("{error} of {} while waiting for {beginning}: {:?}", self.role, self.seen),
            }
        }
    }

    /// All output up to the last line that was waited for.
    pub(crate) fn seen(&self) -> &[String] {
        &self.seen
    }

    pub(crate) fn signal(&self, signal: Signal) {
        kill(Pid::from_raw(i32::try_from(self.process.id()).unwrap()), signal).unwrap();
    }

    /// Waits until the process ends.
    pub(crate) fn end(mut self) -> ExitStatus {
        let started = Instant::now();
        loop {
            if let Some(status) = self.process.try_wait().unwrap() {
                return status;
            }
            assert!(started.elapsed() < LIMIT, "{} does not end: {:?}", self.role, self.seen);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Two hosts, `NAME-a` and `NAME-b`, with a cable between them, created by `.ci/hosts`.
pub(crate) fn make_hosts(name: &str) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/hosts");
    succeed(Command::new(script).args([name, "a-b"]));
}

/// Runs `ip ARGUMENTS` on a host.
pub(crate) fn ip(namespace: &str, arguments: &str) {
    succeed(Command::new("ip").args(["-n", namespace]).args(arguments.split(' ')));
}

fn succeed(command: &mut Command) {
    let status = command.status().unwrap();
    assert!(status.success(), "{command:?}: {status}");
}
