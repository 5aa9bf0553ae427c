//! Two processes at full rate, by UDP and within each of them, while entities and participants come and go. Memory
//! stays flat, and threads and descriptors return to their first values. Reliable samples arrive in order, once, and
//! without a hole.
//!
//! `cargo test` runs it for some seconds, `.ci/run soak` for twenty minutes. `DDS_SOAK_SECONDS` sets the duration. Each
//! process prints a line of numbers every ten seconds.

#![allow(clippy::disallowed_methods, reason = "it is about real time, threads and processes")]

mod churn;
mod flow;
mod meter;

use crate::support::alone;
use churn::churn;
use dds_core::listener::Delivery;
use dds_core::{DomainParticipant, DomainParticipantBuilder, Scope};
use flow::{FLOWS, Flow};
use meter::{Meter, Resources};
use std::process::{Child, Command};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Time after the end in which all entities must close.
const PATIENCE: Duration = Duration::from_secs(60);

/// State that all threads of one process share.
pub(crate) struct Soak {
    tag: String,
    /// Number of this process among both.
    pub(crate) process: u64,
    pub(crate) participant: DomainParticipant,
    pub(crate) meter: Meter,
    over: AtomicBool,
}

impl Soak {
    pub(crate) fn is_over(&self) -> bool {
        self.over.load(Ordering::Relaxed)
    }

    /// A participant that sees only those of this soak. The lease is long, because a busy machine must not end it.
    pub(crate) fn builder(&self) -> DomainParticipantBuilder {
        builder(&self.tag)
    }
}

fn builder(tag: &str) -> DomainParticipantBuilder {
    let builder = DomainParticipant::builder(0).ignore_environment().scope(Scope::Host).domain_tag(tag);
    builder.delivery(Delivery::Inline).lease(dds_core::Duration::from_secs(100))
}

/// Runs one of the two processes for `length`, and checks for leftover resources.
fn run(tag: &str, process: u64, length: Duration) {
    // With its feature `signal`, the first runtime of tokio opens two descriptors that the process keeps.
    drop(builder(tag).build().unwrap());
    let before = Resources::now();
    let soak = Arc::new(Soak {
        tag: tag.to_owned(),
        process,
        participant: builder(tag).build().unwrap(),
        meter: Meter::new(process, length),
        over: AtomicBool::new(false),
    });
    let mut threads = Vec::new();
    for (number, flow) in FLOWS.iter().enumerate() {
        let number = number as u64;
        for job in [Flow::send, Flow::receive] {
            let soak = Arc::clone(&soak);
            threads.push(std::thread::spawn(move || job(flow, number, &soak)));
        }
    }
    let other = Arc::clone(&soak);
    threads.push(std::thread::spawn(move || churn(&other)));
    let started = Instant::now();
    while started.elapsed() < length && threads.iter().all(|thread| !thread.is_finished()) {
        std::thread::sleep(Duration::from_millis(100));
        soak.meter.look(started.elapsed());
    }
    soak.over.store(true, Ordering::Relaxed);
    let failed = threads.into_iter().map(std::thread::JoinHandle::join).filter(Result::is_err).count();
    assert_eq!(failed, 0, "threads of process {process} have failed; see above");
    let soak = Arc::into_inner(soak).unwrap();
    soak.meter.report_traffic(&soak.participant.traffic());
    drop(soak.participant);
    before.wait_for(PATIENCE);
    soak.meter.finish();
}

/// Runs both processes. This one is the first.
fn run_both(length: Duration) {
    let tag = format!("soak-{}", std::process::id());
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", "soak::the_other_process", "--ignored", "--nocapture"]);
    command.env("DDS_SOAK_TAG", &tag).env("DDS_SOAK_SECONDS", length.as_secs().to_string());
    let mut other = Other(command.spawn().unwrap());
    run(&tag, 1, length);
    let started = Instant::now();
    let status = loop {
        if let Some(status) = other.0.try_wait().unwrap() {
            break status;
        }
        assert!(started.elapsed() < PATIENCE, "the other process does not end");
        std::thread::sleep(Duration::from_millis(10));
    };
    assert!(status.success(), "the other process: {status}");
}

/// The other process. It ends when the test is over.
struct Other(Child);

impl Drop for Other {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn asked_for() -> Option<Duration> {
    std::env::var("DDS_SOAK_SECONDS").ok().map(|seconds| Duration::from_secs(seconds.parse().unwrap()))
}

#[test]
fn seconds_at_full_rate_leave_no_resources() {
    if !alone("soak::seconds_at_full_rate_leave_no_resources") {
        return;
    }
    run_both(Duration::from_secs(4));
}

#[test]
#[ignore = "takes twenty minutes: .ci/run soak"]
fn long_soak_at_full_rate_leaves_no_resources() {
    if !alone("soak::long_soak_at_full_rate_leaves_no_resources") {
        return;
    }
    run_both(asked_for().unwrap_or(Duration::from_secs(1200)));
}

#[test]
#[ignore = "is started by the other tests"]
fn the_other_process() {
    let Ok(tag) = std::env::var("DDS_SOAK_TAG") else { return };
    run(&tag, 2, asked_for().unwrap());
}
