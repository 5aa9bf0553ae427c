//! Random types from `generate.py`, exchanged with Cyclone DDS's Python in both directions.
//!
//! Each side must read the same value that the other side wrote. Where both follow the standard, the bytes of data,
//! keys, key hashes and TypeObjects are equal.
//!
//! Known differences, where our side follows XTypes 1.3 and reads Cyclone's output:
//!
//! - Parameters in XCDR1 (mutable structures and optional members): Cyclone's Python always writes the long header and
//!   counts padding (7.4.1.2). The bytes differ, but each side reads the other's.
//! - Enums of fewer than 32 bits in XCDR1: Cyclone's Python writes four bytes, its C library the declared size
//!   (7.4.3.2.1). Such types are compared in XCDR2 only.
//! - Appendable types within others in XCDR1: Cyclone's C library treats all following bytes as part of them. It
//!   therefore refuses the output of its own Python. A parameter header prevents that for optional members and mutable
//!   structures. Over RTPS these types use XCDR2 only.
//! - Unions with negative labels of 16 bits: Cyclone's C library refuses them in both encodings.
//! - Keys of appendable and mutable types: Cyclone's Python frames them for the hash. Its C library, this crate and the
//!   standard (7.6.8.4) do not. Such hashes are not compared.
//! - Ids of union members: in Cyclone up to 11.0 they begin with 0, in the standard with 1 (7.3.1.2.1.1). The first
//!   case of our unions declares `id = 0`.
//! - Maps in XCDR2: Cyclone's Python omits the length of maps with non-primitive keys or values (7.4.3.5.3, rule 15).
//!   It also writes a length before `List`s of primitives (rule 11), but not before `types.sequence`, which IDL
//!   produces. Such types are compared with a corrected codec (`standard.py` corrects these two rules only) and with
//!   Cyclone's own output. The two differ exactly where such a member occurs. In XCDR1 all agree.
//! - `bytes` in mutable structures: Cyclone writes another valid length code (XCDR2). Both are accepted.
//! - Aliases are distinct types (7.3.4.5), but not in Rust. They also make final types within others differ (7.2.4.2).
//!   Live topics of such types match by type name.
//!
//! Not compared:
//!
//! - TypeObjects of maps, `List`, `bytes` and unions with a char discriminator: Cyclone's Python has no code for them.
//!   Without TypeObjects it has no topics. Maps in keys do not occur here, because its Python cannot scan such a key.
//! - Some topics that Cyclone's C library refuses: recursive types, unions whose discriminator is their key, a wchar in
//!   the key, and key members after a base with keys. The last case causes a segmentation fault. Codec and TypeObjects
//!   are compared.
//! - Surrogates as wchar: its C library refuses them.
//! - Unions in a key: Cyclone's C library refuses them, and its Python omits each struct in them. Tests of `dds-cdr`
//!   compare derived types with dynamic ones.
//! - `wstring`, `long double`, bitsets, mutable unions and bounds of maps: Cyclone's Python has none of them. Its
//!   `bytearray` does not work, and `NoneType` has no equivalent in IDL. It refuses unions with a `wchar`
//!   discriminator.
//! - `try_construct`, `default` and `name` of members: Cyclone's encodings contain none of them.
//!
//! All types with a working Cyclone topic also go over RTPS, in each encoding that Cyclone can receive. A participant
//! of Cyclone DDS sends each sample back (`live`). There both sides compare the types. If our side refuses, its error
//! gives the reason. Cyclone writes its reason to a file with `GENERATED_TRACE=<file>`.
//!
//! `.ci/run generated` creates the types and builds this program. `GENERATED_SEED=<seed>` selects other types and
//! values.

use dds_core::DdsType;
use dds_core::cdr::{Char16, DecodeOwned, Encode, Encoding, Keyed, TypeInfo};
use dds_rtps::cdr::{ByteOrder, Encoder, decode_key_payload, decode_payload, encode_key_payload, encode_payload, key_hash_of};
use dds_rtps::xtypes::{TypeGraph, TypeObject};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Lines, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitCode, Stdio};

mod live;
mod random;

use live::Live;
use random::Random;

// The types, and `all`, which runs each of them.
include!("types.rs");

