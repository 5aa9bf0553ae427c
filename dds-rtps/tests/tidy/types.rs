//! Rules of type names and of the places of their methods.

use super::{Source, check_files, workspace};
use std::collections::{BTreeMap, BTreeSet};

/// Crates of the library. Programs and tests may repeat names.
const CRATES: [&str; 9] = [
    "dds-cdr",
    "dds-rtps",
    "dds-core",
    "dds-durability",
    "dds-idl",
    "dds-macros",
    "dds-security",
    "dds-shm",
    "dds-tools",
];

/// Most files with inherent methods of one type.
const FILES_MAX: usize = 3;

/// Names with two meanings, each with its reason.
const SHARED_NAMES: &[&str] = &[
    // A marker that seals a public trait exists once for each trait.
    "Sealed",
    // The QoS policy of DDS (2.2.3.5), and the service that it configures.
    "DurabilityService",
    // `dds-shm` has its public types once for Linux, and once for systems where no value of them exists.
    "KeptMessage",
    "LentContent",
    "PathId",
    "ShmEvent",
    "ShmMessage",
    "ShmPath",
    "ShmPeer",
    "ShmReception",
    "StagedMessage",
    // Two implementations of one item, for Linux and for other systems.
    "Attendance",
    "SharedIntake",
    "Sharing",
];

/// Names that are still to become specific. The list only shrinks.
const PENDING_NAMES: &[&str] = &[];

/// Types whose methods still stand in more files. The list only shrinks.
const PENDING_TYPES: &[&str] = &["DomainParticipant", "ParticipantHandle"];

#[test]
fn type_name_has_one_meaning_in_the_library() {
    let mut places: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for crate_name in CRATES {
        for definition in check_files(&workspace().join(crate_name).join("src"), definitions) {
            let (name, place) = definition.split_once('@').unwrap();
            places.entry(name.to_owned()).or_default().insert(format!("{crate_name}/src/{place}"));
        }
    }
    let mut repeated: Vec<String> = Vec::new();
    for (name, files) in &places {
        let is_known = SHARED_NAMES.contains(&name.as_str()) || PENDING_NAMES.contains(&name.as_str());
        if files.len() > 1 && !is_known {
            repeated.push(format!("{name}: {files:?}"));
        }
    }
    assert!(repeated.is_empty(), "\n{}\n{} names", repeated.join("\n"), repeated.len());
    let unique: Vec<&&str> =
        PENDING_NAMES.iter().filter(|name| places.get(**name).is_none_or(|files| files.len() < 2)).collect();
    assert!(unique.is_empty(), "no longer repeated, remove from PENDING_NAMES: {unique:?}");
}

#[test]
fn methods_of_a_type_stand_in_three_files_at_most() {
    let mut spread = Vec::new();
    for crate_name in CRATES {
        let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for block in check_files(&workspace().join(crate_name).join("src"), inherent_impls) {
            let (name, place) = block.split_once('@').unwrap();
            files.entry(name.to_owned()).or_default().insert(place.to_owned());
        }
        for (name, files) in files {
            if files.len() > FILES_MAX && !PENDING_TYPES.contains(&name.as_str()) {
                spread.push(format!("{crate_name}: {name}: {} files: {files:?}", files.len()));
            }
        }
    }
    assert!(spread.is_empty(), "\n{}\n", spread.join("\n"));
}

/// `Name@path` of each type that stands at the top level of a module.
fn definitions(source: &Source<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for (_, line) in source.code_before_tests() {
        let item = match line.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => rest.split_once(") ").map_or("", |(_, item)| item),
            Some(rest) => rest.trim_start(),
            None => line,
        };
        for keyword in ["struct ", "enum ", "trait ", "type ", "union "] {
            if let Some(rest) = item.strip_prefix(keyword) {
                let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
                found.push(format!("{name}@{}", source.path));
            }
        }
    }
    found
}

/// `Name@path` of each block of inherent methods.
fn inherent_impls(source: &Source<'_>) -> Vec<String> {
    let mut found = Vec::new();
    for (_, line) in source.code_before_tests() {
        let Some(rest) = line.strip_prefix("impl") else { continue };
        if line.contains(" for ") || !(rest.starts_with(' ') || rest.starts_with('<')) {
            continue;
        }
        let name: String = after_generics(rest).chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        if !name.is_empty() {
            found.push(format!("{name}@{}", source.path));
        }
    }
    found
}

/// The rest of a line behind `<…>`, without leading spaces.
fn after_generics(rest: &str) -> &str {
    if !rest.starts_with('<') {
        return rest.trim_start();
    }
    let mut depth = 0;
    for (at, c) in rest.char_indices() {
        match c {
            '<' => depth += 1,
            '>' if !rest[..at].ends_with('-') => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return rest[at + 1..].trim_start();
        }
    }
    ""
}

mod planted {
    use super::*;

    fn of(rule: fn(&Source<'_>) -> Vec<String>, text: &str) -> Vec<String> {
        rule(&Source { path: "a.rs", text })
    }

    #[test]
    fn definition_is_found_at_the_top_level_only() {
        let text = "pub struct A;\nenum B {}\npub(crate) type C<T> = T;\nimpl X { type D = u8; }\n    struct E;\n";
        assert_eq!(of(definitions, text), ["A@a.rs", "B@a.rs", "C@a.rs"]);
    }

    #[test]
    fn inherent_impl_is_found_with_generics() {
        let text = "impl A {}\nimpl<T: Fn() -> u8> B<T> {}\nimpl Clone for C {}\nimpl<'a> D<'a>\n";
        assert_eq!(of(inherent_impls, text), ["A@a.rs", "B@a.rs", "D@a.rs"]);
    }
}
