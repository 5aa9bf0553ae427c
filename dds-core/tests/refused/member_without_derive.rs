//! error: `NotDerived` cannot be a member of a DDS type
//! error: aborting due to 1 previous error
use dds_core::{DdsType, DomainParticipant};

pub struct NotDerived {
    _x: f64,
}

#[derive(DdsType)]
pub struct Pose {
    id: u32,
    position: NotDerived,
}

pub fn program(participant: &DomainParticipant, pose: &Pose) -> dds_core::Result<()> {
    participant.writer::<Pose>("pose")?.write(pose)?;
    Ok(())
}

fn main() {}
