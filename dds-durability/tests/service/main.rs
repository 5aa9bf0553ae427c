//! The durability service on a simulated network, on a full disk, in processes that are killed, and with Cyclone DDS.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod cyclone;
mod durability;
#[cfg(target_os = "linux")]
mod ends;
#[cfg(target_os = "linux")]
mod full_disk;
#[path = "../../../dds-core/tests/support/keystore.rs"]
mod keystore;
mod protected_keys;
#[path = "../../../dds-core/tests/support/mod.rs"]
mod support;
mod unkept;
