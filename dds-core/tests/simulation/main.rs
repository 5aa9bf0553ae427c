//! Participants on a simulated network, in virtual time.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod crowd;
#[cfg(feature = "dynamic")]
mod dynamic_topics;
mod fan_out;
#[cfg(feature = "security-pki")]
mod forged_identities;
mod historical_data;
mod hostile;
#[cfg(feature = "security-pki")]
mod identities;
#[cfg(feature = "security-pki")]
#[path = "../support/keystore.rs"]
mod keystore;
mod late_joiners;
mod latencies;
mod latency_topic;
mod log_lines;
mod long_waits;
mod losses;
mod memory;
mod oracle;
mod policies;
#[cfg(feature = "security-pki")]
mod protected_payloads;
#[cfg(feature = "security")]
mod protection;
mod requests;
mod robot_and_station;
mod settings;
#[path = "../simulated/mod.rs"]
mod simulated;
mod simulation;
mod simulation_arrivals;
mod simulation_large;
mod simulation_liveliness;
mod simulation_pauses;
mod slow_readers;
#[cfg(feature = "security-pkcs11")]
#[path = "../../../dds-security/tests/soft_hsm/mod.rs"]
mod soft_hsm;
mod statuses;
mod strangers;
#[path = "../support/mod.rs"]
mod support;
mod suspended;
mod suspending;
#[cfg(feature = "security-pkcs11")]
mod token_keys;
mod transform;
mod types_of_others;

/// Counts the bytes in use.
#[global_allocator]
static ALLOCATOR: cap::Cap<std::alloc::System> = cap::Cap::new(std::alloc::System, usize::MAX);
