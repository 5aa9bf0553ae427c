//! Budgets of a sample after warm-up: heap allocations, page faults and waits.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod alloc_budget;
mod alloc_forms;
mod large_budget;
#[cfg(target_os = "linux")]
mod page_faults;
#[cfg(target_os = "linux")]
mod waits;
mod window;

use std::sync::{Mutex, MutexGuard, PoisonError};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Lock that each test holds, because the counters belong to the process.
fn turn() -> MutexGuard<'static, ()> {
    static TURN: Mutex<()> = Mutex::new(());
    TURN.lock().unwrap_or_else(PoisonError::into_inner)
}
