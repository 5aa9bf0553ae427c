//! A control loop of one millisecond. It takes the newest target, writes the angles, and never waits for a peer.
//!
//! ```text
//! cargo run --release -p dds-core --features rt --example real_time_loop -- 1000
//! ```
//!
//! `chrt -f 90` before the built program gives the loop itself a priority. The threads of the library have their own.

#![allow(clippy::disallowed_methods, reason = "an example uses the clock and the threads of the standard library")]

use dds_core::config::ThreadSettings;
use dds_core::error::CreateErrorKind;
use dds_core::qos::Preset;
use dds_core::{DdsType, DomainParticipant, DomainParticipantBuilder, Result, TopicSpec};
use std::time::{Duration, Instant};

/// Arrays need no memory of their own, so decoding allocates nothing.
#[derive(DdsType, Default)]
struct Torque {
    joints: [f64; 6],
}

#[derive(DdsType)]
struct Angles {
    joints: [f64; 6],
}

const TARGETS: TopicSpec<Torque> = TopicSpec::new("arm/targets", Preset::SensorData);
const ANGLES: TopicSpec<Angles> = TopicSpec::new("arm/angles", Preset::SensorData);
const PERIOD: Duration = Duration::from_millis(1);

fn main() -> Result<()> {
    let rounds = std::env::args().nth(1).and_then(|rounds| rounds.parse().ok()).unwrap_or(1000);
    let participant = participant()?;
    let targets = participant.reader(&TARGETS)?;
    let angles = participant.writer(&ANGLES)?;
    let (mut target, mut longest) = (Torque::default(), Duration::ZERO);
    let mut due = Instant::now();
    for _ in 0..rounds {
        due += PERIOD;
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        longest = longest.max(Instant::now() - due);
        while let Some(sample) = targets.take_next()? {
            target = sample.data.unwrap_or(target); // the last one is the newest
        }
        angles.try_write(&Angles { joints: target.joints })?;
    }
    println!("{rounds} rounds, at most {longest:?} late");
    Ok(())
}

/// The receive thread has more priority than the thread for discovery, where the system permits that.
fn participant() -> Result<DomainParticipant> {
    let receive = ThreadSettings::new().name("arm-receive").priority(80);
    let io = ThreadSettings::new().name("arm-io").priority(20);
    match DomainParticipantBuilder::default().receive_thread(receive).io_thread(io).build() {
        Err(error) if matches!(error.kind(), CreateErrorKind::ThreadOption { .. }) => {
            println!("{error}; the loop runs without priorities");
            Ok(DomainParticipant::from_env()?)
        }
        other => Ok(other?),
    }
}
