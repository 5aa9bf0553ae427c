//! The place of a key in a PKCS #11 token, as a URI (RFC 7512).

use super::legible::legible;
use super::pkcs11_key::Pkcs11Error;
use std::fmt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// A URI that names a private key in a PKCS #11 token.
///
/// Smart cards, TPMs and hardware security modules are such tokens. `Debug` and `Display` leave out the PIN.
///
/// ```
/// use dds_security::pki::Pkcs11Uri;
///
/// let uri: Pkcs11Uri = "pkcs11:token=fleet;object=robot7\
///     ?module-path=/usr/lib/softhsm/libsofthsm2.so&pin-source=file:/etc/robot7.pin".parse()?;
/// assert_eq!(uri.to_string(), "pkcs11:token=fleet;object=robot7");
/// # Ok::<(), dds_security::pki::Pkcs11Error>(())
/// ```
#[derive(Clone)]
pub struct Pkcs11Uri {
    /// The part in front of the query, which has no secret.
    path: String,
    pub(super) module: PathBuf,
    pub(super) token: TokenFilter,
    pub(super) object: Option<Vec<u8>>,
    pub(super) id: Option<Vec<u8>>,
    pub(super) pin: PinSource,
}

/// What a token must be. Absent parts fit to each token.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct TokenFilter {
    pub(super) label: Option<String>,
    pub(super) manufacturer: Option<String>,
    pub(super) model: Option<String>,
    pub(super) serial: Option<String>,
    pub(super) slot_id: Option<u64>,
}

/// Where the PIN of a token is.
#[derive(Clone)]
pub(super) enum PinSource {
    /// The token needs none, or asks for it on its own keys.
    None,
    Value(Zeroizing<String>),
    File(PathBuf),
}

/// The names of all attributes. Another text in the query may be a part of a PIN, and is not shown.
const NAMES: [&str; 11] = [
    "token",
    "manufacturer",
    "model",
    "serial",
    "slot-id",
    "object",
    "id",
    "type",
    "module-path",
    "pin-value",
    "pin-source",
];

/// Each name may be in a URI once.
#[derive(Default)]
struct Names<'a>(Vec<&'a str>);

impl<'a> Names<'a> {
    fn note(&mut self, name: &'a str) -> Result<(), Pkcs11Error> {
        if self.0.contains(&name) {
            return Err(fault(name, "is there twice: remove one"));
        }
        self.0.push(name);
        Ok(())
    }
}

impl std::str::FromStr for Pkcs11Uri {
    type Err = Pkcs11Error;

    /// Reads the URI of a private key. It needs `module-path`, and `object` or `id`.
    fn from_str(text: &str) -> Result<Self, Pkcs11Error> {
        let rest = text.trim().strip_prefix("pkcs11:").ok_or(Pkcs11Error::NoUri)?;
        let (path, query) = rest.split_once('?').unwrap_or((rest, ""));
        // One list serves both parts, because no attribute belongs to both.
        let mut names = Names::default();
        let (mut token, mut object, mut id) = (TokenFilter::default(), None, None);
        for attribute in path.split(';').filter(|attribute| !attribute.is_empty()) {
            let (name, value) = decoded(attribute, &mut names, false)?;
            match name {
                "object" => object = Some(value.to_vec()),
                "id" => id = Some(value.to_vec()),
                // The search finds private keys only, so the value adds nothing.
                "type" if *value == b"private"[..] => {}
                "type" => return Err(Pkcs11Error::Attribute(name.to_owned(), "must be `private`")),
                _ => token.set(name, text_of(name, &value)?.as_str())?,
            }
        }
        let (mut module, mut pin) = (None, PinSource::None);
        for attribute in query.split('&').filter(|attribute| !attribute.is_empty()) {
            let (name, value) = decoded(attribute, &mut names, true)?;
            let text = text_of(name, &value)?;
            match (name, &pin) {
                ("module-path", _) => module = Some(PathBuf::from(text.as_str())),
                // The wrong one of two PINs could lock the token.
                ("pin-value" | "pin-source", PinSource::Value(_) | PinSource::File(_)) => {
                    return Err(Pkcs11Error::Attribute(name.to_owned(), "is a second PIN: remove one of both"));
                }
                ("pin-value", _) => pin = PinSource::Value(text),
                ("pin-source", _) => pin = PinSource::File(file_of(&text)?),
                _ => return Err(unknown(name)),
            }
        }
        // Any private key would fit, and the order of the token would choose.
        if object.is_none() && id.is_none() {
            return Err(Pkcs11Error::NoObject);
        }
        let module = module.ok_or(Pkcs11Error::NoModule)?;
        // Errors and logs show the path only: the query may have the PIN.
        Ok(Self { path: legible(&format!("pkcs11:{path}")), module, token, object, id, pin })
    }
}

