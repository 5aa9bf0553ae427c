//! The tail of a control loop beside a busy reader without priority: p50, p99, p99.9, p99.99 and maximum of `write`, and of the
//! time from before it until a waiting thread has the sample.
//!
//! The writing thread, the waiting thread and the library's own are SCHED_FIFO; one more thread, without priority, reads
//! another reader of the same topic and participant all the time. Whatever lock of the library it holds when it is
//! preempted, the loop may have to wait for. `--hogs N` adds N threads without priority that keep the cores busy: then who
//! is preempted comes back late, unless the lock lends it the priority of who waits (feature `rt`). The floor is a channel and a
//! pair of sockets, by the same threads.
//!
//! The script `benches/realtime` builds this without and with `rt`, and the same loop with Cyclone DDS in C, and runs them in turns.
//! By itself: `--samples N` of each turn (default 10 000, at 1 kHz), `--turns N` (default 3), `--hogs N` (default 0),
//! `--beside NAME=PROGRAM` for each other contender; `--test` takes 100 samples once. A contender is a program that
//! takes `--loop in_process|udp SAMPLES HOGS`, as this one does.

#[cfg(target_os = "linux")]
mod control_loop;
#[cfg(target_os = "linux")]
mod floor;
#[cfg(target_os = "linux")]
mod ours;
#[cfg(target_os = "linux")]
mod priority;
#[cfg(target_os = "linux")]
mod tail;

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("SCHED_FIFO and locked memory as this bench uses them are Linux's: there is nothing to run here");
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [mode, form, samples, hogs] = &arguments[..] {
        if mode == "--loop" || mode == "--floor" {
            let (floor, udp) = (mode == "--floor", form == "udp");
            let work = control_loop::Work { floor, udp, samples: samples.parse()?, hogs: hogs.parse()? };
            return control_loop::run(work);
        }
    }
    let is_test = arguments.iter().any(|argument| argument == "--test");
    // Before anything is measured: without it nothing that follows means anything.
    if let Err(missing) = permission() {
        println!("{missing}");
        return if is_test { Ok(()) } else { Err("nothing was measured".into()) };
    }
    tail::compare(&tail::Options::parse(&arguments, is_test)?)
}

/// A priority is asked for by a thread of its own, because this one shall not keep it.
#[cfg(target_os = "linux")]
fn permission() -> Result<(), String> {
    std::thread::spawn(|| priority::set_fifo(priority::Fifo(1))).join().map_err(|_| "the thread has panicked")??;
    control_loop::lock_memory()
}
