//! Many participants of one host that all match: how long it takes, and how many datagrams.
//!
//! `cargo bench -p benches --bench crowd -- 200` starts as many participants in one process, each with a writer and a
//! reader of one topic, so every participant matches every other twice. With more than 120 it needs multicast.
//! `-- --test` starts five.
//!
//! The time counts from the first participant's start; the datagrams are those of all, until everybody is matched and in
//! the ten seconds after that, in which nothing new happens.

use benches::pair::Small;
use dds_core::{DataReader, DataWriter, DomainParticipant, Scope};
use std::error::Error;
use std::time::{Duration, Instant};

/// Apart from other benches.
const DOMAIN_ID: u32 = 62;

/// How long it is looked on after everybody is matched.
const AFTERWARDS: Duration = Duration::from_secs(10);

/// A wait that lasts longer has failed.
const PATIENCE: Duration = Duration::from_secs(300);

type Outcome<T> = Result<T, Box<dyn Error>>;

struct Member {
    participant: DomainParticipant,
    writer: DataWriter<Small>,
    reader: DataReader<Small>,
}

impl Member {
    fn start() -> Outcome<Self> {
        let participant = DomainParticipant::builder(DOMAIN_ID).scope(Scope::Host).udp_only(true).build()?;
        let writer = participant.writer::<Small>("crowd")?;
        let reader = participant.reader::<Small>("crowd")?;
        Ok(Self { participant, writer, reader })
    }

    fn wait_for(&self, members: usize) -> Outcome<()> {
        self.writer.wait_for_readers(members).block_for(PATIENCE)?;
        Ok(self.reader.wait_for_writers(members).block_for(PATIENCE)?)
    }
}

/// Datagrams and bytes sent, datagrams received.
fn traffic(members: &[Member]) -> [u64; 3] {
    let all = members.iter().map(|member| member.participant.traffic());
    all.fold([0; 3], |sum, one| [sum[0] + one.sent, sum[1] + one.sent_bytes, sum[2] + one.received])
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let test = arguments.iter().any(|argument| argument == "--test");
    let count = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(if test { 5 } else { 200 });
    let start = Instant::now();
    let members: Vec<Member> = (0..count).map(|_| Member::start()).collect::<Outcome<_>>()?;
    let started = start.elapsed();
    for member in &members {
        member.wait_for(count)?;
    }
    let [sent, bytes, received] = traffic(&members);
    if test {
        println!("{count} participants are matched");
        return Ok(());
    }
    println!("{count} participants: started after {started:.2?}, all matched after {:.2?}", start.elapsed());
    let pairs = (count * (count - 1)) as f64;
    println!(
        "until then {sent} datagrams were sent, {:.1} and {:.0} bytes for each pair, and {received} received",
        sent as f64 / pairs,
        bytes as f64 / pairs
    );
    std::thread::sleep(AFTERWARDS);
    let [later, ..] = traffic(&members);
    println!(
        "in the {AFTERWARDS:?} after it {:.1} datagrams a second of each participant",
        (later - sent) as f64 / count as f64 / AFTERWARDS.as_secs_f64()
    );
    Ok(())
}
