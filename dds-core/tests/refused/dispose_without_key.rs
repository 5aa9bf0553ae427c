//! error: `Keyless` has no key
//! error: mark the fields that identify an instance with `#[dds(key)]`
use dds_core::{DataWriter, DdsType};

#[derive(DdsType)]
pub struct Keyless {
    pub x: f64,
}

pub fn program(writer: &DataWriter<Keyless>) {
    let _ = writer.dispose(&7);
}

fn main() {}