/// Random values of each type.
const VALUES: usize = 16;
/// Values of each type that go over the network, and least number of types.
///
/// The two minimums are for XCDR1 and XCDR2.
const LIVE_VALUES: usize = 4;
const LIVE_TYPES: [usize; 2] = [150, 180];
/// Least number of values that Cyclone must write differently, and of values that it could but does not.
const DIFFERENCES_MIN: usize = 20;

fn main() -> ExitCode {
    let seed = std::env::args().nth(1).map_or(1, |seed| seed.parse().expect("a seed"));
    let mut run = Run {
        peer: Peer::start(),
        random: Random::new(seed),
        way: Way::Pipe,
        names: Vec::new(),
        types: 0,
        described: 0,
        compared: 0,
        differences: Differences::default(),
        faults: Vec::new(),
    };
    all(&mut run);
    println!("{} types, {} of them described, {} values compared (seed {seed})", run.types, run.described, run.compared);
    let Differences { same, read, not_read } = run.differences;
    println!("of values with maps and lists: {same} written alike, {read} otherwise and read, {not_read} otherwise and not");
    if same.min(read).min(not_read) < DIFFERENCES_MIN {
        run.faults.push("too few differences to know them".into());
    }
    print(&run.faults);
    for (encoding, types_min) in [Encoding::Xcdr1, Encoding::Xcdr2].into_iter().zip(LIVE_TYPES) {
        run.way = Way::Choose(encoding);
        run.names.clear();
        all(&mut run);
        run.way = Way::Live(Live::start(encoding, &run.names));
        (run.types, run.compared) = (0, 0);
        all(&mut run);
        println!("{} types live in {encoding:?}, {} values", run.types, run.compared);
        if run.types < types_min {
            run.faults.push(format!("only {} types live in {encoding:?}", run.types));
        }
    }
    print(&run.faults);
    if run.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn print(faults: &[String]) {
    println!("{} faults", faults.len());
    faults.iter().take(30).for_each(|fault| println!("{fault}"));
}

/// Comparisons that are possible in XCDR1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Xcdr1 {
    Bytes,
    /// Each side reads the other's bytes, but the bytes differ.
    Values,
    Nothing,
}

/// Known facts about a type.
struct Facts {
    name: &'static str,
    xcdr1: Xcdr1,
    /// No part of its key is framed.
    has_final_key: bool,
    /// Cyclone's Python has TypeObjects of it, and it contains no alias.
    is_described: bool,
    /// Cyclone's Python may deviate from the standard in XCDR2.
    differs: bool,
    /// An alias makes it another type to Cyclone, unless type names decide.
    goes_by_name: bool,
    /// Cyclone can create a topic of it and receive samples, in XCDR1 and in XCDR2.
    is_live: [bool; 2],
}

/// A type of a topic.
trait Sample: DdsType + Encode + TypeInfo + DecodeOwned + Show {
    fn random(r: &mut Random) -> Self;
}

struct Run {
    peer: Peer,
    random: Random,
    way: Way,
    /// The types that go over the network.
    names: Vec<&'static str>,
    types: usize,
    /// Number of types with equal TypeObjects.
    described: usize,
    compared: usize,
    differences: Differences,
    faults: Vec<String>,
}

/// Counts of values that Cyclone's Python may write differently from the standard.
#[derive(Default)]
struct Differences {
    /// Values without any difference.
    same: usize,
    /// Differing values that our side reads correctly.
    read: usize,
    /// Differing values that our side refuses or reads as another value.
    not_read: usize,
}

impl Differences {
    /// Checks that Cyclone's bytes differ exactly if it reports a deviation from the standard.
    fn look_at<T: Sample>(&mut self, value: &T, answer: &Answer) -> Result<(), String> {
        let Some((by_itself, places)) = &answer.by_itself else { return Ok(()) };
        if (*by_itself == answer.little) != (*places == 0) {
            let (theirs, standard) = (hex(by_itself), hex(&answer.little));
            return Err(format!("{places} differences\n    theirs   {theirs}\n    standard {standard}"));
        }
        let is_read = decode_payload::<T>(by_itself).is_ok_and(|read| read.text() == value.text());
        *match (places, is_read) {
            (0, _) => &mut self.same,
            (_, true) => &mut self.read,
            (_, false) => &mut self.not_read,
        } += 1;
        Ok(())
    }
}

