//! Lets the example `replier` add two numbers. Either may start first.

use dds_core::rpc::Requester;
use dds_core::{DdsType, DomainParticipant, Duration};

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
    let requester = Requester::<Operands, Sum>::new(&participant, "sum")?;
    let sum = requester.call(&Operands { a: 2, b: 3 }).block_for(Duration::from_secs(10))?;
    println!("2 + 3 = {}", sum.value);
    Ok(())
}
