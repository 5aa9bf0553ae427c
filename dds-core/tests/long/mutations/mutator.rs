//! Creates faulty datagrams from good ones. It takes them apart into submessages, changes a few places, and joins them
//! again. The rest stays valid, so the parser meets the faults deep inside.

use crate::simulated::Random;
use std::collections::HashMap;

/// An original datagram, and the positions of the names that are replaced.
pub(crate) struct Original {
    bytes: Vec<u8>,
    /// Positions of the sender's prefix, except the header.
    source: Vec<usize>,
    /// Positions of the receivers' prefix.
    target: Vec<usize>,
    /// Whether it was recorded from the participants of this test, so that they know its entity ids.
    is_ours: bool,
}

/// Participants that take part.
pub(crate) struct Cast {
    /// The participant that is fed.
    pub(crate) victim: Prefix,
    /// A known and matched participant. Half of the datagrams carry its name.
    pub(crate) impersonated: Prefix,
    /// The participant whose traffic must not suffer. No datagram carries its name.
    pub(crate) honest: Prefix,
}

pub(crate) struct Mutator {
    pub(crate) random: Random,
    /// By class, and within it captures and own datagrams, so that each group gets its share.
    originals: [[Vec<Original>; 2]; 3],
    /// Ids of endpoints that exist.
    ids: Vec<[u8; 4]>,
    /// Grows, so that each count is new to its receiver.
    count: u32,
    /// Approximate next sequence number of each writer of the impersonated participant.
    numbers: HashMap<[u8; 4], i64>,
}

type Prefix = [u8; 12];

#[derive(Clone)]
struct Part {
    id: u8,
    flags: u8,
    /// `None`: the actual length.
    len: Option<u16>,
    body: Vec<u8>,
}

const ACKNACK: u8 = 0x06;
const HEARTBEAT: u8 = 0x07;
const GAP: u8 = 0x08;
const INFO_TS: u8 = 0x09;
const INFO_SRC: u8 = 0x0c;
const INFO_REPLY_IP4: u8 = 0x0d;
const INFO_DST: u8 = 0x0e;
const INFO_REPLY: u8 = 0x0f;
const NACK_FRAG: u8 = 0x12;
const HEARTBEAT_FRAG: u8 = 0x13;
const DATA: u8 = 0x15;
const DATA_FRAG: u8 = 0x16;
const IDS: [u8; 22] = [
    0x00,
    0x01,
    ACKNACK,
    HEARTBEAT,
    GAP,
    INFO_TS,
    INFO_SRC,
    INFO_REPLY_IP4,
    INFO_DST,
    INFO_REPLY,
    NACK_FRAG,
    HEARTBEAT_FRAG,
    DATA,
    DATA_FRAG,
    0x30,
    0x31,
    0x32,
    0x33,
    0x34,
    0x02,
    0x80,
    0xff,
];
const PARAMETERS: [u16; 60] = [
    0x0000, 0x0001, 0x0002, 0x0004, 0x0005, 0x0006, 0x0007, 0x000f, 0x0015, 0x0016, 0x001a, 0x001b, 0x001d, 0x001e,
    0x001f, 0x0021, 0x0023, 0x0025, 0x0027, 0x0029, 0x002b, 0x002c, 0x002d, 0x002e, 0x002f, 0x0030, 0x0031, 0x0032,
    0x0033, 0x0040, 0x0041, 0x0043, 0x0044, 0x0048, 0x0049, 0x0050, 0x0055, 0x0056, 0x0057, 0x0058, 0x0059, 0x005a,
    0x0061, 0x0062, 0x0063, 0x0064, 0x0065, 0x0066, 0x0070, 0x0071, 0x0072, 0x0073, 0x0074, 0x0075, 0x0077, 0x0083,
    0x4014, 0x7fff, 0x8000, 0x800f,
];
/// Most invented participants. The participant would refuse more, because there are too many.
const STRANGERS: usize = 48;
/// Numbers of changes in a datagram. Datagrams without a change keep the conversation going.
const CHANGES: [usize; 6] = [0, 1, 1, 1, 2, 3];
const DATAGRAM_MAX: usize = 65_507;

