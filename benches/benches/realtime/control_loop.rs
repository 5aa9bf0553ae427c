//! The loop: a thread that writes every millisecond and a thread that waits for it, both SCHED_FIFO, while threads without
//! priority keep busy.
//!
//! `cyclone.c` is the same with Cyclone DDS, number by number.

use crate::priority::{Fifo, set_fifo};
use crate::{floor, ours};
use nix::sys::mman::{MlockAllFlags, mlockall};
use nix::time::{ClockId, ClockNanosleepFlags, clock_gettime, clock_nanosleep};
use std::error::Error;
use std::hint::spin_loop;
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

/// What is written, beside 48 bytes that nobody looks at but the busy thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stamp {
    /// Begins at 0.
    pub(crate) number: u64,
    /// When the write began, in nanoseconds of [`now`].
    pub(crate) sent: u64,
}

/// What one run is made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Work {
    /// Sockets and channels alone, without any DDS: what the machine does.
    pub(crate) floor: bool,
    /// Through a socket.
    pub(crate) udp: bool,
    /// Counted samples.
    pub(crate) samples: usize,
    /// Threads without priority that do nothing but keep a core busy.
    pub(crate) hogs: usize,
}

/// What the loop writes into and reads from.
pub(crate) struct Ends {
    /// Writes one.
    pub(crate) write: Box<dyn FnMut(Stamp) -> Result<(), String> + Send>,
    /// Waits for one and takes it; none after [`PATIENCE`].
    pub(crate) next: Box<dyn FnMut() -> Option<Stamp> + Send>,
    /// What the busy thread does, again and again.
    pub(crate) observe: Box<dyn FnMut() + Send>,
}

/// Nothing for so long is the end, if the last sample is lost.
pub(crate) const PATIENCE: Duration = Duration::from_secs(1);

/// What the waiting side keeps: a thread that is late by some periods still gets every sample.
pub(crate) const DEPTH: u32 = 16;

/// Samples that are not counted: memory is touched and endpoints get to know each other meanwhile.
const WARM_UP: usize = 1000;

const PERIOD: Duration = Duration::from_millis(1);

/// The library's threads inherit it from the thread that makes the participant.
const THREADS: Fifo = Fifo(60);
const READER: Fifo = Fifo(70);
const WRITER: Fifo = Fifo(80);

/// Runs the loop, and prints a line for each sample when all are over: how long the write took, and the time from before it
/// until the waiting thread had taken the sample, both in ns; the second is `-` for a sample that has not arrived.
///
/// # Errors
///
/// If SCHED_FIFO or locked memory is not permitted, or an entity cannot be made.
pub(crate) fn run(work: Work) -> Result<(), Box<dyn Error>> {
    lock_memory()?;
    let over = AtomicBool::new(false);
    thread::scope(|scope| {
        let stop = Stop(&over);
        // They are started before this thread has a priority, which they would inherit.
        (0..work.hogs).for_each(|_| drop(scope.spawn(|| until(&over, spin_loop))));
        let (give, given) = sync_channel::<Box<dyn FnMut() + Send>>(1);
        scope.spawn(|| given.into_iter().for_each(|observe| until(&over, observe)));
        set_fifo(THREADS)?;
        let ends = if work.floor { floor::ends(work.udp)? } else { ours::ends(work.udp)? };
        give.send(ends.observe).map_err(|_| "the busy thread is gone")?;
        drop(give);
        let total = work.samples + WARM_UP;
        let receiving = scope.spawn(move || receive(ends.next, total));
        let writing = scope.spawn(move || write_all(ends.write, total));
        let took = writing.join().map_err(|_| "the writing thread has panicked")??;
        let after = receiving.join().map_err(|_| "the waiting thread has panicked")??;
        drop(stop);
        print(&took, &after)
    })
}

/// Keeps every page of the process where it is, so that none has to be waited for.
///
/// # Errors
///
/// If the system refuses it, with what it needs.
pub(crate) fn lock_memory() -> Result<(), String> {
    mlockall(MlockAllFlags::MCL_CURRENT | MlockAllFlags::MCL_FUTURE).map_err(|error| {
        format!("memory cannot be locked here ({error}): it needs root or CAP_IPC_LOCK, or `ulimit -l`")
    })
}

/// Since the start of the system, the same for all threads.
pub(crate) fn now() -> Duration {
    // Every system has this clock.
    clock_gettime(ClockId::CLOCK_MONOTONIC).map_or(Duration::ZERO, Duration::from)
}

/// Lets the busy threads end, however the run does.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn until(over: &AtomicBool, mut act: impl FnMut()) {
    while !over.load(Ordering::Relaxed) {
        act();
    }
}

fn write_all(mut write: impl FnMut(Stamp) -> Result<(), String>, total: usize) -> Result<Vec<u64>, String> {
    set_fifo(WRITER)?;
    let mut took = Vec::with_capacity(total);
    let mut next = now();
    for number in 0..total as u64 {
        next += PERIOD;
        let due = next.into();
        // A signal ends the sleep early.
        while clock_nanosleep(ClockId::CLOCK_MONOTONIC, ClockNanosleepFlags::TIMER_ABSTIME, &due).is_err() {}
        let started = now();
        write(Stamp { number, sent: started.as_nanos() as u64 })?;
        took.push((now() - started).as_nanos() as u64);
    }
    Ok(took)
}

/// The times by number, of those that have arrived.
fn receive(mut next: impl FnMut() -> Option<Stamp>, total: usize) -> Result<Vec<Option<u64>>, String> {
    set_fifo(READER)?;
    let mut after = vec![None; total];
    while let Some(stamp) = next() {
        let arrived = now().as_nanos() as u64;
        let number = stamp.number as usize;
        if let Some(after) = after.get_mut(number) {
            *after = Some(arrived - stamp.sent);
        }
        if number + 1 == total {
            break;
        }
    }
    Ok(after)
}

fn print(took: &[u64], after: &[Option<u64>]) -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    for (took, after) in took.iter().zip(after).skip(WARM_UP) {
        match after {
            Some(after) => writeln!(out, "{took} {after}")?,
            None => writeln!(out, "{took} -")?,
        }
    }
    Ok(())
}