/// Purpose of a run of `all`.
enum Way {
    Pipe,
    /// Selects the types that go over the network in this encoding.
    Choose(Encoding),
    Live(Live),
}

impl Run {
    fn keyless<T: Sample + 'static>(&mut self, facts: Facts) {
        self.each_value::<T>(&facts, |_, _, _| Ok(()));
    }

    fn keyed<T: Sample + Keyed + 'static>(&mut self, facts: Facts) {
        let has_final_key = facts.has_final_key;
        self.each_value::<T>(&facts, |value, encoding, answer| {
            let is_exact = encoding == Encoding::Xcdr2 || facts.xcdr1 == Xcdr1::Bytes;
            compare_keys(value, encoding, answer, is_exact)?;
            if has_final_key && encoding == Encoding::Xcdr2 { compare_hashes(value, answer) } else { Ok(()) }
        });
    }

    /// Compares random values in both encodings. `more` compares parts that only some types have.
    fn each_value<T: Sample + 'static>(
        &mut self,
        facts: &Facts,
        more: impl Fn(&T, Encoding, &Answer) -> Result<(), String>,
    ) {
        match &self.way {
            Way::Pipe => self.by_pipe(facts, more),
            Way::Choose(encoding) => {
                if facts.is_live[usize::from(*encoding == Encoding::Xcdr2)] {
                    self.names.push(facts.name);
                }
            }
            Way::Live(live) if self.names.contains(&facts.name) => {
                let values: Vec<T> = (0..LIVE_VALUES).map(|_| T::random(&mut self.random)).collect();
                if let Err(fault) = live.compare(facts, &values) {
                    self.faults.push(format!("{}: {fault}", facts.name));
                    // The peer may have ended, and later types would wait in vain.
                    self.names.clear();
                }
                self.types += 1;
                self.compared += values.len();
            }
            Way::Live(_) => {}
        }
    }

    fn by_pipe<T: Sample>(&mut self, facts: &Facts, more: impl Fn(&T, Encoding, &Answer) -> Result<(), String>) {
        self.types += 1;
        if facts.is_described {
            self.described += 1;
            if let Err(fault) = compare_types::<T>(&mut self.peer, facts.name) {
                self.faults.push(format!("{}: {fault}", facts.name));
            }
        }
        for _ in 0..VALUES {
            let value = T::random(&mut self.random);
            for encoding in [Encoding::Xcdr1, Encoding::Xcdr2] {
                if encoding == Encoding::Xcdr1 && facts.xcdr1 == Xcdr1::Nothing {
                    continue;
                }
                let is_exact = encoding == Encoding::Xcdr2 || facts.xcdr1 == Xcdr1::Bytes;
                let differs = facts.differs && encoding == Encoding::Xcdr2;
                let version = if encoding == Encoding::Xcdr1 { "1" } else if differs { "2s" } else { "2" };
                let compared =
                    compare(&mut self.peer, facts.name, &value, (encoding, version), is_exact).and_then(|answer| {
                        self.differences.look_at(&value, &answer)?;
                        more(&value, encoding, &answer)
                    });
                self.compared += 1;
                if let Err(fault) = compared {
                    self.faults.push(format!("{} {encoding:?}: {fault}\n    {}", facts.name, value.text()));
                    return;
                }
            }
        }
    }
}

/// Sends our value to Cyclone and compares the returned one.
fn compare<T: Sample>(
    peer: &mut Peer,
    name: &str,
    value: &T,
    (encoding, version): (Encoding, &str),
    is_exact: bool,
) -> Result<Answer, String> {
    let mut ours = Vec::new();
    encode_payload(value, encoding, &mut ours).map_err(|error| format!("we do not encode it: {error}"))?;
    let answer = peer.ask(name, version, &ours)?;
    expect("Cyclone reads another value", &answer.text, &value.text())?;
    for theirs in [&answer.little, &answer.big] {
        let back: T = decode_payload(theirs).map_err(|error| format!("we do not read {}: {error}", hex(theirs)))?;
        expect("we read another value", &back.text(), &value.text())?;
    }
    if is_exact {
        expect("other bytes", &hex(body(&ours)), &hex(body(&answer.little)))?;
        let mut big = Vec::new();
        value.encode(&mut Encoder::new(&mut big, encoding, ByteOrder::Big)).map_err(|error| error.to_string())?;
        expect("other bytes in big endian", &hex(&big), &hex(body(&answer.big)))?;
    }
    Ok(answer)
}

