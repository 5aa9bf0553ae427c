//! Scheduling priority of a thread.

use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{Error, ThreadPriority, ThreadPriorityValue};

/// A SCHED_FIFO priority, 1 to 99. A higher one precedes a lower one and all threads without priority.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fifo(pub(crate) u8);

/// Sets the priority of this thread.
///
/// # Errors
///
/// Returns an error with the required permission if the system rejects it.
pub(crate) fn set_fifo(priority: Fifo) -> Result<(), String> {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let value = ThreadPriorityValue::try_from(priority.0)?;
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(value), policy).map_err(|error| {
        let reason = match error {
            Error::OS(number) => std::io::Error::from_raw_os_error(number).to_string(),
            other => format!("{other:?}"),
        };
        format!("cannot set SCHED_FIFO ({reason}): expected root, CAP_SYS_NICE, or a higher `ulimit -r`")
    })
}
