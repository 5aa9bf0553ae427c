//! The plugin DDS:Auth:PKI-DH: two participants prove their identities to each other, and agree on a secret.
//!
//! Tokens of the other participant come in, and tokens for it go out ([`PeerHandshake`]). The module has no sockets,
//! clocks and random numbers: the caller passes the time, and random bytes once. [`GenericMessage`] carries the tokens.
//!
//! ```text
//! participant with the lower GUID          the other one
//!                              <---------  AuthRequest   future challenge (optional)
//! Request                      --------->                certificate, permissions, challenge1, dh1
//!                              <---------  Reply         the same for this side, challenge2, dh2, signature
//! Final                        --------->                signature
//! ```
//!
//! Each side signs both challenges and both keys for the agreement (DDS Security 1.1, 9.3.2). Both keep the secret that
//! follows from the keys, and derive from it the keys by which they then exchange all others.
//!
//! | file | content |
//! |---|---|
//! | `agreement` | ECDH with P-256 and P-384, and DH with MODP-2048-256 |
//! | `cdr` | reading with bounds in both byte orders, and writing |
//! | `ecdh` | the arithmetic of ECDH, by the fastest library |
//! | `exchange` | the contents of the tokens, and their checks |
//! | `handshake` | the state machine: roles, repetition, renewal |
//! | `holder` | tokens as they are on the wire |
//! | `identity` | the identity of a participant, and the GUID that follows from it |
//! | `message` | the message that carries tokens |
//! | `secret` | the shared secret and the key that follows from it |

mod agreement;
mod cdr;
mod ecdh;
mod exchange;
mod handshake;
mod holder;
mod identity;
mod message;
mod secret;

pub use cdr::{CdrError, TokenByteOrder};
pub use exchange::HandshakeError;
pub use handshake::{HandshakeRemote, HandshakeTime, PeerHandshake};
pub use holder::DataHolder;
pub use identity::{IdentityError, LocalIdentity, LocalParticipant, adjusted_prefix};
pub use message::GenericMessage;
pub use secret::{AuthenticatedPeer, SharedSecret};
