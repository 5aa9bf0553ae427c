//! A robot and a station with a pre-shared key. Programs without the key see nothing and cannot send.
//!
//! - `protected key FILE` creates a key file.
//! - `protected robot FILE` publishes the state of a robot.
//! - `protected station FILE` prints it, and says how many datagrams it refused.
//!
//! Without `FILE`, `DDS_PRE_SHARED_KEY` gives the key. If it is unset, the program runs without protection.

use dds_core::qos::Preset;
use dds_core::security::{Passphrase, PreSharedKey};
use dds_core::{DdsType, DomainParticipant, TopicSpec};
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

#[derive(DdsType, Debug)]
struct RobotState {
    #[dds(key)]
    robot: u32,
    battery: f32,
}

const STATE: TopicSpec<RobotState> = TopicSpec::new("robot/state", Preset::State);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["key", path] => write_key(Path::new(path)),
        ["robot", ref key @ ..] => robot(&participant(key)?),
        ["station", ref key @ ..] => station(&participant(key)?),
        _ => Err("call it with `key FILE`, `robot [FILE]` or `station [FILE]`".into()),
    }
}

/// Joins the domain, with the key of a file if there is one.
fn participant(key: &[&str]) -> Result<DomainParticipant, Box<dyn Error>> {
    let mut builder = DomainParticipant::builder(0);
    if let Some(path) = key.first() {
        builder = builder.pre_shared_key(PreSharedKey::from_file(path)?);
    }
    Ok(builder.build()?)
}

fn robot(participant: &DomainParticipant) -> Result<(), Box<dyn Error>> {
    let writer = participant.writer(&STATE)?;
    for step in 0_u8.. {
        writer.write(&RobotState { robot: std::process::id(), battery: 100.0 - f32::from(step) / 10.0 })?;
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(())
}

fn station(participant: &DomainParticipant) -> Result<(), Box<dyn Error>> {
    for state in participant.reader(&STATE)?.iter() {
        let refused = participant.traffic().rejected;
        println!("robot {} has {:.1} % ({refused} datagrams refused)", state.robot, state.battery);
    }
    Ok(())
}

/// Writes a random passphrase to a new file that only its owner can read.
fn write_key(path: &Path) -> Result<(), Box<dyn Error>> {
    let passphrase = Passphrase::generate(1)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    writeln!(options.open(path)?, "{}:{}", passphrase.id(), passphrase.secret())?;
    println!("wrote a key to {}", path.display());
    Ok(())
}
