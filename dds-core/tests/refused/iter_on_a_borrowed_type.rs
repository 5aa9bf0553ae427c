//! error: is not a DDS type that owns its data
//! error: this needs a type that owns its data
//! error: if it borrows from the sample, use `view()` on the samples of a batch
use dds_core::{DataReader, DdsType};

#[derive(DdsType)]
pub struct LogView<'a> {
    pub text: &'a str,
}

pub fn program<'a>(reader: &DataReader<LogView<'a>>) {
    for log in reader.iter() {
        drop(log);
    }
}

fn main() {}
