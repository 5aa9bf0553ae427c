//! error: unused `Waiting` that must be used
//! error: a wait does nothing until it is awaited or blocked on
#![deny(unused_must_use)]
use dds_core::{DataWriter, DdsType};

#[derive(DdsType)]
pub struct Pose {
    pub x: f64,
}

pub fn program(writer: &DataWriter<Pose>) {
    writer.wait_for_readers(1);
}

fn main() {}
