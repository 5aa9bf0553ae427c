//! The text form of keys and certificates (RFC 7468).

use der::pem::{LineEnding, PemLabel};
use zeroize::Zeroizing;

/// Most bytes of a file with keys or certificates.
const LEN_MAX: usize = 1 << 20;

/// Returns each block of a text with the label, with its first and last line.
///
/// Tools write other text before a block, and other blocks.
pub(super) fn blocks<'a>(text: &'a str, label: &str) -> Vec<&'a str> {
    let (begin, end) = (format!("-----BEGIN {label}-----"), format!("-----END {label}-----"));
    let mut found = Vec::new();
    if text.len() > LEN_MAX {
        return found;
    }
    let mut rest = text;
    while let Some(start) = rest.find(&begin) {
        let Some(len) = rest[start..].find(&end) else { break };
        let behind = start + len + end.len();
        found.push(&rest[start..behind]);
        rest = &rest[behind..];
    }
    found
}

/// Decodes a block.
pub(super) fn decode(block: &str) -> Option<Zeroizing<Vec<u8>>> {
    der::pem::decode_vec(block.as_bytes()).ok().map(|(_, bytes)| Zeroizing::new(bytes))
}

/// Encodes a block with the label of a type.
pub(super) fn encode<T: PemLabel>(bytes: &[u8]) -> String {
    der::pem::encode_string(T::PEM_LABEL, LineEnding::LF, bytes).expect("a certificate is shorter than memory")
}
