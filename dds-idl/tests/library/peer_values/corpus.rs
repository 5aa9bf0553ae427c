//! Random values of every type of a corpus of IDL files.
//!
//! The corpus is the IDL of these tests, or the folders in `DDS_TEST_CORPUS`, separated by colons. `DDS_TEST_VALUES` is
//! the number of values of each type. A peer gets each type, reads its values, and writes them again. A peer may refuse
//! types of other folders if `DDS_TEST_MAY_REFUSE` is set.
//!
//! Cyclone DDS makes its types from our TypeObjects. Fast DDS 3 builds them from a description, and the test
//! counts equal hashes.

use super::description::Describer;
use super::random::{Random, fill};
use super::{bytes_of_hex, folder, hex, without_padding};
use dds_cdr::cdr::dynamic::{DynamicData, DynamicKind, DynamicType, PrimitiveKind};
use dds_cdr::cdr::{ByteOrder, Encode, Encoder, Encoding, Extensibility};
use dds_cdr::xtypes::{TypeGraph, TypeIdentifier};
use dds_idl::description::{DescriptionForm, dynamic_type, type_graph};
use dds_idl::idl::{Options, parse_file};
use dds_idl::model::DefinitionKind;
use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, BufReader, Lines, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::rc::Rc;

/// Values of each type without `DDS_TEST_VALUES`.
const VALUES: u32 = 20;

/// A larger value takes a peer in Python seconds.
const PAYLOAD_MAX: usize = 256 << 10;

/// Most bytes of the values that wait for their answers, unless it is a single value. The pipe has room for these
/// answers, so the peer goes on reading.
const OPEN_BYTES_MAX: usize = 8 << 10;

const TOO_LARGE: (&str, &str) =
    ("more than 256 KiB in each value", "the peer in Python takes seconds for each of them");

struct CorpusType {
    name: String,
    graph: TypeGraph,
    ty: DynamicType,
}

/// Calls `visit` with each struct and union of the corpus, equal ones once.
fn for_each_type(mut visit: impl FnMut(&CorpusType)) {
    let given = std::env::var("DDS_TEST_CORPUS").unwrap_or_default();
    let mut roots: Vec<PathBuf> = given.split(':').filter(|path| !path.is_empty()).map(PathBuf::from).collect();
    if roots.is_empty() {
        roots = vec![folder().join("data/idl"), folder().join("fast_dds")];
    }
    let mut known = HashSet::new();
    for root in &roots {
        for file in idl_files(root) {
            visit_file(root, &file, &mut known, &mut visit);
        }
    }
}

fn visit_file(root: &Path, file: &Path, known: &mut HashSet<TypeIdentifier>, visit: &mut impl FnMut(&CorpusType)) {
    let include_dirs = file.ancestors().skip(1).take_while(|folder| folder.starts_with(root)).map(Path::to_owned);
    let options = Options { include_dirs: include_dirs.collect(), ..Options::default() };
    // The corpus has files that are wrong on purpose.
    let Ok(specification) = parse_file(file, &options) else { return };
    for (id, definition) in specification.definitions() {
        let is_type = matches!(definition.kind, DefinitionKind::Struct(_) | DefinitionKind::Union(_));
        if !is_type || !specification.sources.is_root(definition.span) {
            continue;
        }
        let Ok(graph) = type_graph(&specification, id, DescriptionForm::Standard) else { continue };
        if !known.insert(graph.types()[0].complete_id.clone()) {
            continue;
        }
        let ty = match dynamic_type(&specification, id) {
            Ok(ty) => ty,
            Err(error) => {
                let first = error.iter().map(|found| found.message.clone()).next();
                println!("left out: `{}` of {}: {}", definition.scoped_name, file.display(), first.unwrap_or_default());
                continue;
            }
        };
        visit(&CorpusType { name: definition.scoped_name.to_string(), graph, ty });
    }
}

fn idl_files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(idl_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "idl") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// A value that waits for its answer.
struct SentValue {
    data: Rc<DynamicData>,
    version: usize,
    payload: Vec<u8>,
}

/// What a type contains.
#[derive(Debug, Default)]
struct Contents {
    words: HashSet<&'static str>,
}

impl Contents {
    fn of(ty: &DynamicType) -> Self {
        let mut found = Self::default();
        found.add(ty, &mut Vec::new());
        found
    }

