//! The plugins of DDS Security for one participant: admission of others, and protection of messages.
//!
//! In: files of an identity, participants and endpoints that discovery finds, messages. Out: decisions with their
//! reasons, handshakes and keys for other participants, protected and opened messages. Owned: the keys of the
//! participant and of its peers.
//!
//! Discovery asks [`SecurityPlugins`] by a trait of `dds-rtps`, and the transform of messages is the same object. The
//! path of a sample looks up keys in [`keys`](self::keys), and enters no lock of the handshakes.
//!
//! | file | content |
//! |---|---|
//! | `credentials` | the files of an identity, from a folder or from properties |
//! | `algorithms` | the algorithms of this participant, compared with those of others |
//! | `policy` | what governance and permissions say about participants, topics and endpoints |
//! | `keys`, `key_history` | keys of this participant and its peers |
//! | `message_filter` | protects and opens the submessages of a message |
//! | `raw_submessages` | the submessages of a message, before any parser |
//! | `payload_filter` | protects and opens the payloads inside of submessages |
//! | `handshakes`, `work_budget` | handshakes by participant, and the bound of their work |
//! | `key_exchange`, `sent_keys` | keys for participants that have proved their identity |
//! | `renewals` | when keys change, and when earlier ones no longer count |
//! | `refusals` | participants that are kept out, for the log |
//! | `security_event` | the type of the topic with security events |
//! | `plugins` | the object that discovery and the transform share |

mod algorithms;
mod credentials;
mod handshakes;
mod key_exchange;
mod key_history;
mod keys;
mod message_filter;
mod payload_filter;
mod plugins;
mod policy;
mod raw_submessages;
mod refusals;
mod renewals;
mod security_event;
mod sent_keys;
mod work_budget;

pub(crate) use credentials::CredentialProperties;
pub use credentials::{Credentials, CredentialsError};
pub(crate) use plugins::SecurityPlugins;
pub(crate) use security_event::SecurityEventSource;
pub use security_event::{SecurityEvent, SecurityEventProperty, SecurityEventTime, SecuritySeverity};
