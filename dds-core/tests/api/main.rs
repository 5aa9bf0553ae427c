//! The public API in one process and in real time: within a participant, and between participants of one host.
//!
//! They share memory on Linux. Without the feature `shm`, all samples go by UDP over the loopback interface.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod addresses;
mod back_pressure;
mod builtin;
mod calls_in_a_row;
mod changes;
mod changing_qos;
mod conditions;
mod copies;
mod delivery;
mod doc_examples;
mod enabling;
mod events;
mod explaining;
mod faults;
mod finding_topics;
mod groups;
mod ignoring;
mod instances;
#[cfg(feature = "security-pki")]
#[path = "../support/keystore.rs"]
mod keystore;
mod life;
mod listeners;
mod loans;
mod names;
#[cfg(feature = "serde")]
mod profiles;
mod programs;
#[cfg(feature = "security")]
mod protection;
#[cfg(target_os = "linux")]
mod receiving;
#[cfg(feature = "derive")]
mod refusals;
mod requests;
mod rules;
#[cfg(all(target_os = "linux", feature = "shm"))]
mod sharing;
#[path = "../support/mod.rs"]
mod support;
mod surface;
mod topics;
mod tracing_spans;
mod turns;
mod waiting;
#[cfg(feature = "profiles")]
mod xml_profiles;