    fn add(&mut self, ty: &DynamicType, parents: &mut Vec<String>) {
        let ty = ty.resolved();
        let has_parts = matches!(ty.kind(), DynamicKind::Struct | DynamicKind::Union);
        if has_parts {
            if parents.iter().any(|parent| parent == ty.name()) {
                self.words.insert("recursion");
                return;
            }
            parents.push(ty.name().to_owned());
        }
        match ty.kind() {
            DynamicKind::Primitive(PrimitiveKind::Float128) => self.insert("long double"),
            DynamicKind::Primitive(PrimitiveKind::Char16) => self.insert("wchar"),
            DynamicKind::WString => self.insert("wstring"),
            DynamicKind::Map => self.insert("map"),
            DynamicKind::Sequence if ty.bound().is_some_and(|bound| bound > 65535) => self.insert("large bound"),
            DynamicKind::Bitset => self.insert("bitset"),
            DynamicKind::Bitmask => self.insert("bitmask"),
            DynamicKind::Enum if ty.bound().is_some_and(|bits| bits <= 16) => self.insert("small enum"),
            _ => {}
        }
        if ty.extensibility() == Extensibility::Mutable {
            if parents.len() > 1 {
                self.insert("mutable part");
            }
            self.words.insert(if ty.kind() == DynamicKind::Union { "mutable union" } else { "mutable" });
        }
        if let Some(discriminator) = ty.discriminator() {
            if discriminator.kind() == DynamicKind::Alias {
                self.insert("typedef discriminator");
            }
            let labels = ty.cases().map(|case| case.labels().len()).sum::<usize>();
            match discriminator.resolved().kind() {
                DynamicKind::Bitmask => self.insert("bitmask discriminator"),
                DynamicKind::Primitive(PrimitiveKind::Char8) => self.insert("char discriminator"),
                DynamicKind::Primitive(PrimitiveKind::Char16) => self.insert("wchar discriminator"),
                DynamicKind::Primitive(PrimitiveKind::Bool) if labels == 2 => self.insert("union of all bools"),
                _ => {}
            }
        }
        if let Some(element) = ty.element() {
            let is_inner = |inner: DynamicType| inner.resolved().kind() == DynamicKind::Struct;
            match element.resolved().kind() {
                DynamicKind::Enum | DynamicKind::Bitmask => self.insert("collection of enums"),
                DynamicKind::Array if ty.kind() == DynamicKind::Array => self.insert("array of arrays"),
                DynamicKind::Sequence if element.element().is_some_and(is_inner) => {
                    self.insert("collection of sequences of structs");
                }
                _ => {}
            }
        }
        if ty.key_element().is_some_and(|key| key.resolved().kind() == DynamicKind::WString) {
            self.insert("map by wstring");
        }
        for part in [ty.element(), ty.key_element(), ty.discriminator()].into_iter().flatten() {
            self.add(&part, parents);
        }
        for member in ty.members() {
            if member.is_optional() {
                self.words.insert("optional");
            }
            if ty.extensibility() == Extensibility::Mutable && member.is_must_understand() && member.id() > 0x3f00 {
                self.insert("must_understand beside a long id");
            }
            self.add(&member.ty(), parents);
        }
        for case in ty.cases() {
            if case.id() == 0 {
                self.words.insert("member 0 of a union");
            }
            case.ty().into_iter().for_each(|ty| self.add(&ty, parents));
        }
        if has_parts {
            parents.pop();
        }
    }

    fn insert(&mut self, word: &'static str) {
        self.words.insert(word);
    }

    fn any(&self, words: &[&str]) -> bool {
        words.iter().any(|word| self.words.contains(word))
    }
}

/// A peer with its known limits.
struct Limits {
    /// Parts of types that it does not have, each with the reason.
    lacks: &'static [(&'static str, &'static str)],
    /// Parts of types that it does not read, or writes differently from the standard: in XCDR1 and in XCDR2.
    differs: [&'static [&'static str]; 2],
}

struct Peer {
    process: Child,
    to: ChildStdin,
    from: Lines<BufReader<ChildStdout>>,
}

impl Peer {
    fn start(command: &mut Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let to = process.stdin.take().unwrap();
        let from = BufReader::new(process.stdout.take().unwrap()).lines();
        Self { process, to, from }
    }

    /// Returns the bytes of an answer, or the error of the peer.
    fn ask(&mut self, line: &str) -> Result<Vec<u8>, String> {
        writeln!(self.to, "{line}").unwrap();
        self.answer()
    }

