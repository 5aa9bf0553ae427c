//! Tests that three tables name must exist.
//!
//! `docs/reliable-protocol.md` names one for each promise, `docs/planted-bugs.md` one for each bug, and
//! `dds-core/tests/api/rules.rs` one for each rule.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn collect(folder: &Path, into: &mut Vec<(PathBuf, String)>) {
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            into.push((path, text));
        }
    }
}

/// Returns the cells of each row below the header.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = text.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---"));
    let cells = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    cells.filter(|cells| cells.last() != Some(&"clause"))
}

/// Returns the text between backticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The existing tests, each with the files that contain one of its name.
struct Tests(HashMap<String, Vec<String>>);

impl Tests {
    fn of(files: &[(PathBuf, String)]) -> Self {
        let mut tests: HashMap<String, Vec<String>> = HashMap::new();
        for (path, text) in files {
            let stem = path.file_stem().unwrap().to_string_lossy();
            let mut is_marked = false;
            for line in text.lines().map(str::trim) {
                let head = line.strip_prefix("fn ").and_then(|rest| rest.split_once('('));
                // A macro defines several tests from lists of a name and a type.
                let made = line.split_once(' ').filter(|(name, ty)| name.contains('_') && !ty.contains(' '));
                for (name, _) in head.filter(|_| is_marked).into_iter().chain(made) {
                    tests.entry(name.to_owned()).or_default().push(stem.to_string());
                }
                is_marked = line == "#[test]" || (is_marked && line.starts_with("#["));
            }
        }
        Self(tests)
    }

    /// Collects the tests of the protocol and of the runtime.
    fn of_workspace() -> Self {
        let mut files = Vec::new();
        for member in ["dds-cdr", "dds-rtps", "dds-core", "dds-durability"] {
            collect(&root().join(member).join("src"), &mut files);
            collect(&root().join(member).join("tests"), &mut files);
        }
        Self::of(&files)
    }

    /// Returns whether a file of this name contains the test. Without a file name, any file counts.
    fn has(&self, test: &str) -> bool {
        let (place, name) = test.rsplit_once("::").map_or((None, test), |(place, name)| (Some(place), name));
        let is_place = |stem: &String| place.is_none_or(|place| stem == place);
        self.0.get(name).is_some_and(|stems| stems.iter().any(is_place))
    }
}

#[test]
fn every_protocol_promise_has_test() {
    let known = Tests::of_workspace();
    let text = fs::read_to_string(root().join("docs/reliable-protocol.md")).unwrap();
    let rows: Vec<_> = rows(&text).collect();
    assert!(rows.len() > 50, "only {} promises", rows.len());
    for row in &rows {
        let [promise, place, tests, _] = row[..] else { panic!("a row has four cells: {row:?}") };
        assert!(!place.is_empty() && quoted(tests).next().is_some(), "nothing proves that {promise}");
        let missing: Vec<&str> = quoted(tests).filter(|test| !known.has(test)).collect();
        assert!(missing.is_empty(), "there are no tests {missing:?}");
        for place in quoted(place) {
            let is_there = |member: &str| root().join(member).join("src").join(place).exists();
            assert!(is_there("dds-cdr") || is_there("dds-rtps") || is_there("dds-core"), "there is no {place}");
        }
    }
}

#[test]
fn tests_of_planted_bugs_and_rules_exist() {
    let known = Tests::of_workspace();
    let rules = fs::read_to_string(root().join("dds-core/tests/api/rules.rs")).unwrap();
    let rules: String = rules.lines().filter_map(|line| Some(format!("{}\n", line.strip_prefix("//! ")?))).collect();
    let mistakes = fs::read_to_string(root().join("docs/planted-bugs.md")).unwrap();
    for (table, least) in [(&rules, 20), (&mistakes, 70)] {
        let rows: Vec<_> = rows(table).filter(|row| row.last().is_some_and(|tests| tests.contains('`'))).collect();
        assert!(rows.len() >= least, "only {} rows", rows.len());
        // Commands contain spaces. Groups of tests are described in words.
        let named = rows.iter().filter_map(|row| row.last()).flat_map(|tests| quoted(tests));
        let missing: Vec<&str> = named.filter(|test| !test.contains(' ') && !known.has(test)).collect();
        assert!(missing.is_empty(), "there are no tests {missing:?}");
    }
}

#[test]
fn lookup_finds_only_existing_tests() {
    let text = "#[test]\nfn one() {}\n\n#[test]\n#[ignore = \"slow\"]\nfn two() {}\n\nfn three() {}\n";
    let known = Tests::of(&[(PathBuf::from("a/place.rs"), text.to_owned())]);
    assert!(known.has("place::one") && known.has("place::two") && known.has("one"));
    assert!(!known.has("place::three") && !known.has("three") && !known.has("place::on") && !known.has("other::one"));
}
