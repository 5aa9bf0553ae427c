//! Names of a participant's threads and, with the feature `rt`, their priorities and cores.

use super::Role;
use std::fmt;
use std::io;

/// Settings of a participant's threads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThreadOptions {
    receive: ThreadSettings,
    event: ThreadSettings,
    io: ThreadSettings,
}

/// Settings of one thread of a participant: its name, and with the feature `rt` its priority and cores.
///
/// Default: the settings of the thread that creates the participant, with the name `dds-receive`, `dds-event` or
/// `dds-io`.
///
/// ```
/// use dds_core::{DomainParticipant, Scope};
/// use dds_core::config::ThreadSettings;
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
///     .receive_thread(ThreadSettings::new().name("arm-receive"))
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ThreadSettings {
    name: Option<String>,
    #[cfg(feature = "rt")]
    priority: Option<u8>,
    #[cfg(feature = "rt")]
    cores: Vec<usize>,
}

impl ThreadOptions {
    /// Sets the settings of the thread with this role.
    pub(crate) fn set(&mut self, role: Role, settings: ThreadSettings) {
        match role {
            Role::Receive => self.receive = settings,
            Role::Driver => self.io = settings,
            Role::Event | Role::Application => self.event = settings,
        }
    }

    pub(super) fn of(&self, role: Role) -> &ThreadSettings {
        match role {
            Role::Receive => &self.receive,
            Role::Driver => &self.io,
            Role::Event | Role::Application => &self.event,
        }
    }

    /// Rejects settings that no system supports, before any thread starts.
    pub(crate) fn check(&self) -> Result<(), ThreadRefused> {
        for role in [Role::Receive, Role::Event, Role::Driver] {
            self.of(role).check(role)?;
        }
        Ok(())
    }
}

impl ThreadSettings {
    /// Default settings.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name that debuggers and `top -H` show. Linux truncates it to 15 bytes.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// Sets the real-time priority, from 1 to 99.
    ///
    /// The thread runs under SCHED_FIFO, before all threads of a lower priority and all ordinary threads. The system
    /// must permit that (CAP_SYS_NICE, or RLIMIT_RTPRIO).
    #[cfg(feature = "rt")]
    #[must_use]
    pub fn priority(mut self, priority: u8) -> Self {
        self.priority = Some(priority);
        self
    }

    /// Sets the processor cores for the thread, by the system's numbers. Default: all of the process.
    #[cfg(feature = "rt")]
    #[must_use]
    pub fn cores(mut self, cores: impl IntoIterator<Item = usize>) -> Self {
        self.cores = cores.into_iter().collect();
        self
    }

    pub(super) fn name_or<'a>(&'a self, default: &'a str) -> &'a str {
        self.name.as_deref().unwrap_or(default)
    }

    fn check(&self, role: Role) -> Result<(), ThreadRefused> {
        // The system takes the name as a C string, and shows an empty one as no name.
        if let Some(name) = &self.name {
            if name.is_empty() || name.contains('\0') {
                return Err(ThreadRefused::new(role, "name", format!("{name:?} is no name of a thread")));
            }
        }
        // Linux has 99 real-time priorities; other systems scale them.
        #[cfg(feature = "rt")]
        if let Some(priority) = self.priority {
            if !(1..=99).contains(&priority) {
                return Err(ThreadRefused::new(role, "priority", format!("{priority} is not from 1 to 99")));
            }
        }
        Ok(())
    }

    /// Whether the settings need a system call.
    pub(super) fn asks(&self) -> bool {
        #[cfg(feature = "rt")]
        return self.priority.is_some() || !self.cores.is_empty();
        #[cfg(not(feature = "rt"))]
        false
    }

    /// Applies priority and cores to the calling thread.
    #[cfg_attr(not(feature = "rt"), expect(clippy::unused_self, reason = "there is nothing to ask for"))]
    pub(super) fn apply(&self, role: Role) -> io::Result<()> {
        #[cfg(feature = "rt")]
        {
            // Cores first: with a real-time priority this thread could occupy a core that it must not use.
            if let Err(error) = self.apply_cores() {
                return Err(io::Error::other(ThreadRefused::new(role, "cores", error.to_string())));
            }
            if let Err(error) = self.apply_priority() {
                return Err(io::Error::other(ThreadRefused::new(role, "priority", error.to_string())));
            }
        }
        // Without the feature `rt` the role is unused.
        let _ = role;
        Ok(())
    }

    #[cfg(feature = "rt")]
    fn apply_cores(&self) -> nix::Result<()> {
        use nix::sched::{CpuSet, sched_setaffinity};
        use nix::unistd::Pid;
        if self.cores.is_empty() {
            return Ok(());
        }
        let mut set = CpuSet::new();
        for &core in &self.cores {
            set.set(core)?;
        }
        // 0 is the calling thread.
        sched_setaffinity(Pid::from_raw(0), &set)
    }

    #[cfg(feature = "rt")]
    fn apply_priority(&self) -> io::Result<()> {
        use thread_priority::unix::{
            RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
        };
        use thread_priority::{ThreadPriority, ThreadPriorityValue};
        let Some(priority) = self.priority else { return Ok(()) };
        let value = ThreadPriorityValue::try_from(priority).map_err(io::Error::other)?;
        let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
        let priority = ThreadPriority::Crossplatform(value);
        // The text of the system says more than its number.
        set_thread_priority_and_policy(thread_native_id(), priority, policy).map_err(|error| match error {
            thread_priority::Error::OS(code) => io::Error::from_raw_os_error(code),
            other => io::Error::other(other),
        })
    }
}

fn thread_of(role: Role) -> &'static str {
    match role {
        Role::Receive => "receive",
        Role::Driver => "io",
        Role::Event | Role::Application => "event",
    }
}

/// A thread setting that the system refused. It is the source of an [`io::Error`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRefused {
    /// `"receive"`, `"event"` or `"io"`.
    pub thread: &'static str,
    /// `"name"`, `"priority"` or `"cores"`.
    pub option: &'static str,
    /// The reason.
    pub message: String,
}

impl ThreadRefused {
    fn new(role: Role, option: &'static str, message: String) -> Self {
        Self { thread: thread_of(role), option, message }
    }
}

impl fmt::Display for ThreadRefused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} of the {} thread: {}", self.option, self.thread, self.message)
    }
}

impl std::error::Error for ThreadRefused {}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_settings_are_refused_by_name() {
        let check = |settings: ThreadSettings| {
            let mut options = ThreadOptions::default();
            options.set(Role::Event, settings);
            options.check().map_err(|error| error.option)
        };
        assert_eq!(check(ThreadSettings::new().name("a")), Ok(()));
        assert_eq!(check(ThreadSettings::new().name("a\0b")), Err("name"));
        assert_eq!(check(ThreadSettings::new().name("")), Err("name"));
        #[cfg(feature = "rt")]
        assert_eq!(check(ThreadSettings::new().priority(0)), Err("priority"));
        #[cfg(feature = "rt")]
        assert_eq!(check(ThreadSettings::new().priority(100)), Err("priority"));
    }
}
