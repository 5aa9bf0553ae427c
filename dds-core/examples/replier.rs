//! Adds the numbers of each request, until it is stopped. Start the example `requester` beside it.

use dds_core::rpc::Replier;
use dds_core::{DdsType, DomainParticipant};

#[derive(DdsType)]
struct Operands {
    a: i64,
    b: i64,
}

#[derive(DdsType)]
struct Sum {
    value: i64,
}

fn main() -> dds_core::Result<()> {
    let participant = DomainParticipant::from_env()?;
    let replier = Replier::<Operands, Sum>::new(&participant, "sum")?;
    replier.serve(|Operands { a, b }| Sum { value: a + b })?;
    Ok(())
}
