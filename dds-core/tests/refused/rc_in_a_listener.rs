//! error: `Rc<Cell<u32>>` cannot be sent between threads safely
//! error: on_data
use dds_core::{DdsType, DomainParticipant};
use std::cell::Cell;
use std::rc::Rc;

#[derive(DdsType)]
pub struct Pose {
    pub x: f64,
}

pub fn program(participant: &DomainParticipant) {
    let count = Rc::new(Cell::new(0_u32));
    let _ = participant.reader_builder::<Pose>("pose").on_data(move |_| count.set(count.get() + 1)).build();
}

fn main() {}
