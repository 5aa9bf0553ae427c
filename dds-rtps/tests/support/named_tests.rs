//! Tables of documents that name tests, and the tests that exist.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns the root of the workspace.
pub(crate) fn root() -> PathBuf {
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
pub(crate) fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = text.lines().filter(|line| line.starts_with('|') && !line.starts_with("|---"));
    let cells = rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>());
    let is_header = |cell: Option<&&str>| matches!(cell, Some(&"clause" | &"number"));
    cells.filter(move |cells| !is_header(cells.last()) && !is_header(cells.first()))
}

/// Returns the text between backticks.
pub(crate) fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The existing tests, each with the files that contain one of its name.
pub(crate) struct NamedTests(HashMap<String, Vec<String>>);

impl NamedTests {
    fn of(files: &[(PathBuf, String)]) -> Self {
        let mut tests: HashMap<String, Vec<String>> = HashMap::new();
        for (path, text) in files {
            // `mod.rs` has the name of its folder.
            let named = if path.ends_with("mod.rs") { path.parent().unwrap() } else { path };
            let stem = named.file_stem().unwrap().to_string_lossy();
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
    pub(crate) fn of_workspace() -> Self {
        let mut files = Vec::new();
        for member in ["dds-cdr", "dds-rtps", "dds-core", "dds-durability", "dds-idl", "dds-macros", "book", "examples"]
        {
            collect(&root().join(member).join("src"), &mut files);
            collect(&root().join(member).join("tests"), &mut files);
        }
        Self::of(&files)
    }

    /// Returns whether a file of this name contains the test. Without a file name, any file counts.
    pub(crate) fn has(&self, test: &str) -> bool {
        let (place, name) = test.rsplit_once("::").map_or((None, test), |(place, name)| (Some(place), name));
        let is_place = |stem: &String| place.is_none_or(|place| stem == place);
        self.0.get(name).is_some_and(|stems| stems.iter().any(is_place))
    }
}

#[test]
fn lookup_finds_only_existing_tests() {
    let text = "#[test]\nfn one() {}\n\n#[test]\n#[ignore = \"slow\"]\nfn two() {}\n\nfn three() {}\n";
    let known = NamedTests::of(&[(PathBuf::from("a/place.rs"), text.to_owned())]);
    assert!(NamedTests::of(&[(PathBuf::from("a/place/mod.rs"), text.to_owned())]).has("place::one"));
    assert!(known.has("place::one") && known.has("place::two") && known.has("one"));
    assert!(!known.has("place::three") && !known.has("three") && !known.has("place::on") && !known.has("other::one"));
}
