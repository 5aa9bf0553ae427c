//! The program of the README, without a change below the next comment.
//!
//! Start it in one terminal, and with the argument `publish` in another. They may be on two hosts of one network.

#![allow(clippy::disallowed_methods, reason = "an example uses the clock and the threads of the standard library")]

// The README begins here.
use dds_core::qos::Preset;
use dds_core::{DdsType, DomainParticipant, TopicSpec};
use std::time::Duration;

#[derive(DdsType, Debug)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
}

/// Reliable. A late-joining reader gets the last pose of each robot.
const POSE: TopicSpec<Pose> = TopicSpec::new("robot/pose", Preset::State);

fn main() -> dds_core::Result<()> {
    let participant = DomainParticipant::from_env()?; // domain 0, unless DDS_DOMAIN is set
    if std::env::args().any(|argument| argument == "publish") {
        let writer = participant.writer(&POSE)?;
        for step in 0.. {
            writer.write(&Pose { robot: 7, x: f64::from(step) })?;
            std::thread::sleep(Duration::from_millis(100));
        }
    }
    for pose in participant.reader(&POSE)?.iter() {
        println!("{pose:?}");
    }
    Ok(())
}
