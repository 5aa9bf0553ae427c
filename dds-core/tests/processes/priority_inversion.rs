//! Priority inversion with three threads. The low one is inside of a reader, the high one wants to enter, and the
//! medium one occupies the processor. With the feature `rt` the high one enters before the medium one has finished.
//!
//! All run on one core under SCHED_FIFO. The test is skipped where the system does not permit that.

use crate::support::World;
use dds_core::DdsType;
use nix::sched::{CpuSet, sched_setaffinity};
use nix::unistd::Pid;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use thread_priority::unix::{
    RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
};
use thread_priority::{ThreadPriority, ThreadPriorityValue};

#[derive(DdsType)]
struct Count {
    count: u64,
}

/// Sets the priority and then the core. Returns `false` if the system does not permit it.
///
/// The order matters: on that core a thread without a priority would starve.
fn become_urgent(priority: u8) -> bool {
    let value = ThreadPriority::Crossplatform(ThreadPriorityValue::try_from(priority).unwrap());
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    if set_thread_priority_and_policy(thread_native_id(), value, policy).is_err() {
        return false;
    }
    let mut core = CpuSet::new();
    core.set(0).unwrap();
    sched_setaffinity(Pid::from_raw(0), &core).is_ok()
}

fn wait_for(flag: &AtomicBool) {
    while !flag.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}

#[test]
#[allow(clippy::disallowed_methods, reason = "the spinner must end some time, or a failure occupies the core forever")]
fn waiting_thread_lends_its_priority() {
    /// Longer than any wait of the other threads, and below the kernel's throttling of real-time threads.
    const GIVE_UP: Duration = Duration::from_millis(800);
    let participant = World::new().participant();
    let reader = participant.reader::<Count>("t").unwrap();
    let order = Mutex::new(Vec::new());
    let [inside, spinning, wants_in, is_in, refused] = [const { AtomicBool::new(false) }; 5];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            refused.store(!become_urgent(10), Ordering::Release);
            reader
                .inside(|| {
                    inside.store(true, Ordering::Release);
                    // The thread waits for the others, and needs to run only now and then for this.
                    if !refused.load(Ordering::Acquire) {
                        wait_for(&wants_in);
                    }
                })
                .unwrap();
        });
        wait_for(&inside);
        if refused.load(Ordering::Acquire) {
            crate::support::skip("SCHED_FIFO");
            return;
        }
        scope.spawn(|| {
            become_urgent(20);
            spinning.store(true, Ordering::Release);
            let started = Instant::now();
            while !is_in.load(Ordering::Acquire) && started.elapsed() < GIVE_UP {
                std::hint::spin_loop();
            }
            order.lock().unwrap().push("medium");
        });
        wait_for(&spinning);
        scope.spawn(|| {
            become_urgent(30);
            wants_in.store(true, Ordering::Release);
            reader.take().unwrap();
            order.lock().unwrap().push("high");
            is_in.store(true, Ordering::Release);
        });
    });
    if !refused.into_inner() {
        assert_eq!(*order.lock().unwrap(), ["high", "medium"]);
    }
}
