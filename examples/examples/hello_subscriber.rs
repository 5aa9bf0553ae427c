//! The subscriber of the README, without a change below this line: prints each sample it receives.

use dds_core::{DdsType, DomainParticipant};
#[derive(DdsType, Debug)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
}
fn main() -> dds_core::Result<()> {
    let reader = DomainParticipant::new(0)?.reader::<Pose>("robot/pose")?;
    reader.iter().for_each(|pose| println!("{pose:?}"));
    Ok(())
}