/// Compares the type descriptions of both sides (XTypes 1.3, 7.3.4). All names are hashes, so all parts are compared.
fn compare_types<T: Sample>(peer: &mut Peer, name: &str) -> Result<(), String> {
    let graph = TypeGraph::of(T::DESCRIPTION).map_err(|error| format!("we do not describe it: {error}"))?;
    let ours = graph.types().first().ok_or("it is nothing")?;
    let [minimal, complete] = peer.ask_types(name)?;
    for (kind, ours, theirs) in [("minimal", &ours.minimal, minimal), ("complete", &ours.complete, complete)] {
        let bytes = ours.to_bytes().map_err(|error| error.to_string())?;
        let object = TypeObject::from_bytes(&theirs).map_err(|error| format!("we do not read {}: {error}", hex(&theirs)))?;
        if bytes != theirs {
            return Err(format!("another {kind} description\n    ours   {ours:?}\n    theirs {object:?}"));
        }
    }
    Ok(())
}

/// Compares the key as a dispose carries it.
fn compare_keys<T: Sample + Keyed>(
    value: &T,
    encoding: Encoding,
    answer: &Answer,
    is_exact: bool,
) -> Result<(), String> {
    let theirs = answer.key.as_ref().ok_or("Cyclone takes it for keyless")?;
    let mut ours = Vec::new();
    encode_key_payload::<T>(&value.key(), encoding, &mut ours).map_err(|error| format!("key: {error}"))?;
    if is_exact {
        expect("another key", &hex(body(&ours)), &hex(body(theirs)))?;
    }
    let back =
        decode_key_payload::<T>(theirs).map_err(|error| format!("we do not read key {}: {error}", hex(theirs)))?;
    let mut again = Vec::new();
    encode_key_payload::<T>(&back, encoding, &mut again).map_err(|error| format!("key: {error}"))?;
    expect("we read another key", &hex(&again), &hex(&ours))
}

/// Compares key hashes (RTPS 2.5, 9.6.4.8).
///
/// The hash is the key itself if no key of the type exceeds 16 bytes, and its MD5 otherwise.
fn compare_hashes<T: Sample>(value: &T, answer: &Answer) -> Result<(), String> {
    let ours = key_hash_of(value, Encoding::Xcdr2, &mut Vec::new()).map_err(|error| error.to_string())?;
    let theirs = answer.hashed.as_ref().ok_or("Cyclone takes it for keyless")?;
    let theirs = if answer.key_len_max <= 16 {
        let mut hash = [0; 16];
        hash[..theirs.len()].copy_from_slice(theirs);
        hash
    } else {
        md5::compute(theirs).0
    };
    expect("another key hash", &format!("{:02x?}", ours.as_bytes()), &format!("{:02x?}", Some(&theirs)))
}

fn expect(what: &str, ours: &str, theirs: &str) -> Result<(), String> {
    if ours == theirs { Ok(()) } else { Err(format!("{what}\n    ours   {ours}\n    theirs {theirs}")) }
}

/// A payload without its header and the padding that the header counts.
fn body(payload: &[u8]) -> &[u8] {
    &payload[4..payload.len() - usize::from(payload[3] & 3)]
}

/// The process of `peer.py`.
struct Peer {
    _process: Child,
    requests: ChildStdin,
    answers: Lines<BufReader<ChildStdout>>,
}

/// Cyclone's reading of a payload.
struct Answer {
    text: String,
    little: Vec<u8>,
    big: Vec<u8>,
    key: Option<Vec<u8>>,
    hashed: Option<Vec<u8>>,
    key_len_max: usize,
    /// Cyclone's own output and its number of deviations, if it does not follow the standard.
    by_itself: Option<(Vec<u8>, usize)>,
}

