//! Tests that `docs/bounds.md` names must exist.

use std::collections::HashSet;
use std::fs;
use std::path::Path;

fn collect(folder: &Path, into: &mut HashSet<String>) {
    for entry in fs::read_dir(folder).expect("a folder of the repository").flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            into.extend(tests_of(&fs::read_to_string(&path).expect("a source file")).map(str::to_owned));
        }
    }
}

/// Returns the functions that are marked as tests.
fn tests_of(text: &str) -> impl Iterator<Item = &str> {
    let mut is_marked = false;
    text.lines().map(str::trim).filter_map(move |line| {
        let was_marked = is_marked;
        is_marked = line == "#[test]" || (is_marked && line.starts_with("#["));
        line.strip_prefix("fn ").filter(|_| was_marked)?.split('(').next()
    })
}

/// Returns the text between backticks in the last cell of each row.
fn named(table: &str) -> impl Iterator<Item = &str> {
    let rows = table.lines().filter(|line| line.starts_with('|'));
    let cells = rows.filter_map(|row| row.trim_end_matches('|').rsplit('|').next());
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2))
}

#[test]
fn tests_named_by_bounds_table_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut functions = HashSet::new();
    for member in ["dds-cdr", "dds-rtps", "dds-core", "dds-ros2", "dds-durability", "dds-shm", "dds-security"] {
        collect(&root.join(member).join("src"), &mut functions);
        collect(&root.join(member).join("tests"), &mut functions);
    }
    let table = fs::read_to_string(root.join("docs/bounds.md")).expect("a table of the repository");
    let names: Vec<&str> = named(&table).collect();
    assert!(names.len() > 20, "only {} tests are named", names.len());
    let missing: Vec<&&str> = names.iter().filter(|name| !functions.contains(**name)).collect();
    assert!(missing.is_empty(), "there are no tests {missing:?}");
}

#[test]
fn last_cell_names_tests_in_backticks() {
    assert_eq!(named("| a | `no` | `one`, `two` |\ntext `three`\n|---|").collect::<Vec<_>>(), ["one", "two"]);
}

#[test]
fn only_marked_functions_are_tests() {
    let text = "#[test]\n#[cfg(unix)]\nfn one() {\n    fn inner() {}\n}\nfn two() {}\n    #[test]\n    fn three() {";
    assert_eq!(tests_of(text).collect::<Vec<_>>(), ["one", "three"]);
}
