//! The process that something was made in.
//!
//! A forked child has the memory of its parent, but only one of its threads: a lock that another thread held stays locked,
//! the sockets are the parent's, and whatever the child announces, it announces in the parent's name. Asking for the
//! process costs a system call, so it is done where things begin and end, before something blocks, and about once in a
//! millisecond by who reads the clock.

/// Made in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    pub(crate) fn current() -> Self {
        Self(std::process::id())
    }

    /// Whether the caller runs in another process: a child of that one.
    #[cold]
    pub(crate) fn is_left(self) -> bool {
        self != Self::current()
    }
}
