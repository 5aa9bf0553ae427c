//! The TypeLookup service, both sides: type requests and replies (XTYPES 1.3, 7.6.3.3).
//!
//! Each peer gets one request at a time, for at most [`TYPES_PER_REQUEST`] types. It is sent up to [`ATTEMPTS_MAX`]
//! times, [`REPEAT_AFTER`] apart. Types without a description by then are unavailable, and type names decide.
//!
//! A reply goes to all peers, as the service is a topic; only the requester reads it. It has at most
//! [`REPLY_BYTES_MAX`] bytes of types. At most 64 replies are kept until they are acknowledged.
//!
//! Old versions of Cyclone DDS crash when a reply describes an `int8`, a `uint8` or a wide string, even a reply to
//! another participant. While such a peer is known, types with such members are described to no peer: type names
//! decide for them.

use super::builtin_pairs::BuiltinPairs;
use super::counters::ParticipantCounters;
use super::peer::PeerTable;
use crate::discovery::data::EndpointData;
use crate::discovery::{
    BuiltinEndpoints, BuiltinPairTopic, LookupCall, LookupReply, LookupRequest, LookupReturn, Matching,
    ParticipantEvent,
};
use crate::history::HistorySample;
use crate::types::{Duration, EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Now, SequenceNumber};
use crate::wire::SampleIdentity;
use crate::xtypes::{ComponentId, PrimitiveType, TypeIdentifier, TypeObject, TypeObjectRefused, TypeWithSize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Types of one request.
const TYPES_PER_REQUEST: usize = 64;
/// Most types of one peer that wait for a request.
const WAITING_MAX: usize = 1_024;
/// How often a request is sent.
const ATTEMPTS_MAX: u32 = 3;
/// Time for a reply. The topics are reliable: a message is lost only if one side has overrun the other.
const REPEAT_AFTER: Duration = Duration::from_secs(1);
/// Bytes of types in a reply, unless a single type has more. The requester requests the others again.
const REPLY_BYTES_MAX: usize = 48 << 10;
/// Type identifiers in a reply about dependencies.
const DEPENDENCIES_PER_REPLY: usize = 512;
/// Most types that contain each other.
const COMPONENT_MAX: i32 = 256;
/// Bytes of two type identifiers and their framing in a reply.
const PAIR_BYTES: usize = 96;
/// REMOTE_EX_UNKNOWN_OPERATION (DDS-RPC 1.0, 7.5.1.1.1).
const UNKNOWN_OPERATION: i32 = 4;

/// Type requests to the peers.
#[derive(Debug, Default)]
pub(super) struct TypeLookup {
    by_peer: BTreeMap<GuidPrefix, PeerRequests>,
    /// Number of the last request.
    last: i64,
    /// Peers whose replies the application waits for.
    awaited: BTreeSet<GuidPrefix>,
}

/// The parts of a participant that the service uses.
pub(super) struct LookupContext<'a> {
    pub(super) now: Now,
    pub(super) prefix: GuidPrefix,
    pub(super) matching: &'a mut Matching,
    pub(super) peers: &'a PeerTable,
    pub(super) pairs: &'a mut BuiltinPairs,
    pub(super) counters: &'a mut ParticipantCounters,
}

/// Requests to one peer.
#[derive(Debug, Default)]
struct PeerRequests {
    waiting: BTreeSet<TypeIdentifier>,
    sent: Option<SentRequest>,
}

/// A request without a complete reply.
#[derive(Debug)]
struct SentRequest {
    types: BTreeSet<TypeIdentifier>,
    number: i64,
    attempts: u32,
    repeat_at: Option<Instant>,
}

/// State of the resolution of an endpoint's type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeResolution {
    /// The whole type is known.
    Known {
        /// Its identifier.
        root: TypeIdentifier,
        /// The type and all types that it consists of.
        types: BTreeMap<TypeIdentifier, Arc<TypeObject>>,
    },
    /// A request to its participant is pending. Resolve again after [`ParticipantEvent::TypesDescribed`].
    Asked,
    /// It is not announced, or its participant does not describe it.
    Unavailable,
    /// There is no such endpoint.
    NoEndpoint,
}

