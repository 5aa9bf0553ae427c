//! A key that signs inside of a PKCS #11 token, and never leaves it.

use super::legible::legible;
use super::pkcs11_uri::{PinSource, Pkcs11Uri, TokenFilter};
use super::public_key::Hash;
use super::{Certificate, PublicKey};
use cryptoki::context::{CInitializeArgs, CInitializeFlags, Pkcs11};
use cryptoki::error::{Error, RvError};
use cryptoki::mechanism::rsa::{PkcsMgfType, PkcsPssParams};
use cryptoki::mechanism::{Mechanism, MechanismType};
use cryptoki::object::{Attribute, KeyType, ObjectClass, ObjectHandle};
use cryptoki::session::{Session, UserType};
use cryptoki::slot::{Slot, TokenInfo};
use cryptoki::types::AuthPin;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use zeroize::Zeroizing;

/// Most bytes of a file with a PIN.
const PIN_LEN_MAX: u64 = 1 << 10;

/// A private key in a PKCS #11 token, beside the certificate that it belongs to.
///
/// Each signature is an operation of the token, which may take from a fraction of a millisecond to a second.
#[derive(Clone)]
pub struct Pkcs11Key {
    uri: Pkcs11Uri,
    public: PublicKey,
    state: Arc<Mutex<KeyState>>,
    /// Nanoseconds of all signatures.
    busy: Arc<AtomicU64>,
}

/// What this process has of a key.
enum KeyState {
    Open(OpenKey),
    /// The session has ended: the token was reset, or plugged in again.
    Lost,
    /// The token refuses the PIN. More attempts would lock the token.
    Refused(Pkcs11Error),
}

/// A session with a token, and the key in it.
struct OpenKey {
    session: Session,
    key: ObjectHandle,
}

