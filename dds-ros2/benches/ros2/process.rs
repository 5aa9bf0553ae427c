//! Processes of the bench, which speak in lines.

use crate::Outcome;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A process with a role. Dropping it ends the process.
pub(crate) struct Process {
    child: Child,
    /// `None` once the process is to end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Process {
    /// Starts a process of this program.
    pub(crate) fn own(arguments: &[&str]) -> Outcome<Self> {
        Self::start(Command::new(std::env::current_exe()?).args(arguments))
    }

    /// Starts a process of `rclpy`, or returns `None` without a Python that has it.
    pub(crate) fn python(arguments: &[&str], domain: u32) -> Outcome<Option<Self>> {
        let Some(python) = std::env::var_os("DDS_TEST_ROS_PYTHON") else { return Ok(None) };
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/ros2/peer.py");
        let mut command = Command::new(python);
        command.arg("-B").arg(script).args(arguments).env("ROS_DOMAIN_ID", domain.to_string());
        Self::start(&mut command).map(Some)
    }

    fn start(command: &mut Command) -> Outcome<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().ok_or("the process has no output")?);
        Ok(Self { child, input, output })
    }

    pub(crate) fn tell(&mut self, line: &str) -> Outcome {
        let input = self.input.as_mut().ok_or("the process has no input")?;
        Ok(writeln!(input, "{line}")?)
    }

    pub(crate) fn line(&mut self) -> Outcome<String> {
        let mut line = String::new();
        match self.output.read_line(&mut line)? {
            0 => Err("a process of the bench ended early".into()),
            _ => Ok(line.trim().to_owned()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The end of its input ends the process.
        self.input = None;
        let _ = self.child.wait();
    }
}

/// Tells the parent that this process is ready.
pub(crate) fn say_ready() -> Outcome {
    println!("ready");
    Ok(std::io::stdout().flush()?)
}

/// Waits for the end of the parent's interest.
pub(crate) fn wait_for_end() -> Outcome {
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink())?;
    Ok(())
}
