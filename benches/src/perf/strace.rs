//! The system calls of a process, as `strace -f -c` counts them.

use crate::perf::record::SystemCalls;
use crate::perf::{Failure, Result};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;

/// Checks that strace can run and trace.
///
/// # Errors
///
/// Returns an error with advice if it cannot.
pub fn check() -> Result<()> {
    let tried = Command::new("strace").args(["-c", "-o", "/dev/null", "true"]).output();
    match tried {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(Failure::new(format!(
            "--system-calls: strace cannot trace here ({}): expected permission for ptrace",
            String::from_utf8_lossy(&output.stderr).trim()
        ))),
        Err(error) => Err(Failure::new(format!(
            "--system-calls: cannot start strace ({error}): install it (`apt-get install strace`)"
        ))),
    }
}

/// A run of this program under strace.
#[derive(Debug)]
pub struct Counted {
    file: PathBuf,
    arguments: Vec<String>,
}

impl Counted {
    /// Prepares a run with these arguments. `name` distinguishes the two processes.
    ///
    /// # Errors
    ///
    /// Returns an error if the path of this program is unknown.
    pub fn new(name: &str, arguments: &[String]) -> Result<Self> {
        let file = std::env::temp_dir().join(format!("dds-perf-{}-{name}", std::process::id()));
        let mut all = ["-f", "-c", "-o"].map(str::to_owned).to_vec();
        all.push(file.display().to_string());
        all.push(std::env::current_exe()?.display().to_string());
        all.extend_from_slice(arguments);
        Ok(Self { file, arguments: all })
    }

    /// The command to start.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new("strace");
        command.args(&self.arguments);
        command
    }

    /// The counted calls, after the end of the run.
    ///
    /// # Errors
    ///
    /// Returns an error if strace has not written its table.
    pub fn calls(&self) -> Result<Calls> {
        let text = std::fs::read_to_string(&self.file)
            .map_err(|error| Failure::new(format!("strace has left no table in {}: {error}", self.file.display())))?;
        Ok(Calls::parse(&text))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        // An absent file is fine.
        let _ = std::fs::remove_file(&self.file);
    }
}

/// Number of calls by name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Calls(BTreeMap<String, u64>);

impl Calls {
    /// The table of `strace -c`: percent, seconds, microseconds a call, calls, sometimes errors, the name.
    fn parse(text: &str) -> Self {
        let row = |line: &str| {
            let columns: Vec<&str> = line.split_whitespace().collect();
            let (name, count) = (columns.last()?, columns.get(3)?.parse().ok()?);
            (*name != "total" && columns.len() >= 5).then(|| ((*name).to_owned(), count))
        };
        Self(text.lines().filter_map(row).collect())
    }

    /// Calls for each of the `samples` that this run has more than `fewer`. Values below 0.01 are noise and omitted.
    #[must_use]
    pub fn since(&self, fewer: &Self, samples: u64, role: String) -> SystemCalls {
        let mut by_name = BTreeMap::new();
        let mut all = 0.0;
        for (name, count) in &self.0 {
            let more = count.saturating_sub(fewer.0.get(name).copied().unwrap_or_default());
            let per_sample = more as f64 / samples as f64;
            all += per_sample;
            if per_sample >= 0.01 {
                by_name.insert(name.clone(), per_sample);
            }
        }
        SystemCalls { role, per_sample: all, by_name }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = concat!(
        "% time     seconds  usecs/call     calls    errors syscall\n",
        "------ ----------- ----------- --------- --------- ----------------\n",
        " 61.04    0.050120          25      2003           sendto\n",
        " 38.96    0.031990          15      2100       101 recvfrom\n",
        "  0.00    0.000000           0         3           mmap\n",
        "------ ----------- ----------- --------- --------- ----------------\n",
        "100.00    0.082110          20      4106       101 total\n",
    );

    #[test]
    fn table_parses_with_and_without_errors() {
        let expected = [("mmap", 3), ("recvfrom", 2100), ("sendto", 2003)];
        assert_eq!(Calls::parse(TABLE).0, expected.map(|(name, count)| (name.to_owned(), count)).into());
    }

    #[test]
    fn difference_excludes_common_calls() {
        let fewer = Calls([("sendto", 1003), ("recvfrom", 1100), ("mmap", 3)].map(|(n, c)| (n.to_owned(), c)).into());
        let calls = Calls::parse(TABLE).since(&fewer, 1000, "ping".into());
        assert_eq!(calls.by_name, [("recvfrom".to_owned(), 1.0), ("sendto".to_owned(), 1.0)].into());
        assert!((calls.per_sample - 2.0).abs() < 1e-9);
    }
}
