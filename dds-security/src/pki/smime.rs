//! A document with its signature: a message of two parts, as `openssl smime -sign -text` writes it (RFC 8551).
//!
//! ```text
//! MIME-Version: 1.0
//! Content-Type: multipart/signed; protocol="application/x-pkcs7-signature"; micalg="sha-256"; boundary="----X"
//!
//! ------X
//! Content-Type: text/plain
//!
//! <dds>…</dds>
//! ------X
//! Content-Type: application/x-pkcs7-signature; name="smime.p7s"
//! Content-Transfer-Encoding: base64
//!
//! MIIB…
//! ------X--
//! ```
//!
//! The signature covers the first part with its header, and with CRLF at the end of each line.

use super::signed_data;
use super::{Certificate, Issuer, SignError};
use std::fmt;

/// Most bytes of a signed document.
const LEN_MAX: usize = 1 << 20;

/// A signed document is faulty, or the authority did not sign it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SignatureError {
    /// The file is longer than a megabyte.
    TooLong,
    /// The file is no message of two parts.
    NotSigned,
    /// The signature contains the document, instead of standing beside it.
    NotDetached,
    /// The document is no text in UTF-8.
    NotText,
    /// The signature breaks its format.
    Malformed,
    /// The signature has no signer, or more than 8.
    NoSigner,
    /// Another authority signed the document.
    OtherSigner {
        /// The subject of the permissions authority.
        authority: String,
    },
    /// The hash of the signature is not supported. The text is its object identifier.
    Algorithm(String),
    /// The document was changed after it was signed.
    Changed,
    /// The signature is not one of the authority's key.
    Forged,
}

/// Verifies a signed document, and returns its text, whose lines end with CRLF.
///
/// `authority` itself must have signed it, as with all vendors. The caller checks the validity of its certificate.
///
/// # Errors
/// [`SignatureError`] if that is not so. The text is then not to be used.
pub fn verify_document(file: &[u8], authority: &Certificate) -> Result<String, SignatureError> {
    if file.len() > LEN_MAX {
        return Err(SignatureError::TooLong);
    }
    let message = parse(file).ok_or(SignatureError::NotSigned)?;
    let content = canonical(message.content);
    let signature = decode_base64(message.signature).ok_or(SignatureError::Malformed)?;
    signed_data::verify(&content, &signature, authority)?;
    // The header of the part is signed, but does not belong to the document.
    let (_, text) = split_header(&content).ok_or(SignatureError::NotSigned)?;
    String::from_utf8(text.to_vec()).map_err(|_| SignatureError::NotText)
}

/// Signs a document in the form of `openssl smime -sign -text`.
///
/// # Errors
/// [`SignError`] if the authority's certificate is unusable.
pub fn sign_document(text: &str, authority: &Issuer) -> Result<Vec<u8>, SignError> {
    let content = canonical(format!("Content-Type: text/plain\n\n{text}").as_bytes());
    let signature = signed_data::sign(&content, authority)?;
    let digest = &super::public_key::Hash::Sha256.of(&signature)[..16];
    // The hash of the signature does not occur in the text that it signs.
    let boundary = digest.iter().fold("----".to_owned(), |boundary, byte| format!("{boundary}{byte:02X}"));
    let mut file = format!(
        "MIME-Version: 1.0\nContent-Type: multipart/signed; protocol=\"application/x-pkcs7-signature\"; \
         micalg=\"{}\"; boundary=\"{boundary}\"\n\nThis is an S/MIME signed message\n\n--{boundary}\n",
        authority.key().hash().name()
    )
    .into_bytes();
    for line in content.split_inclusive(|byte| *byte == b'\n') {
        // Only the ends of lines change: a carriage return inside of a line is signed too.
        match line.strip_suffix(b"\r\n") {
            Some(line) => file.extend_from_slice(&[line, b"\n"].concat()),
            None => file.extend_from_slice(line),
        }
    }
    file.extend_from_slice(
        format!(
            "\n--{boundary}\nContent-Type: application/x-pkcs7-signature; name=\"smime.p7s\"\n\
             Content-Transfer-Encoding: base64\nContent-Disposition: attachment; filename=\"smime.p7s\"\n\n{}\n\
             --{boundary}--\n\n",
            encode_base64(&signature)
        )
        .as_bytes(),
    );
    Ok(file)
}

/// The two parts of a message.
struct SignedMessage<'a> {
    /// The signed part, with its header.
    content: &'a [u8],
    /// The signature in Base64.
    signature: &'a [u8],
}

fn parse(file: &[u8]) -> Option<SignedMessage<'_>> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let (header, body) = split_header(file)?;
    let boundary = boundary_of(header)?;
    let (_, rest) = split_at_boundary(body, &boundary)?;
    let (content, rest) = split_at_boundary(rest, &boundary)?;
    let (signature, _) = split_at_boundary(rest, &boundary)?;
    let (header, signature) = split_header(signature)?;
    let header = header.to_ascii_lowercase();
    let has = |word: &[u8]| header.windows(word.len()).any(|part| part == word);
    let is_signature = has(b"application/x-pkcs7-signature") || has(b"application/pkcs7-signature");
    (is_signature && has(b"base64")).then_some(SignedMessage { content, signature })
}

/// Splits a message or a part at its first empty line.
fn split_header(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let behind = at + line.len();
        if line == b"\n" || line == b"\r\n" {
            return Some((&bytes[..at], &bytes[behind..]));
        }
        at = behind;
    }
    None
}

