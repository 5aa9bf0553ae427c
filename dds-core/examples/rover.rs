//! The robot of the book's tutorial: poses, images and orders between a robot and its station, on one or two hosts.
//!
//! `rover robot` in one terminal or host, `rover station` in another. Ctrl-C ends each of them cleanly.

use dds_core::qos::Preset;
use dds_core::{Change, DdsType, DomainParticipant, TopicSpec};
use std::pin::pin;
use std::time::Duration;

/// Position of a robot.
#[derive(DdsType, Debug)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
}

/// An image of a robot's camera: 640 by 480 pixels of 3 bytes.
#[derive(DdsType, Default)]
#[dds(view = ImageView)]
struct Image {
    #[dds(key)]
    robot: u32,
    number: u32,
    pixels: Vec<u8>,
}

/// An order for a robot: a new speed.
#[derive(DdsType, Debug)]
struct Drive {
    #[dds(key)]
    robot: u32,
    speed: f64,
}

/// Late-joining readers get the last pose of each robot.
const POSE: TopicSpec<Pose> = TopicSpec::new("robot/pose", Preset::State);
/// The newest images matter. Lost ones are not repeated.
const IMAGE: TopicSpec<Image> = TopicSpec::new("robot/image", Preset::SensorData);
/// Each order arrives, in order.
const DRIVE: TopicSpec<Drive> = TopicSpec::new("robot/drive", Preset::Command);

#[tokio::main]
async fn main() -> dds_core::Result<()> {
    let participant = DomainParticipant::from_env()?;
    match std::env::args().nth(1).as_deref() {
        Some("robot") => robot(&participant, 7).await?,
        Some("station") => station(&participant).await?,
        _ => println!("usage: rover robot|station"),
    }
    participant.shutdown().await?;
    println!("clean shutdown");
    Ok(())
}

async fn robot(participant: &DomainParticipant, robot: u32) -> dds_core::Result<()> {
    let poses = participant.writer(&POSE)?;
    let images = participant.writer(&IMAGE)?;
    let mut orders = participant.reader_builder(&DRIVE).filter(format!("robot = {robot}")).build()?.stream();
    let mut ticks = tokio::time::interval(Duration::from_millis(100));
    let mut ctrl_c = pin!(tokio::signal::ctrl_c());
    let (mut pose, mut speed, mut number) = (Pose { robot, x: 0.0 }, 0.0, 0);
    loop {
        tokio::select! {
            Some(order) = orders.next() => speed = order.speed,
            _ = ticks.tick() => {
                pose.x += speed * 0.1;
                poses.write_async(&pose).await?;
                let mut image = images.loan()?; // the memory of an earlier image
                (image.robot, image.number) = (robot, number);
                image.pixels.resize(640 * 480 * 3, 128);
                image.write()?;
                number += 1; // after an image only: a round with an order sends none
            }
            _ = &mut ctrl_c => break,
        }
    }
    poses.dispose(&robot)?; // the station learns that this robot has left
    Ok(())
}

async fn station(participant: &DomainParticipant) -> dds_core::Result<()> {
    let mut poses = participant.reader(&POSE)?.change_stream();
    let images = participant.reader(&IMAGE)?;
    let orders = participant.writer(&DRIVE)?;
    println!("waiting for a robot");
    orders.wait_for_readers(1).await?; // an order that is written earlier is lost
    let mut ticks = tokio::time::interval(Duration::from_secs(1));
    let mut ctrl_c = pin!(tokio::signal::ctrl_c());
    let mut speed = 1.0;
    loop {
        tokio::select! {
            Some(change) = poses.next() => match change {
                Change::Data(pose) => println!("robot {} is at {:.1}", pose.robot, pose.x),
                Change::Disposed(robot) => println!("robot {robot} has left"),
                gone => println!("robot {} is gone", gone.into_key()), // `NoWriters`: it crashed
            },
            readable = images.readable() => {
                readable?;
                for sample in &images.take()? {
                    // `None`: the sample says that an instance has ended, and has no image.
                    let Some(Ok(image)) = sample.view::<ImageView<'_>>() else { continue };
                    println!("image {} with {} bytes", image.number, image.pixels.len());
                }
            }
            _ = ticks.tick() => {
                orders.write_async(&Drive { robot: 7, speed }).await?;
                speed = -speed;
            }
            _ = &mut ctrl_c => break,
        }
    }
    println!("{}", images.losses());
    Ok(())
}
