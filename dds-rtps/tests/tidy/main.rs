//! Checks the source tree: order of the rooms, names of modules and types, places of methods, prose, and the proofs of
//! clauses.
//!
//! Every rule is a function from a file's path and text to its violations. A test at the bottom plants a violation of
//! each rule and finds it.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod clauses;
#[path = "../support/named_tests.rs"]
mod named_tests;
mod prose;
mod types;

use std::fs;
use std::path::{Path, PathBuf};

/// The rooms of dds-rtps: one uses only rooms with a smaller rank, and itself. The first are those of dds-cdr.
const ROOMS: [(&str, u8); 14] = [
    ("cdr", 0),
    ("filter", 0),
    ("xtypes", 0),
    ("types", 0),
    ("link", 1),
    ("qos", 1),
    ("wire", 2),
    ("concurrent", 2),
    ("history", 3),
    ("output", 4),
    ("writer", 5),
    ("reader", 5),
    ("discovery", 6),
    ("participant", 7),
];

/// The rooms of dds-cdr.
const CDR_ROOMS: [(&str, u8); 5] = [("InstanceHandle", 0), ("similar", 0), ("cdr", 1), ("xtypes", 2), ("filter", 2)];

/// The rooms of dds-idl. The code of ROS messages needs their interfaces, and otherwise all ends use the model alone.
const IDL_ROOMS: [(&str, u8); 9] = [
    ("model", 0),
    ("ros", 1),
    ("idl", 2),
    ("print", 2),
    ("service", 2),
    ("rust", 2),
    ("packages", 3),
    ("xml", 3),
    ("description", 3),
];

/// The rooms of dds-core. Tests and documentation may use every room.
const CORE_ROOMS: [(&str, u8); 20] = [
    ("sync", 0),
    ("actor", 1),
    ("driver", 2),
    ("infrastructure", 3),
    ("protection", 4),
    ("settings", 5),
    ("introspection", 6),
    ("context", 7),
    ("topic", 8),
    ("delivery", 9),
    ("endpoint", 9),
    ("subscription", 10),
    ("publication", 11),
    ("reception", 12),
    ("discovery", 13),
    ("participant", 14),
    ("audience", 15),
    ("relay", 15),
    ("rpc", 15),
    ("sim", 16),
];

/// What dds-core exports of other crates, for every room.
const CORE_MAY_USE: [&str; 5] = ["cdr", "dynamic", "filter", "qos", "xtypes"];

/// The room beside the others: it moves datagrams without a look at their content.
const TRANSPORT_MAY_USE: [&str; 4] = ["transport", "types", "output", "link"];

/// The network in memory. Datagrams are plain bytes to it.
const SIM_MAY_USE: [&str; 3] = ["sim", "types", "link"];

/// Names that say nothing about the content of a room.
const NAMELESS: [&str; 10] =
    ["util", "utils", "utilities", "common", "helper", "helpers", "manager", "managers", "misc", "shared"];

/// Types whose methods run inside of cells, beside the actors.
const INSIDE_CELLS: [&str; 12] = [
    "EndpointState",
    "Notifier",
    "LocalReaders",
    "MatchedLocalReader",
    "LocalPath",
    "Starving",
    "DemotedReaders",
    "Outgoing",
    "Observers",
    "Observer",
    "ListenerSet",
    "Wakers",
];

/// Calls that enter a cell. `effects.poke(cell)` is not one: the outermost function enters that cell later.
const ENTRIES: [&str; 8] = [
    ".with(effects,",
    ".with_from(",
    ".offer(effects,",
    ".offer_into(effects,",
    ".serve(effects)",
    ".poke(effects)",
    ".resume(effects)",
    "close_cell(",
];

/// The only entry from inside of a cell, and its only caller. It never blocks.
const HANDOVER: (&str, &str) = ("publication/local_reader.rs", ".hand_over(effects,");

const TOP_LEVEL: [&str; 15] = [
    "book",
    "dds-core",
    "dds-durability",
    "dds-rtps",
    "dds-cdr",
    "dds-idl",
    "dds-idl-macros",
    "dds-macros",
    "dds-ros2",
    "dds-ros2-msgs",
    "dds-security",
    "dds-shm",
    "dds-tools",
    "benches",
    "examples",
];