impl Original {
    /// Returns `None` if `bytes` are not an RTPS message.
    pub(crate) fn new(bytes: &[u8], is_ours: bool) -> Option<Self> {
        let source: Prefix = bytes.get(8..20)?.try_into().ok()?;
        let target = parts_of(bytes)
            .iter()
            .find(|part| part.id == INFO_DST)
            .and_then(|part| part.body.get(..12)?.try_into().ok());
        let find = |prefix: Prefix| {
            let places = bytes.windows(12).enumerate().skip(20);
            places.filter(|(_, window)| *window == prefix).map(|(at, _)| at).collect()
        };
        // A datagram that names itself or no target as its destination has no receiver to replace.
        let target = target.filter(|target| *target != [0; 12] && *target != source).map_or_else(Vec::new, find);
        Some(Self { bytes: bytes.to_vec(), source: find(source), target, is_ours })
    }

    /// Effect on a reader: 0 uses samples, 1 uses announcements of samples, 2 discovers an entity.
    fn class(&self) -> usize {
        let parts = parts_of(&self.bytes);
        let is_for_users = |part: &&Part| {
            let writer = entity_ids(part.id)[1];
            names_endpoints(part.id) && part.body.get(writer + 3).is_some_and(|kind| kind & 0xc0 == 0)
        };
        // DATA decides the class if the datagram has any, because a sample is the deepest effect.
        match parts.iter().filter(is_for_users).map(|part| part.id).min_by_key(|id| *id != DATA) {
            Some(DATA) => 0,
            Some(_) => 1,
            None => 2,
        }
    }
}

impl Mutator {
    pub(crate) fn new(seed: u64, originals: Vec<Original>, ids: Vec<[u8; 4]>) -> Self {
        let mut by_class = <[[Vec<Original>; 2]; 3]>::default();
        for original in originals {
            by_class[original.class()][usize::from(original.is_ours)].push(original);
        }
        // A class without originals would leave a part of the parser untested.
        let is_rich = |originals: &Vec<Original>| originals.len() >= 5;
        assert!(by_class.as_flattened().iter().all(is_rich), "something is missing among the originals");
        Self { random: Random(seed), originals: by_class, ids, count: 1_000, numbers: HashMap::new() }
    }

    /// Starts a newly impersonated participant, whose sequence numbers begin at 1.
    pub(crate) fn begin_anew(&mut self) {
        self.count = 1_000;
        self.numbers.clear();
    }

    /// Writes the next faulty datagram into `into`.
    pub(crate) fn next(&mut self, cast: &Cast, into: &mut Vec<u8>) {
        let from = self.source(cast);
        let mut parts = self.parts(from, cast);
        for part in &mut parts {
            self.refresh(part);
        }
        let changes = *self.random.one_of(&CHANGES);
        for _ in 0..changes {
            self.change(&mut parts, from, cast);
        }
        into.clear();
        // RTPS 2.5 with a vendor id.
        into.extend_from_slice(b"RTPS\x02\x05\x01\x10");
        into.extend_from_slice(&from);
        // Faults in the header are rare, because the receiver drops such a datagram at once.
        if self.random.once_in(200) {
            let at = self.random.below(20);
            into[at] ^= 1 << self.random.below(8);
        }
        for part in &parts {
            let len = part.len.unwrap_or(part.body.len().min(0xffff) as u16);
            into.extend_from_slice(&[part.id, part.flags]);
            into.extend_from_slice(&if part.flags & 1 != 0 { len.to_le_bytes() } else { len.to_be_bytes() });
            into.extend_from_slice(&part.body);
        }
        // A datagram may be cut anywhere.
        if self.random.once_in(20) {
            let len = self.random.below(into.len());
            into.truncate(len);
        }
        if self.random.once_in(20) {
            let at = self.random.below(into.len());
            if let Some(byte) = into.get_mut(at) {
                *byte = self.random.next() as u8;
            }
        }
        into.truncate(DATAGRAM_MAX);
        // The changes above may have produced the honest name by chance.
        self.spare_the_honest(cast, into);
    }

