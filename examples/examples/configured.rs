//! Settings and QoS from a file, changed by the environment and by code.
//!
//! ```text
//! configured                                   with examples/examples/configured.toml
//! DDS_PROFILES=other.toml configured           with another file
//! DDS_DOMAIN=7 DDS_SCOPE=host configured       the environment beats the file
//! ```

use dds_core::{DCPS_PARTICIPANT, DdsType, DomainParticipant, DomainParticipantBuilder, Result, Scope};

#[derive(DdsType)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
}

fn main() -> Result<()> {
    let builder = match std::env::var_os("DDS_PROFILES") {
        Some(_) => DomainParticipantBuilder::default(),
        None => DomainParticipantBuilder::default()
            .profiles(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/configured.toml")),
    };
    // What is said here beats both, as long as it is said at all.
    let participant = builder.scope(Scope::Host).property("example", "configured").build()?;
    println!("domain {}", participant.domain_id());

    let watcher = DomainParticipant::builder(participant.domain_id()).scope(Scope::Host).build()?;
    let participants = watcher.reader(&DCPS_PARTICIPANT)?;
    let ours = dds_core::Entity::guid(&participant);
    let seen = participants.iter().find(|found| found.key == ours);
    if let Some(seen) = seen {
        println!("seen as \"{}\", forgotten after {}, with {:?}", seen.name, seen.lease, seen.properties);
    }

    let writer = participant.writer_builder::<Pose>("pose").profile("pose").build()?;
    println!("{:?}, {:?}, deadline {}", writer.qos().reliability, writer.qos().history, writer.qos().deadline);
    writer.write(&Pose { robot: 7, x: 1.0 })?;
    // A policy that may change, and one that must stay.
    writer.set_qos(writer.qos().user_data(*b"on duty"))?;
    if let Err(error) = writer.set_qos(writer.qos().best_effort()) {
        println!("{error}");
    }
    // A name that is not in the file: the error says which one is meant.
    if let Err(error) = participant.writer_builder::<Pose>("pose").profile("poses").build() {
        println!("{error}");
    }
    Ok(())
}
