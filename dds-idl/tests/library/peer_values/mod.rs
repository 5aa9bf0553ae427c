//! Random values of IDL types, which other vendors read and write again: the bytes are equal.

use dds_cdr::cdr::Encoding;
use dds_cdr::cdr::dynamic::DynamicData;
use dds_idl::description::dynamic_type;
use dds_idl::idl::{Options, parse_file};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

mod corpus;
mod description;
mod random;

use random::{Random, fill};

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
    let digit = |number: u8| char::from_digit(number.into(), 16).unwrap();
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

fn bytes_of_hex(text: &str) -> Option<Vec<u8>> {
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(text.get(at..at + 2)?, 16).ok()).collect()
}
