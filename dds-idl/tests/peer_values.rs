//! Random values of IDL types, which other vendors read and write again: the bytes are equal.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use dds_cdr::cdr::Encoding;
use dds_cdr::cdr::dynamic::{DynamicData, DynamicKind, DynamicType, PrimitiveKind};
use dds_idl::description::dynamic_type;
use dds_idl::idl::{Options, parse_file};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

/// The types, in the order of `peer.cpp`.
const FAST_DDS_TYPES: [&str; 8] = [
    "values::Primitives",
    "values::Texts",
    "values::Collections",
    "values::Maps",
    "values::Unions",
    "values::Base",
    "values::Derived",
    "values::inner::Deep",
];

/// The types of `cyclone/peer.py`: their file, and whether the bytes are also compared in XCDR1.
///
/// Cyclone's Python writes parameters of XCDR1 with other headers than the standard (see `dds-core/tests/generated`).
const CYCLONE_TYPES: [(&str, &str, bool); 10] = [
    ("fast_dds/values.idl", "values::Primitives", true),
    ("fast_dds/values.idl", "values::Texts", true),
    ("fast_dds/values.idl", "values::Collections", true),
    ("fast_dds/values.idl", "values::Unions", true),
    ("fast_dds/values.idl", "values::Base", true),
    ("fast_dds/values.idl", "values::Derived", true),
    ("data/idl/cyclone.idl", "m::P", true),
    ("data/idl/cyclone.idl", "m::S", false),
    ("data/idl/cyclone.idl", "m::N", false),
    ("data/idl/cyclone.idl", "m::D", true),
];

/// Values of each type.
const VALUES: u32 = 1000;

/// The generator SplitMix64. Its values are the same in each run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn text(&mut self, len_max: u64) -> String {
        (0..self.below(len_max + 1)).map(|_| char::from(b'a' + self.below(26) as u8)).collect()
    }
}

/// Fills the part of a value at a path.
fn fill(data: &mut DynamicData, path: &str, ty: &DynamicType, random: &mut Random) {
    let ty = ty.resolved();
    match ty.kind() {
        DynamicKind::Primitive(kind) => fill_primitive(data, path, kind, random),
        DynamicKind::String => data.set(path, random.text(ty.bound().unwrap_or(20).into())).unwrap(),
        DynamicKind::Sequence => {
            let len = random.below(u64::from(ty.bound().unwrap_or(5)) + 1);
            data.resize(path, len as usize).unwrap();
            fill_elements(data, path, &ty, len, random);
        }
        DynamicKind::Array => fill_elements(data, path, &ty, ty.bound().unwrap().into(), random),
        DynamicKind::Map => {
            let key = ty.key_element().unwrap().resolved();
            for number in 0..random.below(4) {
                let key = if key.kind() == DynamicKind::String { format!("\"k{number}\"") } else { number.to_string() };
                fill(data, &format!("{path}[{key}]"), &ty.element().unwrap(), random);
            }
        }
        DynamicKind::Enum => {
            let literals: Vec<&str> = ty.literals().map(|(name, _)| name).collect();
            data.set(path, literals[random.below(literals.len() as u64) as usize]).unwrap();
        }
        DynamicKind::Struct => {
            for member in ty.members() {
                if member.is_optional() && random.below(2) == 0 {
                    continue;
                }
                let path = if path.is_empty() { member.name().to_owned() } else { format!("{path}.{}", member.name()) };
                fill(data, &path, &member.ty(), random);
            }
        }
        DynamicKind::Union => {
            let cases: Vec<_> = ty.cases().collect();
            let case = &cases[random.below(cases.len() as u64) as usize];
            // A number that no label has selects the default.
            data.select(path, case.labels().first().copied().unwrap_or(99)).unwrap();
            fill(data, &format!("{path}.{}", case.name()), &case.ty().unwrap(), random);
        }
        DynamicKind::Bitmask => {
            let bits =
                ty.flags().filter(|_| random.below(2) == 1).fold(0, |bits, (_, position)| bits | 1_u64 << position);
            data.set(path, bits).unwrap();
        }
        kind => panic!("{path}: {kind:?}"),
    }
}

fn fill_elements(data: &mut DynamicData, path: &str, ty: &DynamicType, len: u64, random: &mut Random) {
    for index in 0..len {
        fill(data, &format!("{path}[{index}]"), &ty.element().unwrap(), random);
    }
}

