//! A model checker drives two handshake machines through all orders of their messages.
//!
//! The network forgets nothing: it delivers each token that was ever sent, any number of times, in any order, or
//! never. Clocks pass the time of a repetition, and one side may restart. The machines are the real ones.

use dds_security::authentication::{
    DataHolder, HandshakeRemote, HandshakeTime, LocalIdentity, LocalParticipant, PeerHandshake, TokenByteOrder,
};
use dds_security::pki::{Issuer, PrivateKey, Validity};
use stateright::{Checker, Model, Property};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

const UNIX: i64 = 1_893_456_000;
const VALIDITY: Validity = Validity { not_before: UNIX - 1000, not_after: UNIX + 1000 };
/// Longer than the longest pause before a repetition.
const TICK: Duration = Duration::from_secs(4);

/// Two participants, the one with the lower GUID first, and bounds of a world.
struct Handshakes {
    participants: [Arc<LocalParticipant>; 2],
    /// Inputs of each side.
    inputs_max: usize,
    restarts_max: usize,
}

/// An input of a machine. A token counts by its bytes.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Input {
    Token(Vec<u8>),
    Tick,
    Restart,
}

#[derive(Clone)]
struct Side {
    machine: PeerHandshake,
    /// All inputs so far. The machine is a function of them, so they identify it.
    inputs: Vec<Input>,
    elapsed: Duration,
    restarts: usize,
}

#[derive(Clone)]
struct World {
    sides: [Side; 2],
    /// All tokens that were sent to each side, by their bytes.
    sent: [BTreeMap<Vec<u8>, DataHolder>; 2],
}

impl PartialEq for World {
    fn eq(&self, other: &Self) -> bool {
        self.sides.each_ref().map(|side| &side.inputs) == other.sides.each_ref().map(|side| &side.inputs)
    }
}

impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.sides.each_ref().map(|side| &side.inputs).hash(state);
    }
}

impl fmt::Debug for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.sides.each_ref().map(|side| &side.inputs)).finish()
    }
}

/// Shows the step of a token, and a part of its hash.
impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Token(bytes) => {
                let text = String::from_utf8_lossy(bytes);
                let step = text.split(['+', '\0']).find(|part| ["AuthReq", "Req", "Reply", "Final"].contains(part));
                let mut hasher = DefaultHasher::new();
                bytes.hash(&mut hasher);
                write!(f, "{} {:04x}", step.unwrap_or_default(), hasher.finish() as u16)
            }
            Self::Tick => f.write_str("tick"),
            Self::Restart => f.write_str("restart"),
        }
    }
}

impl Handshakes {
    fn new(inputs_max: usize, restarts_max: usize) -> Self {
        let authority = Issuer::generate("identity CA", VALIDITY).unwrap();
        let mut participants = ["robot", "station"].map(|name| {
            let key = PrivateKey::generate().unwrap();
            let certificate = authority.issue(name, &key, VALIDITY).unwrap().to_pem();
            let ca = authority.certificate().to_pem();
            let identity = LocalIdentity::new(&ca, &certificate, &key.to_pem(), name.into(), UNIX).unwrap();
            let mut guid = [0; 16];
            guid[..12].copy_from_slice(&identity.prefix(*b"a candidate!"));
            guid[12..].copy_from_slice(&[0, 0, 1, 0xc1]);
            let participant_data = [&[0, 0x50, 0, 16][..], &guid, &[0, 1, 0, 0]].concat();
            Arc::new(LocalParticipant { identity, guid, participant_data })
        });
        participants.sort_by_key(|participant| participant.guid);
        Self { participants, inputs_max, restarts_max }
    }

    /// A machine of a side. Each start has other random bytes.
    fn machine(&self, side: usize, start: usize) -> PeerHandshake {
        let remote = HandshakeRemote { guid: self.participants[1 - side].guid, vendor: [1, 0xdd] };
        PeerHandshake::new(Arc::clone(&self.participants[side]), remote, [(10 * side + start + 1) as u8; 32])
    }
}

impl World {
    fn now(&self, side: usize) -> HandshakeTime {
        HandshakeTime { elapsed: self.sides[side].elapsed, unix: UNIX }
    }

    /// Sends all tokens of a side that are due.
    fn poll(&mut self, side: usize) {
        let now = self.now(side);
        while let Some(token) = self.sides[side].machine.poll(now) {
            self.sent[1 - side].insert(token.to_bytes(TokenByteOrder::Big), token);
        }
    }

