//! What a thread is in the middle of. Thread-locals without destructors, so that they work while a thread ends, too.

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

/// This thread is inside a cell, as long as the value lives. Stays on its thread.
#[derive(Debug)]
pub(crate) struct InCell(PhantomData<*const ()>);

impl InCell {
    /// `None` if the thread is inside a cell already.
    #[inline]
    pub(crate) fn enter() -> Option<Self> {
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
        IN_CELL.with(|flag| flag.set(false));
    }
}

/// This thread runs deferred user code of an outer frame, as long as the value lives. Stays on its thread.
#[derive(Debug)]
pub(crate) struct InListener(PhantomData<*const ()>);

impl InListener {
    /// `None` if an outer frame of this thread is running deferred code already.
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

/// This thread runs a listener of the entity with a certain number, as long as the value lives. Stays on its thread.
#[derive(Debug)]
pub(crate) struct InCallOf {
    /// An inline listener may run inside of a listener of the event thread that writes.
    outer: u64,
    marker: PhantomData<*const ()>,
}

impl InCallOf {
    pub(crate) fn enter(entity: u64) -> Self {
        Self { outer: CALL_OF.with(|call_of| call_of.replace(entity)), marker: PhantomData }
    }

    /// Whether the innermost listener that the calling thread runs is one of `entity`.
    pub(crate) fn is_set(entity: u64) -> bool {
        CALL_OF.with(Cell::get) == entity
    }
}

impl Drop for InCallOf {
    fn drop(&mut self) {
        CALL_OF.with(|call_of| call_of.set(self.outer));
    }
}