fn fill_primitive(data: &mut DynamicData, path: &str, kind: PrimitiveKind, random: &mut Random) {
    let bits = random.next();
    let set = match kind {
        PrimitiveKind::Bool => data.set(path, bits & 1 == 1),
        PrimitiveKind::Octet | PrimitiveKind::UInt8 => data.set(path, bits as u8),
        PrimitiveKind::Int8 => data.set(path, bits as i8),
        PrimitiveKind::Int16 => data.set(path, bits as i16),
        PrimitiveKind::UInt16 => data.set(path, bits as u16),
        PrimitiveKind::Int32 => data.set(path, bits as i32),
        PrimitiveKind::UInt32 => data.set(path, bits as u32),
        PrimitiveKind::Int64 => data.set(path, bits as i64),
        PrimitiveKind::UInt64 => data.set(path, bits),
        PrimitiveKind::Float32 => data.set(path, bits as i32 as f32 / 8.0),
        PrimitiveKind::Float64 => data.set(path, bits as i64 as f64 / 8.0),
        PrimitiveKind::Char8 => data.set(path, b'a' + (bits % 26) as u8),
        other => panic!("{path}: {other:?}"),
    };
    set.unwrap_or_else(|error| panic!("{path}: {error}"));
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")
}

/// Returns what Fast DDS writes for a value, or `None` if it does not accept it.
fn exchange(to: &mut ChildStdin, from: &mut ChildStdout, index: u32, payload: &[u8]) -> Option<Vec<u8>> {
    to.write_all(&index.to_ne_bytes()).unwrap();
    to.write_all(&(payload.len() as u32).to_ne_bytes()).unwrap();
    to.write_all(payload).unwrap();
    to.flush().unwrap();
    let mut len = [0; 4];
    from.read_exact(&mut len).unwrap();
    let len = u32::from_ne_bytes(len);
    if len == u32::MAX {
        return None;
    }
    let mut answer = vec![0; len as usize];
    from.read_exact(&mut answer).unwrap();
    Some(answer)
}

/// Returns a payload without padding, whose length stands in the options (RTPS 2.5, 10.2.1.2). Fast DDS 2 writes none.
fn without_padding(payload: &[u8]) -> Vec<u8> {
    let mut bytes = payload[..payload.len() - usize::from(payload[3] & 3)].to_vec();
    bytes[3] = 0;
    bytes
}

#[test]
#[ignore = "needs Fast DDS: .ci/run generated"]
fn fast_dds_reads_and_writes_the_same_bytes() {
    let specification = parse_file(folder().join("fast_dds/values.idl"), &Options::default()).unwrap();
    let mut peer = Command::new(std::env::var("DDS_TEST_FAST_DDS_VALUES").unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut to, mut from) = (peer.stdin.take().unwrap(), peer.stdout.take().unwrap());
    let mut random = Random(7);
    let mut bytes = 0;
    for (index, name) in FAST_DDS_TYPES.into_iter().enumerate() {
        let ty = dynamic_type(&specification, specification.find(name).unwrap()).unwrap();
        for number in 0..VALUES {
            let mut data = DynamicData::new(&ty);
            fill(&mut data, "", &ty, &mut random);
            let payload = data.to_payload(Encoding::Xcdr1).unwrap();
            let answer = exchange(&mut to, &mut from, index as u32, &payload);
            assert_eq!(answer, Some(without_padding(&payload)), "{name}, value {number}: {data}");
            bytes += payload.len();
        }
    }
    drop(to);
    assert!(peer.wait().unwrap().success());
    println!("{} values of {} types, {bytes} bytes", VALUES as usize * FAST_DDS_TYPES.len(), FAST_DDS_TYPES.len());
}

#[test]
#[ignore = "needs Cyclone DDS for Python: .ci/run generated"]
fn cyclone_dds_reads_and_writes_the_same_bytes() {
    let mut peer = Command::new(std::env::var("DDS_TEST_PYTHON").unwrap())
        .arg(folder().join("cyclone/peer.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut to, mut from) = (peer.stdin.take().unwrap(), BufReader::new(peer.stdout.take().unwrap()).lines());
    let (mut random, mut compared) = (Random(11), 0);
    for (file, name, in_xcdr1) in CYCLONE_TYPES {
        let specification = parse_file(folder().join(file), &Options::default()).unwrap();
        let ty = dynamic_type(&specification, specification.find(name).unwrap()).unwrap();
        for number in 0..VALUES {
            let mut data = DynamicData::new(&ty);
            fill(&mut data, "", &ty, &mut random);
            for (encoding, version) in [(Encoding::Xcdr1, 1), (Encoding::Xcdr2, 2)] {
                if version == 1 && !in_xcdr1 {
                    continue;
                }
                let payload = data.to_payload(encoding).unwrap();
                writeln!(to, "{name} {version} {}", hex(&payload)).unwrap();
                let answer = from.next().unwrap().unwrap();
                let theirs =
                    bytes_of_hex(&answer).unwrap_or_else(|| panic!("{name}, value {number}: {answer}: {data}"));
                assert_eq!(DynamicData::from_payload(&ty, &theirs).unwrap(), data);
                let (ours, theirs) = (without_padding(&payload), without_padding(&theirs));
                assert_eq!(hex(&theirs), hex(&ours), "{name}, value {number}, {encoding:?}: {data}");
                compared += 1;
            }
        }
    }
    drop(to);
    assert!(peer.wait().unwrap().success());
    println!("{compared} payloads of {} types", CYCLONE_TYPES.len());
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}
