//! Starts several processes of one domain: a station and three robots. Ends the robots when the station is done.
//!
//! Each process has a participant of its own. `DDS_DOMAIN` and the other variables apply to all of them.

use dds_core::qos::Preset;
use dds_core::{DdsType, DomainParticipant, TopicSpec};
use std::collections::BTreeSet;
use std::error::Error;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

#[derive(DdsType, Debug)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
}

/// A station that starts late gets the pose of each robot.
const POSE: TopicSpec<Pose> = TopicSpec::new("robot/pose", Preset::State);
const ROBOTS: u32 = 3;
const PATIENCE: Duration = Duration::from_secs(60);

fn main() -> Result<(), Box<dyn Error>> {
    match std::env::args().nth(1).as_deref() {
        Some("station") => station(),
        Some(number) => robot(number.parse()?),
        None => launch(),
    }
}

fn launch() -> Result<(), Box<dyn Error>> {
    // A robot ends when its standard input does, also if this process crashes.
    let robots = (0..ROBOTS).map(|number| start(&number.to_string(), Stdio::piped())).collect::<Result<Vec<_>, _>>()?;
    let mut station = start("station", Stdio::null())?;
    let status = station.wait()?;
    for mut robot in robots {
        drop(robot.stdin.take());
        if !robot.wait()?.success() {
            return Err("a robot failed".into());
        }
    }
    println!("all processes have ended");
    if status.success() { Ok(()) } else { Err(format!("the station failed: {status}").into()) }
}

/// Starts this program as another process.
fn start(role: &str, input: Stdio) -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?).arg(role).stdin(input).spawn()
}

fn robot(robot: u32) -> Result<(), Box<dyn Error>> {
    let participant = DomainParticipant::from_env()?;
    let writer = participant.writer(&POSE)?;
    writer.write(&Pose { robot, x: f64::from(robot) })?;
    std::io::read_to_string(std::io::stdin())?;
    writer.dispose(&robot)?;
    Ok(())
}

fn station() -> Result<(), Box<dyn Error>> {
    let participant = DomainParticipant::from_env()?;
    let reader = participant.reader(&POSE)?;
    let mut seen = BTreeSet::new();
    while seen.len() < ROBOTS as usize {
        // A robot that has failed sends no pose.
        let Some(pose) = reader.next_sample().block_for(PATIENCE)?.data else { continue };
        println!("robot {} is at {}", pose.robot, pose.x);
        seen.insert(pose.robot);
    }
    println!("all {ROBOTS} robots are there");
    Ok(())
}
