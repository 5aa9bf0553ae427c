//! The process that something was made in.
//!
//! A forked child has the memory of its parent, but only one of its threads: a lock that another thread held stays locked,
//! the sockets are the parent's, and whatever the child announces, it announces in the parent's name. Where the system calls
//! a function of ours in each child ([`fork_count`](super::fork_count)), asking costs a load. Who leaves the C library aside
//! and forks by a system call of his own is found out by the process id, about once in a millisecond, by who reads the clock.

use super::fork_count;

/// Made in this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    id: u32,
    /// How many forks lay between the first ancestor that counted them and this process.
    forks: Option<u32>,
}

impl Process {
    pub(crate) fn current() -> Self {
        Self { id: std::process::id(), forks: fork_count::current() }
    }

    /// Whether the caller runs in another process: a child of that one. Costs a system call only where forks are not counted.
    #[inline]
    pub(crate) fn is_left(self) -> bool {
        match self.forks {
            Some(forks) => fork_count::known() != forks,
            None => self.has_other_id(),
        }
    }

    /// As [`Process::is_left`], whichever way the child was made. Costs a system call.
    #[cold]
    pub(crate) fn has_other_id(self) -> bool {
        self.id != std::process::id()
    }
}