    /// Selects the impersonated participant half of the time.
    fn source(&mut self, cast: &Cast) -> Prefix {
        match self.random.below(20) {
            0..10 => cast.impersonated,
            10 => cast.victim,
            11 => [0; 12],
            _ => {
                let mut prefix = [0x77; 12];
                prefix[11] = self.random.below(STRANGERS) as u8;
                prefix
            }
        }
    }

    fn parts(&mut self, from: Prefix, cast: &Cast) -> Vec<Part> {
        let [class, whose] = [self.random.below(3), self.random.below(2)];
        let original = self.random.one_of(&self.originals[class][whose]);
        let is_ours = original.is_ours;
        let mut bytes = original.bytes.clone();
        for (places, prefix) in [(&original.source, from), (&original.target, cast.victim)] {
            places.iter().for_each(|&at| bytes[at..at + 12].copy_from_slice(&prefix));
        }
        let mut parts = parts_of(&bytes);
        // Other implementations use other entity ids, so most of theirs are replaced by known ones.
        if !is_ours && !self.random.once_in(4) {
            for part in parts.iter_mut().filter(|part| names_endpoints(part.id)) {
                let [reader_at, writer_at] = entity_ids(part.id);
                // Writers and readers alternate in the list.
                let topic = self.random.below(self.ids.len() / 2) * 2;
                for (at, id) in [(writer_at, self.ids[topic]), (reader_at, self.ids[topic + 1])] {
                    // Discovery endpoints have the same ids everywhere, and ENTITYID_UNKNOWN addresses every endpoint.
                    if part.body.get(at + 3).is_some_and(|kind| kind & 0xc0 == 0 && *kind != 0) {
                        put(&mut part.body, at, &id);
                    }
                }
            }
        }
        parts
    }

    /// Sets sequence numbers and counts to values that are new to the receiver.
    fn refresh(&mut self, part: &mut Part) {
        // Some datagrams keep their old numbers, as duplicates of a network do.
        if self.random.once_in(5) {
            return;
        }
        self.count += 1;
        let little = part.flags & 1 != 0;
        let writer_at = if names_endpoints(part.id) { entity_ids(part.id)[1] } else { 0 };
        let writer = part.body.get(writer_at..writer_at + 4).and_then(|id| id.try_into().ok()).unwrap_or_default();
        let number = self.numbers.entry(writer).or_insert(1);
        match part.id {
            DATA => {
                *number += i64::from(!self.random.once_in(4));
                put_number(part, 12, *number);
            }
            // Many fragments make one sample.
            DATA_FRAG => {
                *number += i64::from(self.random.once_in(40));
                put_number(part, 12, *number);
            }
            HEARTBEAT => {
                put_number(part, 8, *number - self.random.below(3) as i64);
                put_number(part, 16, *number);
                put_u32(&mut part.body, 24, self.count, little);
            }
            HEARTBEAT_FRAG => {
                put_number(part, 8, *number);
                put_u32(&mut part.body, 20, self.count, little);
            }
            GAP => {
                put_number(part, 8, *number);
                put_number(part, 16, *number + self.random.below(2) as i64);
            }
            ACKNACK => {
                put_number(part, 8, i64::from(self.count % 64));
                let end = part.body.len().saturating_sub(4);
                put_u32(&mut part.body, end, self.count, little);
            }
            NACK_FRAG => {
                let end = part.body.len().saturating_sub(4);
                put_u32(&mut part.body, end, self.count, little);
            }
            _ => {}
        }
    }

    fn change(&mut self, parts: &mut Vec<Part>, from: Prefix, cast: &Cast) {
        // The list may be empty after a removal, so every arm checks it.
        let at = self.random.below(parts.len());
        match self.random.below(24) {
            0 if !parts.is_empty() => drop(parts.remove(at)),
            1 if !parts.is_empty() && parts.len() < 40 => parts.push(parts[at].clone()),
            2 if !parts.is_empty() => {
                let other = self.random.below(parts.len());
                parts.swap(at, other);
            }
            3 | 4 if parts.len() < 40 => {
                let mut others = self.parts(from, cast);
                if !others.is_empty() {
                    let other = others.swap_remove(self.random.below(others.len()));
                    parts.insert(at, other);
                }
            }
            5 if parts.len() < 40 => {
                let part = self.interpreter(from, cast);
                parts.insert(at, part);
            }
            _ => {
                if let Some(part) = parts.get_mut(at) {
                    self.change_part(part, cast);
                }
            }
        }
    }