impl LookupContext<'_> {
    fn publish(&mut self, topic: BuiltinPairTopic, payload: &[u8]) {
        if !self.pairs.get_mut(topic).publish(self.now, InstanceHandle::NIL, payload) {
            self.counters.unpublished += 1;
        }
    }

    fn describes_types(&self, prefix: GuidPrefix) -> bool {
        let service = BuiltinEndpoints::TYPE_REQUEST_READER.union(BuiltinEndpoints::TYPE_REPLY_WRITER);
        match self.peers.known.get(&prefix) {
            Some(peer) => peer.data.builtin_endpoints.contains(service),
            None => false,
        }
    }

    fn set_unavailable(&mut self, prefix: GuidPrefix, types: BTreeSet<TypeIdentifier>) {
        for id in types {
            self.counters.types_unavailable += 1;
            self.matching.types_mut().set_unavailable(prefix, id);
        }
    }

    fn is_accepted(&mut self, result: Result<(), TypeObjectRefused>) -> bool {
        self.counters.types_refused += u64::from(result.is_err());
        result.is_ok()
    }
}

impl TypeLookup {
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.by_peer.values().filter_map(|requests| requests.sent.as_ref()?.repeat_at).min()
    }

    pub(super) fn forget(&mut self, prefix: GuidPrefix) {
        self.by_peer.remove(&prefix);
        self.awaited.remove(&prefix);
    }

    /// Returns the type of an endpoint from its complete description, and requests missing parts.
    pub(super) fn resolve(&mut self, cx: &mut LookupContext<'_>, endpoint: Guid) -> TypeResolution {
        let Some(data) = endpoint_data(cx.matching, endpoint) else { return TypeResolution::NoEndpoint };
        let Some(information) = data.type_information.clone() else { return TypeResolution::Unavailable };
        let root = information.complete.ty.id.clone();
        if !root.is_hash() {
            return TypeResolution::Unavailable;
        }
        let prefix = endpoint.prefix;
        let (known, missing) = cx.matching.types().store.graph_of(&root);
        if missing.is_empty() {
            return TypeResolution::Known { root, types: known };
        }
        let types = cx.matching.types_mut();
        // A program describes its own types when it adds them, or never.
        if prefix == cx.prefix || missing.iter().any(|id| types.is_unavailable(prefix, id)) {
            return TypeResolution::Unavailable;
        }
        types.add_missing(prefix, &root, information.complete.dependencies.iter().map(|dependency| &dependency.id));
        self.awaited.insert(prefix);
        self.request(cx);
        // The request may have shown that the peer has no service.
        if missing.iter().any(|id| cx.matching.types().is_unavailable(prefix, id)) {
            return TypeResolution::Unavailable;
        }
        TypeResolution::Asked
    }

    /// Requests the missing parts of an endpoint's minimal type, which decides about its matches.
    pub(super) fn request_minimal(&mut self, cx: &mut LookupContext<'_>, endpoint: Guid) {
        let Some(data) = endpoint_data(cx.matching, endpoint) else { return };
        let Some(information) = data.type_information.clone() else { return };
        if endpoint.prefix != cx.prefix && information.minimal.ty.id.is_hash() {
            cx.matching.types_mut().add_missing_minimal(endpoint.prefix, &information);
            self.request(cx);
        }
    }

    /// Requests the missing types. The types of a peer without the service are unavailable.
    pub(super) fn request(&mut self, cx: &mut LookupContext<'_>) {
        // The loop ends: each round makes types unavailable, and these are not requested again.
        loop {
            let missing = cx.matching.types_mut().take_missing();
            if missing.is_empty() {
                return self.send_next(cx);
            }
            let mut has_refused = false;
            for (prefix, types) in missing {
                if !cx.describes_types(prefix) {
                    cx.counters.types_unavailable += types.len() as u64;
                    cx.matching.types_mut().set_all_unavailable(prefix);
                    has_refused = true;
                    continue;
                }
                let requests = self.by_peer.entry(prefix).or_default();
                for id in types {
                    let is_sent = match &requests.sent {
                        Some(sent) => sent.types.contains(&id),
                        None => false,
                    };
                    if !is_sent && requests.waiting.len() < WAITING_MAX {
                        requests.waiting.insert(id);
                    }
                }
            }
            self.send_next(cx);
            if !has_refused {
                return;
            }
            cx.matching.compare_pending();
        }
    }

    /// Sends a request to each peer with waiting types and without an unanswered request.
    fn send_next(&mut self, cx: &mut LookupContext<'_>) {
        self.by_peer.retain(|_, requests| requests.sent.is_some() || !requests.waiting.is_empty());
        for (prefix, requests) in &mut self.by_peer {
            // A peer whose address is not valid may be forged: its request waits.
            let is_reachable = cx.peers.known.contains_key(prefix) && cx.peers.validations.is_valid(*prefix);
            if !is_reachable || requests.sent.is_some() || requests.waiting.is_empty() {
                continue;
            }
            let mut types = std::mem::take(&mut requests.waiting);
            if let Some(first_of_rest) = types.iter().nth(TYPES_PER_REQUEST).cloned() {
                requests.waiting = types.split_off(&first_of_rest);
            }
            debug_assert!(types.len() <= TYPES_PER_REQUEST, "a request is bounded");
            // A reply names the request by this number, which is unique among all peers.
            self.last += 1;
            let number = self.last;
            send_request(cx, *prefix, number, &types);
            let repeat_at = cx.now.instant.after(REPEAT_AFTER);
            requests.sent = Some(SentRequest { types, number, attempts: 1, repeat_at });
        }
    }

    /// Repeats requests without a reply in time, or gives them up.
    pub(super) fn handle_timeout(&mut self, cx: &mut LookupContext<'_>) {
        let mut given_up = Vec::new();
        for (prefix, requests) in &mut self.by_peer {
            let Some(sent) = &mut requests.sent else { continue };
            match sent.repeat_at {
                Some(at) if at <= cx.now.instant => {}
                _ => continue,
            }
            if sent.attempts < ATTEMPTS_MAX {
                sent.attempts += 1;
                sent.repeat_at = cx.now.instant.after(REPEAT_AFTER);
                send_request(cx, *prefix, sent.number, &sent.types);
            } else if let Some(sent) = requests.sent.take() {
                given_up.push((*prefix, sent.types));
            }
        }
        for (prefix, types) in given_up {
            cx.set_unavailable(prefix, types);
            cx.matching.compare_pending();
            self.push_described(cx, prefix);
            self.send_next(cx);
        }
        self.request(cx);
    }

    fn push_described(&mut self, cx: &mut LookupContext<'_>, prefix: GuidPrefix) {
        let is_done = match self.by_peer.get(&prefix) {
            Some(requests) => requests.sent.is_none() && requests.waiting.is_empty(),
            None => true,
        };
        if is_done && self.awaited.remove(&prefix) {
            cx.matching.push_event(ParticipantEvent::TypesDescribed { prefix });
        }
    }

    /// Handles a reply to a request of ours.
    ///
    /// Cyclone DDS 0.10 names a writer of its own in place of the requesting one. So the descriptions in any reply
    /// count, as their hashes are checked. But only a reply to our own request shows which types its sender lacks.
    pub(super) fn handle_reply(&mut self, cx: &mut LookupContext<'_>, sender: GuidPrefix, sample: &HistorySample) {
        // A dispose of a reply describes nothing.
        let Some(payload) = &sample.payload else { return };
        let Ok(reply) = LookupReply::decode_payload(payload.bytes()) else {
            cx.counters.malformed_type_messages += 1;
            return;
        };
        let is_ours = reply.request.writer == Guid::new(cx.prefix, EntityId::TYPE_REQUEST_WRITER);
        // A late reply: the request was repeated and answered, or it timed out.
        let Some(requests) = self.by_peer.get_mut(&sender) else { return };
        let Some(mut sent) = requests.sent.take() else { return };
        if is_ours && sent.number != reply.request.sequence_number.0 {
            // It answers an earlier request of ours, so the present one is still unanswered.
            requests.sent = Some(sent);
            return;
        }
        let requested = sent.types.len();
        if let (0, LookupReturn::Types { types: described, .. }) = (reply.exception, reply.result) {
            add_types(cx, sender, described, &mut sent.types);
        }
        let has_learned = sent.types.len() < requested;
        if !is_ours && !sent.types.is_empty() {
            // It may answer a request of another participant. So it does not show that the sender lacks the other
            // types.
            requests.sent = Some(sent);
            if has_learned {
                cx.matching.compare_pending();
            }
            return;
        }
        if has_learned {
            // The other types may not have fitted into the reply.
            requests.waiting.append(&mut sent.types);
        } else {
            cx.set_unavailable(sender, sent.types);
        }
        cx.matching.compare_pending();
        if self.awaited.contains(&sender) {
            cx.matching.push_event(ParticipantEvent::TypesDescribed { prefix: sender });
        }
    }
}