/// Returns the boundary that the header of a signed message names.
fn boundary_of(header: &[u8]) -> Option<Vec<u8>> {
    let header = std::str::from_utf8(header).ok()?;
    // A line that begins with a space continues the one before.
    let unfolded = header.replace("\r\n", "\n").replace("\n ", " ").replace("\n\t", " ");
    let line = unfolded.lines().find(|line| line.to_ascii_lowercase().starts_with("content-type:"))?;
    let lower = line.to_ascii_lowercase();
    if !lower.contains("multipart/signed") {
        return None;
    }
    let value = line[lower.find("boundary=")? + "boundary=".len()..].trim();
    let name = match value.strip_prefix('"') {
        Some(quoted) => quoted.split_once('"')?.0,
        None => value.split([';', ' ']).next()?,
    };
    // RFC 2046 allows 70 characters.
    (1..=70).contains(&name.len()).then(|| format!("--{name}").into_bytes())
}

/// Splits at the next line with the boundary. The line end before it belongs to the boundary.
fn split_at_boundary<'a>(bytes: &'a [u8], boundary: &[u8]) -> Option<(&'a [u8], &'a [u8])> {
    let mut at = 0;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let behind = at + line.len();
        if let Some(rest) = line.strip_prefix(boundary) {
            let rest = rest.strip_prefix(b"--").unwrap_or(rest);
            if rest.iter().all(u8::is_ascii_whitespace) {
                let part = &bytes[..at];
                let part = part.strip_suffix(b"\n").unwrap_or(part);
                return Some((part.strip_suffix(b"\r").unwrap_or(part), &bytes[behind..]));
            }
        }
        at = behind;
    }
    None
}

/// Ends each line with CRLF, as OpenSSL does before it signs and verifies.
fn canonical(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 32);
    let mut lines = bytes.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        let end = line.iter().rposition(|byte| *byte != b'\r').map_or(0, |last| last + 1);
        out.extend_from_slice(&line[..end]);
        if lines.peek().is_some() {
            out.extend_from_slice(b"\r\n");
        }
    }
    out
}

fn encode_base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for (index, chunk) in bytes.chunks(3).enumerate() {
        if index > 0 && index % 16 == 0 {
            out.push('\n');
        }
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let [a, b, c] = group.map(u32::from);
        let bits = a << 16 | b << 8 | c;
        for place in 0..4 {
            if place <= chunk.len() {
                let index = (bits >> (18 - 6 * place)) & 63;
                out.push(char::from(ALPHABET[index as usize]));
            } else {
                out.push('=');
            }
        }
    }
    out.push('\n');
    out
}

fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count, mut padding) = (0_u32, 0, 0);
    for byte in text.iter().filter(|byte| !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                padding += 1;
                continue;
            }
            _ => return None,
        };
        // Decoders differ about bytes behind the padding, so they are refused.
        if padding > 0 {
            return None;
        }
        bits = bits << 6 | u32::from(value);
        count += 1;
        if count == 4 {
            out.extend_from_slice(&bits.to_be_bytes()[1..]);
            (bits, count) = (0, 0);
        }
    }
    debug_assert!(count < 4, "a full group leaves the loop empty");
    match (count, padding) {
        (0, 0) => {}
        (2, 2) => out.push(bits.to_be_bytes()[3] >> 4 | bits.to_be_bytes()[2] << 4),
        (3, 1) => out.extend_from_slice(&(bits << 6).to_be_bytes()[1..3]),
        _ => return None,
    }
    Some(out)
}

impl fmt::Display for SignatureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong => f.write_str("the document has more than a megabyte: remove rules"),
            Self::NotSigned => f.write_str(
                "the file is no signed document: expected `Content-Type: multipart/signed`, as of `openssl smime -sign -text`",
            ),
            Self::NotDetached => {
                f.write_str("the signature contains the document: sign it without `-nodetach`")
            }
            Self::NotText => f.write_str("the document is no text in UTF-8: save it as UTF-8, and sign it again"),
            Self::Malformed => f.write_str("the signature is malformed: sign the document again"),
            Self::NoSigner => f.write_str("the signature has no signer: sign the document again"),
            Self::OtherSigner { authority } => write!(
                f,
                "another authority signed the document, not `{authority}`: sign it with the key of that authority"
            ),
            Self::Algorithm(oid) => {
                write!(f, "the signature has the hash {oid}, which is not supported: sign the document with `-md sha256`")
            }
            Self::Changed => f.write_str("the document was changed after it was signed: sign it again"),
            Self::Forged => {
                f.write_str("the signature is not one of the authority's key: compare the authorities of both sides")
            }
        }
    }
}

impl std::error::Error for SignatureError {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_end_with_both_characters() {
        for (text, expected) in [("a\nb", "a\r\nb"), ("a\r\nb\r\n", "a\r\nb\r\n"), ("\n\r\r\n", "\r\n\r\n"), ("", "")] {
            assert_eq!(canonical(text.as_bytes()), expected.as_bytes());
        }
    }

    #[test]
    fn boundaries_have_several_spellings() {
        let boundary = |header: &str| boundary_of(header.as_bytes()).map(|name| String::from_utf8(name).unwrap());
        let expected = Some("--X1".to_owned());
        assert_eq!(boundary("Content-Type: multipart/signed; boundary=\"X1\"; x=y\n"), expected);
        assert_eq!(boundary("A: b\r\ncontent-type: multipart/signed;\r\n\tBOUNDARY=X1\r\n"), expected);
        assert_eq!(boundary("Content-Type: multipart/mixed; boundary=X1\n"), None);
        assert_eq!(boundary("Content-Type: multipart/signed\n"), None);
    }

    proptest! {
        #[test]
        fn base64_survives(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert_eq!(decode_base64(encode_base64(&bytes).as_bytes()), Some(bytes));
        }

        #[test]
        fn any_bytes_are_a_message_or_none(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
            let _ = decode_base64(&bytes);
        }
    }
}
