//! Compiles the commit into the program `perf`, which writes it into its results.

use std::process::Command;

/// Sources that the figures depend on.
const SOURCES: [&str; 5] = ["src", "../dds-core/src", "../dds-rtps/src", "../dds-macros/src", "../Cargo.lock"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_PERF").is_none() {
        return;
    }
    for path in SOURCES {
        println!("cargo::rerun-if-changed={path}");
    }
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    // Outside a repository there is no commit.
    if let Some(commit) = git(&["describe", "--always", "--dirty", "--exclude=*"]) {
        println!("cargo::rustc-env=PERF_COMMIT={commit}");
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}
