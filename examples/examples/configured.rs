//! Settings and QoS from a file, the environment and code.
//!
//! ```text
//! configured                                   uses examples/examples/configured.toml
//! DDS_PROFILES=other.toml configured           uses another file
//! DDS_DOMAIN=7 DDS_SCOPE=host configured       the environment overrides the file
//! ```

use dds_core::builtin::BuiltinTopic;
use dds_core::{DdsType, DomainParticipant, DomainParticipantBuilder, Result, Scope};

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
    // A call of the builder overrides both the file and the environment.
    let participant = builder.scope(Scope::Host).property("example", "configured").build()?;
    println!("domain {}", participant.domain_id());

    let watcher = DomainParticipant::builder(participant.domain_id()).scope(Scope::Host).build()?;
    let participants = watcher.reader(&BuiltinTopic::PARTICIPANT)?;
    let own_guid = dds_core::Entity::guid(&participant);
    if let Some(seen) = participants.iter().find(|found| found.key == own_guid) {
        println!("seen as \"{}\", forgotten after {}, with {:?}", seen.name, seen.lease, seen.properties);
    }

    let writer = participant.writer_builder::<Pose>("pose").profile("pose").build()?;
    println!("{:?}, {:?}, deadline {}", writer.qos().reliability, writer.qos().history, writer.qos().deadline);
    writer.write(&Pose { robot: 7, x: 1.0 })?;
    // USER_DATA is changeable, RELIABILITY is not.
    writer.set_qos(writer.qos().user_data(*b"on duty"))?;
    if let Err(error) = writer.set_qos(writer.qos().best_effort()) {
        println!("{error}");
    }
    // The file has no such name: the error suggests a similar one.
    if let Err(error) = participant.writer_builder::<Pose>("pose").profile("poses").build() {
        println!("{error}");
    }
    Ok(())
}
