//! Tail latency of a control loop while a thread without priority reads continuously.
//!
//! Prints p50, p99, p99.9, p99.99 and the maximum of two times: of `write`, and from its start until a waiting thread
//! has the sample.
//!
//! The writing thread, the waiting thread and the threads of the library are SCHED_FIFO. One more thread, without
//! priority, continuously reads another reader of the same topic and participant. If it is preempted while it holds a
//! lock of the library, the loop may wait for it. `--hogs N` adds N threads without priority that keep the cores busy.
//! The preempted thread then resumes late, unless the lock inherits the priority of the waiting thread (feature `rt`).
//! The floor is a channel and a pair of sockets with the same threads.
//!
//! The script `benches/realtime` builds this program without and with `rt`, and the same loop with Cyclone DDS in C. It
//! runs them in turns.
//!
//! Options: `--samples N` of each turn (default 10 000, at 1 kHz), `--turns N` (default 3), `--hogs N` (default 0),
//! `--beside NAME=PROGRAM` for each other contender; `--test` runs 100 samples once. A contender is a program that
//! accepts `--loop in_process|udp SAMPLES HOGS`, like this one.

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
    println!("this bench needs Linux: it uses SCHED_FIFO and locked memory");
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
    // Without the permission no measurement is valid.
    if let Err(missing) = permission() {
        println!("{missing}");
        return if is_test { Ok(()) } else { Err("expected permission for SCHED_FIFO and locked memory".into()) };
    }
    tail::compare(&tail::Options::parse(&arguments, is_test)?)
}

/// Requests a priority in a temporary thread, because this thread must not keep it.
#[cfg(target_os = "linux")]
fn permission() -> Result<(), String> {
    std::thread::spawn(|| priority::set_fifo(priority::Fifo(1))).join().map_err(|_| "the thread has panicked")??;
    control_loop::lock_memory()
}
