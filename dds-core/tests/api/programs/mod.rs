//! Whole programs against the public API, as applications write them. Each exercises related features and states the
//! expected output.
//!
//! | program | file |
//! |---|---|
//! | 1a, 1b: the smallest publisher and subscriber, in the program of the README | `dds-core/examples/hello` |
//! | 2: streams in one `select!`, waits with timeouts, an awaited end | `asynchronous` |
//! | 3: a listener with unshared state, closures with state, inline | `listening` |
//! | 4: one wait for data, a query, a status and a guard | `wait_set` |
//! | 5: instances: by handle, with a timestamp, disposed, visited; a two-member key | `instances` |
//! | 6: coherent sets of several writers, partitions with patterns, `access` | `groups` |
//! | 7: filters, short and long, new parameters, an unknown field | `filtered` |
//! | 8: a latched value by a constant, a function for any type | `latched` |
//! | 9: settings, presets, profiles, an immutable QoS | `configured` |
//! | 10: borrowed views, results, topics and writes | `borrowed` |
//! | 11: a bridge of bytes, and reused memory | `bridge` |
//! | 12: loans, returned, as bytes | `loaned` |
//! | 13: obstacles to a match, and lost samples | `doctor` |
//! | 14: statuses and samples in one `select!` | `asynchronous` |
//! | 15: a simulation, the same seed twice | `simulated` |
//! | 16: a node of entities of any type, a cache, any drop order | `node` |
//! | 17: threads, tasks, `write_async`, back-pressure | `threads` |
//! | 18: subscribers without a Rust type | `unknown_types` |
//! | 19: a listener that closes its reader; two threads on one reader | `listening`; `threads` |
//! | 20: the full tree, listeners for all of it, `downcast_ref`, `find_topic` | `tree` |

mod asynchronous;
mod borrowed;
mod bridge;
mod configured;
mod doctor;
mod filtered;
mod groups;
mod instances;
mod latched;
mod listening;
mod loaned;
mod node;
#[cfg(feature = "sim")]
mod simulated;
mod threads;
mod tree;
#[cfg(feature = "dynamic")]
mod unknown_types;
mod wait_set;

use dds_core::DdsType;

/// Position of a robot, with a key.
#[derive(DdsType, Debug, Clone, PartialEq, Default)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
}

fn pose(robot: u32, x: f64) -> Pose {
    Pose { robot, x }
}

/// A line of a log, without a key.
#[derive(DdsType, Debug, Clone, PartialEq, Default)]
struct Log {
    level: u8,
    text: String,
    octets: Vec<u8>,
}

fn log(text: &str) -> Log {
    Log { level: 1, text: text.to_owned(), octets: text.as_bytes().to_vec() }
}
