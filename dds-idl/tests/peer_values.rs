//! Random values of IDL types, which the generated code of Fast DDS reads and writes again: the bytes are equal.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use dds_cdr::cdr::Encoding;
use dds_cdr::cdr::dynamic::{DynamicData, DynamicKind, DynamicType, PrimitiveKind};
use dds_idl::description::dynamic_type;
use dds_idl::idl::{Options, parse_file};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

/// The types, in the order of `peer.cpp`.
const TYPES: [&str; 8] = [
    "values::Primitives",
    "values::Texts",
    "values::Collections",
    "values::Maps",
    "values::Unions",
    "values::Base",
    "values::Derived",
    "values::inner::Deep",
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

/// Returns a payload as Fast DDS 2 writes it: without padding, whose length stands in the options (RTPS 2.5, 10.2.1.2).
fn without_padding(payload: &[u8]) -> Vec<u8> {
    let mut bytes = payload[..payload.len() - usize::from(payload[3] & 3)].to_vec();
    bytes[3] = 0;
    bytes
}

#[test]
#[ignore = "needs Fast DDS: .ci/run generated"]
fn fast_dds_reads_and_writes_the_same_bytes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fast_dds");
    let specification = parse_file(folder.join("values.idl"), &Options::default()).unwrap();
    let mut peer = Command::new(std::env::var("DDS_TEST_FAST_DDS_VALUES").unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let (mut to, mut from) = (peer.stdin.take().unwrap(), peer.stdout.take().unwrap());
    let mut random = Random(7);
    let mut bytes = 0;
    for (index, name) in TYPES.into_iter().enumerate() {
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
    println!("{} values of {} types, {bytes} bytes", VALUES as usize * TYPES.len(), TYPES.len());
}
