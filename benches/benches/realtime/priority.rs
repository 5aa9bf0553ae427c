//! Who runs first: the scheduling of a thread.

use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{Error, ThreadPriority, ThreadPriorityValue};

/// A priority under SCHED_FIFO, 1 to 99; more is before less, and any is before all threads without.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fifo(pub(crate) u8);

/// Gives this thread the priority.
///
/// # Errors
///
/// If the system refuses it, with what it needs.
pub(crate) fn set_fifo(priority: Fifo) -> Result<(), String> {
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let value = ThreadPriorityValue::try_from(priority.0)?;
    set_thread_priority_and_policy(thread_native_id(), ThreadPriority::Crossplatform(value), policy).map_err(|error| {
        let reason = match error {
            Error::OS(number) => std::io::Error::from_raw_os_error(number).to_string(),
            other => format!("{other:?}"),
        };
        format!("SCHED_FIFO is not permitted here ({reason}): it needs root or CAP_SYS_NICE, or `ulimit -r`")
    })
}