impl TokenFilter {
    fn set(&mut self, name: &str, value: &str) -> Result<(), Pkcs11Error> {
        let place = match name {
            "token" => &mut self.label,
            "manufacturer" => &mut self.manufacturer,
            "model" => &mut self.model,
            "serial" => &mut self.serial,
            "slot-id" => {
                let number = value.parse().map_err(|_| Pkcs11Error::Attribute(name.to_owned(), "must be a number"));
                self.slot_id = Some(number?);
                return Ok(());
            }
            // An ignored attribute would make the filter fit other tokens.
            _ => return Err(unknown(name)),
        };
        *place = Some(value.to_owned());
        Ok(())
    }
}

impl Pkcs11Uri {
    /// The library of the token.
    #[must_use]
    pub fn module(&self) -> &Path {
        &self.module
    }
}

fn unknown(name: &str) -> Pkcs11Error {
    let text = "is not supported: remove it, or write `&` in a value as %26 (supported: token, manufacturer, model, \
                serial, slot-id, object, id, type, module-path, pin-value, pin-source)";
    fault(name, text)
}

fn fault(name: &str, text: &'static str) -> Pkcs11Error {
    Pkcs11Error::Attribute(legible(name), text)
}

/// Splits an attribute, and decodes its value. The value may be a PIN.
fn decoded<'a>(
    attribute: &'a str,
    names: &mut Names<'a>,
    is_query: bool,
) -> Result<(&'a str, Zeroizing<Vec<u8>>), Pkcs11Error> {
    let (name, value) = attribute.split_once('=').unwrap_or((attribute, ""));
    // Elsewhere there is no PIN.
    if is_query && !NAMES.contains(&name) {
        return Err(unknown("?"));
    }
    names.note(name)?;
    if value.is_empty() {
        return Err(fault(name, "has no value: write NAME=VALUE"));
    }
    let malformed = || fault(name, "has a malformed value: write each `%` as %25");
    // No value is longer than its text, so the buffer never moves and leaves no PIN behind.
    let mut bytes = Zeroizing::new(Vec::with_capacity(value.len()));
    let mut rest = value.as_bytes();
    while let Some((first, others)) = rest.split_first() {
        let (byte, others) = match (first, others) {
            (b'%', [high, low, others @ ..]) => {
                let digit = |byte: &u8| char::from(*byte).to_digit(16);
                let (high, low) = digit(high).zip(digit(low)).ok_or_else(malformed)?;
                ((high * 16 + low) as u8, others)
            }
            (b'%', _) => return Err(malformed()),
            _ => (*first, others),
        };
        bytes.push(byte);
        rest = others;
    }
    debug_assert!(bytes.len() <= value.len(), "an escape has more characters than bytes");
    Ok((name, bytes))
}

fn text_of(name: &str, value: &[u8]) -> Result<Zeroizing<String>, Pkcs11Error> {
    let text = std::str::from_utf8(value).map_err(|_| fault(name, "is no UTF-8"))?;
    Ok(Zeroizing::new(text.to_owned()))
}

