//! Questions for types, and answers (XTYPES 1.3, 7.6.3.3): the TypeLookup service, both sides.
//!
//! Each participant is asked one question at a time, for [`TYPES_PER_REQUEST`] types at most. It is repeated
//! [`ATTEMPTS_MAX`] times, [`REPEAT_AFTER`] apart; types that nobody has described by then are unavailable, and names decide.
//!
//! An answer goes to everybody, as the service is a topic; it is taken in by who has asked. It has [`REPLY_BYTES_MAX`] bytes of
//! types at most. Answers are kept until they are acknowledged, 64 at most.
//!
//! Old versions of Cyclone DDS crash when an answer describes an `int8`, a `uint8` or a wide string, whoever has asked. As long as one of
//! them is known, types with such members are not described to anybody: names decide for who does not know them.

use super::Participant;
use crate::discovery::{
    BuiltinEndpoints, BuiltinTopic, LookupCall, LookupReply, LookupRequest, LookupReturn, ParticipantEvent,
};
use crate::history::HistorySample;
use crate::types::{Duration, EntityId, Guid, GuidPrefix, InstanceHandle, Instant, Now, SequenceNumber};
use crate::wire::SampleIdentity;
use crate::xtypes::{ComponentId, Primitive, Refused, TypeGraph, TypeIdentifier, TypeObject, TypeWithSize};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Types that one question asks for.
const TYPES_PER_REQUEST: usize = 64;
/// Types of others that wait to be asked for, of one participant.
const WAITING_MAX: usize = 1_024;
/// How often a question is put.
const ATTEMPTS_MAX: u32 = 3;
/// How long an answer may take. The topics are reliable: it is only lost if somebody has overrun the other.
const REPEAT_AFTER: Duration = Duration::from_secs(1);
/// Bytes of types in an answer, but for a single type that has more. What is left out is asked for again.
const REPLY_BYTES_MAX: usize = 48 << 10;
/// Names of types in an answer.
const DEPENDENCIES_PER_REPLY: usize = 512;
/// Types that contain each other.
const COMPONENT_MAX: i32 = 256;

/// What others have been asked of their types.
#[derive(Debug, Default)]
pub(super) struct TypeQuestions {
    by_participant: BTreeMap<GuidPrefix, Question>,
    /// The number of the last question.
    last: i64,
    /// Whose answers an application waits for.
    awaited: BTreeSet<GuidPrefix>,
}

/// What a participant has been asked, or will be.
#[derive(Debug, Default)]
struct Question {
    waiting: BTreeSet<TypeIdentifier>,
    asked: Option<Asked>,
}

/// A question that is not answered yet.
#[derive(Debug)]
struct Asked {
    types: BTreeSet<TypeIdentifier>,
    number: i64,
    attempts: u32,
    repeat_at: Option<Instant>,
}

/// What is known of the type of an endpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypeResolution {
    /// All of it.
    Known {
        /// Its name.
        root: TypeIdentifier,
        /// It and all that it is made of.
        types: BTreeMap<TypeIdentifier, Arc<TypeObject>>,
    },
    /// Its participant has been asked. [`ParticipantEvent::TypesDescribed`] says when to look again.
    Asked,
    /// It is not announced, or its participant does not describe it.
    Unavailable,
    /// There is no such endpoint.
    NoEndpoint,
}

impl TypeQuestions {
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.by_participant.values().filter_map(|question| question.asked.as_ref()?.repeat_at).min()
    }

    pub(super) fn forget(&mut self, prefix: GuidPrefix) {
        self.by_participant.remove(&prefix);
        self.awaited.remove(&prefix);
    }
}

impl Participant {
    /// Adds a type of ours: from now on it is described to whoever asks, and compared with those of others.
    pub fn add_type(&mut self, graph: &TypeGraph) {
        self.matching.types_mut().store.add_own(graph);
    }

    /// What is known of the type of an endpoint, ours or another's, by its complete description. What is missing is asked for.
    pub fn resolve_type(&mut self, now: Now, endpoint: Guid) -> TypeResolution {
        let writer = self.matching.writer(endpoint).map(|writer| &writer.data.endpoint);
        let Some(data) = writer.or_else(|| self.matching.reader(endpoint).map(|reader| &reader.data.endpoint)) else {
            return TypeResolution::NoEndpoint;
        };
        let Some(information) = data.type_information.clone() else { return TypeResolution::Unavailable };
        let root = information.complete.ty.id.clone();
        if !root.is_hash() {
            return TypeResolution::Unavailable;
        }
        let prefix = endpoint.prefix;
        let (known, missing) = self.matching.types().store.graph_of(&root);
        if missing.is_empty() {
            return TypeResolution::Known { root, types: known };
        }
        let types = self.matching.types_mut();
        if prefix == self.config.prefix || missing.iter().any(|id| types.is_unavailable(prefix, id)) {
            return TypeResolution::Unavailable;
        }
        types.want(prefix, &root, information.complete.dependencies.iter().map(|dependency| &dependency.id));
        self.questions.awaited.insert(prefix);
        self.ask_for_types(now);
        match missing.iter().any(|id| self.matching.types().is_unavailable(prefix, id)) {
            true => TypeResolution::Unavailable,
            false => TypeResolution::Asked,
        }
    }

