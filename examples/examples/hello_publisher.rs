//! The publisher of the README, without a change below this line: writes one sample.

use dds_core::{DdsType, DomainParticipant};
#[derive(DdsType)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
}
fn main() -> dds_core::Result<()> {
    let participant = DomainParticipant::new(0)?;
    let writer = participant.writer::<Pose>("robot/pose")?;
    writer.wait_for_readers(1).block()?; // otherwise the program may exit before a reader is matched
    writer.write(&Pose { robot: 7, x: 1.0 })?;
    Ok(())
}
