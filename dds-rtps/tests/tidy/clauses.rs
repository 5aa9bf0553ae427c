//! Clauses of the standards: each is proven by tests that exist, or has a reason why none does. The defects that
//! outsiders found have such a table too.

use crate::named_tests::{NamedTests, quoted, root, rows};
use std::fs;

/// The tables, each with the least number of its rows.
const TABLES: [(&str, usize); 4] =
    [("clauses-rtps.md", 100), ("clauses-dds.md", 60), ("clauses-xtypes.md", 45), ("defects.md", 31)];

/// What the reason of a row without tests begins with.
const REASONS: [&str; 3] = ["Left out: ", "Own form: ", "No behavior: "];

#[test]
fn every_clause_has_test_or_reason() {
    let known = NamedTests::of_workspace();
    for (name, least) in TABLES {
        let text = fs::read_to_string(root().join("docs").join(name)).unwrap();
        let rows: Vec<_> = rows(&text).collect();
        assert!(rows.len() >= least, "{name}: only {} clauses", rows.len());
        let wrong: Vec<String> = rows.iter().filter_map(|row| fault_of(row, &known)).collect();
        assert!(wrong.is_empty(), "{name}: {wrong:#?}");
    }
}

/// Returns what a row lacks.
fn fault_of(row: &[&str], known: &NamedTests) -> Option<String> {
    let [clause, requirements @ .., proof] = row else { return Some("a row has no cells".to_owned()) };
    let is_clause = clause.starts_with(|first: char| first.is_ascii_digit()) || clause.starts_with("Annex ");
    if !is_clause || requirements.is_empty() || requirements.iter().any(|cell| cell.is_empty()) {
        return Some(format!("expected a clause and a requirement: {row:?}"));
    }
    let tests: Vec<&str> = quoted(proof).filter(|name| name.contains("::")).collect();
    if let Some(missing) = tests.iter().find(|test| !known.has(test)) {
        return Some(format!("{clause}: there is no test {missing}"));
    }
    let has_reason = REASONS.iter().any(|reason| proof.strip_prefix(reason).is_some_and(|text| text.len() > 10));
    (tests.is_empty() && !has_reason).then(|| format!("{clause}: expected a test, or one of {REASONS:?}"))
}

/// `cargo bench NAME` builds each program that is not excluded, with a long link.
#[test]
fn named_benchmark_builds_one_program() {
    let mut built = Vec::new();
    for entry in fs::read_dir(root()).unwrap() {
        let Ok(manifest) = fs::read_to_string(entry.unwrap().path().join("Cargo.toml")) else { continue };
        for program in manifest.split("[[bench]]").skip(1) {
            let program = program.split("\n[").next().unwrap();
            if !program.contains("bench = false") && !program.contains("required-features") {
                built.push(quoted_name(program).to_owned());
            }
        }
    }
    assert_eq!(built, ["latency"]);
}

/// Returns the name of a program of a manifest.
fn quoted_name(program: &str) -> &str {
    program.split("name = \"").nth(1).and_then(|rest| rest.split('"').next()).unwrap()
}

#[test]
fn clause_without_proof_is_found() {
    let known = NamedTests::of_workspace();
    let fault = |row: &[&str]| fault_of(row, &known).unwrap_or_default();
    assert_eq!(fault(&["8.2", "words", "`clauses::clause_without_proof_is_found`"]), "");
    assert_eq!(fault(&["8.2", "words", "Left out: optional, and no peer needs it"]), "");
    assert!(fault(&["8.2", "words", "`clauses::no_such_test`"]).contains("no test clauses::no_such_test"));
    assert!(fault(&["8.2", "words", "later"]).contains("expected a test"));
    assert!(fault(&["8.2", "words", "Left out: "]).contains("expected a test"));
    assert!(fault(&["words", "words", "`clauses::clause_without_proof_is_found`"]).contains("expected a clause"));
    assert!(fault(&["8.2", "words"]).contains("expected a clause and a requirement"));
    assert!(fault(&["8.2", "", "`clauses::clause_without_proof_is_found`"]).contains("and a requirement"));
}