    /// Asks for what is wanted. Who has no service is not asked, and what it has not told is unavailable.
    pub(super) fn ask_for_types(&mut self, now: Now) {
        // Each round makes something unavailable, or asks: what is unavailable is not wanted again.
        loop {
            let wanted = self.matching.types_mut().take_wanted();
            if wanted.is_empty() {
                return self.ask_next(now);
            }
            let mut is_refused = false;
            for (prefix, types) in wanted {
                if !self.describes_types(prefix) {
                    self.counters.types_unavailable += types.len() as u64;
                    self.matching.types_mut().set_all_unavailable(prefix);
                    is_refused = true;
                    continue;
                }
                let question = self.questions.by_participant.entry(prefix).or_default();
                for id in types {
                    let is_asked = question.asked.as_ref().is_some_and(|asked| asked.types.contains(&id));
                    if !is_asked && question.waiting.len() < WAITING_MAX {
                        question.waiting.insert(id);
                    }
                }
            }
            self.ask_next(now);
            if !is_refused {
                return;
            }
            self.matching.judge_pending();
        }
    }

    fn describes_types(&self, prefix: GuidPrefix) -> bool {
        let service = BuiltinEndpoints::TYPE_REQUEST_READER.union(BuiltinEndpoints::TYPE_REPLY_WRITER);
        self.peers.get(&prefix).is_some_and(|peer| peer.data.builtin_endpoints.contains(service))
    }

    fn set_unavailable(&mut self, prefix: GuidPrefix, id: TypeIdentifier) {
        self.counters.types_unavailable += 1;
        self.matching.types_mut().set_unavailable(prefix, id);
    }

    /// Puts a question to everybody of whom something is wanted, and who has none to answer.
    fn ask_next(&mut self, now: Now) {
        let mut requests = Vec::new();
        self.questions.by_participant.retain(|_, question| question.asked.is_some() || !question.waiting.is_empty());
        for (prefix, question) in &mut self.questions.by_participant {
            // Who has not answered anything yet is asked when it does.
            let is_there = self.peers.get(prefix).is_some_and(|peer| peer.has_answered);
            if !is_there || question.asked.is_some() || question.waiting.is_empty() {
                continue;
            }
            let rest = question.waiting.iter().nth(TYPES_PER_REQUEST).cloned();
            let rest = rest.map(|first| question.waiting.split_off(&first)).unwrap_or_default();
            let types = std::mem::replace(&mut question.waiting, rest);
            self.questions.last += 1;
            let number = self.questions.last;
            requests.push((*prefix, number, types.clone()));
            question.asked = Some(Asked { types, number, attempts: 1, repeat_at: now.instant.after(REPEAT_AFTER) });
        }
        for (prefix, number, types) in requests {
            self.send_type_request(now, prefix, number, &types);
        }
    }

    fn send_type_request(&mut self, now: Now, prefix: GuidPrefix, number: i64, types: &BTreeSet<TypeIdentifier>) {
        let writer = Guid::new(self.config.prefix, EntityId::TYPE_REQUEST_WRITER);
        let request = LookupRequest {
            id: SampleIdentity { writer, sequence_number: SequenceNumber(number) },
            instance_name: LookupRequest::instance_of(prefix),
            call: LookupCall::Types(types.iter().flat_map(each_of_component).collect()),
        };
        let mut payload = Vec::new();
        match request.encode_payload(&mut payload) {
            Ok(()) => self.publish(now, BuiltinTopic::TypeRequests, InstanceHandle::NIL, &payload),
            Err(_) => self.counters.unpublished += 1,
        }
    }

    /// Repeats questions that have not been answered in time, or gives up.
    pub(super) fn ask_again_for_types(&mut self, now: Now) {
        let (mut repeated, mut given_up) = (Vec::new(), Vec::new());
        for (prefix, question) in &mut self.questions.by_participant {
            let Some(asked) =
                question.asked.as_mut().filter(|asked| asked.repeat_at.is_some_and(|at| at <= now.instant))
            else {
                continue;
            };
            if asked.attempts < ATTEMPTS_MAX {
                asked.attempts += 1;
                asked.repeat_at = now.instant.after(REPEAT_AFTER);
                repeated.push((*prefix, asked.number, asked.types.clone()));
            } else if let Some(asked) = question.asked.take() {
                given_up.push((*prefix, asked.types));
            }
        }
        for (prefix, number, types) in repeated {
            self.send_type_request(now, prefix, number, &types);
        }
        for (prefix, types) in given_up {
            types.into_iter().for_each(|id| self.set_unavailable(prefix, id));
            self.matching.judge_pending();
            self.tell_described(prefix);
            self.ask_next(now);
        }
        self.ask_for_types(now);
    }