    fn answer(&mut self) -> Result<Vec<u8>, String> {
        let answer = self.from.next().expect("the peer runs").unwrap();
        match answer.strip_prefix("ok") {
            Some(bytes) => Ok(bytes_of_hex(bytes.trim()).unwrap()),
            None => Err(answer),
        }
    }

    /// Exchanges values, and returns their number.
    fn exchange(&mut self, ty: &CorpusType, limits: &Limits, random: &mut Random) -> Result<u32, String> {
        let contents = Contents::of(&ty.ty);
        let values = std::env::var("DDS_TEST_VALUES").map_or(VALUES, |values| values.parse().unwrap());
        let (mut compared, mut open, mut open_bytes) = (0, Vec::new(), 0);
        for _ in 0..values {
            let mut data = DynamicData::new(&ty.ty);
            fill(&mut data, "", &ty.ty, random);
            let data = Rc::new(data);
            for (encoding, version) in [(Encoding::Xcdr1, 1), (Encoding::Xcdr2, 2)] {
                if contents.any(limits.differs[version - 1]) {
                    continue;
                }
                let payload = data.to_payload(encoding).unwrap();
                if payload.len() > PAYLOAD_MAX {
                    continue;
                }
                if open_bytes + payload.len() > OPEN_BYTES_MAX {
                    self.compare(&std::mem::take(&mut open), &contents)?;
                    open_bytes = 0;
                }
                open_bytes += payload.len();
                open.push(SentValue { data: Rc::clone(&data), version, payload });
                compared += 1;
            }
        }
        self.compare(&open, &contents)?;
        Ok(compared)
    }

    /// Sends values, and compares what the peer writes for them.
    fn compare(&mut self, values: &[SentValue], contents: &Contents) -> Result<(), String> {
        let lines = values.iter().map(|value| format!("value {} {}\n", value.version, hex(&value.payload)));
        self.to.write_all(lines.collect::<String>().as_bytes()).unwrap();
        // An error leaves no answer for the next type.
        let answers: Vec<_> = values.iter().map(|_| self.answer()).collect();
        for (SentValue { data, version, payload }, answer) in values.iter().zip(answers) {
            let ours = hex(payload);
            let theirs = answer.map_err(|error| format!("XCDR{version} {error}: {data}\n  ours   {ours}"))?;
            // XCDR2: a member that begins with its length has two legal length codes (XTypes 1.3, 7.4.3.4.2).
            // XCDR1: Fast DDS writes no flag `must_understand`, which only readers use.
            let has_choice =
                contents.any(&["mutable", "mutable union"]) && (*version == 2 || payload.len() == theirs.len());
            let is_equal = without_padding(payload) == without_padding(&theirs);
            let has_equal_value = || DynamicData::from_payload(data.ty(), &theirs).is_ok_and(|read| read == **data);
            if !(is_equal || has_choice && has_equal_value()) {
                return Err(format!("XCDR{version} {data}\n  ours   {ours}\n  theirs {}", hex(&theirs)));
            }
        }
        Ok(())
    }
}

/// TypeIdentifiers and TypeObjects of a type and its parts.
fn type_objects(ty: &CorpusType) -> String {
    let mut text = String::new();
    for part in ty.graph.types() {
        let mut id = Vec::new();
        part.complete_id.encode(&mut Encoder::new(&mut id, Encoding::Xcdr2, ByteOrder::Little)).unwrap();
        text.push_str(&format!(" {} {}", hex(&id), hex(&part.complete.to_bytes().unwrap())));
    }
    text
}

fn description(ty: &CorpusType) -> String {
    let mut describer = Describer::default();
    describer.ty(&ty.ty);
    describer.words
}

