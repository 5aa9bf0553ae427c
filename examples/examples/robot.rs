//! Two robots and a station: typed topics, one instance per robot, a stream, and a clean shutdown on Ctrl-C.
//!
//! ```text
//! robot              runs until Ctrl-C
//! robot --rounds N   runs N rounds of 100 ms
//! ```
//!
//! `dds-core` is its only dependency.

use dds_core::qos::Preset;
use dds_core::{DataReader, DdsType, DomainParticipant, InstanceState, Scope, Stream};
use std::error::Error;
use std::future::poll_fn;
use std::pin::pin;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

/// Position of a robot. A late-joining reader gets the last pose of each robot.
#[derive(DdsType, Debug, Clone)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
    y: f64,
    heading: f64,
}

/// One scan of a robot's laser. A newer scan replaces it.
#[derive(DdsType, Debug)]
struct Scan {
    #[dds(key)]
    robot: u32,
    ranges: Vec<f32>,
}

/// An order for a robot. No order may be lost.
#[derive(DdsType, Debug)]
#[dds(extensibility = "appendable")]
struct Order {
    #[dds(key)]
    robot: u32,
    kind: OrderKind,
    #[dds(bound = 64)]
    note: String,
}

#[derive(DdsType, Debug, Clone, Copy, PartialEq, Eq)]
#[dds(nested)]
enum OrderKind {
    Forward,
    Turn,
}

/// The argument for the worker process, see [`until_ctrl_c`].
const UNTIL_END_OF_INPUT: &str = "until-end-of-input";

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let running = Arc::new(AtomicBool::new(true));
    let rounds = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => return until_ctrl_c(),
        [UNTIL_END_OF_INPUT] => {
            let running = Arc::clone(&running);
            thread::spawn(move || {
                // End and failure both mean that the parent process is gone.
                let _ = std::io::copy(&mut std::io::stdin(), &mut std::io::sink());
                running.store(false, Ordering::Release);
            });
            u64::MAX
        }
        ["--rounds", rounds] => rounds.parse()?,
        _ => return Err("usage: robot [--rounds N]".into()),
    };

    // Each part has its own participant, as if it ran on its own machine.
    let robots = [1, 2].map(|number| {
        let running = Arc::clone(&running);
        thread::spawn(move || drive(number, &running).map_err(|error| error.to_string()))
    });
    let watched = watch(rounds, &running);
    running.store(false, Ordering::Release);
    for robot in robots {
        robot.join().map_err(|_| "a robot panicked")??;
    }
    watched?;
    println!("clean shutdown");
    Ok(())
}

/// Runs the robots in a child process that shuts down cleanly when this process ends.
///
/// The standard library cannot catch Ctrl-C, and `dds-core` is the only dependency of this example. In your own program
/// use the crate `ctrlc` or `tokio::signal`.
fn until_ctrl_c() -> Result<(), Box<dyn Error>> {
    let mut worker = Command::new(std::env::current_exe()?);
    worker.arg(UNTIL_END_OF_INPUT).stdin(Stdio::piped());
    // Ctrl-C reaches the foreground process group of the terminal. The worker is in another group.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut worker, 0);
    let mut worker = worker.spawn()?;
    // The worker stops when this end of the pipe closes. `wait` would close a pipe that is still in `worker`.
    let _input = worker.stdin.take();
    println!("Ctrl-C to stop");
    let status = worker.wait()?;
    if status.success() { Ok(()) } else { Err(status.to_string().into()) }
}

/// A robot: follows orders, publishes its position and its scans.
fn drive(robot: u32, running: &AtomicBool) -> Result<(), Box<dyn Error>> {
    let participant = DomainParticipant::builder(0).name(format!("robot {robot}")).scope(Scope::Host).build()?;
    let poses = participant.writer_builder::<Pose>("robot/pose").qos(Preset::State).build()?;
    let scans = participant.writer_builder::<Scan>("robot/scan").qos(Preset::SensorData).build()?;
    let orders = participant.reader_builder::<Order>("robot/order").qos(Preset::Command).build()?;

    let mut pose = Pose { robot, x: 0.0, y: f64::from(robot), heading: 0.0 };
    let mut scan = Scan { robot, ranges: vec![0.0; 360] };
    while running.load(Ordering::Acquire) {
        for order in orders.take()?.into_data() {
            if order.robot != robot {
                continue;
            }
            match order.kind {
                OrderKind::Forward => pose.x += 0.1,
                OrderKind::Turn => pose.heading += 0.1,
            }
        }
        for (range, angle) in scan.ranges.iter_mut().zip(0_u16..) {
            *range = f32::from(angle % 90) / 10.0;
        }
        poses.write(&pose)?;
        scans.write(&scan)?;
        thread::sleep(Duration::from_millis(20));
    }
    poses.dispose(&robot)?;
    Ok(())
}

/// The station: gives orders and prints the poses of the robots.
fn watch(rounds: u64, running: &AtomicBool) -> Result<(), Box<dyn Error>> {
    let station = DomainParticipant::builder(0).name("station").scope(Scope::Host).build()?;
    let orders = station.writer_builder::<Order>("robot/order").qos(Preset::Command).build()?;
    let poses = station.reader_builder::<Pose>("robot/pose").qos(Preset::State).build()?;
    let scans = station.reader_builder::<Scan>("robot/scan").qos(Preset::SensorData).build()?;
    let nearest = thread::spawn({
        let scans = scans.clone();
        move || block_on(nearest(scans))
    });

    poses.wait_for_writers(2).block_for(Duration::from_secs(10))?;
    for round in 0..rounds {
        let kind = if round % 4 == 3 { OrderKind::Turn } else { OrderKind::Forward };
        for robot in [1, 2] {
            orders.write(&Order { robot, kind, note: format!("round {round}") })?;
        }
        for sample in poses.take()? {
            match (sample.info.instance_state, sample.data) {
                (_, Some(pose)) => {
                    println!("robot {}: {:.1} {:.1}, heading {:.1}", pose.robot, pose.x, pose.y, pose.heading)
                }
                (InstanceState::Alive, None) => {}
                (gone, None) => {
                    if let Some(robot) = poses.key_value(sample.info.instance_handle) {
                        println!("robot {robot}: {gone:?}");
                    }
                }
            }
        }
        if !running.load(Ordering::Acquire) {
            break;
        }
        thread::sleep(Duration::from_millis(100));
    }

    // Closing the reader ends the stream and its thread.
    dds_core::Entity::close(&scans);
    let (count, nearest) = nearest.join().map_err(|_| "the stream's reader panicked")?;
    println!("{count} scans, nearest obstacle {nearest:.1}");
    Ok(())
}

/// Reads scans as a stream until the reader closes. Returns their number and the smallest range.
async fn nearest(scans: DataReader<Scan>) -> (u64, f32) {
    let mut stream = pin!(scans.stream());
    drop(scans);
    let (mut count, mut nearest) = (0, f32::INFINITY);
    while let Some(scan) = poll_fn(|context| stream.as_mut().poll_next(context)).await {
        count += 1;
        nearest = scan.ranges.iter().copied().fold(nearest, f32::min);
    }
    (count, nearest)
}

/// A minimal executor. Any async runtime works as well.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}