fn endpoint_data(matching: &Matching, endpoint: Guid) -> Option<&EndpointData> {
    if let Some(writer) = matching.writer(endpoint) {
        return Some(&writer.data.endpoint);
    }
    Some(&matching.reader(endpoint)?.data.endpoint)
}

/// Returns the length of a description on the wire; `None` if it has no encoding.
fn encoded_len(object: &TypeObject) -> Option<usize> {
    Some(object.to_bytes().ok()?.len())
}

fn send_request(cx: &mut LookupContext<'_>, prefix: GuidPrefix, number: i64, types: &BTreeSet<TypeIdentifier>) {
    let writer = Guid::new(cx.prefix, EntityId::TYPE_REQUEST_WRITER);
    let request = LookupRequest {
        id: SampleIdentity { writer, sequence_number: SequenceNumber(number) },
        instance_name: LookupRequest::instance_of(prefix),
        call: LookupCall::Types(types.iter().flat_map(each_of_component).collect()),
    };
    let mut payload = Vec::new();
    match request.encode_payload(&mut payload) {
        Ok(()) => cx.publish(BuiltinPairTopic::TypeRequests, &payload),
        Err(_) => cx.counters.unpublished += 1,
    }
}

/// Adds requested descriptions to the store, and removes them from `requested`.
fn add_types(
    cx: &mut LookupContext<'_>,
    sender: GuidPrefix,
    described: Vec<(TypeIdentifier, TypeObject)>,
    requested: &mut BTreeSet<TypeIdentifier>,
) {
    let mut components: BTreeMap<ComponentId, BTreeMap<i32, TypeObject>> = BTreeMap::new();
    for (id, object) in described {
        if let TypeIdentifier::StronglyConnected(component) = id {
            // Types that contain each other are added together, once all of them are here.
            let all = ComponentId { index: 0, ..component };
            let is_requested = requested.iter().any(|id| is_of_component(id, all));
            if is_requested && (1..=component.length.min(COMPONENT_MAX)).contains(&component.index) {
                components.entry(all).or_default().insert(component.index, object);
            }
        } else if requested.contains(&id) {
            // The store refuses a description without an encoding, because of its size.
            let size = encoded_len(&object).unwrap_or(usize::MAX);
            let result = cx.matching.types_mut().store.add(sender.into(), &id, object, size);
            if cx.is_accepted(result) {
                requested.remove(&id);
            }
        }
    }
    for (component, objects) in components {
        let objects: Vec<TypeObject> = objects.into_values().collect();
        let mut size = 0_usize;
        for object in &objects {
            size = size.saturating_add(encoded_len(object).unwrap_or(usize::MAX >> 16));
        }
        let result = cx.matching.types_mut().store.add_component(sender.into(), component, objects, size);
        if cx.is_accepted(result) {
            requested.retain(|id| !is_of_component(id, component));
        }
    }
}

