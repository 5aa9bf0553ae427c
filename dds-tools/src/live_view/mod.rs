//! The live view of `dds serve`: an HTTP and WebSocket server with a page, for browsers and for Foxglove.
//!
//! One thread accepts connections. Each connection has a thread that reads, and each WebSocket one more that writes.
//! They pass [`ClientRequest`]s to the thread of the command. This thread alone has the readers and writers of DDS. A
//! slow client loses messages in its own bounded [`Outbox`], so it delays neither DDS nor other clients.
//!
//! | file | content |
//! |---|---|
//! | `access` | tokens, origins and host names |
//! | `http` | request heads and responses |
//! | `server` | connections, and their requests to the command |
//! | `requests` | the bounded queue of requests to the command |
//! | `outbox` | the bounded queue of a client |
//! | `foxglove` | messages of the Foxglove WebSocket protocol |
//! | `topics` | the served topics, their readers and their figures |
//! | `snapshot` | everything that the page shows |
//! | `metrics` | the figures as Prometheus text and OTLP |
//! | `otlp` | the connection to an OpenTelemetry collector |
//!
//! [`ClientRequest`]: server::ClientRequest
//! [`Outbox`]: outbox::Outbox

pub(crate) mod access;
pub(crate) mod foxglove;
pub(crate) mod http;
pub(crate) mod metrics;
pub(crate) mod otlp;
pub(crate) mod outbox;
pub(crate) mod requests;
pub(crate) mod server;
pub(crate) mod snapshot;
pub(crate) mod topics;
