//! Skips tests that this machine cannot run. `tests/processes` includes this file.

/// Reports that a test, or a part of it, is skipped because this machine does not have `what`.
///
/// Under `DDS_TEST_STRICT=1` only known gaps may be skipped. `DDS_TEST_LACKS` lists them, separated by commas.
///
/// # Panics
/// If `DDS_TEST_STRICT=1` is set and `DDS_TEST_LACKS` does not list `what`.
pub(crate) fn skip(what: &str) {
    let of = |variable: &str| std::env::var(variable).unwrap_or_default();
    let is_known = of("DDS_TEST_LACKS").split(',').any(|lacking| lacking.trim() == what);
    assert!(is_known || of("DDS_TEST_STRICT") != "1", "this machine should have {what}");
    println!("skipped: this machine does not have {what}");
}