/// Answers a request.
pub(super) fn handle_request(cx: &mut LookupContext<'_>, sample: &HistorySample) {
    // A dispose of a request asks for no answer.
    let Some(payload) = &sample.payload else { return };
    let Ok(request) = LookupRequest::decode_payload(payload.bytes()) else {
        cx.counters.malformed_type_messages += 1;
        return;
    };
    // The service is a topic, so each request reaches all participants.
    if request.is_for_another(cx.prefix) {
        return;
    }
    let result = match request.call {
        LookupCall::Types(types) => describe(cx, &types),
        LookupCall::Dependencies { types, continuation } => dependencies(cx, &types, &continuation),
        LookupCall::Unknown => LookupReturn::Unknown,
    };
    let exception = if result == LookupReturn::Unknown { UNKNOWN_OPERATION } else { 0 };
    let reply = LookupReply { request: request.id, exception, result };
    let mut payload = Vec::new();
    match reply.encode_payload(&mut payload) {
        Ok(()) => {
            // The reply goes to all peers, because the service is a topic. Others ignore it.
            cx.counters.type_requests_answered += 1;
            cx.publish(BuiltinPairTopic::TypeReplies, &payload);
        }
        Err(_) => cx.counters.unpublished += 1,
    }
}

/// Returns the descriptions of our types, as many as fit. Other types are left out.
fn describe(cx: &mut LookupContext<'_>, ids: &[TypeIdentifier]) -> LookupReturn {
    let withholds = !cx.peers.known.values().all(|peer| peer.data.reads_every_type());
    let mut withheld = 0;
    let store = &cx.matching.types().store;
    let (mut types, mut complete_to_minimal, mut room) = (Vec::new(), Vec::new(), REPLY_BYTES_MAX);
    let mut seen = BTreeSet::new();
    let is_ours = |id: &&TypeIdentifier| match id {
        TypeIdentifier::StronglyConnected(component) => {
            store.own(&TypeIdentifier::StronglyConnected(ComponentId { index: 1, ..*component })).is_some()
        }
        id => store.own(id).is_some(),
    };
    for id in ids.iter().filter(is_ours).flat_map(each_of_component) {
        let Some(object) = store.own(&id) else { continue };
        if !seen.insert(id.clone()) {
            continue;
        }
        if withholds && object.mentions(&crashes_old_cyclone) {
            withheld += 1;
            continue;
        }
        let size = encoded_len(object).unwrap_or(usize::MAX);
        match room.checked_sub(size.saturating_add(PAIR_BYTES)) {
            Some(left) => room = left,
            // A single type may exceed the limit, or its requester would repeat the request forever.
            None if types.is_empty() => room = 0,
            None => break,
        }
        if let Some(minimal) = store.minimal_of(&id) {
            complete_to_minimal.push((id.clone(), minimal.clone()));
        }
        types.push((id, TypeObject::clone(object)));
    }
    cx.counters.types_withheld += withheld;
    LookupReturn::Types { types, complete_to_minimal }
}

