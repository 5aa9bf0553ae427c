//! Flags of the calling thread's present work.
//!
//! The thread-locals have no destructors, so they also work while a thread ends.

use std::cell::Cell;
use std::marker::PhantomData;

#[cfg(not(dds_loom))]
std::thread_local! {
    static IN_CELL: Cell<bool> = const { Cell::new(false) };
    static IN_LISTENER: Cell<bool> = const { Cell::new(false) };
    static CALL_OF: Cell<u64> = const { Cell::new(0) };
}
#[cfg(dds_loom)]
loom::thread_local! {
    static IN_CELL: Cell<bool> = Cell::new(false);
    static IN_LISTENER: Cell<bool> = Cell::new(false);
    static CALL_OF: Cell<u64> = Cell::new(0);
}

/// Marks this thread as inside a cell while the value lives. Stays on its thread.
#[derive(Debug)]
pub(crate) struct InCell(PhantomData<*const ()>);

impl InCell {
    /// Returns `None` if the thread is inside a cell already.
    #[inline]
    pub(crate) fn enter() -> Option<Self> {
        // By `with`, because the thread-locals of loom have no other method.
        IN_CELL.with(|flag| if flag.replace(true) { None } else { Some(Self(PhantomData)) })
    }

    /// Whether the calling thread is inside a cell.
    #[inline]
    pub(crate) fn is_set() -> bool {
        IN_CELL.with(Cell::get)
    }
}

impl Drop for InCell {
    #[inline]
    fn drop(&mut self) {
        // Not the value before: `enter` returns nothing inside of a cell, so only the outermost guard exists.
        IN_CELL.with(|flag| flag.set(false));
    }
}

/// Marks that this thread runs deferred user code of an outer frame. Stays on its thread.
#[derive(Debug)]
pub(crate) struct InListener(PhantomData<*const ()>);

impl InListener {
    /// Returns `None` if an outer frame of this thread runs deferred code already.
    pub(crate) fn enter() -> Option<Self> {
        IN_LISTENER.with(|flag| if flag.replace(true) { None } else { Some(Self(PhantomData)) })
    }

    /// Whether the calling thread is inside deferred code.
    pub(crate) fn is_set() -> bool {
        IN_LISTENER.with(Cell::get)
    }
}

impl Drop for InListener {
    fn drop(&mut self) {
        IN_LISTENER.with(|flag| flag.set(false));
    }
}

/// Marks that this thread runs a listener of the entity with a certain number. Stays on its thread.
#[derive(Debug)]
pub(crate) struct InCallOf {
    /// The entity of an outer listener: a listener of the event thread may write, and so run an inline listener.
    outer: u64,
    marker: PhantomData<*const ()>,
}

impl InCallOf {
    pub(crate) fn enter(entity: u64) -> Self {
        Self { outer: CALL_OF.with(|call_of| call_of.replace(entity)), marker: PhantomData }
    }

    /// Whether the innermost listener on the calling thread belongs to `entity`.
    pub(crate) fn is_set(entity: u64) -> bool {
        CALL_OF.with(Cell::get) == entity
    }
}

impl Drop for InCallOf {
    fn drop(&mut self) {
        // Restore, not clear: the outer listener goes on.
        CALL_OF.with(|call_of| call_of.set(self.outer));
    }
}