#[test]
fn rooms_use_only_rooms_before_them() {
    assert_none(check_files(&workspace().join("dds-rtps/src"), room_order));
    assert_none(check_files(&workspace().join("dds-cdr/src"), cdr_room_order));
    assert_none(check_files(&workspace().join("dds-idl/src"), idl_room_order));
    assert_none(check_files(&workspace().join("dds-core/src"), core_room_order));
}

#[test]
fn modules_have_names_that_say_something() {
    for member in TOP_LEVEL {
        assert_none(check_files(&workspace().join(member), module_names));
    }
}

#[test]
fn actors_take_their_locks_from_the_sync_module() {
    assert_none(check_files(&workspace().join("dds-core/src/actor"), actor_sync));
}

#[test]
fn cells_are_entered_from_outside() {
    assert_none(check_files(&workspace().join("dds-core/src"), cell_entries));
}

#[test]
fn nothing_is_unwrapped_outside_of_tests() {
    for member in TOP_LEVEL {
        assert_none(check_files(&workspace().join(member).join("src"), unwraps));
    }
}

#[test]
fn conditions_stand_in_if_and_match() {
    for member in TOP_LEVEL {
        assert_none(check_files(&workspace().join(member).join("src"), blind_filters));
    }
}

#[test]
fn submessage_files_start_with_their_byte_layout() {
    assert_none(check_files(&workspace().join("dds-rtps/src/wire/submessage"), layout_comment));
}

#[test]
fn top_level_folders_are_the_agreed_ones() {
    let mut found: Vec<String> = fs::read_dir(workspace())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.file_type().unwrap().is_dir())
        .map(|entry| entry.file_name().into_string().unwrap())
        .filter(|name| !name.starts_with('.') && name != "target")
        .collect();
    found.sort();
    let mut agreed = [&TOP_LEVEL[..], &["docs"]].concat();
    agreed.sort_unstable();
    assert_eq!(found, agreed);
}

/// One line for each change, from the view of a user. Details belong to the documents.
#[test]
fn change_log_has_one_short_line_for_each_change() {
    let changes = fs::read_to_string(workspace().join("CHANGELOG.md")).unwrap();
    for line in changes.lines().skip_while(|line| !line.starts_with("## ")) {
        assert!(line.chars().count() <= 120, "CHANGELOG.md: more than 120 characters: {line}");
        let is_group = line.starts_with('#') || line.ends_with(':');
        let is_known = line.is_empty() || is_group || line.starts_with("- ");
        assert!(is_known, "CHANGELOG.md: neither a group nor a change: {line}");
    }
}

#[test]
fn architecture_links_name_items_of_their_files() {
    let text = fs::read_to_string(workspace().join("ARCHITECTURE.md")).unwrap();
    let mut checked = 0;
    for link in text.split("[`").skip(1) {
        let Some((item, rest)) = link.split_once("`](") else { continue };
        let Some((path, _)) = rest.split_once(')') else { continue };
        if !path.ends_with(".rs") {
            continue;
        }
        let code = fs::read_to_string(workspace().join(path)).unwrap_or_default();
        let is_defined = ["fn ", "struct ", "enum ", "trait ", "mod "].iter().any(|keyword| {
            code.match_indices(&format!("{keyword}{item}"))
                .any(|(at, found)| !code[at + found.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        });
        let is_module = path.ends_with(&format!("/{item}.rs")) && !code.is_empty();
        assert!(is_defined || is_module, "ARCHITECTURE.md: {path} does not define `{item}`");
        checked += 1;
    }
    assert!(checked >= 15, "{checked} links");
}

/// A file as the rules see it.
struct Source<'a> {
    /// Relative to the folder that is checked, with `/` between its parts.
    path: &'a str,
    text: &'a str,
}

impl Source<'_> {
    /// The code without comments, up to the tests at the bottom: (line number, line).
    fn code_before_tests(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code().take_while(|(_, line)| !starts_tests(line))
    }

    /// The modules of this file that are tests as a whole: `#[cfg(test)] mod models;`.
    fn test_modules(&self) -> Vec<String> {
        let lines: Vec<&str> = self.text.lines().map(str::trim).collect();
        let declared = lines.iter().enumerate().filter(|(_, line)| starts_tests(line)).filter_map(|(at, _)| {
            lines[at..].iter().find(|line| !line.starts_with('#'))?.strip_prefix("mod ")?.strip_suffix(';')
        });
        declared.map(str::to_owned).collect()
    }

    fn code(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.lines().enumerate().map(|(index, line)| (index + 1, without_comment(line)))
    }

    fn violation(&self, line: usize, what: &str) -> String {
        format!("{}:{line}: {what}", self.path)
    }

    /// The module's name: the file's, or the folder's of a `mod.rs`.
    fn module(&self) -> &str {
        let mut parts = self.path.rsplit('/');
        let stem = parts.next().unwrap_or_default().trim_end_matches(".rs");
        if stem == "mod" { parts.next().unwrap_or(stem) } else { stem }
    }

    /// How many `super::` lead from this file to the root of its crate.
    fn depth(&self) -> usize {
        self.path.split('/').count() - usize::from(self.path.ends_with("/mod.rs"))
    }
}

