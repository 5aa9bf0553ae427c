//! Discovery of many participants on one host: time and datagrams until all are matched.
//!
//! `cargo bench -p benches --bench crowd -- 200` starts 200 participants in one process. Each has a writer and a reader
//! of one topic, so each pair of participants matches twice. More than 120 participants need multicast. `-- --test`
//! starts five.
//!
//! The time starts with the first participant. The datagrams of all participants are counted until all are matched, and
//! again during the next ten seconds.

use benches::pair::Small;
use dds_core::{DataReader, DataWriter, DomainParticipant, Scope};
use std::error::Error;
use std::time::{Duration, Instant};

/// No other bench uses this domain.
const DOMAIN_ID: u32 = 62;

/// Observation time after all participants are matched.
const OBSERVATION: Duration = Duration::from_secs(10);

/// Longest wait for a match.
const PATIENCE: Duration = Duration::from_secs(300);

type Outcome<T> = Result<T, Box<dyn Error>>;

struct CrowdMember {
    participant: DomainParticipant,
    writer: DataWriter<Small>,
    reader: DataReader<Small>,
}

impl CrowdMember {
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

/// Sent datagrams, sent bytes and received datagrams.
fn traffic(members: &[CrowdMember]) -> [u64; 3] {
    let mut sum = [0; 3];
    for member in members {
        let traffic = member.participant.traffic();
        sum[0] += traffic.sent;
        sum[1] += traffic.sent_bytes;
        sum[2] += traffic.received;
    }
    sum
}

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let test = arguments.iter().any(|argument| argument == "--test");
    let count = arguments.iter().find_map(|argument| argument.parse().ok()).unwrap_or(if test { 5 } else { 200 });
    let start = Instant::now();
    let members: Vec<CrowdMember> = (0..count).map(|_| CrowdMember::start()).collect::<Outcome<_>>()?;
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
    std::thread::sleep(OBSERVATION);
    let [later, ..] = traffic(&members);
    println!(
        "in the {OBSERVATION:?} after it {:.1} datagrams a second of each participant",
        (later - sent) as f64 / count as f64 / OBSERVATION.as_secs_f64()
    );
    Ok(())
}
