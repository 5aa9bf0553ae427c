//! Prints the samples of any topic, without knowing its type in advance.
//!
//! ```text
//! cargo run -p examples --example print_topic -- robot/pose
//! cargo run -p examples --example print_topic -- robot/pose --json --count 10
//! ```
//!
//! It waits for an endpoint of the topic, requests its type (DDS XTypes 1.3, 7.6.3.3), prints the type as IDL, and
//! subscribes. It also prints instances that end.

use clap::Parser;
use dds_core::dynamic::DynamicData;
use dds_core::qos::{DataReaderQos, TopicQos};
use dds_core::{DomainParticipant, Duration, Sample};

/// Time until the program lists the known topics, if the type is still unknown.
const PATIENCE: Duration = Duration::from_secs(10);

/// Prints the samples of any topic.
#[derive(Parser)]
struct Options {
    /// Name of the topic.
    topic: String,
    /// Domain ID.
    #[arg(short, long, default_value_t = 0)]
    domain: u32,
    /// Request RELIABLE and TRANSIENT_LOCAL.
    #[arg(short, long)]
    reliable: bool,
    /// Print each sample as one line of JSON, without the type.
    #[arg(short, long)]
    json: bool,
    /// Stop after this number of samples.
    #[arg(short, long)]
    count: Option<usize>,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = Options::parse();
    let participant = DomainParticipant::new(options.domain)?;
    let ty = match participant.discover_type(&options.topic).block_for(PATIENCE) {
        Ok(ty) => ty,
        Err(_) => {
            eprintln!("the type of \"{}\" is not known yet; known topics:", options.topic);
            for topic in participant.discovered_topics() {
                eprintln!("  {} ({})", topic.name, topic.type_name);
            }
            participant.discover_type(&options.topic).block()?
        }
    };
    if !options.json {
        println!("{ty}\n");
    }
    let topic = participant.dynamic_topic(&options.topic, &ty, TopicQos::default())?;
    let qos = DataReaderQos::default().keep_all();
    let qos = if options.reliable { qos.reliable().transient_local() } else { qos.best_effort() };
    let reader = participant.reader_builder(&topic).qos(qos).build()?;
    let mut left = options.count.unwrap_or(usize::MAX);
    while left > 0 {
        let sample = reader.next_sample().block()?;
        left -= usize::from(sample.data.is_some());
        println!("{}", line(&sample, options.json)?);
    }
    Ok(())
}

fn line(sample: &Sample<DynamicData>, json: bool) -> Result<String, serde_json::Error> {
    match &sample.data {
        Some(data) if json => serde_json::to_string(data),
        Some(data) => Ok(data.to_string()),
        None if json => serde_json::to_string(&format!("{:?}", sample.info.instance_state)),
        None => Ok(format!("instance {:?}: {:?}", sample.info.instance_handle, sample.info.instance_state)),
    }
}
