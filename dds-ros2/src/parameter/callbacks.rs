//! Callbacks of a program before and after changes of parameters.
//!
//! No lock is held during a call, so a callback may read and change parameters.

use super::value::ParameterValue;
use crate::context::CallbackThread;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Names and new values.
type Changes = [(String, ParameterValue)];

type Before = Arc<dyn Fn(&Changes) -> Result<(), String> + Send + Sync>;
type After = Arc<dyn Fn(&Changes) + Send + Sync>;

/// The callbacks of a node.
#[derive(Default)]
pub(crate) struct Callbacks {
    table: Arc<Mutex<Table>>,
    /// Calls them for requests of other nodes.
    thread: Arc<CallbackThread>,
}

/// In the order of their creation.
#[derive(Default)]
struct Table {
    next: u64,
    before: BTreeMap<u64, Before>,
    after: BTreeMap<u64, After>,
}

fn locked(table: &Mutex<Table>) -> MutexGuard<'_, Table> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Callbacks {
    pub(crate) fn add_before(&self, callback: Before) -> ParameterCallback {
        self.add(|table, number| {
            table.before.insert(number, callback);
        })
    }

    pub(crate) fn add_after(&self, callback: After) -> ParameterCallback {
        self.add(|table, number| {
            table.after.insert(number, callback);
        })
    }

    pub(super) fn thread(&self) -> &Arc<CallbackThread> {
        &self.thread
    }

    fn add(&self, insert: impl FnOnce(&mut Table, u64)) -> ParameterCallback {
        self.thread.require();
        let mut table = locked(&self.table);
        table.next += 1;
        let number = table.next;
        insert(&mut table, number);
        ParameterCallback { number, table: Arc::downgrade(&self.table) }
    }

    /// Asks each callback about changes. The error is the first refusal.
    pub(super) fn check(&self, changes: &Changes) -> Result<(), String> {
        let before: Vec<Before> = locked(&self.table).before.values().cloned().collect();
        for callback in before {
            // A panic would end the thread that serves the node.
            catch_unwind(AssertUnwindSafe(|| callback(changes)))
                .unwrap_or_else(|_| Err("a callback panicked".into()))?;
        }
        Ok(())
    }

    /// Tells each callback of changes.
    pub(super) fn tell(&self, changes: &Changes) {
        let after: Vec<After> = locked(&self.table).after.values().cloned().collect();
        for callback in after {
            if catch_unwind(AssertUnwindSafe(|| callback(changes))).is_err() {
                tracing::error!("a callback about changed parameters panicked");
            }
        }
    }
}

/// Keeps a callback about parameters. Dropping it removes the callback.
///
/// See [`Node::before_parameters_change`](crate::Node::before_parameters_change).
#[must_use = "dropping the handle removes the callback"]
pub struct ParameterCallback {
    number: u64,
    table: Weak<Mutex<Table>>,
}

impl Drop for ParameterCallback {
    fn drop(&mut self) {
        let Some(table) = self.table.upgrade() else { return };
        let removed = {
            let mut table = locked(&table);
            (table.before.remove(&self.number), table.after.remove(&self.number))
        };
        // The callback may own anything, so it is dropped without the lock.
        drop(removed);
    }
}

impl fmt::Debug for ParameterCallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ParameterCallback")
    }
}
