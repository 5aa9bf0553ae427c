//! The process in which an object was created.
//!
//! A forked child has the memory of its parent, but only one of its threads. A lock that another thread held stays
//! locked. The sockets belong to the parent, and an announcement of the child would carry the parent's identity.
//!
//! Where the system calls a function in each child ([`fork_count`](super::fork_count)), the check costs a load. A
//! program may fork by a system call and bypass the C library. Then the process ID reveals it: the driver's clock
//! compares it about once per millisecond, when it is read.

use super::fork_count;

/// Identifies the process of its creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    id: u32,
    /// Number of forks between the first ancestor that counted them and this process.
    forks: Option<u32>,
}

impl Process {
    pub(crate) fn current() -> Self {
        Self { id: std::process::id(), forks: fork_count::current() }
    }

    /// Number of forks of this process and its ancestors, where they are counted. Costs a load.
    #[inline]
    pub(crate) fn known_forks() -> u32 {
        fork_count::known()
    }

    /// Whether the caller runs in a child of that process. Costs a system call only where forks are not counted.
    #[inline]
    pub(crate) fn is_left(self) -> bool {
        match self.forks {
            // `current` registered the counter when this value was created, so a plain load is enough.
            Some(forks) => fork_count::known() != forks,
            None => self.has_other_id(),
        }
    }

    /// Like [`Process::is_left`], and independent of how the child was forked. Costs a system call.
    #[cold]
    pub(crate) fn has_other_id(self) -> bool {
        self.id != std::process::id()
    }
}
