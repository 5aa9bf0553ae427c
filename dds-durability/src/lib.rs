//! The durability service stores samples beyond the life of their writers (DDS 1.4, 2.2.3.4 and 2.2.3.5).
//!
//! In: announcements and changes of writers with DURABILITY transient or persistent. Out: the same changes with their
//! original identities, for late readers that request them. Owned: a participant, one thread, the stored changes and
//! the database.
//!
//! | file | owns |
//! |---|---|
//! | `service` | handle of the application: start, end and status of a service |
//! | `worker` | the thread: follows writers, moves batches from readers through the database to writers |
//! | `stand_in` | a reader and a writer that stand in for writers with the same properties |
//! | `key` | the properties that such writers share |
//! | `kept` | which changes are stored and how long; depends only on changes and time |
//! | `change` | a change, in memory and as a record of the database |
//! | `database` | the file |
//! | `error` | errors, and how to solve them |
//!
//! The path of a sample from its writer to the writer's own readers needs nothing of this crate. The service uses the
//! public API of `dds-core`, and a few hidden calls for relayed changes (`dds_core::relay`).
//!
//! A batch is written to the database in one transaction and published after that. No reader receives a persistent
//! sample that a crash may still lose.

mod change;
mod database;
mod error;
mod kept;
mod key;
mod service;
mod stand_in;
mod worker;

pub use error::{DatabaseProblem, DurabilityError};
pub use service::{DatabaseSync, DurabilityService, DurabilityServiceBuilder, DurabilityStatus};

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ServiceReadme;