    /// A submessage that changes the interpretation of the following ones.
    fn interpreter(&mut self, from: Prefix, cast: &Cast) -> Part {
        // A wrong source or destination applies to all submessages behind it.
        let prefix = *self.random.one_of(&[from, cast.victim, cast.honest, [0; 12]]);
        let id = *self.random.one_of(&[0x00, 0x01, INFO_TS, INFO_SRC, INFO_REPLY_IP4, INFO_DST, INFO_REPLY, 0x31]);
        let body = match id {
            INFO_DST => prefix.to_vec(),
            INFO_SRC => [&[0, 0, 0, 0, 2, 1, 1, 0x10][..], &prefix].concat(),
            INFO_TS => self.random.next().to_le_bytes().to_vec(),
            INFO_REPLY_IP4 => [&self.random.one_of(&[[3, 0, 0, 10], [1, 0, 0, 127]])[..], &[0xf3, 0x1c, 0, 0]].concat(),
            INFO_REPLY => {
                let kind = *self.random.one_of(&[1, 2, 16, u32::MAX]);
                let address = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 10, 77, 0, self.random.below(6) as u8];
                [&[1, 0, 0, 0][..], &kind.to_le_bytes(), &7411u32.to_le_bytes(), &address].concat()
            }
            _ => (0..self.random.below(32)).map(|_| self.random.next() as u8).collect(),
        };
        Part { id, flags: self.random.next() as u8 | 1, len: None, body }
    }

    fn change_part(&mut self, part: &mut Part, cast: &Cast) {
        match self.random.below(16) {
            0 => part.flags ^= 1 << self.random.below(8),
            1 if self.random.once_in(4) => part.id = *self.random.one_of(&IDS),
            2 => {
                let len = part.body.len() as u16;
                let lens = [
                    0,
                    1,
                    4,
                    len.wrapping_sub(1),
                    len.wrapping_sub(4),
                    len.wrapping_add(1),
                    len.wrapping_add(4),
                    0xffff,
                ];
                part.len = Some(*self.random.one_of(&lens));
            }
            3 => {
                let len = self.random.below(part.body.len());
                part.body.truncate(len);
            }
            4 | 5 => self.change_entity_id(part),
            6..9 if matches!(part.id, DATA | DATA_FRAG) => self.change_parameters(part, cast),
            9 if matches!(part.id, DATA | DATA_FRAG) => self.change_encapsulation(part),
            _ => self.change_field(part),
        }
    }

    fn change_entity_id(&mut self, part: &mut Part) {
        // Other submessages have no entity ids.
        if !names_endpoints(part.id) {
            return;
        }
        let at = *self.random.one_of(&entity_ids(part.id));
        let id = match self.random.below(4) {
            0 => [0; 4],
            1 if self.random.once_in(4) => (self.random.next() as u32).to_be_bytes(),
            _ => *self.random.one_of(&self.ids),
        };
        put(&mut part.body, at, &id);
    }

    /// Sets a number, a base, a count or a size to an extreme value.
    fn change_field(&mut self, part: &mut Part) {
        let (numbers, words, halves): (&[usize], &[usize], &[usize]) = match part.id {
            DATA => (&[12], &[], &[0, 2]),
            DATA_FRAG => (&[12], &[20, 28], &[0, 2, 24, 26]),
            HEARTBEAT => (&[8, 16], &[24], &[]),
            HEARTBEAT_FRAG => (&[8], &[16, 20], &[]),
            ACKNACK => (&[8], &[16, 20, 24], &[]),
            GAP => (&[8, 16], &[24, 28], &[]),
            NACK_FRAG => (&[8], &[16, 20, 24, 28], &[]),
            _ => (&[], &[0, 4], &[0, 4, 6]),
        };
        let little = part.flags & 1 != 0;
        // `which` selects one field among all three sizes.
        let which = self.random.below(numbers.len() + words.len() + halves.len());
        if let Some(&at) = numbers.get(which) {
            let now = number(part, at);
            let near = now.wrapping_add(self.random.below(600) as i64 - 300);
            let extremes = [
                0,
                1,
                -1,
                i64::MIN,
                i64::MAX,
                i64::MAX - 1,
                1 << 32,
                (1 << 32) - 1,
                1 << 31,
                1 << 62,
                near,
                now + 255,
                now + 256,
            ];
            let value =
                if self.random.once_in(2) { *self.random.one_of(&extremes) } else { now + self.random.below(3) as i64 };
            put_number(part, at, value);
        } else if let Some(&at) = words.get(which.wrapping_sub(numbers.len())) {
            let near = self.random.below(600) as u32;
            let values = [0, 1, 2, 255, 256, 257, 0x7fff_ffff, 0x8000_0000, u32::MAX, u32::MAX - 1, 65_536, near, near];
            put_u32(&mut part.body, at, *self.random.one_of(&values), little);
        } else if let Some(&at) = halves.get(which.wrapping_sub(numbers.len() + words.len())) {
            let value = *self.random.one_of(&[0u16, 1, 4, 15, 16, 17, 20, 0x7fff, 0x8000, 0xffff, 1024, 100]);
            put(&mut part.body, at, &if little { value.to_le_bytes() } else { value.to_be_bytes() });
        }
    }

    fn change_encapsulation(&mut self, part: &mut Part) {
        let Some(at) = payload(part) else { return };
        // The first byte is nonzero only in half of the cases, because few encapsulations use it.
        let kind = [self.random.below(2) as u8 * self.random.below(256) as u8, self.random.below(16) as u8];
        put(&mut part.body, at, &kind);
        if self.random.once_in(4) {
            put(&mut part.body, at + 2, &[self.random.next() as u8, self.random.next() as u8]);
        }
    }

    /// Changes a parameter of the inline QoS or of discovery data.
    fn change_parameters(&mut self, part: &mut Part, cast: &Cast) {
        let little = part.flags & 1 != 0;
        let list = match payload(part) {
            Some(at) if part.body.get(at) == Some(&0) && part.body.get(at + 1).is_some_and(|kind| kind & 2 != 0) => {
                Some((at + 4, part.body[at + 1] & 1 != 0))
            }
            _ if part.flags & 2 != 0 => Some((inline_qos(part.id), little)),
            _ => None,
        };
        // Without a parameter list, any field serves.
        let Some((start, little)) = list else { return self.change_field(part) };
        let parameters = parameters(&part.body, start, little);
        let Some(&(at, len)) = parameters.get(self.random.below(parameters.len())) else { return };
        match self.random.below(8) {
            0 => {
                let id = *self.random.one_of(&PARAMETERS) | (u16::from(self.random.once_in(6)) << 14);
                put(&mut part.body, at, &if little { id.to_le_bytes() } else { id.to_be_bytes() });
            }
            1 => {
                let lens = [0, 1, 3, 4, 8, len.wrapping_sub(4), len.wrapping_add(4), 0x7fff, 0xfffc, 0xffff];
                let len = *self.random.one_of(&lens) as u16;
                put(&mut part.body, at + 2, &if little { len.to_le_bytes() } else { len.to_be_bytes() });
            }
            2 => drop(part.body.drain(at..at + 4 + len)),
            3 => {
                let again = part.body[at..at + 4 + len].to_vec();
                part.body.splice(at..at, again);
            }
            4 => {
                let prefix = *self.random.one_of(&[cast.victim, cast.honest, cast.impersonated, [0; 12]]);
                put(&mut part.body, at + 4, &prefix);
            }
            _ => {
                let within = at + 4 + self.random.below(len.max(4)) / 4 * 4;
                let value = *self.random.one_of(&[0, 1, 2, 7, 0x7fff_ffff, 0x8000_0000, u32::MAX, 0xffff, 65_537]);
                put_u32(&mut part.body, within, value, little);
            }
        }
    }

    /// Ensures that no datagram carries the name of the honest participant.
    fn spare_the_honest(&mut self, cast: &Cast, bytes: &mut [u8]) {
        if bytes.get(8..20) == Some(&cast.honest) {
            bytes[8..20].copy_from_slice(&cast.impersonated);
        }
        for at in 20..bytes.len().saturating_sub(23).max(20) {
            // INFO_SRC may begin anywhere: its id, then the prefix behind version and vendor.
            if bytes[at] == INFO_SRC && bytes.get(at + 12..at + 24) == Some(&cast.honest) {
                bytes[at + 12] ^= 0xff;
            }
        }
    }
}

