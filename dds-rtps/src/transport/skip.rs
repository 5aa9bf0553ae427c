//! What a test says that cannot run here. Other crates' tests include this file.

/// Says that a test, or a part of it, is left out because this machine does not have `what`.
///
/// Under `DDS_TEST_STRICT=1` nothing is left out that was not to be: whoever sets it names in `DDS_TEST_LACKS`, with commas
/// between, what the machine is known not to have.
///
/// # Panics
/// Under `DDS_TEST_STRICT=1`, if `DDS_TEST_LACKS` does not name it.
#[allow(clippy::disallowed_methods, reason = "what a machine has, its environment says")]
pub(crate) fn skip(what: &str) {
    let of = |variable: &str| std::env::var(variable).unwrap_or_default();
    let is_known = of("DDS_TEST_LACKS").split(',').any(|lacking| lacking.trim() == what);
    assert!(is_known || of("DDS_TEST_STRICT") != "1", "this machine should have {what}");
    println!("skipped: this machine does not have {what}");
}