    fn tell_described(&mut self, prefix: GuidPrefix) {
        let question = self.questions.by_participant.get(&prefix);
        let is_done = question.is_none_or(|question| question.asked.is_none() && question.waiting.is_empty());
        if is_done && self.questions.awaited.remove(&prefix) {
            self.matching.push_event(ParticipantEvent::TypesDescribed { prefix });
        }
    }

    /// Takes an answer in, if it is one to a question of ours. Cyclone DDS 0.10 names a writer of its own where that of the question
    /// belongs, so what an answer describes counts whosever it is, as it is checked by its hash; but only one that is ours says by its silence
    /// what its sender has not got.
    pub(super) fn take_type_reply(&mut self, sender: GuidPrefix, sample: &HistorySample) {
        let Some(payload) = &sample.payload else { return };
        let Ok(reply) = LookupReply::decode_payload(payload.bytes()) else {
            self.counters.malformed_type_messages += 1;
            return;
        };
        let is_ours = reply.request.writer == Guid::new(self.config.prefix, EntityId::TYPE_REQUEST_WRITER);
        let Some(question) = self.questions.by_participant.get_mut(&sender) else { return };
        let is_answer = |asked: &mut Asked| !is_ours || asked.number == reply.request.sequence_number.0;
        let Some(Asked { mut types, number, attempts, repeat_at }) = question.asked.take_if(is_answer) else { return };
        let asked = types.len();
        if let (0, LookupReturn::Types { types: described, .. }) = (reply.exception, reply.result) {
            self.learn_types(sender, described, &mut types);
        }
        if !is_ours && !types.is_empty() {
            let question = self.questions.by_participant.entry(sender).or_default();
            let has_learned = types.len() < asked;
            question.asked = Some(Asked { types, number, attempts, repeat_at });
            if has_learned {
                self.matching.judge_pending();
            }
            return;
        }
        // What is missing beside what was told may have had no room in the answer.
        match self.questions.by_participant.get_mut(&sender).filter(|_| types.len() < asked) {
            Some(question) => question.waiting.append(&mut types),
            None => types.into_iter().for_each(|id| self.set_unavailable(sender, id)),
        }
        self.matching.judge_pending();
        if self.questions.awaited.contains(&sender) {
            self.matching.push_event(ParticipantEvent::TypesDescribed { prefix: sender });
        }
    }

    /// Takes in what was asked for, and removes it from `asked`.
    fn learn_types(
        &mut self,
        sender: GuidPrefix,
        described: Vec<(TypeIdentifier, TypeObject)>,
        asked: &mut BTreeSet<TypeIdentifier>,
    ) {
        let mut components: BTreeMap<ComponentId, BTreeMap<i32, TypeObject>> = BTreeMap::new();
        for (id, object) in described {
            if let TypeIdentifier::StronglyConnected(component) = id {
                let all = ComponentId { index: 0, ..component };
                let is_asked = asked.iter().any(|id| is_of_component(id, all));
                if is_asked && (1..=component.length.min(COMPONENT_MAX)).contains(&component.index) {
                    components.entry(all).or_default().insert(component.index, object);
                }
            } else if asked.contains(&id) {
                let size = object.to_bytes().map_or(usize::MAX, |bytes| bytes.len());
                let result = self.matching.types_mut().store.add(sender.into(), &id, object, size);
                if self.count_refused(result) {
                    asked.remove(&id);
                }
            }
        }
        for (component, objects) in components {
            let objects: Vec<TypeObject> = objects.into_values().collect();
            let sizes = objects.iter().map(|object| object.to_bytes().map_or(usize::MAX >> 16, |bytes| bytes.len()));
            let size = sizes.fold(0, usize::saturating_add);
            let result = self.matching.types_mut().store.add_component(sender.into(), component, objects, size);
            if self.count_refused(result) {
                asked.retain(|id| !is_of_component(id, component));
            }
        }
    }

    fn count_refused(&mut self, result: Result<(), Refused>) -> bool {
        self.counters.types_refused += u64::from(result.is_err());
        result.is_ok()
    }