/// A key in a PKCS #11 token cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pkcs11Error {
    /// The text is no URI of PKCS #11.
    NoUri,
    /// An attribute of the URI is faulty: its name, and the fault.
    Attribute(String, &'static str),
    /// The URI has no `module-path`.
    NoModule,
    /// The URI has neither `object` nor `id`.
    NoObject,
    /// The file with the PIN cannot be read: why.
    PinFile(PathBuf, String),
    /// The library of the token cannot be used: why.
    Module(PathBuf, String),
    /// No token fits the URI. The text lists those that are there.
    NoToken(String),
    /// Several tokens fit the URI. The text lists them.
    SeveralTokens(String),
    /// The token wants a PIN, and the URI has none.
    NoPin,
    /// The token refuses the PIN.
    Pin(String),
    /// The token has no such private key, or none of the kind of the certificate's key.
    NoKey(&'static str),
    /// Several private keys fit the URI.
    SeveralKeys,
    /// The private key belongs to another certificate.
    OtherKey,
    /// The token does not sign: why.
    Sign(String),
}

impl Pkcs11Key {
    /// Opens the private key of a certificate. It signs once, to prove that it belongs to the certificate.
    ///
    /// # Errors
    /// [`Pkcs11Error`] names the fault and the next step.
    pub fn open(uri: &Pkcs11Uri, certificate: &Certificate) -> Result<Self, Pkcs11Error> {
        let public = certificate.public_key().clone();
        let state = Arc::new(Mutex::new(KeyState::Open(OpenKey::new(uri, &public)?)));
        let key = Self { uri: uri.clone(), public, state, busy: Arc::default() };
        let mut challenge = [0; 32];
        // A token that repeats an old signature fails with fresh bytes.
        getrandom::fill(&mut challenge).map_err(|error| Pkcs11Error::Sign(error.to_string()))?;
        // The signature must fit the certificate, so a key of another one fails before the first handshake.
        key.sign_handshake(&challenge)?;
        Ok(key)
    }

    /// Signs values of a handshake: ECDSA with the hash of the curve's size, in DER, or RSASSA-PSS-SHA256.
    ///
    /// A signature that does not fit the certificate is an error, and does not leave this function.
    pub(crate) fn sign_handshake(&self, bytes: &[u8]) -> Result<Vec<u8>, Pkcs11Error> {
        let start = Instant::now();
        let signed = self.sign(bytes);
        let nanos = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        // Failed attempts block the thread as well, so they count.
        self.busy.fetch_add(nanos, Ordering::Relaxed);
        signed
    }

    /// Time that all signatures so far have taken, also those that failed.
    pub(crate) fn busy(&self) -> Duration {
        Duration::from_nanos(self.busy.load(Ordering::Relaxed))
    }

    fn sign(&self, bytes: &[u8]) -> Result<Vec<u8>, Pkcs11Error> {
        // The lock spans the whole operation, because a session signs one text at a time.
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if let KeyState::Open(open) = &*state {
            match open.sign(&self.public, bytes) {
                // A new session follows below. It is tried once, so a dead token fails at once.
                Err(error) if has_ended(&error) => {}
                signed => return self.checked(bytes, signed),
            }
        }
        let open = self.reopen(&mut state)?;
        let signed = open.sign(&self.public, bytes);
        *state = KeyState::Open(open);
        self.checked(bytes, signed)
    }

    /// Opens the key once more. A token that has refused the PIN is not asked again.
    fn reopen(&self, state: &mut KeyState) -> Result<OpenKey, Pkcs11Error> {
        if let KeyState::Refused(error) = state {
            return Err(error.clone());
        }
        // The old session closes first: some tokens have only one.
        *state = KeyState::Lost;
        let opened = OpenKey::new(&self.uri, &self.public);
        // A few wrong PINs lock a token, so this error is final.
        if let Err(error @ Pkcs11Error::Pin(_)) = &opened {
            *state = KeyState::Refused(error.clone());
        }
        opened
    }

    /// Returns the signature of a token in the form of a handshake, if it fits the certificate.
    fn checked(&self, bytes: &[u8], signed: Result<Vec<u8>, Error>) -> Result<Vec<u8>, Pkcs11Error> {
        let signature = signed.map_err(|error| Pkcs11Error::Sign(text_of(&error)))?;
        let signature = encoded(&self.public, signature).ok_or(Pkcs11Error::OtherKey)?;
        // A peer would refuse a wrong signature, and the user of this side would not see why.
        if self.public.verifies_handshake(bytes, &signature) { Ok(signature) } else { Err(Pkcs11Error::OtherKey) }
    }
}

/// Whether an error tells that a session or its login has ended. Other faults would come again.
fn has_ended(error: &Error) -> bool {
    matches!(
        error,
        Error::Pkcs11(
            RvError::SessionHandleInvalid
                | RvError::SessionClosed
                | RvError::UserNotLoggedIn
                | RvError::KeyHandleInvalid
                | RvError::ObjectHandleInvalid
                | RvError::DeviceError
                | RvError::DeviceRemoved
                | RvError::TokenNotPresent
                | RvError::CryptokiNotInitialized,
            _
        )
    )
}

impl OpenKey {
    fn new(uri: &Pkcs11Uri, public: &PublicKey) -> Result<Self, Pkcs11Error> {
        let module = module(&uri.module)?;
        let failed = |error: Error| Pkcs11Error::Module(uri.module.clone(), text_of(&error));
        let (slot, info) = find_token(&module, &uri.token, failed)?;
        // A signature changes no object of the token, so this session need not write.
        let session = module.open_ro_session(slot).map_err(failed)?;
        login(&session, &info, &uri.pin)?;
        let key = find_key(&session, uri, public, failed)?;
        Ok(Self { session, key })
    }

    fn sign(&self, public: &PublicKey, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let pss = PkcsPssParams { hash_alg: MechanismType::SHA256, mgf: PkcsMgfType::MGF1_SHA256, s_len: 32.into() };
        // All tokens sign digests, and some do not hash.
        let (mechanism, hash) = match public {
            PublicKey::P256(_) => (Mechanism::Ecdsa, Hash::Sha256),
            PublicKey::P384(_) => (Mechanism::Ecdsa, Hash::Sha384),
            PublicKey::Rsa(_) => (Mechanism::RsaPkcsPss(pss), Hash::Sha256),
        };
        self.session.sign(&mechanism, self.key, &hash.of(bytes))
    }
}

/// Returns a signature in the form of a handshake. Tokens write the two numbers of ECDSA behind each other.
fn encoded(public: &PublicKey, signature: Vec<u8>) -> Option<Vec<u8>> {
    match public {
        PublicKey::P256(_) => Some(p256::ecdsa::Signature::from_slice(&signature).ok()?.to_der().as_bytes().to_vec()),
        PublicKey::P384(_) => Some(p384::ecdsa::Signature::from_slice(&signature).ok()?.to_der().as_bytes().to_vec()),
        PublicKey::Rsa(_) => Some(signature),
    }
}

/// Returns a library that is ready. Each is loaded once, and never ended: all participants of the process share it.
///
/// Another part of the process may have ended it, and a forked child must begin it again.
fn module(path: &Path) -> Result<Pkcs11, Pkcs11Error> {
    static MODULES: Mutex<BTreeMap<PathBuf, Pkcs11>> = Mutex::new(BTreeMap::new());
    let failed = |error: Error| Pkcs11Error::Module(path.to_owned(), text_of(&error));
    // The lock spans the load as well, so two threads do not load a library twice.
    let mut modules = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
    let module = match modules.get(path) {
        Some(module) => module.clone(),
        None => Pkcs11::new(path).map_err(failed)?,
    };
    match module.initialize(CInitializeArgs::new(CInitializeFlags::OS_LOCKING_OK)) {
        // Another part of the process uses the library.
        Ok(()) | Err(Error::Pkcs11(RvError::CryptokiAlreadyInitialized, _)) => {}
        Err(error) => return Err(failed(error)),
    }
    modules.insert(path.to_owned(), module.clone());
    Ok(module)
}

/// Returns the only token that fits.
fn find_token(
    module: &Pkcs11,
    filter: &TokenFilter,
    failed: impl Fn(Error) -> Pkcs11Error,
) -> Result<(Slot, TokenInfo), Pkcs11Error> {
    let (mut fitting, mut labels) = (Vec::new(), Vec::new());
    for slot in module.get_slots_with_token().map_err(&failed)? {
        let info = module.get_token_info(slot).map_err(&failed)?;
        // A token before its initialization has no keys, and often no label.
        if !info.token_initialized() {
            continue;
        }
        labels.push(legible(info.label()));
        if fits(filter, slot, &info) {
            fitting.push((slot, info));
        }
    }
    let fitting_labels = || fitting.iter().map(|(_, info)| legible(info.label())).collect::<Vec<_>>().join(", ");
    match fitting.len() {
        0 => Err(Pkcs11Error::NoToken(labels.join(", "))),
        1 => fitting.pop().ok_or_else(|| Pkcs11Error::NoToken(String::new())),
        _ => Err(Pkcs11Error::SeveralTokens(fitting_labels())),
    }
}

fn fits(filter: &TokenFilter, slot: Slot, info: &TokenInfo) -> bool {
    let parts = [
        (&filter.label, info.label()),
        (&filter.manufacturer, info.manufacturer_id()),
        (&filter.model, info.model()),
        (&filter.serial, info.serial_number()),
    ];
    parts.into_iter().all(|(wanted, found)| wanted.as_deref().is_none_or(|wanted| wanted == found))
        && filter.slot_id.is_none_or(|id| id == slot.id())
}

fn login(session: &Session, info: &TokenInfo, pin: &PinSource) -> Result<(), Pkcs11Error> {
    let pin = match pin {
        PinSource::Value(pin) => Some(pin.clone()),
        PinSource::File(path) => Some(read_pin(path)?),
        // The user types the PIN at the device itself.
        PinSource::None if info.protected_authentication_path() => None,
        PinSource::None if info.login_required() => return Err(Pkcs11Error::NoPin),
        PinSource::None => return Ok(()),
    };
    let pin = pin.map(|pin| AuthPin::new(pin.as_str().into()));
    match session.login(UserType::User, pin.as_ref()) {
        // All sessions of a process share the login.
        Ok(()) | Err(Error::Pkcs11(RvError::UserAlreadyLoggedIn, _)) => Ok(()),
        Err(error) => Err(Pkcs11Error::Pin(text_of(&error))),
    }
}

/// Reads the first line of a file with a PIN.
fn read_pin(path: &Path) -> Result<Zeroizing<String>, Pkcs11Error> {
    use std::io::Read;
    let failed = |error: std::io::Error| Pkcs11Error::PinFile(path.to_owned(), error.to_string());
    // A buffer that grows would leave copies of the PIN behind.
    let mut text = Zeroizing::new(String::with_capacity(PIN_LEN_MAX as usize));
    let file = std::fs::File::open(path).map_err(failed)?;
    file.take(PIN_LEN_MAX).read_to_string(&mut text).map_err(failed)?;
    // Editors add a line break at the end, which is no part of the PIN.
    let line = text.lines().next().unwrap_or_default();
    if line.is_empty() {
        return Err(Pkcs11Error::PinFile(path.to_owned(), "the first line is empty".to_owned()));
    }
    Ok(Zeroizing::new(line.to_owned()))
}

/// Returns the only private key that fits.
fn find_key(
    session: &Session,
    uri: &Pkcs11Uri,
    public: &PublicKey,
    failed: impl Fn(Error) -> Pkcs11Error,
) -> Result<ObjectHandle, Pkcs11Error> {
    let (kind, name) = match public {
        PublicKey::P256(_) => (KeyType::EC, "EC P-256"),
        PublicKey::P384(_) => (KeyType::EC, "EC P-384"),
        PublicKey::Rsa(_) => (KeyType::RSA, "RSA"),
    };
    // A label often names a key pair and its certificate, so class and kind decide too.
    let mut template = vec![Attribute::Class(ObjectClass::PRIVATE_KEY), Attribute::KeyType(kind)];
    template.extend(uri.object.clone().map(Attribute::Label));
    template.extend(uri.id.clone().map(Attribute::Id));
    let found = session.find_objects(&template).map_err(failed)?;
    match found[..] {
        [key] => Ok(key),
        [] => Err(Pkcs11Error::NoKey(name)),
        _ => Err(Pkcs11Error::SeveralKeys),
    }
}

/// The text of an error. The library of a token may write anything.
fn text_of(error: &Error) -> String {
    legible(&error.to_string())
}

impl fmt::Debug for Pkcs11Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pkcs11Key").field("uri", &self.uri).finish_non_exhaustive()
    }
}