/// Reads the place of a PIN: `file:PATH`, `file:///PATH` or a path.
fn file_of(text: &str) -> Result<PathBuf, Pkcs11Error> {
    let path = text.strip_prefix("file:").unwrap_or(text);
    // Both `file:/path` and `file:///path` name a file of this host.
    let path = path.strip_prefix("//").unwrap_or(path);
    // RFC 7512 lets `|` start a program, which a file with settings must not do.
    if path.starts_with('|') || path.is_empty() {
        return Err(Pkcs11Error::Attribute("pin-source".to_owned(), "must name a file: programs are not started"));
    }
    Ok(PathBuf::from(path))
}

impl fmt::Display for Pkcs11Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.path)
    }
}

impl fmt::Debug for Pkcs11Uri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pkcs11Uri").field(&self.path).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Pkcs11Uri, Pkcs11Error> {
        text.parse()
    }

    #[test]
    fn attributes_are_decoded() {
        let uri = read(
            "pkcs11:token=The%20Fleet;manufacturer=M;model=L;serial=5;slot-id=7;id=%01%aB;object=r%3b;type=private\
             ?module-path=/lib/x.so&pin-value=12%2634\n",
        )
        .unwrap();
        let text = |text: &str| Some(text.to_owned());
        let (label, manufacturer, model, serial) = (text("The Fleet"), text("M"), text("L"), text("5"));
        assert_eq!(uri.token, TokenFilter { label, manufacturer, model, serial, slot_id: Some(7) });
        assert_eq!((uri.id.as_deref(), uri.object.as_deref()), (Some(&[1, 0xab][..]), Some(&b"r;"[..])));
        assert_eq!(uri.module(), Path::new("/lib/x.so"));
        assert!(matches!(&uri.pin, PinSource::Value(pin) if pin.as_str() == "12&34"));
        let shown = format!("{uri} {uri:?}");
        assert!(shown.contains("token=The%20Fleet") && !shown.contains("34"), "{shown}");
        for source in ["file:/etc/pin", "file:///etc/pin", "/etc/pin"] {
            let uri = read(&format!("pkcs11:id=%01?module-path=x&pin-source={source}")).unwrap();
            assert!(matches!(&uri.pin, PinSource::File(path) if path == Path::new("/etc/pin")), "{source}");
        }
    }

    #[test]
    fn faults_name_the_attribute_and_the_next_step() {
        for (text, fault) in [
            ("file:key.pem", "expected a URI such as pkcs11:token=fleet;object=robot"),
            ("pkcs11:object=a", "add ?module-path="),
            ("pkcs11:token=a?module-path=x", "add object=NAME"),
            ("pkcs11:object=a;object=b?module-path=x", "`object` is there twice"),
            ("pkcs11:object=a;library-version=3?module-path=x", "`library-version` is not supported: remove it"),
            ("pkcs11:object=a?module-name=softhsm2", "`?` is not supported: remove it"),
            ("pkcs11:object=%4?module-path=x", "`object` has a malformed value"),
            ("pkcs11:object=%zz?module-path=x", "`object` has a malformed value"),
            ("pkcs11:object=?module-path=x", "`object` has no value"),
            ("pkcs11:object=a?module-path=x&pin-value=12&34", "`?` is not supported"),
            ("pkcs11:object=a?module-path=x&pin-value=12&ab=c", "`?` is not supported"),
            ("pkcs11:token=%ff;object=a?module-path=x", "`token` is no UTF-8"),
            ("pkcs11:object=a;slot-id=one?module-path=x", "`slot-id` must be a number"),
            ("pkcs11:object=a;type=cert?module-path=x", "`type` must be `private`"),
            ("pkcs11:object=a?module-path=x&pin-value=1&pin-source=/p", "`pin-source` is a second PIN"),
            ("pkcs11:object=a?module-path=x&pin-source=|program", "`pin-source` must name a file"),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(fault), "{text}: {error}");
        }
        let error = read(&format!("pkcs11:{}\u{1b}=1", "x".repeat(10_000))).unwrap_err().to_string();
        assert!(error.len() < 500 && !error.chars().any(char::is_control), "{error}");
    }
}