/// The submessages of a datagram, as far as their lengths are valid.
fn parts_of(bytes: &[u8]) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut rest = bytes.get(20..).unwrap_or_default();
    while let [id, flags, a, b, behind @ ..] = rest {
        let len = if flags & 1 != 0 { u16::from_le_bytes([*a, *b]) } else { u16::from_be_bytes([*a, *b]) };
        let len = match len {
            // Length 0 means the rest of the datagram, except for PAD and INFO_TS (RTPS 2.5, 9.4.5.1.3).
            0 if !matches!(*id, 0x01 | INFO_TS) => behind.len(),
            len => usize::from(len).min(behind.len()),
        };
        parts.push(Part { id: *id, flags: *flags, len: None, body: behind[..len].to_vec() });
        rest = &behind[len..];
    }
    parts
}

fn names_endpoints(id: u8) -> bool {
    matches!(id, ACKNACK | HEARTBEAT | GAP | NACK_FRAG | HEARTBEAT_FRAG | DATA | DATA_FRAG)
}

/// Offsets of the reader id and the writer id.
fn entity_ids(id: u8) -> [usize; 2] {
    if matches!(id, DATA | DATA_FRAG) { [4, 8] } else { [0, 4] }
}

/// Offset of the inline QoS.
fn inline_qos(id: u8) -> usize {
    if id == DATA { 20 } else { 32 }
}

