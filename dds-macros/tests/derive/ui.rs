//! Types that the derive rejects, and its error messages. `TRYBUILD=overwrite` updates the expected messages.

#[test]
fn mistake_is_reported_at_its_source_position() {
    trybuild::TestCases::new().compile_fail("tests/ui/*.rs");
}

/// The compiler writes these messages and includes the notes of the traits.
#[test]
#[ignore = "the compiler's text depends on its version; the expected text is that of Rust 1.95"]
fn missing_trait_message_names_the_remedy() {
    trybuild::TestCases::new().compile_fail("tests/ui/traits/*.rs");
}