/// Returns the identifiers of the types that our types consist of, from `continuation` on.
fn dependencies(cx: &LookupContext<'_>, ids: &[TypeIdentifier], continuation: &[u8]) -> LookupReturn {
    let store = &cx.matching.types().store;
    let mut all = BTreeMap::new();
    for id in ids.iter().filter(|id| store.own(id).is_some()).take(TYPES_PER_REQUEST) {
        let (mut parts, _) = store.graph_of(id);
        parts.remove(id);
        all.append(&mut parts);
    }
    // The point is ours from an earlier reply. Another value only starts somewhere else in the list.
    let from = match continuation.first_chunk() {
        Some(bytes) => u32::from_le_bytes(*bytes) as usize,
        None => 0,
    };
    let end = from.saturating_add(DEPENDENCIES_PER_REPLY);
    let mut continuation = Vec::new();
    if all.len() > end {
        continuation = u32::try_from(end).unwrap_or(u32::MAX).to_le_bytes().to_vec();
    }
    let mut types = Vec::new();
    for (id, object) in all.into_iter().skip(from).take(DEPENDENCIES_PER_REPLY) {
        // The size is a hint for the requester's memory. 0 stands for an unknown one.
        let size = u32::try_from(encoded_len(&object).unwrap_or(0)).unwrap_or(0);
        types.push(TypeWithSize { id, size });
    }
    LookupReturn::Dependencies { types, continuation }
}

/// Whether an old Cyclone DDS crashes when it reads a description with this type.
fn crashes_old_cyclone(id: &TypeIdentifier) -> bool {
    matches!(
        id,
        TypeIdentifier::Primitive(PrimitiveType::Int8 | PrimitiveType::UInt8) | TypeIdentifier::String16 { .. }
    )
}

/// Returns all types of a component for each of them: types that contain each other are described together.
fn each_of_component(id: &TypeIdentifier) -> Vec<TypeIdentifier> {
    let TypeIdentifier::StronglyConnected(component) = id else { return vec![id.clone()] };
    let indexes = 1..=component.length.min(COMPONENT_MAX);
    indexes.map(|index| TypeIdentifier::StronglyConnected(ComponentId { index, ..*component })).collect()
}

fn is_of_component(id: &TypeIdentifier, all: ComponentId) -> bool {
    matches!(id, TypeIdentifier::StronglyConnected(component) if ComponentId { index: 0, ..*component } == all)
}
