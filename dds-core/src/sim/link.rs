//! A link between two hosts of a simulation.

use super::world::World;
use dds_rtps::sim::{Conditions, HostId};
use std::sync::Arc;

/// The connection of two hosts of a [`Simulation`](super::Simulation), in both directions or in one.
#[derive(Debug, Clone)]
pub struct Link {
    pub(super) world: Arc<World>,
    pub(super) from: HostId,
    pub(super) to: HostId,
    pub(super) one_way: bool,
}

impl Link {
    /// Returns the same link, limited to the direction from the first host to the second.
    #[must_use]
    pub fn one_way(&self) -> Self {
        Self { one_way: true, ..self.clone() }
    }

    /// Sets the conditions of all datagrams that are sent from now on.
    ///
    /// Default: the conditions of [`set_network`](super::Simulation::set_network). Between participants of one host
    /// there are no such conditions by default.
    pub fn set(&self, conditions: Conditions) {
        for (from, to) in self.ways() {
            self.world.state().network.set_conditions(from, to, conditions);
        }
    }

    /// Returns the conditions from the first host to the second.
    #[must_use]
    pub fn conditions(&self) -> Conditions {
        self.world.state().network.conditions(self.from, self.to)
    }

    /// Cuts the link, so that it drops all datagrams.
    ///
    /// Datagrams that were sent before the cut still arrive.
    pub fn cut(&self) {
        for (from, to) in self.ways() {
            self.world.state().network.set_cut(from, to, true);
        }
    }

    /// Undoes [`cut`](Link::cut).
    pub fn mend(&self) {
        for (from, to) in self.ways() {
            self.world.state().network.set_cut(from, to, false);
        }
    }

    fn ways(&self) -> Vec<(HostId, HostId)> {
        let mut ways = vec![(self.from, self.to)];
        if !self.one_way {
            ways.push((self.to, self.from));
        }
        ways
    }
}
