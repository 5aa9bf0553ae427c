//! Texts of other participants in errors, which go to logs.

/// Characters that an error shows of such a text.
const SHOWN_CHARS: usize = 64;

/// Returns the beginning of a text, without characters that would change a log.
pub(crate) fn legible(text: &str) -> String {
    text.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect()
}
