//! A service on tokio: samples, status changes and a time-out in one loop, and a graceful shutdown on Ctrl-C.
//!
//! Start it in two terminals. After a second of silence, a process says that it is alive.

use dds_core::{prelude::*, status::ReaderEvent};

#[derive(DdsType)]
struct Alive;

#[tokio::main]
async fn main() -> dds_core::Result<()> {
    let participant = DomainParticipant::from_env()?;
    let (writer, reader) = (participant.writer::<Alive>("alive")?, participant.reader::<Alive>("alive")?);
    let (mut samples, mut events) = (reader.sample_stream(), reader.events());
    // One future for the whole loop. A new one in each round would miss a Ctrl-C between two rounds.
    let mut ctrl_c = std::pin::pin!(tokio::signal::ctrl_c());
    loop {
        tokio::select! {
            Some(sample) = samples.next() => println!("{:?} is alive", sample.info.publication_handle),
            Some(ReaderEvent::Matched(status)) = events.next() => println!("{} writers", status.current_count),
            () = tokio::time::sleep(std::time::Duration::from_secs(1)) => writer.write(&Alive)?,
            _ = &mut ctrl_c => break Ok(participant.shutdown().await?),
        }
    }
}
