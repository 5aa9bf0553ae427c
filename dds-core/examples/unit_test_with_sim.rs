//! A unit test of a node on a faulty network, in simulated time: repeatable, and no socket opens.
//!
//! `cargo test -p dds-core --features sim --example unit_test_with_sim`

use dds_core::qos::Preset;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Result, TopicSpec};

#[derive(DdsType)]
struct Level {
    #[dds(key)]
    battery: u32,
    percent: u8,
}

#[derive(DdsType, Debug, PartialEq)]
struct Alarm {
    battery: u32,
}

const LEVEL: TopicSpec<Level> = TopicSpec::new("battery/level", Preset::SensorData);
const ALARM: TopicSpec<Alarm> = TopicSpec::new("battery/alarm", Preset::Event);

/// The node under test. It takes its participant from outside, so a test can pass a simulated one.
struct Watch {
    levels: DataReader<Level>,
    alarms: DataWriter<Alarm>,
}

impl Watch {
    fn new(participant: &DomainParticipant) -> Result<Self> {
        Ok(Self { levels: participant.reader(&LEVEL)?, alarms: participant.writer(&ALARM)? })
    }

    /// Sends an alarm for each level below 10 percent.
    fn run_once(&self) -> Result<()> {
        for level in self.levels.take()?.into_data() {
            if level.percent < 10 {
                self.alarms.write(&Alarm { battery: level.battery })?;
            }
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    let watch = Watch::new(&DomainParticipant::from_env()?)?;
    loop {
        watch.levels.readable().block()?;
        watch.run_once()?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dds_core::Duration;
    use dds_core::sim::{Conditions, Simulation};

    #[test]
    fn low_battery_raises_an_alarm_over_a_lossy_network() {
        let simulation = Simulation::new(Simulation::seed_or(1));
        simulation.set_network(Conditions::hall_wifi());
        let robot = simulation.participant("robot", 0).unwrap();
        let station = simulation.participant("station", 0).unwrap();
        let levels = robot.writer(&LEVEL).unwrap();
        let watch = Watch::new(&simulation.participant("watch", 0).unwrap()).unwrap();
        let alarms = station.reader(&ALARM).unwrap();
        levels.wait_for_readers(1).block().unwrap();
        watch.alarms.wait_for_readers(1).block().unwrap();

        // LEVEL is best effort, so the robot repeats it. ALARM is reliable.
        for _ in 0..10 {
            levels.write(&Level { battery: 3, percent: 9 }).unwrap();
            simulation.run_for(Duration::from_millis(100));
            watch.run_once().unwrap();
        }
        let alarm = alarms.next_sample().block_for(Duration::from_secs(5)).unwrap();
        assert_eq!(alarm.data, Some(Alarm { battery: 3 }));
    }
}