    /// Answers a question.
    pub(super) fn take_type_request(&mut self, now: Now, sample: &HistorySample) {
        let Some(payload) = &sample.payload else { return };
        let Ok(request) = LookupRequest::decode_payload(payload.bytes()) else {
            self.counters.malformed_type_messages += 1;
            return;
        };
        if request.is_for_another(self.config.prefix) {
            return;
        }
        let result = match request.call {
            LookupCall::Types(types) => self.describe(&types),
            LookupCall::Dependencies { types, continuation } => self.dependencies(&types, &continuation),
            LookupCall::Unknown => LookupReturn::Unknown,
        };
        let exception = if result == LookupReturn::Unknown { UNKNOWN_OPERATION } else { 0 };
        let reply = LookupReply { request: request.id, exception, result };
        let mut payload = Vec::new();
        match reply.encode_payload(&mut payload) {
            Ok(()) => {
                self.counters.type_requests_answered += 1;
                self.publish(now, BuiltinTopic::TypeReplies, InstanceHandle::NIL, &payload);
            }
            Err(_) => self.counters.unpublished += 1,
        }
    }

    /// The descriptions of our types. Those that are not ours are left out, and what has no room.
    fn describe(&mut self, ids: &[TypeIdentifier]) -> LookupReturn {
        let withholds = !self.participants().all(|other| other.reads_every_type());
        let mut withheld = 0;
        let store = &self.matching.types().store;
        let (mut types, mut complete_to_minimal, mut room) = (Vec::new(), Vec::new(), REPLY_BYTES_MAX);
        let mut seen = BTreeSet::new();
        let is_ours = |id: &&TypeIdentifier| match id {
            TypeIdentifier::StronglyConnected(component) => {
                store.own(&TypeIdentifier::StronglyConnected(ComponentId { index: 1, ..*component })).is_some()
            }
            id => store.own(id).is_some(),
        };
        for id in ids.iter().filter(is_ours).flat_map(each_of_component) {
            let Some(object) = store.own(&id).filter(|_| seen.insert(id.clone())) else { continue };
            if withholds && object.mentions(&is_dangerous) {
                withheld += 1;
                continue;
            }
            let size = object.to_bytes().map_or(usize::MAX, |bytes| bytes.len());
            match room.checked_sub(size.saturating_add(PAIR_BYTES)) {
                Some(left) => room = left,
                None if types.is_empty() => room = 0,
                None => break,
            }
            if let Some(minimal) = store.minimal_of(&id) {
                complete_to_minimal.push((id.clone(), minimal.clone()));
            }
            types.push((id, TypeObject::clone(object)));
        }
        self.counters.types_withheld += withheld;
        LookupReturn::Types { types, complete_to_minimal }
    }

    /// What our types are made of, by names.
    fn dependencies(&self, ids: &[TypeIdentifier], continuation: &[u8]) -> LookupReturn {
        let store = &self.matching.types().store;
        let mut all = BTreeMap::new();
        for id in ids.iter().filter(|id| store.own(id).is_some()).take(TYPES_PER_REQUEST) {
            let (mut made_of, _) = store.graph_of(id);
            made_of.remove(id);
            all.append(&mut made_of);
        }
        let from = continuation.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes)) as usize;
        let end = from.saturating_add(DEPENDENCIES_PER_REPLY);
        let continuation = match all.len() > end {
            true => u32::try_from(end).unwrap_or(u32::MAX).to_le_bytes().to_vec(),
            false => Vec::new(),
        };
        let with_size = |(id, object): (TypeIdentifier, Arc<TypeObject>)| {
            let size = object.to_bytes().map_or(0, |bytes| u32::try_from(bytes.len()).unwrap_or(0));
            TypeWithSize { id, size }
        };
        let types = all.into_iter().skip(from).take(DEPENDENCIES_PER_REPLY).map(with_size).collect();
        LookupReturn::Dependencies { types, continuation }
    }
}

/// What a description must not contain that an old Cyclone DDS may get to see.
fn is_dangerous(id: &TypeIdentifier) -> bool {
    matches!(id, TypeIdentifier::Primitive(Primitive::Int8 | Primitive::UInt8) | TypeIdentifier::String16 { .. })
}

/// Types that contain each other are described together: the name of one asks for all.
fn each_of_component(id: &TypeIdentifier) -> Vec<TypeIdentifier> {
    match id {
        TypeIdentifier::StronglyConnected(component) => {
            let each = 1..=component.length.min(COMPONENT_MAX);
            each.map(|index| TypeIdentifier::StronglyConnected(ComponentId { index, ..*component })).collect()
        }
        id => vec![id.clone()],
    }
}

fn is_of_component(id: &TypeIdentifier, all: ComponentId) -> bool {
    matches!(id, TypeIdentifier::StronglyConnected(component) if ComponentId { index: 0, ..*component } == all)
}

/// Bytes of two names and what is around them in an answer.
const PAIR_BYTES: usize = 96;
/// REMOTE_EX_UNKNOWN_OPERATION (DDS-RPC 1.0, 7.5.1.1.1).
const UNKNOWN_OPERATION: i32 = 4;
