//! Two hosts with a participant each.

use dds_core::sim::Simulation;
use dds_core::{DomainParticipant, Duration};

pub(crate) struct RobotAndStation {
    pub(crate) simulation: Simulation,
    pub(crate) robot: DomainParticipant,
    pub(crate) station: DomainParticipant,
}

impl RobotAndStation {
    pub(crate) fn new(seed: u64) -> Self {
        let simulation = Simulation::new(seed);
        let robot = simulation.participant("robot", 0).unwrap();
        let station = simulation.participant("station", 0).unwrap();
        Self { simulation, robot, station }
    }

    pub(crate) fn run(&self, millis: u64) {
        self.simulation.run_for(Duration::from_millis(millis));
    }
}
