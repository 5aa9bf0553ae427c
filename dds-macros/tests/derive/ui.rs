//! What the derive refuses, and the words it has for it. `TRYBUILD=overwrite` writes the words anew.

#[test]
fn mistakes_are_told_where_they_are() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

/// Here the compiler speaks, with our words in between.
#[test]
#[ignore = "the words around ours change from one compiler to the next: these are of Rust 1.95"]
fn missing_traits_say_what_to_do() {
    trybuild::TestCases::new().compile_fail("tests/ui/traits/*.rs");
}