impl fmt::Display for Pkcs11Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoUri => f.write_str("expected a URI such as pkcs11:token=fleet;object=robot?module-path=LIBRARY"),
            Self::Attribute(name, fault) => write!(f, "pkcs11: the attribute `{name}` {fault}"),
            Self::NoModule => f.write_str(
                "pkcs11: the library of the token is missing: add ?module-path=LIBRARY, such as \
                 /usr/lib/softhsm/libsofthsm2.so",
            ),
            Self::NoObject => f.write_str("pkcs11: the name of the key is missing: add object=NAME or id=%01"),
            Self::PinFile(path, fault) => {
                write!(f, "pkcs11: {}: {fault}: write the PIN into the file of pin-source", path.display())
            }
            Self::Module(path, fault) => {
                write!(f, "pkcs11: {}: {fault}: install the library, or correct module-path", path.display())
            }
            Self::NoToken(known) if known.is_empty() => f.write_str("pkcs11: there is no token: plug it in"),
            Self::NoToken(known) => write!(f, "pkcs11: no token fits (known: {known}): correct token=NAME"),
            Self::SeveralTokens(known) => write!(f, "pkcs11: several tokens fit ({known}): add serial=NUMBER"),
            Self::NoPin => f.write_str("pkcs11: the token wants a PIN: add pin-source=file:PATH"),
            Self::Pin(fault) => write!(
                f,
                "pkcs11: the token refuses the PIN ({fault}): correct the file of pin-source, and create the participant \
                 again; more attempts lock the token"
            ),
            Self::NoKey(kind) => write!(
                f,
                "pkcs11: the token has no private key of this name for {kind}: correct object=NAME or id, or import \
                 the key of the certificate"
            ),
            Self::SeveralKeys => f.write_str("pkcs11: several private keys fit: add id=%01, with the ID of the key"),
            Self::OtherKey => f.write_str(
                "pkcs11: the private key in the token belongs to another certificate: correct object=NAME or id",
            ),
            Self::Sign(fault) => write!(
                f,
                "pkcs11: the token does not sign ({fault}): check that it is plugged in, and that the key may sign"
            ),
        }
    }
}

impl std::error::Error for Pkcs11Error {}
