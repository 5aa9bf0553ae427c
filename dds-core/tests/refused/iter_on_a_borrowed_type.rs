//! error: borrows from the received sample
//! error: this needs a type that owns its data
//! error: use `view()` on the samples of a batch, or a type without lifetimes
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
