//! The durability service: what keeps samples beyond the life of their writers (DDS 1.4, 2.2.3.4 and 2.2.3.5).
//!
//! In: what writers of DURABILITY transient or persistent announce and write. Out: the same changes, to readers that come late
//! and ask for that, with the names that their writers have given them. Owned: a participant, one thread, what is kept, and the
//! database.
//!
//! | file | owns |
//! |---|---|
//! | `service` | the handle of the application: how a service is made, ended, and what it tells of itself |
//! | `worker` | the thread: who writes what, and the way of a batch from the readers by the database to the writers |
//! | `group` | a reader and a writer that stand in for all writers that announce the same |
//! | `key` | what is the same of such writers |
//! | `kept` | what of their changes is kept, and for how long: no input but changes and the time |
//! | `change` | a change, in memory and as a record of the database |
//! | `database` | the file |
//! | `error` | what can go wrong, and what to do about it |
//!
//! A batch is written to the database in one transaction, and handed on after that: nobody gets as persistent what the next
//! moment may lose.

mod change;
mod database;
mod error;
mod group;
mod kept;
mod key;
mod service;
mod worker;

pub use error::{DatabaseProblem, DurabilityError};
pub use service::{DurabilityService, DurabilityServiceBuilder, DurabilityStatus, Sync};
