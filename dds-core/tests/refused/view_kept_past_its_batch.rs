//! error: `batch` does not live long enough
use dds_core::{DataReader, DdsType};

#[derive(DdsType)]
pub struct Log {
    pub text: String,
}

#[derive(DdsType)]
#[dds(view_of = Log)]
pub struct LogView<'a> {
    pub text: &'a str,
}

pub fn program(reader: &DataReader<Log>) {
    let mut kept = Vec::new();
    {
        let batch = reader.take().unwrap();
        kept.extend(batch.iter().filter_map(|sample| sample.view::<LogView<'_>>()));
    }
    drop(kept);
}

fn main() {}
