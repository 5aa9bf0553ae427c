//! A service on tokio: samples and status changes in one loop, and a graceful shutdown on Ctrl-C.
//!
//! It prints the poses of the example `hello -- publish`.

use dds_core::qos::Preset;
use dds_core::status::ReaderEvent;
use dds_core::{DdsType, DomainParticipant, TopicSpec};
use std::pin::pin;

#[derive(DdsType, Debug)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
}

const POSE: TopicSpec<Pose> = TopicSpec::new("robot/pose", Preset::State);

#[tokio::main]
async fn main() -> dds_core::Result<()> {
    let participant = DomainParticipant::from_env()?;
    let reader = participant.reader(&POSE)?;
    let (mut poses, mut events) = (reader.stream(), reader.events());
    // One future for the whole loop. A new one in each round would miss a Ctrl-C between two rounds.
    let mut ctrl_c = pin!(tokio::signal::ctrl_c());
    loop {
        tokio::select! {
            Some(pose) = poses.next() => println!("robot {} is at {}", pose.robot, pose.x),
            Some(ReaderEvent::Matched(status)) = events.next() => println!("{} writers", status.current_count),
            _ = &mut ctrl_c => break,
        }
    }
    participant.shutdown().await?;
    println!("clean shutdown");
    Ok(())
}
