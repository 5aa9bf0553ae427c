//! Support for the tests of this folder: participants that see only each other, without traffic outside of this host.

#![allow(dead_code, unused_imports, reason = "each test binary uses its own part of this")]

mod alone;
mod notes;
#[path = "../../../dds-rtps/src/transport/skip.rs"]
mod skipped;
mod woken;

pub(crate) use alone::alone;
pub(crate) use notes::Notes;
pub(crate) use skipped::skip;
pub(crate) use woken::Woken;

use dds_core::{DomainParticipant, DomainParticipantBuilder, Duration, Scope};
use std::sync::atomic::{AtomicU32, Ordering};

/// Longer than any step may take on a busy machine. A wait that reaches it has failed.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// A world of its own: participants of one world see only each other.
pub(crate) struct World {
    tag: String,
}

impl World {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        Self { tag: format!("test-{}-{count}", std::process::id()) }
    }

    /// Tag that separates it from other worlds.
    pub(crate) fn tag(&self) -> &str {
        &self.tag
    }

    pub(crate) fn builder(&self) -> DomainParticipantBuilder {
        DomainParticipant::builder(0).ignore_environment().scope(Scope::Host).domain_tag(self.tag.clone())
    }

    pub(crate) fn participant(&self) -> DomainParticipant {
        self.builder().build().unwrap()
    }

    /// A participant that delivers by UDP instead of within the process.
    pub(crate) fn udp_participant(&self) -> DomainParticipant {
        self.builder().udp_only(true).build().unwrap()
    }
}

/// With `DDS_TEST_HOLDS=1`, prints how long the process held cells so far.
///
/// `--nocapture` shows the output. No test asserts on it, because it depends on the machine.
impl Drop for World {
    fn drop(&mut self) {
        if std::env::var_os("DDS_TEST_HOLDS").is_some_and(|value| value == "1") {
            let test = std::thread::current().name().unwrap_or("a test").to_owned();
            let holds = dds_core::actor::hold_times().into_iter().map(|times| format!("{test}: {times}\n"));
            eprint!("{}", holds.collect::<String>());
        }
    }
}

/// Returns whether this host has an IPv6 address, if only that of its loopback.
///
/// A test that needs one is [skipped](skip) otherwise.
pub(crate) fn has_ipv6() -> bool {
    #[allow(clippy::disallowed_methods, reason = "asks the system, and sends nothing")]
    let bound = std::net::UdpSocket::bind("[::1]:0");
    if bound.is_err() {
        skip("IPv6");
    }
    bound.is_ok()
}
