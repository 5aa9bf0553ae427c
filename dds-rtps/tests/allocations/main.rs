//! Heap use of the state machines, counted by DHAT.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod instance_memory;
mod reader_allocations;
mod writer_allocations;

use std::sync::{Mutex, MutexGuard, PoisonError};

#[global_allocator]
static ALLOCATOR: dhat::Alloc = dhat::Alloc;

/// Starts the count. DHAT counts for the whole process, so the lock runs one test at a time.
fn profiler() -> (dhat::Profiler, MutexGuard<'static, ()>) {
    static TURN: Mutex<()> = Mutex::new(());
    let turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    (dhat::Profiler::builder().testing().build(), turn)
}
