//! Tests that three tables name must exist.
//!
//! `docs/reliable-protocol.md` names one for each promise, `docs/planted-bugs.md` one for each bug, and
//! `dds-core/tests/api/rules.rs` one for each rule.

use crate::named_tests::{NamedTests, quoted, root, rows};
use std::fs;

#[test]
fn every_protocol_promise_has_test() {
    let known = NamedTests::of_workspace();
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
    let known = NamedTests::of_workspace();
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
