//! Two robots and a station on tokio: typed topics, one instance per robot, a filter, and a clean shutdown on Ctrl-C.
//!
//! ```text
//! robot              runs until Ctrl-C
//! robot --rounds N   runs N rounds of 100 ms
//! ```

use dds_core::qos::Preset;
use dds_core::{Change, DdsType, DomainParticipant, Scope, TopicSpec};
use std::error::Error;
use std::pin::pin;
use std::time::Duration;
use tokio::sync::watch;

/// Position of a robot.
#[derive(DdsType, Debug, Clone)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
    y: f64,
    heading: f64,
}

/// One scan of a robot's laser.
#[derive(DdsType, Debug)]
struct Scan {
    #[dds(key)]
    robot: u32,
    ranges: Vec<f32>,
}

/// An order for a robot.
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

/// A late-joining reader gets the last pose of each robot.
const POSE: TopicSpec<Pose> = TopicSpec::new("robot/pose", Preset::State);
/// A newer scan replaces an older one.
const SCAN: TopicSpec<Scan> = TopicSpec::new("robot/scan", Preset::SensorData);
/// No order may be lost.
const ORDER: TopicSpec<Order> = TopicSpec::new("robot/order", Preset::Command);

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let rounds = match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => u64::MAX,
        ["--rounds", rounds] => rounds.parse()?,
        _ => return Err("usage: robot [--rounds N]".into()),
    };
    // Each part has its own participant, as if it ran on its own machine.
    let (stop, stopped) = watch::channel(false);
    let robots = [1, 2].map(|robot| tokio::spawn(drive(robot, stopped.clone())));
    let supervised = supervise(rounds).await;
    stop.send(true)?;
    for robot in robots {
        robot.await??;
    }
    supervised?;
    println!("clean shutdown");
    Ok(())
}

/// A robot: follows its orders, publishes its position and its scans.
async fn drive(robot: u32, mut stopped: watch::Receiver<bool>) -> dds_core::Result<()> {
    let participant = DomainParticipant::builder(0).name(format!("robot {robot}")).scope(Scope::Host).build()?;
    let poses = participant.writer(&POSE)?;
    let scans = participant.writer(&SCAN)?;
    let mut orders = participant.reader_builder(&ORDER).filter(format!("robot = {robot}")).build()?.stream();
    let mut ticks = tokio::time::interval(Duration::from_millis(20));
    let mut pose = Pose { robot, x: 0.0, y: f64::from(robot), heading: 0.0 };
    let mut scan = Scan { robot, ranges: vec![0.0; 360] };
    loop {
        tokio::select! {
            Some(order) = orders.next() => match order.kind {
                OrderKind::Forward => pose.x += 0.1,
                OrderKind::Turn => pose.heading += 0.1,
            },
            _ = ticks.tick() => {
                for (range, angle) in scan.ranges.iter_mut().zip(0_u16..) {
                    *range = f32::from(angle % 90) / 10.0;
                }
                poses.write_async(&pose).await?;
                scans.write_async(&scan).await?;
            }
            _ = stopped.changed() => break,
        }
    }
    poses.dispose(&robot)?;
    participant.shutdown().await?;
    Ok(())
}

/// The station: sends orders, prints the poses, and finds the nearest obstacle of all scans.
async fn supervise(rounds: u64) -> dds_core::Result<()> {
    let station = DomainParticipant::builder(0).name("station").scope(Scope::Host).build()?;
    let orders = station.writer(&ORDER)?;
    let poses = station.reader(&POSE)?;
    let mut scans = station.reader(&SCAN)?.stream();
    poses.wait_for_writers(2).within(Duration::from_secs(10)).await?;
    let mut ticks = tokio::time::interval(Duration::from_millis(100));
    let mut ctrl_c = pin!(tokio::signal::ctrl_c());
    let (mut round, mut count, mut nearest) = (0, 0, f32::INFINITY);
    while round < rounds {
        tokio::select! {
            Some(scan) = scans.next() => {
                count += 1;
                nearest = scan.ranges.iter().copied().fold(nearest, f32::min);
            }
            _ = ticks.tick() => {
                let kind = if round % 4 == 3 { OrderKind::Turn } else { OrderKind::Forward };
                for robot in [1, 2] {
                    orders.write_async(&Order { robot, kind, note: format!("round {round}") }).await?;
                }
                for change in poses.take()?.into_changes() {
                    print_pose(change);
                }
                round += 1;
            }
            _ = &mut ctrl_c => break,
        }
    }
    println!("{count} scans, nearest obstacle {nearest:.1}");
    station.shutdown().await?;
    Ok(())
}

fn print_pose(change: Change<Pose>) {
    match change {
        Change::Data(pose) => {
            println!("robot {}: {:.1} {:.1}, heading {:.1}", pose.robot, pose.x, pose.y, pose.heading)
        }
        Change::Disposed(robot) => println!("robot {robot} has left"),
        end => println!("robot {} does not answer", end.into_key()),
    }
}