fn room_order(source: &Source<'_>) -> Vec<String> {
    let room = source.path.split('/').next().unwrap_or_default().trim_end_matches(".rs");
    if room == "lib" {
        return Vec::new();
    }
    let may_use = |other: &str| match room {
        "transport" => TRANSPORT_MAY_USE.contains(&other),
        "sim" => SIM_MAY_USE.contains(&other),
        _ => stands_before(&ROOMS, other, room),
    };
    uses_of_rooms(source, room, may_use)
}

fn cdr_room_order(source: &Source<'_>) -> Vec<String> {
    let room = source.path.split('/').next().unwrap_or_default().trim_end_matches(".rs");
    if ["lib", "instance_handle"].contains(&room) {
        return Vec::new();
    }
    uses_of_rooms(source, room, |other| stands_before(&CDR_ROOMS, other, room))
}

fn idl_room_order(source: &Source<'_>) -> Vec<String> {
    let room = source.path.split('/').next().unwrap_or_default().trim_end_matches(".rs");
    if IDL_ROOMS.iter().all(|(name, _)| *name != room) {
        return Vec::new();
    }
    uses_of_rooms(source, room, |other| stands_before(&IDL_ROOMS, other, room))
}

/// The last room is the only one that may name items by the root of the crate: all rooms stand before it.
fn core_room_order(source: &Source<'_>) -> Vec<String> {
    let room = source.path.split('/').next().unwrap_or_default().trim_end_matches(".rs");
    if room == "lib" {
        return Vec::new();
    }
    let is_last = room == "sim";
    let is_exported = |name: &str| CORE_MAY_USE.contains(&name) || is_last && name.starts_with(char::is_uppercase);
    uses_of_rooms(source, room, |other| is_exported(other) || stands_before(&CORE_ROOMS, other, room))
}

/// The uses of rooms that `room` may not use.
fn uses_of_rooms(source: &Source<'_>, room: &str, may_use: impl Fn(&str) -> bool) -> Vec<String> {
    let mut used = used_rooms(source.code_before_tests(), "crate::");
    used.extend(used_rooms(source.code_before_tests(), &"super::".repeat(source.depth())));
    used.into_iter()
        .filter(|(_, other)| !may_use(other))
        .map(|(line, other)| source.violation(line, &format!("{room} uses {other}, which does not stand before it")))
        .collect()
}

/// Whether `other` stands before `room`, or is the same.
fn stands_before(rooms: &[(&str, u8)], other: &str, room: &str) -> bool {
    let rank = |room: &str| rooms.iter().find(|(name, _)| *name == room).map(|(_, rank)| *rank);
    room == other || rank(other).is_some_and(|other| rank(room).is_some_and(|own| other < own))
}

