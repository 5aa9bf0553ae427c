//! Compares three kinds of topics over four simulated networks, with one simulated minute for each pair.
//!
//! `cargo run --release -p examples --example bad_network [SEED]`
//!
//! All figures are simulated, so the same seed prints the same table. Change a QoS or use your own types and nodes to
//! test them before you deploy them.

use dds_core::qos::Preset;
use dds_core::sim::{Conditions, Simulation};
use dds_core::{DdsType, Duration, Time};
use hdrhistogram::Histogram;

#[derive(DdsType)]
struct Sample {
    number: u32,
    payload: Vec<u8>,
}

/// A topic of a robot.
struct Stream {
    name: &'static str,
    preset: Preset,
    bytes: usize,
    period: Duration,
}

const STREAMS: [Stream; 3] = [
    Stream { name: "laser scan", preset: Preset::SensorData, bytes: 6_000, period: Duration::from_millis(50) },
    Stream { name: "command", preset: Preset::Command, bytes: 100, period: Duration::from_millis(20) },
    Stream { name: "map tile", preset: Preset::Event, bytes: 60_000, period: Duration::from_millis(500) },
];

const DRIVE: Duration = Duration::from_secs(60);

/// The result of one simulated drive.
struct Outcome {
    sent: u32,
    received: u32,
    /// Simulated time from write to take, in microseconds.
    latency: Histogram<u64>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seed = std::env::args().nth(1).map_or(Ok(1), |seed| seed.parse())?;
    let networks = [
        ("ethernet", Conditions::ethernet()),
        ("office Wi-Fi", Conditions::office_wifi()),
        ("hall Wi-Fi", Conditions::hall_wifi()),
        ("LTE", Conditions::lte()),
    ];
    println!("{:14} {:11} {:>12} {:>10} {:>10} {:>10}", "network", "topic", "arrived", "p50, ms", "p99, ms", "max, ms");
    for (name, conditions) in networks {
        for stream in &STREAMS {
            let outcome = drive(seed, conditions, stream)?;
            let millis = |micros: u64| micros as f64 / 1000.0;
            println!(
                "{name:14} {:11} {:>5} of {:<4} {:>9.2} {:>10.2} {:>10.2}",
                stream.name,
                outcome.received,
                outcome.sent,
                millis(outcome.latency.value_at_quantile(0.5)),
                millis(outcome.latency.value_at_quantile(0.99)),
                millis(outcome.latency.max()),
            );
        }
    }
    Ok(())
}

/// Lets a robot send one stream to its station for a minute.
fn drive(seed: u64, conditions: Conditions, stream: &Stream) -> Result<Outcome, Box<dyn std::error::Error>> {
    let simulation = Simulation::new(seed);
    simulation.set_network(conditions);
    // A mobile network has no multicast: the two are told of each other.
    let at = |host: &str| simulation.host(host).address().to_string();
    let build =
        |host: &str, peer: &str| simulation.build(host, dds_core::DomainParticipant::builder(0).peers([at(peer)]));
    let (robot, station) = (build("robot", "station")?, build("station", "robot")?);
    let writer = robot.writer_builder("stream").qos(stream.preset).build()?;
    let reader = station.reader_builder::<Sample>("stream").qos(stream.preset).build()?;
    writer.wait_for_readers(1).block()?;
    reader.wait_for_writers(1).block()?;

    let mut outcome = Outcome { sent: 0, received: 0, latency: Histogram::new_with_bounds(1, 3_600_000_000, 3)? };
    let receive_until = |moment: Time, outcome: &mut Outcome| -> dds_core::Result<()> {
        while simulation.now() < moment {
            // Runs the world until a sample is there; a timeout says that the moment has come.
            let _ = reader.readable().block_for(moment - simulation.now());
            for sample in reader.take()? {
                let age = simulation.host("station").time() - sample.info.source_timestamp;
                outcome.latency.saturating_record(u64::try_from(age.as_nanos() / 1000).unwrap_or(0));
                outcome.received += 1;
            }
        }
        Ok(())
    };
    let end = simulation.now() + DRIVE;
    let mut next = simulation.now();
    while next < end {
        writer.write(&Sample { number: outcome.sent, payload: vec![0; stream.bytes] })?;
        outcome.sent += 1;
        next = next + stream.period;
        receive_until(next, &mut outcome)?;
    }
    receive_until(end + Duration::from_secs(5), &mut outcome)?;
    Ok(outcome)
}