    /// Whether both sides have proved their identities to each other, and have one secret.
    fn agrees(&self) -> bool {
        let [one, other] = self.sides.each_ref().map(|side| side.machine.peer());
        one.zip(other).is_some_and(|(one, other)| one.secret == other.secret)
    }

    /// Whether the sides agree after a time in which no token is lost.
    fn can_agree(mut self) -> bool {
        for _ in 0..60 {
            if self.agrees() {
                return true;
            }
            for side in [0, 1] {
                self.sides[side].elapsed += Duration::from_secs(1);
                self.sent[1 - side].clear();
                self.poll(side);
                let now = self.now(1 - side);
                for token in std::mem::take(&mut self.sent[1 - side]).into_values() {
                    // A late token of an earlier exchange is refused.
                    let _ = self.sides[1 - side].machine.handle(&token, now);
                }
            }
        }
        false
    }
}

impl Model for Handshakes {
    type State = World;
    type Action = (usize, Input);

    fn init_states(&self) -> Vec<World> {
        let side =
            |side| Side { machine: self.machine(side, 0), inputs: Vec::new(), elapsed: Duration::ZERO, restarts: 0 };
        let mut world = World { sides: [0, 1].map(side), sent: Default::default() };
        // Both begin.
        [0, 1].into_iter().for_each(|side| world.poll(side));
        vec![world]
    }

    fn actions(&self, world: &World, actions: &mut Vec<(usize, Input)>) {
        for side in [0, 1] {
            if world.sides[side].inputs.len() >= self.inputs_max {
                continue;
            }
            actions.extend(world.sent[side].keys().map(|bytes| (side, Input::Token(bytes.clone()))));
            actions.push((side, Input::Tick));
            if world.sides[side].restarts < self.restarts_max {
                actions.push((side, Input::Restart));
            }
        }
    }

    fn next_state(&self, world: &World, (side, input): (usize, Input)) -> Option<World> {
        let mut next = world.clone();
        let now = next.now(side);
        match &input {
            Input::Token(bytes) => {
                let token = next.sent[side].get(bytes)?.clone();
                // A refused token must change nothing. The properties see it if one does.
                let _ = next.sides[side].machine.handle(&token, now);
            }
            Input::Tick => next.sides[side].elapsed += TICK,
            Input::Restart => {
                next.sides[side].restarts += 1;
                next.sides[side].machine = self.machine(side, next.sides[side].restarts);
            }
        }
        next.sides[side].inputs.push(input);
        next.poll(side);
        Some(next)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        vec![
            Property::always("a proof is that of the other side", |model: &Self, world: &World| {
                [0, 1].into_iter().all(|side| {
                    let proved = world.sides[side].machine.peer();
                    let other = model.participants[1 - side].identity.certificate();
                    proved.is_none_or(|peer| peer.certificate.subject() == other.subject())
                })
            }),
            Property::always("without a restart, two proofs have one secret", |_: &Self, world: &World| {
                let has_restarted = world.sides.iter().any(|side| side.restarts > 0);
                let are_proved = world.sides.iter().all(|side| side.machine.peer().is_some());
                has_restarted || !are_proved || world.agrees()
            }),
            Property::always("the sides can still agree", |_: &Self, world: &World| world.clone().can_agree()),
            Property::sometimes("the sides agree", |_: &Self, world: &World| world.agrees()),
            Property::sometimes("the sides agree after a restart", |model: &Self, world: &World| {
                model.restarts_max == 0 || world.sides.iter().any(|side| side.restarts > 0) && world.agrees()
            }),
        ]
    }
}

#[test]
fn no_order_of_messages_keeps_the_sides_apart() {
    let model = Handshakes::new(3, 0);
    let checked = model.checker().threads(2).spawn_bfs().join();
    println!("{} states without a restart", checked.unique_state_count());
    checked.assert_properties();
    assert!(checked.unique_state_count() > 100);
}

#[test]
fn no_restart_keeps_the_sides_apart() {
    let model = Handshakes::new(3, 1);
    let checked = model.checker().threads(2).spawn_bfs().join();
    println!("{} states with restarts", checked.unique_state_count());
    checked.assert_properties();
    assert!(checked.unique_state_count() > 100);
}