/// The first names behind every `root` that starts a path.
fn used_rooms<'a>(lines: impl Iterator<Item = (usize, &'a str)>, root: &str) -> Vec<(usize, String)> {
    let code: String = lines.flat_map(|(_, line)| [line, "\n"]).collect();
    let mut used = Vec::new();
    for (at, _) in code.match_indices(root) {
        let goes_on = |c: char| c == '$' || c == ':' || c == '_' || c.is_alphanumeric();
        if code[..at].ends_with(goes_on) {
            continue;
        }
        let line = code[..at].matches('\n').count() + 1;
        let names = first_names(&code[at + root.len()..]);
        used.extend(names.into_iter().filter(|name| !name.is_empty() && name != "super").map(|name| (line, name)));
    }
    used
}

/// The first name of a path, or of every path of a `{group}`.
fn first_names(path: &str) -> Vec<String> {
    let Some(group) = path.strip_prefix('{') else {
        return vec![identifier(path)];
    };
    let mut names = Vec::new();
    let mut depth = 0;
    let mut at_start = true;
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => at_start = true,
            c if c.is_whitespace() => {}
            _ if at_start => {
                names.push(identifier(&group[at..]));
                at_start = false;
            }
            _ => {}
        }
    }
    names
}

fn identifier(text: &str) -> String {
    text.chars().take_while(|c| *c == '_' || c.is_alphanumeric()).collect()
}

fn module_names(source: &Source<'_>) -> Vec<String> {
    let declared = source.code().filter_map(|(line, code)| {
        let (visibility, name) = code.trim_start().split_once("mod ")?;
        (visibility.is_empty() || visibility.starts_with("pub")).then(|| (line, identifier(name)))
    });
    std::iter::once((1, source.module().to_owned()))
        .chain(declared)
        .filter(|(_, name)| NAMELESS.contains(&name.as_str()))
        .map(|(line, name)| source.violation(line, &format!("`{name}` says nothing about the content of the module")))
        .collect()
}

fn actor_sync(source: &Source<'_>) -> Vec<String> {
    if source.module() == "sync" {
        return Vec::new();
    }
    // In groups as well: `use std::{fmt, sync::Mutex}`.
    let uses = ["std::", "core::", "alloc::", "loom::", "tokio::", "parking_lot::"].into_iter().flat_map(|root| {
        let is_lock = move |name: &str| name == "sync" || name == "thread" || root == "parking_lot::";
        used_rooms(source.code_before_tests(), root).into_iter().filter(move |(_, name)| is_lock(name))
    });
    uses.map(|(line, _)| {
        source.violation(line, "uses a lock or a thread that loom cannot see: go through the sync module")
    })
    .collect()
}

/// Code inside of a cell enters no cell: the blocks `impl SomeActor`, `impl Actor for …` and those of [`INSIDE_CELLS`].
/// Only one file hands samples over.
fn cell_entries(source: &Source<'_>) -> Vec<String> {
    if source.path.starts_with("actor/") {
        return Vec::new();
    }
    let lines: Vec<(usize, &str)> = source.code_before_tests().collect();
    let mut violations = Vec::new();
    let handovers = if source.path == HANDOVER.0 { Vec::new() } else { lines_with(&lines, HANDOVER.1) };
    violations
        .extend(handovers.into_iter().map(|line| source.violation(line, "hands a sample over; so does one file only")));
    let mut rest = &lines[..];
    while let Some(start) = rest.iter().position(|(_, line)| line.starts_with("impl")) {
        let block = &rest[start..];
        let end = block.iter().position(|(_, line)| *line == "}").map_or(block.len(), |end| end + 1);
        if runs_inside(block[0].1) {
            let entries = ENTRIES.iter().flat_map(|entry| lines_with(&block[..end], entry));
            violations.extend(entries.map(|line| source.violation(line, "enters a cell from inside of a cell")));
        }
        rest = &block[end..];
    }
    violations
}

/// Whether that is the first line of an `impl` of something that runs inside of a cell.
fn runs_inside(head: &str) -> bool {
    let mut names = head.split(|c: char| c != '_' && !c.is_alphanumeric()).filter(|name| !name.is_empty());
    head.contains("Actor for ")
        || names.next_back().is_some_and(|name| name.ends_with("Actor") || INSIDE_CELLS.contains(&name))
}

