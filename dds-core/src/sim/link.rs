//! A link between two hosts of a simulation.

use super::world::World;
use dds_rtps::sim::{Conditions, HostId};
use std::sync::Arc;

/// What is between two hosts of a [`Simulation`](super::Simulation), in both directions or in one.
#[derive(Debug, Clone)]
pub struct Link {
    pub(super) world: Arc<World>,
    pub(super) from: HostId,
    pub(super) to: HostId,
    pub(super) one_way: bool,
}

impl Link {
    /// The same, but only from the first host to the second.
    #[must_use]
    pub fn one_way(&self) -> Self {
        Self { one_way: true, ..self.clone() }
    }

    /// What it does to the datagrams that pass from now on. Default: what [`set_network`](super::Simulation::set_network)
    /// says; between participants of one host, nothing.
    pub fn set(&self, conditions: Conditions) {
        self.each(|world, from, to| world.state().network.set_conditions(from, to, conditions));
    }

    /// What it does from the first host to the second.
    #[must_use]
    pub fn conditions(&self) -> Conditions {
        self.world.state().network.conditions(self.from, self.to)
    }

    /// Lets nothing pass any more. What is under way still arrives.
    pub fn cut(&self) {
        self.each(|world, from, to| world.state().network.set_cut(from, to, true));
    }

    /// Undoes [`cut`](Link::cut).
    pub fn mend(&self) {
        self.each(|world, from, to| world.state().network.set_cut(from, to, false));
    }

    fn each(&self, act: impl Fn(&World, HostId, HostId)) {
        act(&self.world, self.from, self.to);
        if !self.one_way {
            act(&self.world, self.to, self.from);
        }
    }
}