impl Peer {
    fn start() -> Self {
        let python = std::env::var("DDS_TEST_PYTHON").unwrap_or_else(|_| "python3".into());
        let path = std::env::var("GENERATED").expect("GENERATED, the folder of peer.py and generated_types.py");
        let mut process = Command::new(&python)
            .args(["-B", &format!("{path}/peer.py"), &format!("{path}/generated_types.py")])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("{python}: {error}"));
        let requests = process.stdin.take().expect("a pipe");
        let answers = BufReader::new(process.stdout.take().expect("a pipe")).lines();
        Self { _process: process, requests, answers }
    }

    fn ask_types(&mut self, name: &str) -> Result<[Vec<u8>; 2], String> {
        writeln!(self.requests, "{name} types").expect("peer.py lives");
        let line = self.answers.next().expect("peer.py lives").expect("text");
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["ok", minimal, complete] => Ok([unhex(minimal), unhex(complete)]),
            _ => Err(format!("Cyclone does not describe it: {line}")),
        }
    }

    fn ask(&mut self, name: &str, version: &str, payload: &[u8]) -> Result<Answer, String> {
        // Removes the padding that the header announces, because this codec would read it as a member.
        let without = &payload[..payload.len() - usize::from(payload[3] & 3)];
        writeln!(self.requests, "{name} {version} {}", hex(without)).expect("peer.py lives");
        let line = self.answers.next().expect("peer.py lives").expect("text");
        let fields: Vec<&str> = line.split(' ').collect();
        let &["ok", text, little, big, key, hashed, key_len_max, ref differs @ ..] = &fields[..] else {
            return Err(format!("Cyclone refuses {}: {line}", hex(payload)));
        };
        let by_itself = match *differs {
            [payload, places] => Some((unhex(payload), places.parse().expect("a number"))),
            _ => None,
        };
        let bytes = |text: &str| (text != "-").then(|| unhex(text));
        Ok(Answer {
            text: text.into(),
            little: unhex(little),
            big: unhex(big),
            key: bytes(key),
            hashed: bytes(hashed),
            key_len_max: key_len_max.parse().expect("a number"),
            by_itself,
        })
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let digits = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).expect("hexadecimal");
    (0..text.len()).step_by(2).map(digits).collect()
}

/// Formats a value as `peer.py` does, so that equal text means equal values.
trait Show {
    fn show(&self, text: &mut String);

    fn text(&self) -> String {
        let mut text = String::new();
        self.show(&mut text);
        text
    }
}

macro_rules! show_integers {
    ($($kind:ty)*) => {
        $(impl Show for $kind {
            fn show(&self, text: &mut String) {
                text.push_str(&self.to_string());
            }
        })*
    };
}

show_integers!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Show for bool {
    fn show(&self, text: &mut String) {
        u8::from(*self).show(text);
    }
}

impl Show for f32 {
    fn show(&self, text: &mut String) {
        text.push_str(&hex(&self.to_be_bytes()));
    }
}

impl Show for f64 {
    fn show(&self, text: &mut String) {
        text.push_str(&hex(&self.to_be_bytes()));
    }
}

impl Show for char {
    fn show(&self, text: &mut String) {
        u32::from(*self).show(text);
    }
}

impl Show for Char16 {
    fn show(&self, text: &mut String) {
        self.0.show(text);
    }
}

impl<T: Show> Show for Box<T> {
    fn show(&self, text: &mut String) {
        T::show(self, text);
    }
}

impl<K: Show, V: Show> Show for BTreeMap<K, V> {
    fn show(&self, text: &mut String) {
        text.push('[');
        for (key, value) in self {
            key.show(text);
            text.push(':');
            value.show(text);
            text.push(',');
        }
        text.push(']');
    }
}

impl Show for String {
    fn show(&self, text: &mut String) {
        text.push_str(&format!("\"{}\"", hex(self.as_bytes())));
    }
}

impl<T: Show> Show for [T] {
    fn show(&self, text: &mut String) {
        text.push('[');
        for element in self {
            element.show(text);
            text.push(',');
        }
        text.push(']');
    }
}

impl<T: Show> Show for Vec<T> {
    fn show(&self, text: &mut String) {
        self.as_slice().show(text);
    }
}

impl<T: Show, const N: usize> Show for [T; N] {
    fn show(&self, text: &mut String) {
        self.as_slice().show(text);
    }
}

impl<T: Show> Show for Option<T> {
    fn show(&self, text: &mut String) {
        match self {
            None => text.push('-'),
            Some(value) => {
                text.push('+');
                value.show(text);
            }
        }
    }
}

fn show_union(text: &mut String, label: &impl Show, member: &impl Show) {
    text.push('<');
    label.show(text);
    text.push(':');
    member.show(text);
    text.push('>');
}