/// The lines on which `call` begins, however it is broken into lines.
fn lines_with(lines: &[(usize, &str)], call: &str) -> Vec<usize> {
    let code: Vec<(usize, char)> = lines
        .iter()
        .flat_map(|(number, line)| line.chars().filter(|c| !c.is_whitespace()).map(move |c| (*number, c)))
        .collect();
    let text: String = code.iter().map(|(_, c)| c).collect();
    text.match_indices(call).map(|(at, _)| code[text[..at].chars().count()].0).collect()
}

fn unwraps(source: &Source<'_>) -> Vec<String> {
    source
        .code_before_tests()
        .filter(|(_, line)| line.contains(".unwrap()"))
        .map(|(line, _)| source.violation(line, "unwrap(): say with expect() why it cannot fail, or return the error"))
        .collect()
}

/// A filter of an `Option` that ignores its value is a condition.
fn blind_filters(source: &Source<'_>) -> Vec<String> {
    source
        .code_before_tests()
        .filter(|(_, line)| line.contains(".filter(|_|"))
        .map(|(line, _)| source.violation(line, "filter(|_| …): state the condition by `if` or `match`"))
        .collect()
}

fn layout_comment(source: &Source<'_>) -> Vec<String> {
    let mut head = source.text.lines().take_while(|line| line.starts_with("//!"));
    let has_layout = head.any(|line| line.starts_with("//! ```text") || line.starts_with("//! |"));
    if ["mod.rs", "id.rs"].contains(&source.path) || has_layout {
        return Vec::new();
    }
    vec![source.violation(1, "a submessage's file starts with its byte layout (a text block or a table)")]
}

fn starts_tests(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("#[cfg(test)]") || line.starts_with("#[cfg(all(test")
}

/// The line up to its comment. A `//` in a string counts as one too, which hides nothing that the rules look for.
fn without_comment(line: &str) -> &str {
    line.split_once("//").map_or(line, |(code, _)| code)
}

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Applies a rule to the files of a folder that are not tests as a whole.
fn check_files(folder: &Path, rule: fn(&Source<'_>) -> Vec<String>) -> Vec<String> {
    let files = read_files(folder);
    let sources = || files.iter().map(|(path, text)| Source { path, text });
    let test_modules: Vec<String> = sources()
        .flat_map(|source| {
            let folder = source.path.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
            source.test_modules().into_iter().map(move |module| format!("{folder}{module}"))
        })
        .collect();
    let is_test = |path: &str| {
        test_modules.iter().any(|module| path.strip_prefix(module).is_some_and(|rest| rest.starts_with(['.', '/'])))
    };
    sources().filter(|source| !is_test(source.path)).flat_map(|source| rule(&source)).collect()
}

/// Path, with `/` between its parts, and text of every file.
fn read_files(folder: &Path) -> Vec<(String, String)> {
    let named = |file: PathBuf| {
        let path = file.strip_prefix(folder).unwrap().to_str().unwrap().replace('\\', "/");
        (path, fs::read_to_string(&file).unwrap())
    };
    rust_files(folder).into_iter().map(named).collect()
}

fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut files = Vec::new();
    for path in entries.map(|entry| entry.unwrap().path()) {
        if path.is_dir() && path.file_name() != Some("target".as_ref()) {
            files.extend(rust_files(&path));
        } else if path.extension() == Some("rs".as_ref()) {
            files.push(path);
        }
    }
    files.sort();
    files
}

fn assert_none(violations: Vec<String>) {
    assert!(violations.is_empty(), "\n{}\n", violations.join("\n"));
}

mod planted {
    use super::*;

