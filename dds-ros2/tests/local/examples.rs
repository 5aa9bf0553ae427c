//! Runs each example. No datagram leaves the machine.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A command that runs an example in a domain of its own. Cargo builds the examples beside this test.
pub(crate) fn example(name: &str, tag: &str) -> Command {
    let mut path = std::env::current_exe().unwrap();
    path.pop();
    path.set_file_name("examples");
    path.push(name);
    assert!(path.exists(), "{} is not built: run `cargo test -p dds-ros2` without --test", path.display());
    let mut command = Command::new(path);
    command.env("DDS_SCOPE", "host").env("DDS_DOMAIN_TAG", format!("{tag}-{}", std::process::id()));
    command.stdin(Stdio::null());
    command
}

/// Runs an example to its end and returns its output.
fn output(name: &str, tag: &str, arguments: &[&str]) -> String {
    let output = example(name, tag).args(arguments).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{name}: {text}{}", String::from_utf8_lossy(&output.stderr));
    text
}

/// A running example. Dropping it kills it.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn start(name: &str, tag: &str) -> Self {
        Self::start_with(name, tag, &[])
    }

    fn start_with(name: &str, tag: &str, arguments: &[&str]) -> Self {
        Self::of(example(name, tag).args(arguments))
    }

    pub(crate) fn of(command: &mut Command) -> Self {
        Self(command.stdout(Stdio::piped()).spawn().unwrap())
    }

    pub(crate) fn first_line(&mut self) -> String {
        let mut line = String::new();
        BufReader::new(self.0.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        line
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn examples_of_one_process_print_their_results() {
    let parameters = output("parameters", "parameters", &[]);
    assert_eq!(parameters, "2.5 m/s\n4.0 is outside of the range of parameter \"speed\"\n");
    let lifecycle = output("lifecycle", "lifecycle", &[]);
    assert_eq!(lifecycle, "opens the device\ncloses the device\nUnconfigured\n");
    let images = output("image_pipeline", "images", &[]);
    assert_eq!(images.lines().last().unwrap(), "640x480 pixels of brightness 55");
    assert_eq!(images.lines().count(), 3);
    #[cfg(feature = "tf2")]
    assert_eq!(output("transforms", "transforms", &[]), "the camera is at x = 12 m\n");
    let planned = output("sim_time", "sim_time", &[]);
    let second = |line: &str| line.strip_prefix("planned at ")?.strip_suffix(" s")?.parse::<u64>().ok();
    let seconds: Vec<u64> = planned.lines().map(|line| second(line).unwrap()).collect();
    // A busy machine skips ticks.
    assert!(seconds.len() == 3 && seconds[0] >= 1 && seconds.is_sorted_by(|a, b| a < b), "{planned}");
}

#[test]
fn listener_hears_talker() {
    let mut listener = Running::start("listener", "chatter");
    let _talker = Running::start("talker", "chatter");
    let heard = listener.first_line();
    assert!(heard.starts_with("I heard: [Hello World: "), "{heard}");
}

#[test]
fn clients_get_the_answers_of_their_servers() {
    let _adder = Running::start("add_two_ints_server", "sum");
    assert!(output("add_two_ints_client", "sum", &[]).ends_with("add_two_ints: 5\n"));
    let mut switch = Running::start("set_bool_server", "switch");
    assert_eq!(output("set_bool_client", "switch", &["on"]), "success: true\n");
    assert_eq!(switch.first_line(), "switched on\n");
}

#[test]
fn client_of_an_action_prints_feedback() {
    let _server = Running::start("fibonacci_server", "fibonacci");
    assert_eq!(Running::start("fibonacci_client", "fibonacci").first_line(), "[0, 1, 1]\n");
}

/// The arguments that `ros2 launch` gives an `executable` and a `node` of a launch file.
#[test]
fn arguments_of_a_launch_file_rename_nodes_and_topics() {
    let arguments = |node, topic| ["--ros-args", "--log-level", "info", "-r", node, "-r", "__ns:=/lab", "-r", topic];
    let mut listener = Running::start_with("listener", "launch", &arguments("__node:=ear", "chatter:=mouth/out"));
    let _talker = Running::start_with("talker", "launch", &arguments("__node:=mouth", "chatter:=~/out"));
    assert!(listener.first_line().starts_with("I heard: [Hello World: "));
}

#[test]
fn echo_prints_messages_of_a_type_that_it_learns() {
    let mut echo = Running::start_with("echo", "echo", &["chatter"]);
    let _talker = Running::start("talker", "echo");
    let heard = echo.first_line();
    assert!(heard.starts_with("{data: \"Hello World: "), "{heard}");
}

#[test]
fn examples_of_the_demos_are_short() {
    for (name, lines_max) in
        [("talker", 12), ("listener", 10), ("add_two_ints_server", 12), ("add_two_ints_client", 12)]
    {
        let path = format!("{}/examples/{name}.rs", env!("CARGO_MANIFEST_DIR"));
        let lines = std::fs::read_to_string(path).unwrap().lines().count();
        assert!(lines <= lines_max, "{name} has {lines} lines");
    }
}
