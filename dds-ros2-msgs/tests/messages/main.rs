//! The code of every package, its samples and its type hashes, and the packages of users.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod committed;
mod hashes;
mod own_packages;
mod samples;
