//! Tells the program `perf` which commit it is built from, so that its results can be understood later.

use std::process::Command;

/// What the figures depend on.
const SOURCES: [&str; 5] = ["src", "../dds-core/src", "../dds-rtps/src", "../dds-macros/src", "../Cargo.lock"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("CARGO_FEATURE_PERF").is_none() {
        return;
    }
    SOURCES.iter().for_each(|path| println!("cargo::rerun-if-changed={path}"));
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    // Outside of a repository there is no commit to tell of.
    if let Some(commit) = git(&["describe", "--always", "--dirty", "--exclude=*"]) {
        println!("cargo::rustc-env=PERF_COMMIT={commit}");
    }
}

fn git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    String::from_utf8(output.stdout).ok().map(|text| text.trim().to_owned())
}
