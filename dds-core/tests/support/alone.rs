//! Tests that need a process to themselves.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// Set in a process that runs one test alone.
const ALONE: &str = "DDS_TEST_ALONE";

/// Runs `test` alone in a child process and returns `false`. Returns `true` in that child.
///
/// It serves tests that count memory or threads of the whole process, or change its limits or its panic hook. They
/// begin with `if !alone("module::test") { return; }`. The children run one after the other.
pub(crate) fn alone(test: &str) -> bool {
    static TURN: Mutex<()> = Mutex::new(());
    if std::env::var_os(ALONE).is_some() {
        return true;
    }
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--include-ignored", "--nocapture", "--test-threads", "1"]).env(ALONE, "1");
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    let mut has_run = false;
    for line in BufReader::new(child.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        // `.ci/run` adds up these lines, and the parent's line counts this test already.
        if line.starts_with("test result: ") {
            has_run = line.contains(" 1 passed");
        } else {
            println!("{line}");
        }
    }
    let status = child.wait().unwrap();
    assert!(status.success() && has_run, "{test}: {status}");
    false
}
