//! error: TopicRef<'_, Twist>
//! error: Topic<Pose>
use dds_core::{DdsType, DomainParticipant, Topic};

#[derive(DdsType)]
pub struct Pose {
    pub x: f64,
}

#[derive(DdsType)]
pub struct Twist {
    pub x: f64,
}

pub fn program(participant: &DomainParticipant, topic: &Topic<Pose>) {
    let _ = participant.writer::<Twist>(topic);
}

fn main() {}
