//! Real processes with and without a pre-shared key.

use crate::running::{Running, example};
use std::path::PathBuf;
use std::process::Command;

/// The example in a domain of this test.
fn protected(arguments: &[&str]) -> Command {
    let mut command = example("protected");
    command.args(arguments).env("DDS_DOMAIN_TAG", format!("protected-{}", std::process::id()));
    command
}

struct KeyFile(PathBuf);

impl KeyFile {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("dds-example-key-{}", std::process::id()));
        let made = protected(&["key", path.to_str().unwrap()]).output().unwrap();
        assert!(made.status.success(), "{made:?}");
        Self(path)
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for KeyFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn only_processes_with_the_key_exchange_samples() {
    let key = KeyFile::new();
    let mut station = Running::start(&mut protected(&["station", key.path()]));
    let variable = format!("file:{}", key.path());
    let robot = Running::start(protected(&["robot"]).env("DDS_PRE_SHARED_KEY", variable));
    let outsider = Running::start(&mut protected(&["robot"]));
    let mut wiretap = Running::start(&mut protected(&["station"]));
    let of_robot = format!("robot {} has", robot.process.id());
    // Datagrams of the outsider arrive, and the station refuses them.
    station.wait_for(|line| line.starts_with(&of_robot) && !line.contains("(0 datagrams"));
    for _ in 0..20 {
        let line = station.wait_for(|line| line.starts_with("robot"));
        assert!(line.starts_with(&of_robot), "{line}");
    }
    // The outsider without a key gets the samples of the other one, and no others.
    let of_outsider = format!("robot {} has", outsider.process.id());
    for _ in 0..20 {
        let line = wiretap.wait_for(|line| line.starts_with("robot"));
        assert!(line.starts_with(&of_outsider), "{line}");
    }
}

#[test]
fn faulty_key_ends_the_program() {
    let output = protected(&["robot"]).env("DDS_PRE_SHARED_KEY", "1:hush").output().unwrap();
    let text = crate::running::text(&output);
    assert!(!output.status.success());
    assert!(text.contains("file:PATH or data:,ID:PASSPHRASE") && !text.contains("hush"), "{text}");
}
