//! What the refused programs have in common compiles.
#![deny(unused_must_use)]
use dds_core::{DdsType, DomainParticipant, Result};

#[derive(DdsType, Debug)]
pub struct Log {
    #[dds(key)]
    pub line: u32,
    pub text: String,
}

#[derive(DdsType, Debug)]
#[dds(view_of = Log)]
pub struct LogView<'a> {
    #[dds(key)]
    pub line: u32,
    pub text: &'a str,
}

pub fn program(participant: &DomainParticipant) -> Result<()> {
    let writer = participant.writer::<Log>("log")?;
    writer.wait_for_readers(1).block()?;
    writer.dispose(&1)?;
    let reader = participant.reader_builder::<Log>("log").on_data(|_| {}).build()?;
    let batch = reader.take()?;
    for sample in batch.iter() {
        if let Some(Ok(view)) = sample.view::<LogView<'_>>() {
            println!("{}", view.text);
        }
    }
    reader.iter().for_each(drop);
    Ok(())
}

fn main() {}