/// Offset of the payload.
fn payload(part: &Part) -> Option<usize> {
    let start = inline_qos(part.id);
    if part.flags & 2 == 0 {
        return Some(start);
    }
    let (at, len) = *parameters(&part.body, start, part.flags & 1 != 0).last()?;
    Some(at + 4 + len + 4)
}

/// Offsets and lengths of the parameters with complete values, without the sentinel.
fn parameters(bytes: &[u8], start: usize, little: bool) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut at = start;
    while let Some([a, b, c, d]) = bytes.get(at..at + 4).and_then(|head| <[u8; 4]>::try_from(head).ok()) {
        let half = |bytes| if little { u16::from_le_bytes(bytes) } else { u16::from_be_bytes(bytes) };
        let len = usize::from(half([c, d]));
        // Id 1 is the sentinel. A parameter beyond the end is incomplete.
        if half([a, b]) == 1 || at + 4 + len > bytes.len() {
            break;
        }
        found.push((at, len));
        at += 4 + len;
    }
    found
}

fn put(body: &mut [u8], at: usize, value: &[u8]) {
    if let Some(place) = body.get_mut(at..at + value.len()) {
        place.copy_from_slice(value);
    }
}

fn put_u32(body: &mut [u8], at: usize, value: u32, little: bool) {
    put(body, at, &if little { value.to_le_bytes() } else { value.to_be_bytes() });
}

/// Writes a sequence number. Its high half comes first, in either byte order.
fn put_number(part: &mut Part, at: usize, value: i64) {
    let little = part.flags & 1 != 0;
    put_u32(&mut part.body, at, (value >> 32) as u32, little);
    put_u32(&mut part.body, at + 4, value as u32, little);
}

fn number(part: &Part, at: usize) -> i64 {
    let half = |at: usize| -> u32 {
        let bytes = part.body.get(at..at + 4).and_then(|bytes| bytes.try_into().ok()).unwrap_or_default();
        if part.flags & 1 != 0 { u32::from_le_bytes(bytes) } else { u32::from_be_bytes(bytes) }
    };
    ((i64::from(half(at)) << 32) | i64::from(half(at + 4))) & i64::MAX >> 1
}