    fn count(rule: fn(&Source<'_>) -> Vec<String>, path: &str, text: &str) -> usize {
        rule(&Source { path, text }).len()
    }

    #[test]
    fn a_use_of_a_later_room_is_found_in_every_form() {
        assert_eq!(count(room_order, "wire/data.rs", "use crate::writer::StatefulWriter;"), 1);
        assert_eq!(count(room_order, "wire/data.rs", "use crate::{types::Guid, history::{A, b::C}, reader};"), 2);
        assert_eq!(
            count(room_order, "wire/submessage/data.rs", "fn f(x: super::super::super::output::Datagram) {}"),
            1
        );
        assert_eq!(count(room_order, "wire/mod.rs", "fn f(x: super::output::Datagram) {}"), 1);
        assert_eq!(count(room_order, "wire/data.rs", "fn f() -> crate::participant::Participant { g() }"), 1);
        assert_eq!(count(room_order, "reader/mod.rs", "use crate::writer::Heartbeats;"), 1);
        assert_eq!(count(room_order, "transport/udp.rs", "use crate::wire::Message;"), 1);
        assert_eq!(count(room_order, "output.rs", "\n\nuse crate::discovery::Spdp;"), 1);
        assert_eq!(count(room_order, "wire/data.rs", "use crate::brand_new_room::X;"), 1);
    }

    #[test]
    fn a_use_of_a_later_room_of_dds_cdr_is_found() {
        assert_eq!(count(cdr_room_order, "cdr/key.rs", "use crate::xtypes::TypeGraph;"), 1);
        assert_eq!(count(cdr_room_order, "filter/mod.rs", "use crate::xtypes::TypeGraph;"), 1);
        assert_eq!(count(cdr_room_order, "similar.rs", "use crate::cdr::Encoder;"), 1);
        assert_eq!(count(cdr_room_order, "cdr/key.rs", "use crate::InstanceHandle;"), 0);
        assert_eq!(count(cdr_room_order, "filter/mod.rs", "use crate::{cdr::Encoder, similar::nearest};"), 0);
    }

    #[test]
    fn a_use_of_a_front_end_by_a_back_end_is_found() {
        assert_eq!(count(idl_room_order, "rust/mod.rs", "use crate::idl::Parser;"), 1);
        assert_eq!(count(idl_room_order, "model/mod.rs", "use crate::ros::Package;"), 1);
        assert_eq!(count(idl_room_order, "ros/mod.rs", "use crate::packages::RosPackages;"), 1);
        assert_eq!(count(idl_room_order, "rust/mod.rs", "use crate::model::Specification;"), 0);
    }

    #[test]
    fn a_use_of_an_earlier_room_is_fine() {
        assert_eq!(count(room_order, "wire/submessage/data.rs", "use crate::{types::Guid, wire::InlineQos, cdr};"), 0);
        assert_eq!(count(room_order, "wire/submessage/data.rs", "use super::Data; use super::super::InlineQos;"), 0);
        assert_eq!(count(room_order, "transport/udp.rs", "use crate::{types::Locator, output::Datagram};"), 0);
        assert_eq!(count(room_order, "wire/data.rs", "/// See [`crate::writer::StatefulWriter`].\nstruct Data;"), 0);
        assert_eq!(count(room_order, "wire/mod.rs", "macro_rules! m { () => { $crate::writer::X } }"), 0);
        assert_eq!(count(room_order, "output.rs", "#[cfg(test)]\nmod tests { use crate::writer::X; }"), 0);
        assert_eq!(count(core_room_order, "topic/a.rs", "use crate::publication::WriterHandle;"), 1);
        assert_eq!(count(core_room_order, "topic/a.rs", "use crate::{actor::Cell, DataWriter};"), 1);
        assert_eq!(count(core_room_order, "publication/a.rs", "use crate::{qos::Durability, topic::Topic};"), 0);
        assert_eq!(count(core_room_order, "sim/a.rs", "use crate::DomainParticipant;"), 0);
    }

    #[test]
    fn a_violation_names_its_file_and_line() {
        let violations =
            room_order(&Source { path: "wire/set.rs", text: "use std::fmt;\n\nuse crate::reader::Gap;\n" });
        assert_eq!(violations, ["wire/set.rs:3: wire uses reader, which does not stand before it"]);
    }

    #[test]
    fn a_module_without_a_name_is_found() {
        assert_eq!(count(module_names, "wire/util.rs", ""), 1);
        assert_eq!(count(module_names, "helpers/mod.rs", ""), 1);
        assert_eq!(count(module_names, "lib.rs", "pub(crate) mod common;\nmod wire;\n"), 1);
        assert_eq!(count(module_names, "wire/set.rs", "// mod util is not a module\nfn common() {}"), 0);
    }

    #[test]
    fn a_lock_beside_the_sync_module_is_found() {
        assert_eq!(count(actor_sync, "cell.rs", "use std::sync::Mutex;"), 1);
        assert_eq!(count(actor_sync, "cell.rs", "use std::{\n    fmt,\n    sync::{Arc, Mutex},\n};"), 1);
        assert_eq!(count(actor_sync, "cell.rs", "fn f() { std::thread::park() }\nuse tokio::sync::Notify;"), 2);
        assert_eq!(count(actor_sync, "cell.rs", "use std::{cell::Cell, fmt};\nuse crate::sync::Mutex;"), 0);
        assert_eq!(count(actor_sync, "sync.rs", "pub(crate) use std::sync::Mutex;"), 0);
        assert_eq!(
            count(actor_sync, "cell.rs", "use super::sync::Mutex; // no std::sync\n#[cfg(test)]\nuse std::sync::Arc;"),
            0
        );
    }

    #[test]
    fn an_entry_from_inside_of_a_cell_is_found() {
        let count = |text: &str| count(cell_entries, "publication/writer_actor.rs", text);
        let broken = "impl WriterActor {\n    fn f() {\n        reader\n            .with(\n                effects,\n    }\n}\n";
        assert_eq!(count(broken), 1);
        assert_eq!(count("impl Actor for Any<T> {\n    fn f() { cell.serve(effects); }\n}\n"), 1);
        assert_eq!(count("impl<'a> Wakers {\n    fn f() { Arc::clone(cell).poke(effects); close_cell(x); }\n}\n"), 2);
        assert_eq!(count("fn f() { reader.hand_over(effects, 1) }\n"), 1);
        let outside = "impl WriterHandle {\n    fn f() { self.cell.with(effects, g) }\n}\n";
        assert_eq!(count(outside), 0);
        let later = "impl WriterActor {\n    fn f() { effects.poke(reader); reader.push(mail) }\n}\n";
        assert_eq!(count(&format!("{outside}{later}{outside}")), 0);
        assert_eq!(count("impl Observed for WriterCell {\n    fn f() { self.with(effects, g) }\n}\n"), 0);
        let violations = cell_entries(&Source { path: "domain/some_actor.rs", text: broken });
        assert_eq!(violations, ["domain/some_actor.rs:4: enters a cell from inside of a cell"]);
        let allowed = Source { path: HANDOVER.0, text: "fn f() { self.cell.hand_over(effects, g) }" };
        assert_eq!(cell_entries(&allowed).len(), 0);
    }

    #[test]
    fn an_unwrap_is_found_before_the_tests_only() {
        assert_eq!(count(unwraps, "a.rs", "fn f() { g().unwrap(); }"), 1);
        assert_eq!(count(unwraps, "a.rs", "/// `g().unwrap()`\nfn f() { g().unwrap_or(1); }"), 0);
        assert_eq!(count(unwraps, "a.rs", "#[cfg(test)]\nfn t() { g().unwrap(); }"), 0);
    }

    #[test]
    fn a_filter_that_ignores_its_value_is_found() {
        assert_eq!(count(blind_filters, "a.rs", "value.filter(|_| is_right)\n"), 1);
        assert_eq!(count(blind_filters, "a.rs", "value.filter(|value| value.is_right)\n"), 0);
    }

    #[test]
    fn a_file_of_tests_is_known_by_its_declaration() {
        let text =
            "mod cell;\n#[cfg(all(test, dds_loom))]\n#[path = \"x\"]\nmod models;\n#[cfg(test)]\nmod tests {\n}\n";
        assert_eq!(Source { path: "actor/mod.rs", text }.test_modules(), ["models"]);
    }

    #[test]
    fn a_submessage_without_a_layout_is_found() {
        assert_eq!(count(layout_comment, "gap.rs", "//! GAP.\nuse std::fmt;"), 1);
        assert_eq!(count(layout_comment, "gap.rs", "//! GAP.\n//!\n//! ```text\n//! 0 2 reader\n//! ```\n"), 0);
    }
}