/// Compares all types of the corpus, and panics with the faults.
fn compare_corpus(mut peer: Peer, limits: &Limits, describe: impl Fn(&CorpusType) -> String) {
    let mut random = Random(23);
    let (mut types, mut compared, mut equal_hashes) = (0, 0, 0);
    let is_verbose = std::env::var_os("DDS_TEST_VERBOSE").is_some();
    let may_refuse = std::env::var_os("DDS_TEST_MAY_REFUSE").is_some();
    let (mut lacking, mut faults) = (BTreeMap::<(&str, &str), u32>::new(), Vec::new());
    for_each_type(|ty| {
        let contents = Contents::of(&ty.ty);
        let lack = limits.lacks.iter().find(|(word, _)| contents.words.contains(word));
        // Each element is filled by its path, so a large array would take minutes before its payload is too large.
        let least = DynamicData::new(&ty.ty).to_payload(Encoding::Xcdr2).map_or(0, |payload| payload.len());
        if let Some(lack) = lack.or((least > PAYLOAD_MAX).then_some(&TOO_LARGE)) {
            *lacking.entry(*lack).or_default() += 1;
            return;
        }
        let hash = peer.ask(&format!("type{}", describe(ty)));
        if let (Err(reason), true) = (&hash, may_refuse) {
            println!("refused by the peer: {}: {reason}", ty.name);
            return;
        }
        let exchanged = hash.and_then(|hash| {
            let id = &ty.graph.types()[0].complete_id;
            let is_equal = matches!(id, TypeIdentifier::Complete(own) if own.0.as_slice() == hash);
            equal_hashes += u32::from(is_equal);
            if is_verbose && !is_equal {
                println!("another hash: {} {:?}", ty.name, Contents::of(&ty.ty).words);
            }
            peer.exchange(ty, limits, &mut random)
        });
        match exchanged {
            Ok(count) => {
                types += 1;
                compared += count;
            }
            Err(fault) => faults.push(format!("{}: {fault}", ty.name)),
        }
    });
    drop(peer.to);
    assert!(peer.process.wait().unwrap().success());
    println!("{compared} payloads of {types} types are equal, {equal_hashes} hashes");
    for ((word, reason), count) in lacking {
        println!("left out: {count} types with {word}: {reason}");
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    assert!(types >= 20, "the corpus is too small");
}

#[test]
#[ignore = "needs Cyclone DDS for Python: .ci/run generated"]
fn cyclone_dds_reads_and_writes_the_corpus() {
    let mut command = Command::new(std::env::var("DDS_TEST_PYTHON").unwrap());
    let peer = Peer::start(command.arg(folder().join("cyclone/corpus_peer.py")));
    let limits = Limits {
        lacks: &[
            ("map", "the binding reads no TypeObject of a map"),
            ("wstring", "the binding has no type for it"),
            ("long double", "the binding has no type for it"),
            ("bitset", "the binding has no type for it"),
            ("recursion", "the binding resolves the parts of a class before the class"),
            ("mutable union", "the binding writes no parameters of a union (XTypes 1.3, 7.4.3.5.3)"),
            ("small enum", "the binding writes four bytes for each enum (XTypes 1.3, 7.4.1.1.1)"),
            ("bitmask discriminator", "XTypes 1.3, 7.2.2.4.4.4, does not name it among the types of discriminators"),
            ("typedef discriminator", "the binding refuses a typedef as the type of a discriminator"),
            ("large bound", "the binding refuses bounds of sequences above 65535"),
            ("wchar discriminator", "the binding has no type for it"),
            ("union of all bools", "the binding refuses labels for both values"),
            ("char discriminator", "a TypeObject has labels as numbers, and the binding compares them with characters"),
        ],
        // It writes parameters of XCDR1 in another form: see `dds-core/tests/generated/run.rs`.
        differs: [&["mutable", "optional"], &[]],
    };
    compare_corpus(peer, &limits, type_objects);
}

#[test]
#[ignore = "needs Fast DDS 3: .ci/run generated"]
fn fast_dds_3_reads_and_writes_the_corpus() {
    let peer = Peer::start(&mut Command::new(std::env::var("DDS_TEST_FAST_DDS_3").unwrap()));
    let limits = Limits {
        lacks: &[
            ("long double", "the type of C++ has another size"),
            ("bitset", "its builder of types has none"),
            ("recursion", "its builder of types needs each part before the type"),
            ("bitmask discriminator", "version 3.2 crashes with it"),
            ("member 0 of a union", "its builder of types keeps the id 0 for the discriminator"),
            ("collection of sequences of structs", "version 3.2 has no TypeObject of it"),
            ("map by wstring", "its builder of types refuses it"),
        ],
        // It does not read each optional member. In XCDR1 it allocates too few bytes for a mutable part, and reads no
        // flag beside a long id. A unit of its `wstring` has four bytes there, as in ROS. In XCDR2 it reads no array
        // of arrays, and no map of strings or structs. It writes no length before enums (XTypes 1.3, 7.4.3.5.3, rule
        // 12).
        differs: [
            &["optional", "wstring", "mutable part", "must_understand beside a long id"],
            &["optional", "wstring", "map", "collection of enums", "array of arrays"],
        ],
    };
    compare_corpus(peer, &limits, description);
}
