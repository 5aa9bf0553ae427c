//! A node of ROS 2 as a process that receives commands and reports events.

use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

/// Longer than any step takes on a busy machine. Only a failing test reaches it.
pub(crate) const LIMIT: Duration = Duration::from_secs(40);

/// Processes that a test starts for one node.
///
/// The creation of a node with rmw_fastrtps may never end if a sample arrives during it.
const STARTS_MAX: usize = 3;

/// How long a peer may take for its end.
const GRACE: Duration = Duration::from_secs(15);

/// A running peer, such as `ros.py`. Dropping it ends the process.
pub(crate) struct Peer {
    process: Child,
    /// `None` once the process is to end.
    commands: Option<ChildStdin>,
    events: Receiver<Value>,
}

impl Peer {
    /// Starts a node, and waits until it exists.
    pub(crate) fn start(domain: u32, name: &str, namespace: &str) -> Self {
        Self::start_with(domain, name, namespace, &[])
    }

    /// As `start`, with these environment variables.
    pub(crate) fn start_with(domain: u32, name: &str, namespace: &str, environment: &[(&str, &str)]) -> Self {
        Self::start_ros(domain, &[name, namespace], environment)
    }

    /// As `start`, in the root namespace, with these arguments of ROS 2.
    pub(crate) fn start_with_arguments(domain: u32, name: &str, arguments: &[&str]) -> Self {
        Self::start_ros(domain, &[&[name, "/"], arguments].concat(), &[])
    }

    fn start_ros(domain: u32, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let python = std::env::var("DDS_TEST_ROS_PYTHON").unwrap_or_else(|_| "python3".into());
        let arguments = [&["ros.py"], arguments].concat();
        for _ in 0..STARTS_MAX {
            let mut peer = Self::spawn(&python, &arguments, domain, environment);
            match peer.find("started", |_| true) {
                Ok(_) => return peer,
                Err(events) => assert!(events.is_empty(), "{events:?}"),
            }
            peer.kill();
        }
        panic!("no process of rclpy started");
    }

    /// Starts `cyclone.py` as a client or a server.
    pub(crate) fn start_cyclone(domain: u32, role: &str) -> Self {
        let python = std::env::var("DDS_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
        Self::spawn(&python, &["cyclone.py", role, &domain.to_string()], domain, &[])
    }

    /// Starts a node of the crate `ros2-client`, and waits until it exists.
    pub(crate) fn start_ros2_client(domain: u32, name: &str, namespace: &str) -> Self {
        let program = std::env::var("DDS_TEST_ROS2_CLIENT").unwrap();
        let mut peer = Self::spawn_program(Command::new(program).args([name, namespace]), domain);
        peer.wait_for("started", |_| true);
        peer
    }

    fn spawn(python: &str, arguments: &[&str], domain: u32, environment: &[(&str, &str)]) -> Self {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers");
        let mut command = Command::new(python);
        command
            .current_dir(folder)
            .arg("-B")
            .args(arguments)
            .env("ROS_AUTOMATIC_DISCOVERY_RANGE", "SYSTEM_DEFAULT")
            .env("FASTDDS_BUILTIN_TRANSPORTS", "UDPv4")
            .envs(environment.iter().copied());
        Self::spawn_program(&mut command, domain)
    }

    fn spawn_program(command: &mut Command, domain: u32) -> Self {
        let mut process = command
            .env("ROS_DOMAIN_ID", domain.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let (sender, events) = channel();
        std::thread::spawn(move || {
            for line in lines.map_while(Result::ok) {
                // The test may be over. Lines that are not JSON are the peer's log.
                if let Ok(event) = serde_json::from_str(&line) {
                    let _ = sender.send(event);
                }
            }
        });
        let commands = process.stdin.take();
        Self { process, commands, events }
    }

    pub(crate) fn tell(&mut self, command: Value) {
        writeln!(self.commands.as_mut().unwrap(), "{command}").unwrap();
    }

    /// Skips events until one of this name for which `is_it` holds.
    pub(crate) fn wait_for(&mut self, name: &str, is_it: impl Fn(&Value) -> bool) -> Value {
        match self.find(name, is_it) {
            Ok(event) => event,
            Err(passed_over) => panic!("no {name} came; there was {passed_over:?}"),
        }
    }

    /// As `wait_for`. Without such an event, returns the skipped ones.
    pub(crate) fn find(&mut self, name: &str, is_it: impl Fn(&Value) -> bool) -> Result<Value, Vec<Value>> {
        self.next_such(|event| event["event"] == name && is_it(event))
    }

    /// Returns the next event for which `is_it` holds. Without one within `LIMIT`, returns the skipped ones.
    fn next_such(&mut self, is_it: impl Fn(&Value) -> bool) -> Result<Value, Vec<Value>> {
        let end = Instant::now() + LIMIT;
        let mut passed_over = Vec::new();
        while let Some(rest) = end.checked_duration_since(Instant::now()) {
            match self.events.recv_timeout(rest) {
                Ok(event) if is_it(&event) => return Ok(event),
                Ok(event) => passed_over.push(event),
                Err(_) => break,
            }
        }
        Err(passed_over)
    }

    /// Waits for one event of each name, in any order.
    pub(crate) fn wait_for_both(&mut self, names: [&str; 2]) -> [Value; 2] {
        let first = self.wait_for_any(&names);
        let is_first = first["event"] == names[0];
        let second = self.wait_for(names[usize::from(is_first)], |_| true);
        if is_first { [first, second] } else { [second, first] }
    }

    fn wait_for_any(&mut self, names: &[&str]) -> Value {
        let found = self.next_such(|event| names.iter().any(|name| event["event"] == *name));
        found.unwrap_or_else(|passed_over| panic!("none of {names:?} came; there was {passed_over:?}"))
    }

    /// Sends a command, and returns the event of the same name.
    pub(crate) fn ask(&mut self, command: Value) -> Value {
        let name = command["command"].as_str().unwrap().to_owned();
        self.tell(command);
        self.wait_for(&name, |_| true)
    }

    /// Asks again until `is_it` holds for the answer.
    pub(crate) fn ask_until(&mut self, command: &Value, is_it: impl Fn(&Value) -> bool) -> Value {
        let start = Instant::now();
        loop {
            let last = self.ask(command.clone());
            if is_it(&last) {
                return last;
            }
            assert!(start.elapsed() < LIMIT, "{command}: {last}");
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Ends the process without the disposal of its participant.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.commands = None;
        let end = Instant::now() + GRACE;
        while matches!(self.process.try_wait(), Ok(None)) {
            if Instant::now() > end {
                let _ = self.process.kill();
                let _ = self.process.wait();
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
