//! Paths that the datagrams of all worlds have taken. A promise that holds on a faultless path proves little.

use dds_core::sim::NetworkCounters;
use dds_core::stats::TrafficCounters;
use std::ops::Add;

/// This many worlds take every path. Fewer may miss one by chance.
pub(crate) const WORLDS_MIN: u64 = 500;

const NAMES: [&str; 7] = ["lost", "queue_full", "buffer_full", "cut", "duplicated", "send_blocked", "inbox_full"];

/// How often each path was taken.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ways([u64; NAMES.len()]);

impl Ways {
    /// Actions of the network.
    pub(crate) fn of_network(counters: &NetworkCounters) -> Self {
        let NetworkCounters { lost, queue_full, buffer_full, cut, duplicated, .. } = *counters;
        Self([lost, queue_full, buffer_full, cut, duplicated, 0, 0])
    }

    /// Queued mail of a participant.
    pub(crate) fn of(traffic: &TrafficCounters) -> Self {
        Self([0, 0, 0, 0, 0, traffic.send_blocked, traffic.inbox_full])
    }

    /// Paths that no datagram has taken.
    pub(crate) fn untaken(self) -> Vec<&'static str> {
        NAMES.into_iter().zip(self.0).filter(|(_, count)| *count == 0).map(|(name, _)| name).collect()
    }
}

impl Add for Ways {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(std::array::from_fn(|way| self.0[way] + other.0[way]))
    }
}

impl std::fmt::Display for Ways {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let all: Vec<String> = NAMES.into_iter().zip(self.0).map(|(name, count)| format!("{name} {count}")).collect();
        f.write_str(&all.join(", "))
    }
}
