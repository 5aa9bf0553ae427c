//! What peers sent that is malformed, by peer and in terms of ROS 2.
//!
//! A malformed value costs itself alone. Bounds: [`PEERS_MAX`] peers, each with one count for each kind and one text. A
//! further peer takes the place of that whose last fault is the oldest.

use super::query::NodeName;
use super::state::Prefix;
use dds_core::Guid;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Peers that are named. Faults of others are in the totals.
const PEERS_MAX: usize = 64;

/// The longest text about a fault. A peer chooses parts of it.
const REASON_MAX: usize = 240;

/// A part of ROS 2 in which a peer sent something malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum FaultKind {
    /// A message on `ros_discovery_info` does not decode, or speaks of another participant.
    Announcement,
    /// The name of a node, a topic or a service breaks a rule.
    Name,
    /// The hash of a type has another form than `RIHS01_` and 64 digits.
    TypeHash,
    /// A request does not decode, such as by its header.
    Request,
    /// A reply does not decode, or answers no request.
    Reply,
    /// A parameter has an unknown type or no name, or a request for parameters does not decode.
    Parameter,
    /// A goal has the id of another one, or a request about goals does not decode.
    Goal,
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Announcement => "announcements of nodes",
            Self::Name => "names",
            Self::TypeHash => "type hashes",
            Self::Request => "requests",
            Self::Reply => "replies",
            Self::Parameter => "parameters",
            Self::Goal => "goals",
        })
    }
}

/// Malformed input of one peer. See [`Graph::faults`](crate::Graph::faults).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PeerFaults {
    /// The participant of DDS.
    pub participant: Guid,
    /// Its nodes, as far as they are known.
    pub nodes: Vec<NodeName>,
    /// How often, for each kind.
    pub counts: BTreeMap<FaultKind, u64>,
    /// The last fault.
    pub last: String,
}

/// The nodes, the counts, and the last fault: `nodes /camera sent malformed requests (3); the last: …`.
impl fmt::Display for PeerFaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { participant, nodes, counts, last } = self;
        match &nodes[..] {
            [] => write!(f, "participant {participant}")?,
            [node] => write!(f, "node {node}")?,
            [first, rest @ ..] => write!(f, "node {first} or {} others of its program", rest.len())?,
        }
        f.write_str(" sent malformed ")?;
        for (at, (kind, count)) in counts.iter().enumerate() {
            write!(f, "{}{kind} ({count})", if at == 0 { "" } else { ", " })?;
        }
        write!(f, "; the last: {last}")
    }
}

/// The faults of all peers.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    totals: BTreeMap<FaultKind, u64>,
    /// The number of faults so far.
    count: u64,
    peers: BTreeMap<Prefix, PeerState>,
}

#[derive(Debug, Default)]
struct PeerState {
    counts: BTreeMap<FaultKind, u64>,
    last: String,
    /// The number of the last fault.
    at: u64,
}

impl Faults {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Counts a fault of a peer.
    pub(crate) fn note(&self, peer: Prefix, kind: FaultKind, reason: impl fmt::Display) {
        let mut last = reason.to_string();
        if let Some((end, _)) = last.char_indices().nth(REASON_MAX) {
            last.truncate(end);
        }
        tracing::debug!(?peer, "malformed {kind}: {last}");
        let mut state = self.state();
        *state.totals.entry(kind).or_default() += 1;
        state.count += 1;
        let at = state.count;
        if state.peers.len() >= PEERS_MAX && !state.peers.contains_key(&peer) {
            let oldest = state.peers.iter().min_by_key(|(_, peer)| peer.at).map(|(prefix, _)| *prefix);
            if let Some(oldest) = oldest {
                state.peers.remove(&oldest);
            }
        }
        let peer = state.peers.entry(peer).or_default();
        *peer.counts.entry(kind).or_default() += 1;
        (peer.last, peer.at) = (last, at);
    }

    /// Forgets the texts and counts of a peer that has left. The totals stay.
    pub(super) fn forget(&self, peer: Prefix) {
        self.state().peers.remove(&peer);
    }

    pub(super) fn totals(&self) -> BTreeMap<FaultKind, u64> {
        self.state().totals.clone()
    }

    /// Returns the counts and the last fault of each peer.
    pub(super) fn peers(&self) -> Vec<(Prefix, BTreeMap<FaultKind, u64>, String)> {
        let copy = |(prefix, peer): (&Prefix, &PeerState)| (*prefix, peer.counts.clone(), peer.last.clone());
        self.state().peers.iter().map(copy).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_are_bounded_and_totals_are_complete() {
        let faults = Faults::default();
        let note = |number: u32| {
            let mut prefix = [0; 12];
            prefix[..4].copy_from_slice(&number.to_be_bytes());
            faults.note(prefix, FaultKind::Request, "x".repeat(10_000));
            prefix
        };
        let first = note(0);
        for number in 1..1000 {
            note(number);
            note(0);
        }
        assert_eq!(faults.totals(), BTreeMap::from([(FaultKind::Request, 1999)]));
        let peers = faults.peers();
        assert_eq!(peers.len(), PEERS_MAX);
        assert!(peers.iter().all(|(_, _, last)| last.len() == REASON_MAX));
        // The one that never stops, and the last ones of the others.
        assert_eq!((peers[0].0, peers[0].1[&FaultKind::Request]), (first, 1000));
        assert_eq!(peers[1].0[..4], 937_u32.to_be_bytes());
        faults.forget(peers[0].0);
        faults.note([9; 12], FaultKind::Goal, "late");
        assert_eq!(faults.peers().len(), PEERS_MAX);
    }

    #[test]
    fn text_names_nodes_counts_and_the_last_fault() {
        let counts = BTreeMap::from([(FaultKind::Goal, 2), (FaultKind::Name, 1)]);
        let node = |name: &str| NodeName { namespace: "/".into(), name: name.into() };
        let mut faults =
            PeerFaults { participant: Guid::from_bytes([1; 16]), nodes: vec![node("a")], counts, last: "x".into() };
        assert_eq!(faults.to_string(), "node /a sent malformed names (1), goals (2); the last: x");
        faults.nodes.push(node("b"));
        assert!(faults.to_string().starts_with("node /a or 1 others of its program sent"));
    }
}
