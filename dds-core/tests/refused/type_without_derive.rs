//! error: `NotDerived` is not a DDS type
//! error: this needs `#[derive(DdsType)]`
//! error: aborting due to 1 previous error
use dds_core::DomainParticipant;

struct NotDerived {
    _x: f64,
}

pub fn program(participant: &DomainParticipant) {
    let _ = participant.writer::<NotDerived>("topic");
}

fn main() {}
