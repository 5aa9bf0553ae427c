//! An application's node that depends only on a participant, run twice over a bad network.
//!
//! The same seed gives the same run, to the last datagram.

use super::{Pose, pose};
use dds_core::qos::Preset;
use dds_core::sim::{Conditions, Simulation};
use dds_core::{DataReader, DataWriter, DomainParticipant, Duration, Result};

/// Steers one robot and answers each pose with a command. It does not know the simulation.
struct Pilot {
    poses: DataReader<Pose>,
    commands: DataWriter<Pose>,
}

impl Pilot {
    fn new(participant: &DomainParticipant) -> Result<Self> {
        let poses = participant.reader_builder("pose").qos(Preset::Event).build()?;
        let commands = participant.writer_builder("command").qos(Preset::Event).build()?;
        Ok(Self { poses, commands })
    }

    fn steer(&self, steps: usize) -> Result<()> {
        for _ in 0..steps {
            let seen = self.poses.next_sample().block_for(Duration::from_secs(60))?.data;
            self.commands.write(&seen.map_or_else(Pose::default, |seen| pose(seen.robot, -seen.x)))?;
        }
        Ok(())
    }
}

fn drive(seed: u64) -> Result<(Vec<f64>, u64)> {
    let simulation = Simulation::new(seed);
    simulation.set_network(Conditions::hall_wifi());
    let pilot = Pilot::new(&simulation.participant("station", 0)?)?;
    let robot = simulation.participant("robot", 0)?;
    let poses = robot.writer_builder::<Pose>("pose").qos(Preset::Event).build()?;
    let commands = robot.reader_builder::<Pose>("command").qos(Preset::Event).build()?;
    poses.wait_for_readers(1).block()?;
    pilot.commands.wait_for_readers(1).block()?;
    for x in 0..50 {
        poses.write(&pose(7, f64::from(x)))?;
    }
    pilot.steer(50)?;
    pilot.commands.acknowledged().block_for(Duration::from_secs(60))?;
    Ok((commands.take()?.into_data().map(|command| command.x).collect(), simulation.trace_hash()))
}

#[test]
fn same_seed_repeats_the_same_run() {
    let (commands, trace) = drive(15).unwrap();
    assert_eq!(commands, (0..50).map(|x| -f64::from(x)).collect::<Vec<_>>());
    assert_eq!(drive(15).unwrap(), (commands.clone(), trace));
    let (others, other) = drive(16).unwrap();
    assert!(others == commands && other != trace, "another seed is another network, and all arrives");
}
